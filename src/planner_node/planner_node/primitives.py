"""What arm and hand do, one thing at a time, as chunks of joint targets.

Each primitive is a generator: it yields chunks, is sent the observation after each, and returns the
last observation. They run the same in process and over ROS.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner_node.hand import PINCH, PRE_PINCH, RELEASE
from planner_node.motion import FRAME, Path, Rates, time_path
from planner_node.moves import ExpertObservation
from rulesafe_core.chunks import MAX_ROWS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.settings import Settings, setting
from rulesafe_sim.episode import Activity

Chunk = NDArray[np.float64]  # (n, 13) targets in rad at 10 Hz, n <= MAX_ROWS
Run = Generator[Chunk, ExpertObservation, ExpertObservation]

FINGER_SPEED = np.array([h1_2().joint(name).velocity for name in HAND_JOINTS])
"""rad/s of each motor of the hand, by the manufacturer's figures."""


@dataclass(frozen=True)
class Pace(Settings):
    """How fast the robot moves in each operation, and how hard it may press."""

    travel: Rates = Rates(1.4, 4.0)
    closing_in: Rates = Rates(0.7, 2.5)
    turning: Rates = Rates(0.9, 2.5)
    pulling: Rates = Rates(0.7, 2.0)
    close: float = setting(0.8, "Time to close the fingers on a part.", unit="s")
    open: float = setting(0.5, "Time for each half of opening the fingers.", unit="s")
    settle: float = setting(0.2, "Pause after a pinch and after a motion.", unit="s")
    factor: float = setting(1.0, "Scale of all speeds.")
    force_limit: float = setting(60.0, "Largest force between robot and safe.", unit="N")


class Pressed(RuleSafeError):
    """The robot pressed harder than it may. `command` (13,): where it was told to be then, rad."""

    def __init__(self, message: str, command: NDArray[np.float64]):
        super().__init__(message)
        self.command = command


class Primitives:
    """The primitives at a pace; `activity` tells which one runs, `peak_force` (N) is the largest
    force between robot and safe observed after a chunk since it was set to 0."""

    def __init__(self, pace: Pace = Pace()):
        self.pace = pace
        self.activity = Activity()
        self.peak_force = 0.0

    def travel(self, obs: ExpertObservation, path: Path) -> Run:
        """The arm along a free path while the fingers go to the posture before a pinch."""
        self._begin("travel")
        return (yield from self._move(obs.hand, path, PRE_PINCH, self.pace.travel))

    def reach(self, obs: ExpertObservation, path: Path) -> Run:
        """The arm along a free path, the fingers as they are."""
        self._begin("travel")
        return (yield from self._move(obs.hand, path, obs.hand, self.pace.travel))

    def approach(self, path: Path) -> Run:
        """Straight towards a grasp."""
        self._begin("approach")
        return (yield from self._move(PRE_PINCH, path, PRE_PINCH, self.pace.closing_in))

    def retreat(self, path: Path) -> Run:
        """Straight away from a grasp that was let go."""
        self._begin("retreat")
        return (yield from self._move(PRE_PINCH, path, PRE_PINCH, self.pace.closing_in))

    def pinch(self, arm: NDArray[np.float64]) -> Run:
        """Thumb and index close while the arm stands at `arm` (7,)."""
        self._begin("pinch")
        yield from self._fingers(arm, PRE_PINCH, PINCH, self.pace.close)
        return (yield from self._hold(arm, PINCH))

    def turn(self, path: Path) -> Run:
        """The held part's way about its axis."""
        self._begin("turn")
        yield from self._move(PINCH, path, PINCH, self.pace.turning)
        return (yield from self._hold(path[-1], PINCH))

    def pull(self, path: Path) -> Run:
        """The door's way about its hinge, the hand on the held part."""
        self._begin("pull")
        yield from self._move(PINCH, path, PINCH, self.pace.pulling)
        return (yield from self._hold(path[-1], PINCH))

    def release(self, arm: NDArray[np.float64], hand: NDArray[np.float64] = PINCH) -> Run:
        """The fingers open while the arm stands: half way first, so that nothing springs. Never
        Pressed, since it is the remedy."""
        self._begin("release")
        yield from self._fingers(arm, hand, RELEASE, self.pace.open)
        yield from self._hold(arm, RELEASE)
        return (yield from self._fingers(arm, RELEASE, PRE_PINCH, self.pace.open))

    def posture(self, arm: NDArray[np.float64], start, end) -> Run:
        """The fingers from one posture (6,) to any other, while the arm stands."""
        self._begin("hand")
        yield from self._fingers(arm, start, end, self.pace.close)
        return (yield from self._hold(arm, end))

    def _fingers(self, arm, start, end, seconds: float) -> Run:
        frames = max(self._frames(seconds), _finger_frames(start, end))
        fractions = np.linspace(0, 1, frames + 1)[1:, None]
        rows = start + fractions * (end - start)
        return (yield from self._play(np.hstack([np.tile(arm, (len(rows), 1)), rows])))

    def _begin(self, operation: str) -> None:
        self.activity = replace(self.activity, operation=operation)

    def _frames(self, seconds: float) -> int:
        return max(1, round(seconds / self.pace.factor / FRAME))

    def _move(self, hand_from, path: Path, hand_to, rates: Rates) -> Run:
        """The arm along a path while the fingers go to a posture; the slower of both is waited
        for."""
        arm_rows = time_path(path, rates.scaled(self.pace.factor))
        missing = max(0, _finger_frames(hand_from, hand_to) - len(arm_rows))
        arm_rows = np.concatenate([arm_rows, np.tile(arm_rows[-1], (missing, 1))])
        fractions = np.linspace(0, 1, len(arm_rows) + 1)[1:, None]
        hand_rows = hand_from + fractions * (hand_to - hand_from)
        return (yield from self._play(np.hstack([arm_rows, hand_rows])))

    def _hold(self, arm, hand) -> Run:
        count = self._frames(self.pace.settle)
        return (yield from self._play(np.tile(np.concatenate([arm, hand]), (count, 1))))

    def _play(self, rows: NDArray[np.float64]) -> Run:
        # Single precision, as data sets keep them: what is stored is what was done.
        rows = rows.astype(np.float32).astype(np.float64)
        for begin in range(0, len(rows), MAX_ROWS):
            obs = yield rows[begin : begin + MAX_ROWS]
            where, force = max(
                ((name, force) for name, force in obs.contact_forces.items() if name != "self"),
                key=lambda item: item[1],
                default=("", 0.0),
            )
            self.peak_force = max(self.peak_force, force)
            if force > self.pace.force_limit and self.activity.operation != "release":
                raise Pressed(
                    f"the robot pressed on the {where} with {force:.0f} N, more than "
                    f"{self.pace.force_limit:.0f} N",
                    rows[: begin + MAX_ROWS][-1],
                )
        return obs


def _finger_frames(start: NDArray[np.float64], end: NDArray[np.float64]) -> int:
    """Frames that the fingers need from one posture (6,) to another."""
    return int(np.ceil((np.abs(end - start) / FINGER_SPEED).max() / FRAME - 1e-6))
