"""The expert: opens a safe step by step and yields the action chunks that do it.

The expert uses privileged state that a policy may not use (pose and phases of the safe). It
generates demonstrations. The module needs neither ROS nor a simulation: an observation goes in, a
chunk comes out, so the expert runs the same in process and as a node, except that the node does not
know the speed of the scene's variation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner_node.grasping import Operation, Unreachable
from planner_node.hand import HAND_AXES, PINCH_POINT
from planner_node.kinematics import Arm
from planner_node.motion import NoPath, Path
from planner_node.moves import ExpertObservation, MoveConfig, MovePlanner
from planner_node.primitives import HELD, Chunk, InterruptedMotion, Pace, Primitives, Run
from rulesafe_core.settings import Settings, setting
from rulesafe_sim.episode import MISS, Activity, AgentError, AgentLog
from rulesafe_sim.safe import Safe

MISSES = (0.008, 0.06)
"""Smallest and largest distance between a deliberate miss and the grasp, m."""

SLIP = 3
"""Number of waypoints of a motion in which the hand leaves the part."""


@dataclass(frozen=True)
class ExpertConfig(Settings):
    """Speeds of the expert, its planning, its numbers of attempts, and its deliberate misses.

    A miss demonstrates how to recover (compare Laskey et al., "DART: noise injection for robust
    imitation learning", 2017). A policy that is trained without misses continues after one as if it
    held the part. In half of the misses the hand closes beside the part, in the others it leaves
    the part during the motion. An expert with misses releases a part that it has lost at once.
    """

    pace: Pace = Pace()
    moves: MoveConfig = MoveConfig()
    attempts: int = setting(4, "Maximum number of attempts at one step.")
    steps: int = setting(40, "Maximum number of steps of an episode.")
    misses: float = setting(0.0, "Probability that a grasp deliberately misses.", 0, 1)


class Expert:
    """Opens a safe event by event.

    After each event the expert observes the safe again, so that a part that was moved by accident
    is moved back. If `plan` is given, a list of events such as "knob+" (open the knob), the expert
    executes it without replanning.

    `begin(observation)` returns the first chunk, `next_chunk(observation)` the following ones, or
    None at the end; both raise AgentError with the step and the reason. `activity` describes the
    last chunk.

    Args:
        safe: the safe.
        plan: see above.
        config: speeds, planning, attempts and misses.
        seed: seed of the motion planning.
        misses_seed: seed of the deliberate misses.
    """

    def __init__(
        self,
        safe: Safe,
        plan: Sequence[str] | None = None,
        config: ExpertConfig = ExpertConfig(),
        seed: int = 0,
        misses_seed: int = 0,
    ):
        self.safe = safe
        self.plan = plan
        self.config = config
        self.log = AgentLog()
        self._seed = seed
        self._rng = np.random.default_rng(misses_seed)
        self._hand = Primitives(config.pace)
        self._moves: MovePlanner | None = None
        self._run: Run | None = None

    @property
    def activity(self) -> Activity:
        return self._hand.activity

    def begin(self, observation: ExpertObservation) -> Chunk | None:
        """Start an episode and return the first chunk, or None if there is nothing to do."""
        self._moves = MovePlanner(
            self.safe, observation.pose_safe_in_pelvis, self.config.moves, self._seed
        )
        self._run = self._perform(observation)
        return self._advance(None)

    def next_chunk(self, observation: ExpertObservation) -> Chunk | None:
        """Return the next chunk, given the observation after the last one; None at the end."""
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
                raise AgentError(
                    f"the safe is not open after {number - 1} steps; remaining events: "
                    + ", ".join(obs.remaining)
                )
            obs = yield from self._step(obs, number, obs.remaining[0])
        if not obs.part_open["door"]:
            raise AgentError("the door is closed, and no sequence of events can open it any more")
        return obs

    def _step(self, obs: ExpertObservation, number: int, event: str) -> Run:
        """Move a part into its other phase, in a limited number of attempts.

        Returns early if the next event changes because a part was moved by accident.

        Raises:
            AgentError: when all attempts have failed.
        """
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
            except InterruptedMotion as error:
                trouble = str(error)
                self.log.steps.append(f"{name}: {trouble}")
                obs = yield from self._hand.release(error.command[:7], error.command[7:])
                continue
            except (Unreachable, NoPath) as error:
                trouble = str(error)
                self.log.steps.append(f"{name}: {trouble}")
                if not tried:  # a further attempt would plan the same and fail again
                    raise AgentError(f"{name}: {trouble}") from error
                tried.clear()  # allow the pinches that slipped before
                continue
            reached = round(np.degrees(obs.part_positions[part]))
            trouble = f"the {part} slipped and is at {reached} deg"
            self.log.steps.append(
                f"{name}: ended with the {part} at {reached} deg, largest force "
                f"{self._hand.peak_force:.0f} N"
            )
        if obs.part_open[part] != opens:
            raise AgentError(f"{step} failed {self.config.attempts} times; last error: {trouble}")
        self.log.events.append(event)
        return obs

    def _operate(self, obs: ExpertObservation, part: str, opens: bool, tried: set) -> Run:
        """Make one attempt to move a part into its other phase, with a pinch not in `tried`."""
        assert self._moves is not None
        move = self._moves.move(obs, part, opens)
        operation, path = self._moves.plan(obs, move, tried)
        hand, door = self._hand, part == "door"
        grasp: tuple[str, ...] = ()  # other names of the operations
        motion: tuple[str, ...] = ()
        if self._rng.random() < self.config.misses:
            if self._rng.random() < 0.5:
                operation, grasp = self._beside(self._moves.arm, operation), (MISS,)
            else:
                operation, motion = self._slipping(self._moves.arm, operation), (MISS,)
        else:
            tried.add(operation.pinch.key)
        yield from hand.travel(obs, path)
        yield from hand.approach(operation.approach, *grasp)
        obs = yield from hand.pinch(operation.motion[0], *grasp)
        if obs.contact_forces.get(move.grasped_part, HELD) < HELD:
            yield from hand.release(operation.motion[0])
            return (yield from hand.retreat(operation.approach[::-1]))
        hand.held = move.grasped_part if self.config.misses else ""
        obs = yield from (hand.pull if door else hand.turn)(operation.motion, *motion)
        if door and obs.part_open["door"]:
            return obs
        yield from hand.release(operation.motion[-1])
        return (yield from hand.retreat(operation.retreat))

    def _beside(self, arm: Arm, operation: Operation) -> Operation:
        """Return an operation whose grasp is displaced; it begins and ends at the same postures."""
        change = self._displacement(arm, operation.motion[0])
        near = np.linspace(0, 1, len(operation.approach))[:, None]
        far = np.linspace(1, 0, len(operation.retreat))[:, None]
        return replace(
            operation,
            approach=operation.approach + near * change,
            motion=operation.motion + change,
            retreat=operation.retreat + far * change,
        )

    def _slipping(self, arm: Arm, operation: Operation) -> Operation:
        """Return an operation in whose motion the hand leaves the part at a random place."""
        motion = operation.motion
        place = self._rng.integers(len(motion))
        change = self._displacement(arm, motion[place])
        near = np.clip(np.arange(len(motion)) - place + 1, 0, SLIP)[:, None] / SLIP
        far = np.linspace(1, 0, len(operation.retreat))[:, None]
        return replace(
            operation,
            motion=motion + near * change,
            retreat=operation.retreat + near[-1] * far * change,
        )

    def _displacement(self, arm: Arm, posture: Path) -> Path:
        """Return the change of a posture (7,), rad, that displaces the pinch point by a distance of
        MISSES, mostly back along the approach."""
        direction = self._rng.standard_normal(3)
        direction[0] = -3 * abs(direction[0])
        distance = np.exp(self._rng.uniform(*np.log(MISSES)))
        offset = distance * HAND_AXES @ direction / np.linalg.norm(direction)
        (rotation, _), jacobian = arm.differentiate(posture)
        lever = np.cross(rotation @ PINCH_POINT, np.eye(3))  # of the pinch point
        jacobian[:3] += lever @ jacobian[3:]
        change: Path = np.linalg.pinv(jacobian) @ np.append(rotation @ offset, np.zeros(3))
        return change


def with_speed(config: ExpertConfig, factor: float) -> ExpertConfig:
    """Return the configuration with all speeds multiplied by `factor`."""
    return replace(config, pace=replace(config.pace, factor=config.pace.factor * factor))
