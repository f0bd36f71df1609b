"""Whether a safe stands where the arm can work it, and another place where it does not."""

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
"""Places that are tried before giving up."""


class OutOfReach(RuleSafeError):
    """None of the places drawn is within the arm's reach."""


def reachable_variation(
    safe: str | Safe, rule: str | Rule, randomisation: Randomisation, seed: int
) -> tuple[Variation, int]:
    """The first of a seed's variations whose safe the arm can work, and how many places were
    passed over for it: 0 where the first one serves.

    Only the place is drawn anew. Errors: OutOfReach after DRAWS places.
    """
    found = load_safe(safe)
    for draw in range(DRAWS):
        variation = sample_variation(randomisation, found, seed, draw)
        if not out_of_reach(found, rule, variation):
            return variation, draw
    raise OutOfReach(
        f"{found.id}, seed {seed}: the arm reaches none of {DRAWS} places; narrow the split's "
        "placement"
    )


def out_of_reach(safe: Safe, rule: str | Rule, variation: Variation) -> str:
    """The first event of the rule's shortest plan that the arm cannot bring about with the safe
    where it stands, such as "door+"; empty if there is none.

    It asks for one pinch that reaches all through the move and strikes nothing; the way to it is
    not searched, and the physics not run.
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
