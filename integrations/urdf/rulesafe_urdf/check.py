"""Check a safe as an evaluation uses it: its file, phases, grasps, poses, and the expert."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner_node.episode import run_expert
from planner_node.reach import out_of_reach
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import AgentError
from rulesafe_sim.episodes import OutOfReach, reachable_variation
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.safe import Safe
from rulesafe_sim.safe_meshes import Mesh
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Simulation
from rulesafe_urdf.phases import VISIBLE, measure_phase

SPLIT = "nominal"


@dataclass(frozen=True)
class SafeCheck:
    """Result of one check; `detail` has the figures, or the reason of a failure."""

    check: str
    passed: bool
    detail: str


def check_file(name: str | Path, rule: str, poses: int, seed: int = 0) -> Iterator[SafeCheck]:
    """Yield the results of all checks of a safe, as soon as each is done.

    Args:
        name: id of a safe, or path of its file.
        rule: the rule that the expert solves.
        poses: number of poses of the split "nominal".
        seed: seed of the first pose.
    """
    try:
        safe = load_safe(name)
    except RuleSafeError as error:
        yield SafeCheck("file", False, str(error))
        return
    yield SafeCheck("file", True, f"{safe.title}")
    yield from _phases(safe)
    yield _grasps(safe)
    seeds = range(seed, seed + poses)
    yield _poses(safe, rule, seeds)
    yield from _expert(safe, rule, seeds)


def _phases(safe: Safe) -> Iterator[SafeCheck]:
    """Compare the phases of parts that are meshes to renderings."""
    for name, part in safe.turners.items():
        if not isinstance(part.shape, Mesh):
            continue
        try:
            images = measure_phase(safe, name)
        except RuleSafeError as error:
            yield SafeCheck(f"phase of the {name}", False, f"cannot be measured: {error}")
            continue
        shown = "visible" if images.visible else "hidden"
        detail = f"{shown}: {images.difference:.1%} of its pixels differ, limit {VISIBLE:.0%}"
        same = images.visible == part.phase_visible
        if not same:
            stated = str(part.phase_visible).lower()
            detail += f"; parts.{name}.shape.phase_visible is {stated}"
        yield SafeCheck(f"phase of the {name}", same, detail)


def _grasps(safe: Safe) -> SafeCheck:
    counts = {
        "knob": len(safe.grasps("knob", "turn")),
        "handle": len(safe.grasps("handle", "turn")),
        "door": len(safe.grasps(safe.door.grasp.link, "pull")),
    }
    return SafeCheck("grasps", True, ", ".join(f"{name} {count}" for name, count in counts.items()))


def _poses(safe: Safe, rule: str, seeds: range) -> SafeCheck:
    """Count the poses at which each move of the rule's plan is within reach."""
    randomisation = SPLITS[SPLIT].randomisation
    missed: dict[str, int] = {}
    for seed in seeds:
        if event := out_of_reach(safe, rule, sample_variation(randomisation, safe, seed)):
            missed[event] = missed.get(event, 0) + 1
    reached = len(seeds) - sum(missed.values())
    reasons = ", ".join(f"{event} is out of reach in {n}" for event, n in missed.items())
    detail = f"{reached} of {len(seeds)} poses are within reach" + (f": {reasons}" * bool(missed))
    # Episodes use another pose where one is out of reach, as for the built-in safes.
    return SafeCheck("poses", 2 * reached >= len(seeds), detail)


def _expert(safe: Safe, rule: str, seeds: range) -> Iterator[SafeCheck]:
    simulation = Simulation()
    opened = 0
    randomisation = SPLITS[SPLIT].randomisation
    for seed in seeds:
        name = f"expert, pose {seed}"
        try:
            variation, _ = reachable_variation(
                safe, load_rule(rule), randomisation, seed, out_of_reach
            )
            simulation.reset(rule, safe, seed, variation)
            record = run_expert(simulation)
            success, reason = record.success, record.reason
        except (AgentError, OutOfReach) as error:
            success, reason = False, str(error)
        opened += success
        yield SafeCheck(name, success, reason or "opened")
    yield SafeCheck("expert", opened == len(seeds), f"opened it in {opened} of {len(seeds)} poses")
