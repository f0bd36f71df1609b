"""Whether the arm can operate a safe at its pose; see `rulesafe_sim.episodes.place`."""

from functools import lru_cache

from planner_node.moves import ExpertObservation, MovePlanner
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import PARTS, Rule, load_rule
from rulesafe_sim.bodies import placement_pose
from rulesafe_sim.safe import Safe
from rulesafe_sim.simulation import start_action
from rulesafe_sim.variation import Placement, Variation


def out_of_reach(safe: Safe, rule: str | Rule, variation: Variation) -> str:
    """Return the first event of the rule's shortest plan that the arm cannot carry out, such as
    "door+", with the safe at the variation's pose; empty if there is none.

    An event counts as reachable if one pinch is within reach and collision-free during the complete
    move. The path to the pinch is not planned, and physics is not simulated.
    """
    is_open = dict.fromkeys(PARTS, False)
    for event in shortest_plan(load_rule(rule)):
        if not _reaches(safe, variation.placement, variation.arm, event, tuple(is_open.values())):
            return event
        is_open[event[:-1]] = event.endswith("+")
    return ""


@lru_cache(maxsize=1)
def _planner(safe: Safe, placement: Placement) -> MovePlanner:
    return MovePlanner(safe, placement_pose(placement))


@lru_cache(maxsize=1024)  # the rules of an evaluation have the same poses and few different events
def _reaches(
    safe: Safe,
    placement: Placement,
    arm: tuple[float, ...],
    event: str,
    open_parts: tuple[bool, ...],
) -> bool:
    """Return whether the arm can carry out an event, such as "door+", with some of PARTS open."""
    is_open = dict(zip(PARTS, open_parts, strict=True))
    positions = {name: is_open[name] * safe.parts[name].range for name in PARTS}
    start, pose = start_action(Variation(placement, arm=arm)), placement_pose(placement)
    obs = ExpertObservation(start[:7], start[7:], positions, is_open, pose, ())
    moves = _planner(safe, placement)
    return moves.reaches(obs, moves.move(obs, event[:-1], event.endswith("+")))
