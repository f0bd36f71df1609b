"""The planning part of `make bench`: inverse kinematics, collision checks, and one step."""

import time
from collections.abc import Callable

import numpy as np

from planner_node.collision import CollisionWorld
from planner_node.constraints import pose_goals
from planner_node.hand import PRE_PINCH
from planner_node.inverse_kinematics import descend, solve
from planner_node.kinematics import Arm
from planner_node.moves import ExpertObservation, MovePlanner
from rulesafe_locks.rules import PARTS
from rulesafe_sim.bodies import placement_pose
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import start_action
from rulesafe_studies.bench.commands import BenchOptions
from rulesafe_studies.measuring import Measure, run_apart


def measured(options: BenchOptions) -> list[Measure]:
    """Return the times of the expert's planner, without physics."""
    found = run_apart(samples, options.safe, max(20, round(40 * options.seconds)))
    return [Measure.of(name, "ms", values) for name, values in found.items()]


def samples(safe: str, count: int) -> dict[str, list[float]]:
    """Return the times (ms) of each operation; `count` samples of fast ones, fewer of others."""
    found = load_safe(safe)
    arm, rng = Arm(), np.random.default_rng(0)
    low, high = arm.limits.lower, arm.limits.upper
    postures = rng.uniform(low, high, (count, 7))
    near = np.clip(postures + rng.normal(0, 0.1, (count, 7)), low, high)
    goals = [pose_goals(arm.hand_pose(posture)) for posture in postures]
    world = CollisionWorld(safe_body(found))
    world.set_safe(
        placement_pose(SPLITS["nominal"].randomisation.placement.around(found.hinge)), {}
    )
    planners = [_step(found, seed) for seed in range(max(2, count // 20))]
    some = range(max(2, count // 10))
    return {
        "constraints solved from nearby": [
            _ms(descend, arm, near[i], goals[i]) for i in range(count)
        ],
        "constraints solved from 24 starts, with costs": [
            _ms(solve, arm, near[i], goals[i]) for i in some
        ],
        "collision check of arm and hand": [
            _ms(world.collides, posture, PRE_PINCH) for posture in postures
        ],
        "step planned: grasp, motion and free path": [_ms(plan) for plan in planners],
    }


def _step(safe, seed: int) -> Callable[[], object]:
    """Return a function that plans to open the knob, with the safe at the pose of a seed."""
    variation = sample_variation(SPLITS["nominal"].randomisation, safe, seed)
    pose, start = placement_pose(variation.placement), start_action(variation)
    moves = MovePlanner(safe, pose)
    closed = dict.fromkeys(PARTS, 0.0)
    seen = ExpertObservation(start[:7], start[7:], closed, dict.fromkeys(PARTS, False), pose, ())
    return lambda: moves.plan(seen, moves.move(seen, "knob", opens=True), set())


def _ms(work: Callable[..., object], *arguments: object) -> float:
    begin = time.perf_counter()
    work(*arguments)
    return 1000 * (time.perf_counter() - begin)
