"""Find the habits of the expert that planner_node ships, data/habits.yaml.

    python scripts/find_habits.py OUT.yaml

It takes 15 min on two cores. With the safe at the centre of the poses of the nominal split, the
script lists the possible grasps of each part. It selects the grasp that is also possible at most
corners of the range of poses, and of several such grasps the one nearest to the posture at the
start of an episode. Near one posture, paths between grasps are short and straight.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from planner_node.grasping import Habit, Operation, Unreachable
from planner_node.hand import PRE_PINCH
from planner_node.moves import ExpertObservation, MoveConfig, MovePlanner, situations
from rulesafe_core.files import write_atomically
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.strict_yaml import read_yaml
from rulesafe_locks.rules import PARTS
from rulesafe_sim.config import Placement
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import HOME_ACTION, placement_pose

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
"""Ways to grasp a part that are tried at the corners; a pull has the most ways."""

CORNERS = tuple((x, y, z, x * y * z) for x, y, z in product((-1, 1), repeat=3))
"""Signs of x, y, z and yaw."""

ALIKE = 0.8
"""Largest difference (rad) of a joint between the middle and a corner, in one way to grasp."""

START = HOME_ACTION[: len(ARM_JOINTS)]
"""(7,) rad, the arm as episodes begin, but for the variation."""


@dataclass(frozen=True)
class _Candidate:
    """A way to take a part at the middle place, and what became of it at the corners."""

    habit: Habit  # its posture that of halfway through the motion
    kept: int  # places where the same pinch is the first that can be had
    away: float  # rad, norm of the difference to the posture in which episodes begin


def places(hinge: str) -> list[Placement]:
    """The middle of the places of the nominal split, then CORNERS of them."""
    around = load_split("nominal").randomisation.placement
    middle = around.around(hinge)
    corners = []
    for *signs, turn in CORNERS:
        x, y, z = np.add(middle.xyz, np.multiply(signs, around.xyz)).tolist()
        corners.append(Placement((x, y, z), middle.yaw + turn * around.yaw))
    return [middle, *corners]


def _ways(
    planner: MovePlanner, seen: ExpertObservation, part: str, opens: bool
) -> Iterator[Operation]:
    try:
        yield from planner.operations(seen, planner.move(seen, part, opens))
    except Unreachable:
        return


def _seen(safe: Safe, pose: NDArray[np.float64], is_open: Sequence[str]) -> ExpertObservation:
    positions = {part: safe.parts[part].range if part in is_open else 0.0 for part in PARTS}
    phases = {part: part in is_open for part in PARTS}
    return ExpertObservation(START, PRE_PINCH, positions, phases, pose, ())


Situation = tuple[str, str, bool, tuple[str, ...]]
"""A safe's name, and one of SITUATIONS."""


def find(safe: Safe, part: str, opens: bool, before: Sequence[str]) -> tuple[str, str, _Candidate]:
    """The situation, the same for the hinge's side, and the best candidate for the habit.

    Errors: Unreachable if the part cannot be taken at the middle place.
    """
    poses = [placement_pose(place) for place in places(safe.hinge)]
    planners = [MovePlanner(safe, pose) for pose in poses]
    seen = [_seen(safe, pose, before) for pose in poses]
    own, side = situations(safe, seen[0], planners[0].move(seen[0], part, opens))

    def accustom(habit: Habit) -> None:
        for planner in planners:
            planner.config = MoveConfig(habits={own: habit})

    grasps = planners[0].grasps(planners[0].move(seen[0], part, opens))
    accustom(Habit(tuple(START.tolist())))
    found = []
    for way in list(islice(_ways(planners[0], seen[0], part, opens), CANDIDATES[part])):
        posture = way.motion[len(way.motion) // 2]
        pinch = (grasps.index(way.pinch.grasp), way.pinch.sense, way.pinch.roll, way.pinch.tilt)
        habit = Habit(tuple(posture.round(3).tolist()), pinch)
        accustom(habit)
        had = [
            next(_ways(planner, view, part, opens), None)
            for planner, view in zip(planners, seen, strict=True)
        ]
        kept = sum(
            other is not None
            and other.pinch.key == way.pinch.key
            and np.abs(other.motion[len(other.motion) // 2] - posture).max() < ALIKE
            for other in had
        )
        found.append(_Candidate(habit, kept, float(np.linalg.norm(posture - START))))
    if not found:
        raise Unreachable(f"{own}: cannot be taken at the middle place")
    return own, side, min(found, key=lambda candidate: (-candidate.kept, candidate.away))


def _task(task: Situation) -> tuple[str, str, _Candidate]:
    name, part, opens, before = task
    return find(load_safe(name), part, opens, before)


def main(out: Path, processes: int = 2) -> None:
    """Finds the habits of all safes and writes them to a YAML file; those in it are kept, so that
    the same call resumes."""
    habits: dict[str, dict[str, list[float]]] = read_yaml(out) if out.exists() else {}
    tasks = [(name, *situation) for situation in SITUATIONS for name in SAFES]
    left = tasks[sum(key.split()[0] in SAFES for key in habits) :]
    with get_context("spawn").Pool(processes) as pool:
        for own, side, best in pool.imap(_task, left):
            of = len(CORNERS) + 1
            print(f"{own}: {best.kept} of {of} places, {best.away:.2f} rad away", flush=True)
            assert best.habit.pinch is not None
            habits[own] = {"posture": [*best.habit.posture], "pinch": [*best.habit.pinch]}
            habits[side] = {"posture": _medoid(habits, side)}
            text = HEAD + yaml.safe_dump(habits, default_flow_style=None, sort_keys=True)
            write_atomically(out, text.encode())


def _medoid(habits: Mapping[str, Mapping[str, list[float]]], side: str) -> list[float]:
    """The posture of a side's safes that is nearest to the others'."""
    hinge, event = side.split(" ", 1)
    own = [f"{name} {event}" for name in SAFES if load_safe(name).hinge == hinge]
    postures = np.array([habits[key]["posture"] for key in own if key in habits])
    apart = np.linalg.norm(postures[:, None] - postures, axis=2).sum(axis=1)
    return postures[apart.argmin()].tolist()


HEAD = """\
# For each situation (a safe, or the hinge's side for other safes; an event; for the door how the
# handle stands): the arm's posture (7, rad) halfway through the motion, and the pinch: number of
# the safe's grasp, sense, roll and tilt (rad). Found by scripts/find_habits.py.
"""

if __name__ == "__main__":
    main(Path(sys.argv[1]))
