"""The expert: opens a safe step by step and yields the chunks of joint targets that do it.

It sees what a policy may not (the safe's pose and phases) and is used to make demonstrations.
No ROS and no simulation here: state in, chunk out, so that it runs the same in process and as a
node.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner_node.grasping import Unreachable
from planner_node.motion import NoPath
from planner_node.moves import ExpertObservation, MoveConfig, MovePlanner
from planner_node.primitives import Chunk, Pace, Pressed, Primitives, Run
from rulesafe_core.settings import Settings, setting
from rulesafe_sim.episode import Activity, AgentLog, Stuck
from rulesafe_sim.safe import Safe


@dataclass(frozen=True)
class ExpertConfig(Settings):
    """Pace of the expert, how it plans, and how often it tries."""

    pace: Pace = Pace()
    moves: MoveConfig = MoveConfig()
    attempts: int = setting(4, "Attempts at one step.")
    steps: int = setting(40, "Steps of an episode.")


class Expert:
    """Opens a safe: does what remains to be done, event by event, and looks again after each, so
    that a part that was moved by accident is put right.

    A fixed `plan` of events, such as ["knob+"], is executed as it stands instead.
    `begin(observation)` gives the first chunk, `next_chunk(observation)` the following ones, or
    None when nothing remains; `activity` is what the last chunk is for. Errors: Stuck, with the
    step and the reason.
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
        self.log = AgentLog()
        self._seed = seed
        self._hand = Primitives(config.pace)
        self._moves: MovePlanner | None = None
        self._run: Run | None = None

    @property
    def activity(self) -> Activity:
        return self._hand.activity

    def begin(self, observation: ExpertObservation) -> Chunk | None:
        """Starts: the first chunk, or None where there is nothing to do."""
        self._moves = MovePlanner(
            self.safe, observation.pose_safe_in_pelvis, self.config.moves, self._seed
        )
        self._run = self._perform(observation)
        return self._advance(None)

    def next_chunk(self, observation: ExpertObservation) -> Chunk | None:
        """The chunk that follows, given what the last one led to; None at the end."""
        return self._advance(observation)

    def _advance(self, observation: ExpertObservation | None) -> Chunk | None:
        assert self._run is not None and self._moves is not None, "call begin first"
        try:
            return self._run.send(observation)  # type: ignore[arg-type]
        except StopIteration:
            return None
        finally:
            self.log.planning_seconds = self._moves.seconds

    def _perform(self, obs: ExpertObservation) -> Run:
        if self.plan is not None:
            for number, event in enumerate(self.plan, 1):
                obs = yield from self._step(obs, number, event)
            return obs
        number = 0
        while obs.remaining:
            number += 1
            if number > self.config.steps:
                raise Stuck(f"{number - 1} steps done, and {', '.join(obs.remaining)} still remain")
            obs = yield from self._step(obs, number, obs.remaining[0])
        if not obs.part_open["door"]:
            raise Stuck("no sequence of moves opens the door any more")
        return obs

    def _step(self, obs: ExpertObservation, number: int, event: str) -> Run:
        """Moves a part into the other phase, with a bounded number of tries; earlier, when a part
        that moved by accident makes another event the next. Errors: Stuck."""
        part, opens = event[:-1], event.endswith("+")
        step = f"step {number} ({event})"
        tried: set[tuple] = set()
        trouble = ""
        for attempt in range(1, self.config.attempts + 1):
            if obs.part_open[part] == opens:
                break
            if attempt > 1:
                self.log.retries += 1
                if self.plan is None and obs.remaining[:1] != (event,):
                    return obs
            name = f"{step}, try {attempt}"
            self._hand.activity = Activity(number, event, attempt)
            self._hand.peak_force = 0.0
            try:
                obs = yield from self._operate(obs, part, opens, tried)
            except Pressed as error:
                trouble = str(error)
                self.log.steps.append(f"{name}: {trouble}")
                obs = yield from self._hand.release(error.command[:7], error.command[7:])
                continue
            except (Unreachable, NoPath) as error:
                trouble = str(error)
                self.log.steps.append(f"{name}: {trouble}")
                if not tried:  # nothing would change
                    raise Stuck(f"{name}: {trouble}") from error
                tried.clear()  # do again what slipped before
                continue
            reached = round(np.degrees(obs.part_positions[part]))
            trouble = f"the {part} slipped; it stands at {reached} deg"
            self.log.steps.append(
                f"{name}: ended with the {part} at {reached} deg, at most "
                f"{self._hand.peak_force:.0f} N"
            )
        if obs.part_open[part] != opens:
            raise Stuck(f"{step}, failed {self.config.attempts} times, in the end: {trouble}")
        self.log.events.append(event)
        return obs

    def _operate(self, obs: ExpertObservation, part: str, opens: bool, tried: set) -> Run:
        """One try at moving a part into the other phase, with a pinch not yet `tried`."""
        assert self._moves is not None
        operation, path = self._moves.plan(obs, self._moves.move(obs, part, opens), tried)
        tried.add(operation.pinch.key)
        hand, door = self._hand, part == "door"
        yield from hand.travel(obs, path)
        yield from hand.approach(operation.approach)
        yield from hand.pinch(operation.motion[0])
        obs = yield from (hand.pull if door else hand.turn)(operation.motion)
        if door and obs.part_open["door"]:
            return obs
        yield from hand.release(operation.motion[-1])
        return (yield from hand.retreat(operation.retreat))


def paced(config: ExpertConfig, factor: float) -> ExpertConfig:
    """The same expert, `factor` times as fast."""
    return replace(config, pace=replace(config.pace, factor=config.pace.factor * factor))
