"""Between the core, which decides, and a driver of the hands, which talks to them. No ROS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.core import BridgeCore, Sent
from h1_2_bridge.drivers import load_driver
from h1_2_bridge.hands import FINGERS, Calibration, HandConfig, HandDriver, Registers
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

PERIOD = SECOND // 100
"""Targets go to the hands this often, ns."""

ON_TOPICS = ("dfx",)
"""Drivers that speak through topics of the node."""

HAND_PARAMETERS: tuple[tuple[str, Any, str, float | None, float | None], ...] = (
    ("hand", "dfx", "Driver of the hands: dfx, ftp or none.", None, None),
    ("hand_right_open", "", "The right hand's six joints where it counts 1, rad.", None, None),
    ("hand_right_closed", "", "The same where it counts 0; empty: as its kind has it.", None, None),
    ("hand_left_open", "", "The left hand's six joints where it counts 1, rad.", None, None),
    ("hand_left_closed", "", "The same where it counts 0; empty: as its kind has it.", None, None),
    ("hand_right_host", "192.168.123.211", "Address of the right FTP hand.", None, None),
    ("hand_left_host", "192.168.123.210", "The left one's; empty: there is none.", None, None),
    ("hand_port", 6000, "TCP port of FTP hands.", 1, 65535),
    ("hand_speed_limit", 300, "Speed limit that FTP hands are given; 1000: full.", 0, 1000),
    ("hand_force_limit", 300, "Force limit that FTP hands are given, g.", 0, 3000),
    ("hand_registers", "", "FTP registers that differ, as in angle_set=1486.", None, None),
)
"""Name, default, meaning and bounds of the node's parameters for hands."""


def hand_config(values: Mapping[str, Any], read_only: bool = False) -> HandConfig:
    """The drivers' settings from the parameters' values; `read_only`: nothing is written to a hand,
    no limits either. Errors: RuleSafeError."""
    return HandConfig(
        right=_calibration(values, "right"),
        left=_calibration(values, "left"),
        right_host=values["hand_right_host"],
        left_host=values["hand_left_host"],
        port=values["hand_port"],
        speed=values["hand_speed_limit"],
        force=values["hand_force_limit"],
        registers=_registers(values["hand_registers"]),
        patience=values["hand_timeout"],
        read_only=read_only,
    )


def _calibration(values: Mapping[str, Any], side: str) -> Calibration | None:
    texts = {end: values[f"hand_{side}_{end}"] for end in ("open", "closed")}
    if not any(texts.values()):
        return None
    numbers = {}
    for end, text in texts.items():
        try:
            numbers[end] = tuple(float(part) for part in text.split(","))
        except ValueError:
            numbers[end] = ()
        if len(numbers[end]) != FINGERS:
            raise RuleSafeError(
                f"hand_{side}_{end} takes {FINGERS} numbers in rad with commas between them, as "
                f"does its counterpart, got {text!r}"
            )
    return Calibration(**numbers)  # type: ignore[arg-type]


def _registers(text: str) -> Registers:
    changes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in Registers.__dataclass_fields__ or not number.isdigit():
            known = ", ".join(f"{field}=NUMBER" for field in Registers.__dataclass_fields__)
            raise RuleSafeError(f"hand_registers takes some of {known}; got {part!r}")
        changes[name] = int(number)
    return Registers(**changes)


@dataclass
class HandPort:
    """One driver; its state goes to the core, the core's targets to it.

    Attributes:
        driver: the hands.
        show: called with the targets (12,), rad, instead of the driver: a dry run. None: no dry
            run.
    """

    driver: HandDriver
    show: Callable[[NDArray[np.float64]], None] | None = None

    def __post_init__(self) -> None:
        self._targets: NDArray[np.float64] | None = None
        self._due = 0  # ns

    @property
    def joints(self) -> Sequence[str]:
        """The driver's 12 joints."""
        return self.driver.joints

    def take(self, sent: Sent) -> None:
        """Keeps the newest targets for the next turn."""
        if sent.hand is not None:
            self._targets = sent.hand

    def turn(self, core: BridgeCore, now: int) -> None:
        """Once in PERIOD: the hands' state to the core, and targets, if there are new ones, to
        the hands. `now`: the steady clock's ns."""
        if now < self._due:
            return
        self._due = now + PERIOD
        if core.hand is not None:
            core.hand.receive(self.driver.state(now))
        targets, self._targets = self._targets, None
        if targets is None:
            return
        if self.show is not None:
            self.show(targets)
        else:
            self.driver.command(targets, now)


def open_hands(
    values: Mapping[str, Any],
    publish: Callable[[bytes], None],
    show: Callable[[NDArray[np.float64]], None] | None,
) -> HandPort | None:
    """The hands that the parameters name; None for `none`. `publish` as in `load_driver`, `show` as
    in `HandPort`. Errors: RuleSafeError."""
    driver = load_driver(values["hand"], hand_config(values, read_only=show is not None), publish)
    return None if values["hand"] == "none" else HandPort(driver, show)
