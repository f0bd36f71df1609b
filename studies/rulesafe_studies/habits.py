"""Find the habits of the expert that planner_node ships, data/habits.yaml.

It takes 15 min on two cores. With the safe at the centre of the poses of the nominal split, the
script lists the possible grasps of each part. It selects the grasp that is also possible at most
corners of the range of poses, and of several such grasps the one nearest to the posture at the
start of an episode. Near one posture, paths between grasps are short and straight.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
import yaml
from numpy.typing import NDArray

from planner_node.grasping import Habit, Operation, Unreachable
from planner_node.hand import PRE_PINCH
from planner_node.moves import ExpertObservation, MoveConfig, MovePlanner, situations
from rulesafe_core.files import write_atomically
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.strict_yaml import read_yaml
from rulesafe_locks.rules import PARTS
from rulesafe_sim.bodies import placement_pose
from rulesafe_sim.config import Placement
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import HOME_ACTION

SITUATIONS = (
    ("knob", True, ()),
    ("knob", False, ("knob",)),
    ("handle", True, ()),
    ("handle", False, ("handle",)),
    ("door", True, ()),
    ("door", True, ("handle",)),
)
"""Part, whether it is opened, and which parts are open before."""

CANDIDATES = {"knob": 8, "handle": 8, "door": 24}
"""Number of operations per part that are tried at the corners; a pull has the most operations."""

CORNERS = tuple((x, y, z, x * y * z) for x, y, z in product((-1, 1), repeat=3))
"""Signs of x, y, z and yaw."""

TOLERANCE = 0.8
"""Largest difference (rad) of a joint between centre and corner for the same grasp posture."""

START = HOME_ACTION[: len(ARM_JOINTS)]
"""(7,) rad, the arm posture at the start of an episode, without variation."""


@dataclass(frozen=True)
class _Candidate:
    """A habit from an operation at the centre, with its scores at all placements."""

    habit: Habit  # its posture is the one halfway through the motion
    feasible: int  # placements at which the first operation has the same pinch and posture
    distance: float  # rad, norm of the difference to START


def placements(hinge: str) -> list[Placement]:
    """Return the centre of the poses of the nominal split, then their CORNERS."""
    around = load_split("nominal").randomisation.placement
    centre = around.around(hinge)
    corners = []
    for *signs, turn in CORNERS:
        x, y, z = np.add(centre.xyz, np.multiply(signs, around.xyz)).tolist()
        corners.append(Placement((x, y, z), centre.yaw + turn * around.yaw))
    return [centre, *corners]


def _operations(
    planner: MovePlanner, obs: ExpertObservation, part: str, opens: bool
) -> Iterator[Operation]:
    try:
        yield from planner.operations(obs, planner.move(obs, part, opens))
    except Unreachable:
        return


def _observation(
    safe: Safe, pose: NDArray[np.float64], is_open: Sequence[str]
) -> ExpertObservation:
    positions = {part: safe.parts[part].range if part in is_open else 0.0 for part in PARTS}
    phases = {part: part in is_open for part in PARTS}
    return ExpertObservation(START, PRE_PINCH, positions, phases, pose, ())


Situation = tuple[str, str, bool, tuple[str, ...]]
"""A safe's name, and one of SITUATIONS."""


def find(safe: Safe, part: str, opens: bool, before: Sequence[str]) -> tuple[str, str, _Candidate]:
    """Return the keys of one of SITUATIONS for the safe and for the side of its hinge, and the best
    candidate for the habit.

    Raises:
        Unreachable: the part has no operation at the centre.
    """
    poses = [placement_pose(placement) for placement in placements(safe.hinge)]
    planners = [MovePlanner(safe, pose) for pose in poses]
    observations = [_observation(safe, pose, before) for pose in poses]
    planner, obs = planners[0], observations[0]
    key, side = situations(safe, obs, planner.move(obs, part, opens))

    def set_habit(habit: Habit) -> None:
        for each in planners:
            each.config = MoveConfig(habits={key: habit})

    grasps = planner.grasps(planner.move(obs, part, opens))
    set_habit(Habit(tuple(START.tolist())))
    candidates = []
    for operation in list(islice(_operations(planner, obs, part, opens), CANDIDATES[part])):
        posture, pinch = operation.motion[len(operation.motion) // 2], operation.pinch
        habit = Habit(
            tuple(posture.round(3).tolist()),
            (grasps.index(pinch.grasp), pinch.sense, pinch.roll, pinch.tilt),
        )
        set_habit(habit)
        first = [
            next(_operations(each, view, part, opens), None)
            for each, view in zip(planners, observations, strict=True)
        ]
        feasible = sum(
            other is not None
            and other.pinch.key == pinch.key
            and np.abs(other.motion[len(other.motion) // 2] - posture).max() < TOLERANCE
            for other in first
        )
        candidates.append(_Candidate(habit, feasible, float(np.linalg.norm(posture - START))))
    if not candidates:
        raise Unreachable(f"{key}: no operation is within reach at the centre of the poses")
    return key, side, min(candidates, key=lambda each: (-each.feasible, each.distance))


def _task(task: Situation) -> tuple[str, str, _Candidate]:
    name, part, opens, before = task
    return find(load_safe(name), part, opens, before)


def write(out: Annotated[Path, tyro.conf.Positional], processes: int = 2) -> None:
    """Find the habits of the expert on all safes and write them to a YAML file.

    Habits already in the file are kept, so that the same call resumes an interrupted run.

    Args:
        out: YAML file.
        processes: Number of processes.
    """
    habits: dict[str, dict[str, list[float]]] = read_yaml(out) if out.exists() else {}
    tasks = [(name, *situation) for situation in SITUATIONS for name in SAFES]
    left = tasks[sum(key.split()[0] in SAFES for key in habits) :]
    with get_context("spawn").Pool(processes) as pool:
        for key, side, best in pool.imap(_task, left):
            count = f"{best.feasible} of {len(CORNERS) + 1} poses"
            print(f"{key}: {count}, {best.distance:.2f} rad from the start", flush=True)
            assert best.habit.pinch is not None
            habits[key] = {"posture": [*best.habit.posture], "pinch": [*best.habit.pinch]}
            habits[side] = {"posture": _medoid(habits, side)}
            text = HEAD + yaml.safe_dump(habits, default_flow_style=None, sort_keys=True)
            write_atomically(out, text.encode())


def _medoid(habits: Mapping[str, Mapping[str, list[float]]], side: str) -> list[float]:
    """Return the posture with the smallest sum of distances to those of other safes of a side."""
    hinge, event = side.split(" ", 1)
    keys = [f"{name} {event}" for name in SAFES if load_safe(name).hinge == hinge]
    postures = np.array([habits[key]["posture"] for key in keys if key in habits])
    distances = np.linalg.norm(postures[:, None] - postures, axis=2).sum(axis=1)
    return postures[distances.argmin()].tolist()


HEAD = """\
# For each situation (a safe, or the hinge's side for other safes; an event; for the door how the
# handle stands): the arm's posture (7, rad) halfway through the motion, and the pinch: number of
# the safe's grasp, sense, roll and tilt (rad). Found by
# python -m rulesafe_studies habits.
"""
