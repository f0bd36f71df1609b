"""Records what is sent to the robot, for tests whose robot is the simulation."""

from typing import Any

import numpy as np
from recorder import Record

from h1_2_bridge.wire import decode_low_cmd


class Commands:
    """Every command on /arm_sdk or /lowcmd since it was made, heard by `node`.

    `whole` tells whether it has the first one too: a writer may begin before it discovers this.
    """

    def __init__(self, node: Any, topic: str = "arm_sdk") -> None:
        from rclpy.qos import QoSProfile
        from unitree_hg.msg import LowCmd

        self.topic = topic
        self.heard: list[tuple[float, bytes]] = []
        self.whole = True
        self.subscription = node.create_subscription(
            LowCmd, f"/{topic}", self._on_command, QoSProfile(depth=2000), raw=True
        )

    def _on_command(self, raw: bytes, info: dict) -> None:
        if not self.heard:
            self.whole = info["publication_sequence_number"] == 1
        # When it was written: a busy machine delivers late, and in bursts.
        self.heard.append((info["source_timestamp"] / 1e9, raw))

    def record(self) -> Record:
        return as_record(self.topic, *zip(*self.heard, strict=True))


def as_record(topic: str, times, payloads) -> Record:
    """The record of raw commands, with the times (s) at which they were sent or heard."""
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
