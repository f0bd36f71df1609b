"""The keyboard as input device of teleop_node."""

import shutil
import sys
import time
from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from std_msgs.msg import Float64, String

from rulesafe_core.client_node import ClientNode
from rulesafe_core.convert import LATCHED_QOS, STATE_QOS, to_pose
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_pose
from rulesafe_core.text_files import printable
from rulesafe_core.transforms import Transform
from rulesafe_interfaces.msg import EpisodeStatus
from teleop_node import keys
from teleop_node.keys import KeyboardControl, Situation, describe

HEARTBEAT = 0.1
"""Period of messages while no key is pressed, s; without them teleop_node holds the arm."""

PERIOD = 0.02
"""Time between two readings of the keyboard, s."""

REFRESH = 0.1
"""Time between two updates of the displayed state, s."""

LOST_AFTER = 2.0
"""Time without a pose of the hand that is displayed, s."""

NODE = "teleop_node"


class KeyboardNode(ClientNode):
    """Publishes what keys command.

    Attributes:
        control: step size, frame and grip.
        instruction: the instruction of the episode; empty if it is unknown.
    """

    def __init__(self) -> None:
        super().__init__("teleop_keyboard")
        self.control = KeyboardControl()
        self._hand: Transform | None = None
        self._hand_received = 0.0  # s, wall time of its message
        self._status: EpisodeStatus | None = None
        self.instruction = ""
        self._mode, self._message, self._grip = "", "no message of teleop_node yet", 0.0
        self._beat = 0.0  # s, wall time of the last heartbeat
        self._operating = False  # whether a key was pressed in this episode
        self._poses = self.create_publisher(PoseStamped, "teleop/target_pose", 10)
        self._grips = self.create_publisher(Float64, "teleop/grip", 10)
        self._requests = self.create_publisher(String, "teleop/assist", 10)
        self.create_subscription(PoseStamped, "teleop/hand_pose", self._on_hand, 1)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, STATE_QOS)
        self.create_subscription(EpisodeStatus, "episode/status", self._on_status, 1)
        self.create_subscription(String, "instruction", self._on_instruction, LATCHED_QOS)
        self.create_subscription(Time, "episode/started", self._on_started, LATCHED_QOS)

    def _on_hand(self, message: PoseStamped) -> None:
        self._hand, self._hand_received = decode_pose(message.pose), time.monotonic()

    def _on_status(self, message: EpisodeStatus) -> None:
        self._status = message

    def _on_instruction(self, message: String) -> None:
        self.instruction = printable(message.data)

    def _on_started(self, message: Time) -> None:
        self.control.grip, self._operating = None, False

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == NODE:
                values = {value.key: value.value for value in status.values}
                self._mode, self._message = values.get("mode", ""), printable(status.message)
                self._grip = float(values.get("grip", 0))

    @property
    def ready(self) -> bool:
        """Whether teleop_node publishes the hand's pose and subscribes to the keys' topics."""
        topics = (self._poses, self._grips, self._requests)
        return self._hand is not None and all(topic.get_subscription_count() for topic in topics)

    @property
    def closed(self) -> bool:
        """Whether the hand is commanded to be closed."""
        return self._grip > 0.5

    def press(self, key: str, now: float) -> None:
        """Publish what a key commands."""
        assert self._hand is not None
        if self.control.adjust(key):
            return
        self._operating = True
        if key in keys.REQUESTS:
            if keys.REQUESTS[key].startswith("approach"):
                self.control.grip = None  # the assisted motion opens the hand
            self._requests.publish(String(data=keys.REQUESTS[key]))
        elif key == keys.GRIP:
            self._grips.publish(Float64(data=self.control.toggle_grip(self.closed)))
        else:
            if (pose := self.control.target(key, self._situation(), now)) is not None:
                message = PoseStamped(pose=to_pose(pose))
                message.header.frame_id = "pelvis"
                self._poses.publish(message)

    def _safe(self) -> Transform | None:
        """Return the pose of the safe in the pelvis frame; None if it is unknown."""
        return decode_pose(self._status.safe_pose) if self._status else None

    def _situation(self) -> Situation:
        assert self._hand is not None
        return Situation(self._hand, self._safe(), self._mode == "assisted")

    def beat(self, now: float) -> None:
        """Publish the grip again if a heartbeat is due, from the first key of an episode on."""
        if self._operating and now - self._beat > HEARTBEAT:
            self._beat = now
            grip = self.control.grip
            self._grips.publish(Float64(data=float(self.closed) if grip is None else grip))

    def lines(self) -> tuple[str, str]:
        """Return the state in two lines."""
        assert self._hand is not None
        status = self._status
        silence = time.monotonic() - self._hand_received
        lost = f"no message of {NODE} for {silence:.0f} s" if silence > LOST_AFTER else ""
        first = [lost or self._message, "closed" if self.closed else "open"]
        second = [describe(self._hand, self._safe())]
        if status:
            forces = zip(status.contact_names, status.contact_forces, strict=True)
            touched = [f"{name} {force:.0f} N" for name, force in forces if force > 0.5]
            first.append("touches " + (", ".join(touched) or "nothing"))
            first += ["THE DOOR IS OPEN"] if status.success else []
            angles = zip(status.parts, np.degrees(status.part_positions), strict=True)
            second.insert(0, " ".join(f"{name} {angle:.0f}" for name, angle in angles) + " deg")
        length, angle = keys.STEPS[self.control.step]
        second.append(f"{100 * length:g} cm {angle:g} deg, {self.control.frame}")
        return " | ".join(first), " | ".join(second)


class Display:
    """Two lines at the end of the terminal, which are written again and again."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, lines: tuple[str, str]) -> None:
        """Replace the lines by others, as far as they fit."""
        width = shutil.get_terminal_size().columns - 1
        up = "\x1b[1A\r" if self._shown else "\r"
        first, second = (line[:width] for line in lines)
        sys.stdout.write(f"{up}\x1b[K{first}\n\x1b[K{second}")
        sys.stdout.flush()
        self._shown = True

    def write(self, text: str) -> None:
        """Write a text that stays, above the lines."""
        up = "\x1b[1A" if self._shown else ""
        print(f"{up}\r\x1b[J{text}", flush=True)
        self._shown = False


def operate(node: KeyboardNode, next_key: Callable[[], str], patience: float) -> None:
    """Publish what keys command until the key that quits.

    Args:
        node: the node.
        next_key: returns the next key, or "".
        patience: time to wait for teleop_node, s.

    Raises:
        RuleSafeError: teleop_node does not publish.
    """
    if not node.spin_until(lambda: node.ready, patience):
        raise RuleSafeError(
            f"no message on /teleop/hand_pose within {patience:g} s; start the nodes first: "
            "rulesafe launch launch/teleop.launch.xml"
        )
    display, shown, instruction = Display(), 0.0, ""
    display.write(keys.HELP_TEXT)
    try:
        while node.context.ok():
            while (key := next_key()) and key != keys.QUIT:
                if key == keys.HELP:
                    display.write(keys.HELP_TEXT)
                else:
                    node.press(key, time.monotonic())
            if key == keys.QUIT:
                return
            if node.instruction != instruction:
                instruction = node.instruction
                display.write(f"Task: {instruction}")
            node.beat(now := time.monotonic())
            if now - shown > REFRESH:
                shown = now
                display.show(node.lines())
            node.spin_for(PERIOD)
    finally:
        print(flush=True)
