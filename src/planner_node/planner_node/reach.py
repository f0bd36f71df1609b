"""Whether the arm can operate a safe at its pose, and another pose if it cannot."""

from planner_node.moves import ExpertObservation, MovePlanner
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import PARTS, Rule, load_rule
from rulesafe_sim.randomisation import Randomisation, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import placement_pose, start_action
from rulesafe_sim.variation import Variation

DRAWS = 20
"""Number of safe poses that are sampled to find one within reach."""


class OutOfReach(RuleSafeError):
    """The arm can operate the safe at none of the sampled poses."""


def reachable_variation(
    safe: str | Safe, rule: str | Rule, randomisation: Randomisation, seed: int
) -> tuple[Variation, int]:
    """Return the first of a seed's variations in which the arm can operate the safe.

    Only the safe's pose differs between the variations of a seed.

    Returns:
        The variation, and the number of poses rejected before it.

    Raises:
        OutOfReach: after DRAWS poses.
    """
    found = load_safe(safe)
    for draw in range(DRAWS):
        variation = sample_variation(randomisation, found, seed, draw)
        if not out_of_reach(found, rule, variation):
            return variation, draw
    raise OutOfReach(
        f"{found.id}, seed {seed}: the safe is out of the arm's reach at all {DRAWS} sampled "
        "poses; use a split with a narrower placement"
    )


def out_of_reach(safe: Safe, rule: str | Rule, variation: Variation) -> str:
    """Return the first event of the rule's shortest plan that the arm cannot carry out, such as
    "door+", with the safe at the variation's pose; empty if there is none.

    An event counts as reachable if one pinch is within reach and collision-free during the complete
    move. The path to the pinch is not planned, and physics is not simulated.
    """
    plan = shortest_plan(load_rule(rule))
    pose = placement_pose(variation.placement)
    moves = MovePlanner(safe, pose)
    start = start_action(variation)
    is_open = dict.fromkeys(PARTS, False)
    known: set[tuple] = set()
    for event in plan:
        part, opens = event[:-1], event.endswith("+")
        situation = (event, *is_open.values())
        if situation not in known:
            known.add(situation)
            positions = {name: is_open[name] * safe.parts[name].range for name in PARTS}
            obs = ExpertObservation(start[:7], start[7:], positions, dict(is_open), pose, ())
            if not moves.reaches(obs, moves.move(obs, part, opens)):
                return event
        is_open[part] = opens
    return ""
