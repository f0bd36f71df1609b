"""Primitives of arm and hand, as chunks of joint targets.

Each primitive is a generator: it yields chunks, receives the observation after each chunk, and
returns the last observation. Primitives run the same in process and over ROS.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner_node.hand import PINCH, PRE_PINCH, RELEASE
from planner_node.motion import FRAME, Path, Rates, time_path
from planner_node.moves import ExpertObservation
from rulesafe_core.chunks import MAX_STEPS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.settings import Settings, setting
from rulesafe_sim.episode import Activity

Chunk = NDArray[np.float64]  # (n, 13) targets in rad at 10 Hz, n <= MAX_STEPS
Run = Generator[Chunk, ExpertObservation, ExpertObservation]

FINGER_SPEED = np.array([h1_2().joint(name).velocity for name in HAND_JOINTS])
"""Maximum speed of each motor of the hand, rad/s, as specified by the manufacturer."""


@dataclass(frozen=True)
class Pace(Settings):
    """Speeds and times of the operations, and the largest permitted contact force."""

    travel: Rates = Rates(1.4, 4.0)
    closing_in: Rates = Rates(0.7, 2.5)
    turning: Rates = Rates(0.9, 2.5)
    pulling: Rates = Rates(0.7, 2.0)
    close: float = setting(0.8, "Time to close the fingers on a part.", unit="s")
    open: float = setting(0.5, "Time for each half of opening the fingers.", unit="s")
    settle: float = setting(0.2, "Pause after a pinch and after a motion.", unit="s")
    factor: float = setting(1.0, "Scale of all speeds.")
    force_limit: float = setting(
        60.0, "Maximum contact force between robot and safe; a motion stops above it.", unit="N"
    )


HELD = 0.5
"""Smallest contact force on a part that is held, N."""

WATCHED = 4
"""Number of frames between two checks of a held part."""


class InterruptedMotion(RuleSafeError):
    """A motion was stopped. `command` (13,): joint targets at that time, rad."""

    def __init__(self, message: str, command: NDArray[np.float64]):
        super().__init__(message)
        self.command = command


class ContactForceError(InterruptedMotion):
    """The contact force was too large."""


class PartLostError(InterruptedMotion):
    """The part slipped out of the hand."""


class Primitives:
    """Generates the primitives with the speeds of `pace`.

    Attributes:
        activity: description of the running primitive.
        peak_force: largest force between robot and safe at the end of a chunk, N, since the
            attribute was last set to 0.
        held: part whose loss interrupts a motion, until the next release; empty: none.
    """

    def __init__(self, pace: Pace = Pace()):
        self.pace = pace
        self.activity = Activity()
        self.peak_force = 0.0
        self.held = ""

    def travel(self, obs: ExpertObservation, path: Path) -> Run:
        """Move the arm along a collision-free path while the fingers open for a pinch."""
        self._begin("travel")
        return (yield from self._move(obs.hand, path, PRE_PINCH, self.pace.travel))

    def reach(self, obs: ExpertObservation, path: Path) -> Run:
        """Move the arm along a collision-free path; the fingers keep their posture."""
        self._begin("travel")
        return (yield from self._move(obs.hand, path, obs.hand, self.pace.travel))

    def approach(self, path: Path, operation: str = "approach") -> Run:
        """Move straight towards a grasp; `operation` is its name in `activity`."""
        self._begin(operation)
        return (yield from self._move(PRE_PINCH, path, PRE_PINCH, self.pace.closing_in))

    def retreat(self, path: Path) -> Run:
        """Move the hand along a straight line away from a released part."""
        self._begin("retreat")
        return (yield from self._move(PRE_PINCH, path, PRE_PINCH, self.pace.closing_in))

    def pinch(self, arm: NDArray[np.float64], operation: str = "pinch") -> Run:
        """Close thumb and index finger; the arm stays at `arm` (7,). `operation` is its name in
        `activity`."""
        self._begin(operation)
        yield from self._fingers(arm, PRE_PINCH, PINCH, self.pace.close)
        return (yield from self._hold(arm, PINCH))

    def turn(self, path: Path, operation: str = "turn") -> Run:
        """Turn the held part about its axis; `operation` is its name in `activity`."""
        self._begin(operation)
        yield from self._move(PINCH, path, PINCH, self.pace.turning)
        return (yield from self._hold(path[-1], PINCH))

    def pull(self, path: Path, operation: str = "pull") -> Run:
        """Pull the door open by the held part; `operation` is its name in `activity`."""
        self._begin(operation)
        yield from self._move(PINCH, path, PINCH, self.pace.pulling)
        return (yield from self._hold(path[-1], PINCH))

    def release(self, arm: NDArray[np.float64], hand: NDArray[np.float64] = PINCH) -> Run:
        """Open the fingers; the arm stays where it is.

        They open halfway first, so that the part does not spring away. ContactForceError is
        never raised, since a release follows it.
        """
        self._begin("release")
        self.held = ""
        yield from self._fingers(arm, hand, RELEASE, self.pace.open)
        yield from self._hold(arm, RELEASE)
        return (yield from self._fingers(arm, RELEASE, PRE_PINCH, self.pace.open))

    def posture(self, arm: NDArray[np.float64], start, end) -> Run:
        """Move the fingers from one posture (6,) to another; the arm stays where it is."""
        self._begin("hand")
        yield from self._fingers(arm, start, end, self.pace.close)
        return (yield from self._hold(arm, end))

    def _fingers(self, arm, start, end, seconds: float) -> Run:
        frames = max(self._frames(seconds), _finger_frames(start, end))
        fractions = np.linspace(0, 1, frames + 1)[1:, None]
        targets = start + fractions * (end - start)
        return (yield from self._play(np.hstack([np.tile(arm, (len(targets), 1)), targets])))

    def _begin(self, operation: str) -> None:
        self.activity = replace(self.activity, operation=operation)

    def _frames(self, seconds: float) -> int:
        return max(1, round(seconds / self.pace.factor / FRAME))

    def _move(self, hand_from, path: Path, hand_to, rates: Rates) -> Run:
        """Move the arm along a path and the fingers to a posture; the faster of the two waits."""
        arm_targets = time_path(path, rates.scaled(self.pace.factor))
        missing = max(0, _finger_frames(hand_from, hand_to) - len(arm_targets))
        arm_targets = np.concatenate([arm_targets, np.tile(arm_targets[-1], (missing, 1))])
        fractions = np.linspace(0, 1, len(arm_targets) + 1)[1:, None]
        hand_targets = hand_from + fractions * (hand_to - hand_from)
        return (yield from self._play(np.hstack([arm_targets, hand_targets])))

    def _hold(self, arm, hand) -> Run:
        count = self._frames(self.pace.settle)
        return (yield from self._play(np.tile(np.concatenate([arm, hand]), (count, 1))))

    def _play(self, targets: NDArray[np.float64]) -> Run:
        # Single precision, as in data sets, so that stored and executed actions are identical.
        targets = targets.astype(np.float32).astype(np.float64)
        size = WATCHED if self.held else MAX_STEPS
        for begin in range(0, len(targets), size):
            obs = yield targets[begin : begin + size]
            where, force = max(
                ((name, force) for name, force in obs.contact_forces.items() if name != "self"),
                key=lambda item: item[1],
                default=("", 0.0),
            )
            self.peak_force = max(self.peak_force, force)
            if force > self.pace.force_limit and self.activity.operation != "release":
                raise ContactForceError(
                    f"contact force of {force:.0f} N on the {where} exceeds the limit of "
                    f"{self.pace.force_limit:.0f} N",
                    targets[: begin + size][-1],
                )
            if self.held and obs.contact_forces.get(self.held, HELD) < HELD:
                raise PartLostError(f"the hand lost the {self.held}", targets[: begin + size][-1])
        return obs


def _finger_frames(start: NDArray[np.float64], end: NDArray[np.float64]) -> int:
    """Return the number of frames in which the fingers can move between two postures (6,)."""
    return int(np.ceil((np.abs(end - start) / FINGER_SPEED).max() / FRAME - 1e-6))
