"""The expert: opens a safe step by step and yields the chunks of joint targets that do it.

It sees what a policy may not (the safe's pose and phases) and is used to make demonstrations.
No ROS and no simulation here: state in, chunk out, so that it runs the same in process and as a
node.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner_node.collision import CollisionWorld
from planner_node.grasping import (
    AT_AXIS,
    OFF_AXIS,
    PULLING,
    Freedom,
    Grasper,
    Operation,
    PartPose,
    Unreachable,
)
from planner_node.hand import PINCH, PRE_PINCH, RELEASE
from planner_node.kinematics import Arm
from planner_node.motion import FRAME, NoPath, PathPlanner, Speed, time_path
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import Grasp, Safe
from rulesafe_sim.stand import stand_shapes
from rulesafe_sim.transforms import Transform

CHUNK = 50  # rows of the longest chunk

Chunk = NDArray[np.float64]  # (n, 13) targets in rad at 10 Hz, n <= CHUNK


@dataclass(frozen=True)
class Observation:
    """What the expert looks at, at the end of a chunk."""

    arm: NDArray[np.float64]  # (7,) rad
    hand: NDArray[np.float64]  # (6,) rad
    part_positions: Mapping[str, float]  # rad
    part_open: Mapping[str, bool]
    pose_safe_in_pelvis: Transform


@dataclass(frozen=True)
class ExpertConfig:
    """Speeds, times and tolerances of the expert."""

    travel: Speed = Speed(0.9, 0.4)
    closing_in: Speed = Speed(0.5, 0.3)
    turning: Speed = Speed(0.8, 0.4)
    pulling: Speed = Speed(0.6, 0.4)
    pinch_time: float = 1.0  # s to close or open the fingers
    settle_time: float = 0.3  # s held after a pinch and after a motion
    overshoot: float = 0.09  # rad the hand turns past a stop, for the pinch's compliance
    door_margin: float = 0.12  # rad the door is pulled past its open threshold
    attempts: int = 4
    candidates: int = 12  # operations checked for collisions before giving up


class Stuck(RuleSafeError):
    """The expert could not complete a step."""


@dataclass
class Log:
    """What happened, for reports: one line a try."""

    steps: list[str] = field(default_factory=list)
    retries: int = 0


Run = Generator[Chunk, Observation, Observation]


class Expert:
    """Executes a plan of events such as ["knob+", "handle+", "door+"] on a safe.

    `begin(observation)` gives the first chunk, `next_chunk(observation)` the following ones, or
    None when the plan is done. Errors: Stuck, with the step and the reason.
    """

    def __init__(
        self,
        safe: Safe,
        plan: Sequence[str],
        config: ExpertConfig = ExpertConfig(),
        seed: int = 0,
    ):
        self.safe = safe
        self.plan = list(plan)
        self.config = config
        self.log = Log()
        self._body = safe_body(safe)
        self._arm = Arm()
        self._grasper = Grasper(self._arm, seed)
        self._paths = PathPlanner(self._arm.lower, self._arm.upper, seed=seed + 1)
        self._run: Run | None = None

    def begin(self, observation: Observation) -> Chunk | None:
        """Starts the plan: the first chunk, or None for an empty plan."""
        stand = stand_shapes(self._body, observation.pose_safe_in_pelvis)
        self._world = CollisionWorld(self._body, stand)
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
        for number, event in enumerate(self.plan, 1):
            part, opens = event[:-1], event.endswith("+")
            tried: set[tuple] = set()
            for attempt in range(self.config.attempts):
                if seen.part_open[part] == opens:
                    break
                if attempt:
                    self.log.retries += 1
                name = f"step {number} ({event}), try {attempt + 1}"
                try:
                    seen = yield from self._operate(seen, part, opens, tried)
                except (Unreachable, NoPath) as error:
                    self.log.steps.append(f"{name}: {error}")
                    if not tried:  # nothing would change
                        raise Stuck(f"{name}: {error}") from error
                    tried.clear()  # do again what slipped before
                    continue
                reached = np.degrees(seen.part_positions[part])
                self.log.steps.append(f"{name}: {part} at {reached:.0f} deg")
            if seen.part_open[part] != opens:
                raise Stuck(
                    f"step {number} ({event}): the {part} slipped in each of "
                    f"{self.config.attempts} tries; it stands at "
                    f"{np.degrees(seen.part_positions[part]):.0f} deg"
                )
        return seen

    def _operate(self, seen: Observation, part: str, opens: bool, tried: set) -> Run:
        """One try at moving a part into the other phase, with a pinch not yet `tried`."""
        config, door = self.config, part == "door"
        held = "handle" if door else part
        now = seen.part_positions[part]
        goal = self._goal(part, opens)
        operation, path = self._choose(seen, part, held, (now, goal), tried)
        yield from self._move(seen.hand, time_path(path, config.travel), PRE_PINCH)
        seen = yield from self._move(
            PRE_PINCH, time_path(operation.approach, config.closing_in), PRE_PINCH
        )
        grasp = operation.motion[0]
        yield from self._fingers(grasp, PRE_PINCH, PINCH)
        speed = config.pulling if door else config.turning
        yield from self._move(PINCH, time_path(operation.motion, speed), PINCH)
        seen = yield from self._hold(operation.motion[-1], PINCH)
        if door and seen.part_open["door"]:
            return seen
        end = operation.motion[-1]
        yield from self._fingers(end, PINCH, RELEASE)
        yield from self._fingers(end, RELEASE, PRE_PINCH)
        return (
            yield from self._move(
                PRE_PINCH, time_path(operation.retreat, config.closing_in), PRE_PINCH
            )
        )

    def _goal(self, part: str, opens: bool) -> float:
        """Position (rad) that the hand steers for."""
        data = self.safe.parts[part]
        if part == "door":
            return data.open_above * data.range + self.config.door_margin
        return data.range + self.config.overshoot if opens else -self.config.overshoot

    def _choose(self, seen, part, held, positions, tried):
        """The first operation not yet `tried` that has a free path to it, and that path (N, 7).
        Errors: Unreachable, NoPath."""
        grasps = self.safe.grasps(held, "pull" if part == "door" else "turn")
        operations = self._grasper.operations(
            grasps,
            self._freedom(part, grasps),
            self._part_pose(seen, part, held),
            positions,
            seen.arm,
        )
        blocked: set[tuple[str, str]] = set()
        reachable = free = 0
        self._world.set_safe(seen.pose_safe_in_pelvis, seen.part_positions)
        for operation in operations:
            if operation.pinch.key in tried:
                continue
            reachable += 1
            self._world.permit(holding=held)
            contacts = self._contacts_of(operation, seen, part)
            if contacts:
                blocked |= contacts
                continue
            free += 1
            try:
                path = self._path_to(operation.approach[0], seen)
            except NoPath:
                if free == self.config.candidates:
                    break
                continue
            tried.add(operation.pinch.key)
            return operation, path
        names = ", ".join(f"{a} against {b}" for a, b in sorted(blocked)[:6])
        raise NoPath(
            f"{reachable} reachable pinches of the {held}, {free} of them free at the grasp, none "
            f"with a free way to it; in the way: {names or 'only the way to it'}"
        )

    @staticmethod
    def _freedom(part: str, grasps: Sequence[Grasp]) -> Freedom:
        if part == "door":
            return PULLING
        off_axis = max(np.hypot(*grasp.point[1:]) for grasp in grasps)
        return OFF_AXIS if off_axis > 0.02 else AT_AXIS

    def _contacts_of(self, operation: Operation, seen: Observation, part: str):
        """Pairs of links that would touch at the ends of an operation's pieces."""
        checks = [
            (operation.approach[0], PRE_PINCH),
            (operation.motion[0], PRE_PINCH),
            (operation.motion[0], PINCH),
        ]
        if part != "door":
            checks += [
                (operation.motion[len(operation.motion) // 2], PINCH),
                (operation.motion[-1], PINCH),
                (operation.retreat[-1], PRE_PINCH),
            ]
        for arm, hand in checks:
            contacts = self._world.contacts(arm, hand)
            if contacts:
                return contacts
        if part == "door":
            return self._pull_contacts(operation, seen)
        return set()

    def _pull_contacts(self, operation: Operation, seen: Observation):
        """Contacts on the way of a pull, with the door moved along."""
        goal = self._goal("door", True)
        start = seen.part_positions["door"]
        count = len(operation.motion)
        try:
            for i in (count // 3, 2 * count // 3, count - 1):
                angle = start + (goal - start) * i / (count - 1)
                self._world.set_safe(
                    seen.pose_safe_in_pelvis, {**seen.part_positions, "door": angle}
                )
                contacts = self._world.contacts(operation.motion[i], PINCH)
                if contacts:
                    return contacts
            return set()
        finally:
            self._world.set_safe(seen.pose_safe_in_pelvis, seen.part_positions)

    def _path_to(self, goal, seen: Observation):
        self._world.permit()
        # Where a try ended in touch with something, the way out may begin in touch with it.
        self._world.permit(pairs=self._world.contacts(seen.arm, PRE_PINCH))

        def collides(arm) -> bool:
            return self._world.collides(arm, PRE_PINCH)

        return self._paths.plan(seen.arm, goal, collides)

    def _part_pose(self, seen: Observation, part: str, held: str) -> PartPose:
        """Pose of the held part's link in the pelvis frame while `part` moves."""
        joints = {f"{name}_joint": value for name, value in seen.part_positions.items()}

        def pose(position: float) -> Transform:
            links = self._body.link_poses(joints | {f"{part}_joint": position})
            return seen.pose_safe_in_pelvis @ links[held]

        return pose

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
        for begin in range(0, len(rows), CHUNK):
            seen = yield rows[begin : begin + CHUNK]
        return seen
