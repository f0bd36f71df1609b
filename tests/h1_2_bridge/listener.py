"""Record the commands to the robot, for tests with the simulated robot."""

from typing import Any

import numpy as np
from recorder import Record

from h1_2_bridge.wire import decode_low_cmd


class Commands:
    """Records every command on /arm_sdk or /lowcmd through a subscription of `node`.

    `complete` is False if the first command is missing, which was sent before discovery.
    """

    def __init__(self, node: Any, topic: str = "arm_sdk") -> None:
        from rclpy.qos import QoSProfile
        from unitree_hg.msg import LowCmd

        self.topic = topic
        self.received: list[tuple[float, bytes]] = []
        self.complete = True
        self.subscription = node.create_subscription(
            LowCmd, f"/{topic}", self._on_command, QoSProfile(depth=2000), raw=True
        )

    def _on_command(self, raw: bytes, info: dict) -> None:
        if not self.received:
            self.complete = info["publication_sequence_number"] == 1
        # The time of publishing, because a busy machine delivers late and in bursts.
        self.received.append((info["source_timestamp"] / 1e9, raw))

    def record(self) -> Record:
        return as_record(self.topic, *zip(*self.received, strict=True))


def as_record(topic: str, times, payloads) -> Record:
    """Return the record of raw commands, with the times (s) of sending or receiving them."""
    commands = [decode_low_cmd(raw) for raw in payloads]
    names = ("mode", "q", "dq", "tau", "kp", "kd")
    motors = np.stack([np.stack([getattr(c, name) for name in names], axis=1) for c in commands])
    return Record(
        time=np.array(times),
        sent=np.array(times),
        topic=np.full(len(commands), topic),
        valid=np.array([c.valid for c in commands]),
        mode_pr=np.array([c.mode_pr for c in commands]),
        mode_machine=np.array([c.mode_machine for c in commands]),
        motors=np.concatenate([motors, np.zeros((*motors.shape[:2], 1))], axis=2),
        reserve=np.array([int(np.sum(c.reserve)) for c in commands]),
    )
