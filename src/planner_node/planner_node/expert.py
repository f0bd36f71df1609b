"""The expert: opens a safe step by step and yields the chunks of joint targets that do it.

It sees what a policy may not (the safe's pose and phases) and is used to make demonstrations.
No ROS and no simulation here: state in, chunk out, so that it runs the same in process and as a
node.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner_node.grasping import Unreachable
from planner_node.hand import PINCH, PRE_PINCH, RELEASE
from planner_node.motion import FRAME, NoPath, Speed, time_path
from planner_node.moves import MoveConfig, MovePlanner, Observation
from rulesafe_sim.chunks import MAX_ROWS
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.safes import Safe

Chunk = NDArray[np.float64]  # (n, 13) targets in rad at 10 Hz, n <= MAX_ROWS


@dataclass(frozen=True)
class ExpertConfig:
    """Speeds and times of the expert, and how often it tries."""

    travel: Speed = Speed(0.9, 0.4)
    closing_in: Speed = Speed(0.5, 0.3)
    turning: Speed = Speed(0.8, 0.4)
    pulling: Speed = Speed(0.6, 0.4)
    pinch_time: float = 1.0  # s to close or open the fingers
    settle_time: float = 0.3  # s held after a pinch and after a motion
    attempts: int = 4  # tries at one step
    steps: int = 40  # steps of an episode
    moves: MoveConfig = MoveConfig()


class Stuck(RuleSafeError):
    """The expert could not complete a step."""


@dataclass
class Log:
    """What happened, for reports: one line a try."""

    steps: list[str] = field(default_factory=list)
    retries: int = 0


Run = Generator[Chunk, Observation, Observation]


class Expert:
    """Opens a safe: does what remains to be done, event by event, and looks again after each, so
    that a part that was moved by accident is put right.

    A fixed `plan` of events, such as ["knob+"], is executed as it stands instead.
    `begin(observation)` gives the first chunk, `next_chunk(observation)` the following ones, or
    None when nothing remains. Errors: Stuck, with the step and the reason.
    """

    def __init__(
        self,
        safe: Safe,
        plan: Sequence[str] | None = None,
        config: ExpertConfig = ExpertConfig(),
        seed: int = 0,
    ):
        self.safe = safe
        self.plan = plan
        self.config = config
        self.log = Log()
        self._seed = seed
        self._run: Run | None = None

    def begin(self, observation: Observation) -> Chunk | None:
        """Starts: the first chunk, or None where there is nothing to do."""
        self._moves = MovePlanner(
            self.safe, observation.pose_safe_in_pelvis, self.config.moves, self._seed
        )
        self._run = self._perform(observation)
        return self._advance(None)

    def next_chunk(self, observation: Observation) -> Chunk | None:
        """The chunk that follows, given what the last one led to; None at the end."""
        return self._advance(observation)

    def _advance(self, observation: Observation | None) -> Chunk | None:
        assert self._run is not None, "call begin first"
        try:
            return self._run.send(observation)  # type: ignore[arg-type]
        except StopIteration:
            return None

    def _perform(self, seen: Observation) -> Run:
        if self.plan is not None:
            for number, event in enumerate(self.plan, 1):
                seen = yield from self._step(seen, f"step {number} ({event})", event)
            return seen
        number = 0
        while seen.remaining:
            number += 1
            if number > self.config.steps:
                raise Stuck(
                    f"{number - 1} steps done, and {', '.join(seen.remaining)} still remain"
                )
            event = seen.remaining[0]
            seen = yield from self._step(seen, f"step {number} ({event})", event)
        if not seen.part_open["door"]:
            raise Stuck("no sequence of moves opens the door any more")
        return seen

    def _step(self, seen: Observation, step: str, event: str) -> Run:
        """Moves a part into the other phase, with a bounded number of tries; earlier, when a part
        that moved by accident makes another event the next. Errors: Stuck."""
        part, opens = event[:-1], event.endswith("+")
        tried: set[tuple] = set()
        trouble = ""
        for attempt in range(1, self.config.attempts + 1):
            if seen.part_open[part] == opens:
                return seen
            if attempt > 1:
                self.log.retries += 1
                if self.plan is None and seen.remaining[:1] != (event,):
                    return seen
            name = f"{step}, try {attempt}"
            try:
                seen = yield from self._operate(seen, part, opens, tried)
            except (Unreachable, NoPath) as error:
                trouble = str(error)
                self.log.steps.append(f"{name}: {trouble}")
                if not tried:  # nothing would change
                    raise Stuck(f"{name}: {trouble}") from error
                tried.clear()  # do again what slipped before
                continue
            reached = np.degrees(seen.part_positions[part])
            trouble = f"the {part} slipped; it stands at {reached:.0f} deg"
            self.log.steps.append(f"{name}: {part} at {reached:.0f} deg")
        if seen.part_open[part] != opens:
            raise Stuck(f"{step}, failed {self.config.attempts} times, in the end: {trouble}")
        return seen

    def _operate(self, seen: Observation, part: str, opens: bool, tried: set) -> Run:
        """One try at moving a part into the other phase, with a pinch not yet `tried`."""
        config, door = self.config, part == "door"
        operation, path = self._moves.plan(seen, self._moves.move(seen, part, opens), tried)
        grasp, end = operation.motion[0], operation.motion[-1]
        yield from self._move(seen.hand, time_path(path, config.travel), PRE_PINCH)
        approach = time_path(operation.approach, config.closing_in)
        yield from self._move(PRE_PINCH, approach, PRE_PINCH)
        yield from self._fingers(grasp, PRE_PINCH, PINCH)
        speed = config.pulling if door else config.turning
        yield from self._move(PINCH, time_path(operation.motion, speed), PINCH)
        seen = yield from self._hold(end, PINCH)
        if door and seen.part_open["door"]:
            return seen
        yield from self._fingers(end, PINCH, RELEASE)
        yield from self._fingers(end, RELEASE, PRE_PINCH)
        retreat = time_path(operation.retreat, config.closing_in)
        return (yield from self._move(PRE_PINCH, retreat, PRE_PINCH))

    def _move(self, hand_from, arm_rows, hand_to) -> Run:
        """The arm along its rows while the fingers go to a posture."""
        fractions = np.linspace(0, 1, len(arm_rows) + 1)[1:, None]
        hand_rows = hand_from + fractions * (hand_to - hand_from)
        return (yield from self._play(np.hstack([arm_rows, hand_rows])))

    def _fingers(self, arm, start, end) -> Run:
        """The fingers from one posture to another while the arm stands, then a short wait."""
        move = max(1, round(self.config.pinch_time / FRAME))
        wait = max(1, round(self.config.settle_time / FRAME))
        fractions = np.minimum(1, np.arange(1, move + wait + 1) / move)[:, None]
        rows = start + fractions * (end - start)
        return (yield from self._play(np.hstack([np.tile(arm, (len(rows), 1)), rows])))

    def _hold(self, arm, hand) -> Run:
        count = max(1, round(self.config.settle_time / FRAME))
        return (yield from self._play(np.tile(np.concatenate([arm, hand]), (count, 1))))

    def _play(self, rows: NDArray[np.float64]) -> Run:
        for begin in range(0, len(rows), MAX_ROWS):
            seen = yield rows[begin : begin + MAX_ROWS]
        return seen
