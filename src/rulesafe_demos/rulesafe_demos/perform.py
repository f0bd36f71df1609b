"""Making an attempt: the expert in the physics, its states recorded. Runs in worker processes."""

import time
import traceback
from functools import cache
from pathlib import Path
from typing import Any

from planner_node.decompose import decompose
from planner_node.episode import Result, run_expert
from planner_node.habits import styled
from planner_node.reach import DRAWS, OutOfReach, reachable_variation
from rulesafe_data.demo_folder import Folder
from rulesafe_data.recording import Recorder, save
from rulesafe_demos.attempts import Attempt, versions
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Simulation


@cache
def _simulation() -> Simulation:
    return Simulation()


def perform(folder: Path, attempt: Attempt) -> dict[str, Any]:
    """Makes an attempt and writes its recording below `folder`; what timings.jsonl notes of it.

    A safe out of reach and a fault in the expert end the attempt as failed, with that as its
    reason. Errors: RuleSafeError on a full disk and where safe and variation do not fit together.
    """
    began, spent = time.perf_counter(), time.process_time()
    try:
        variation, resampled = reachable_variation(
            attempt.safe, attempt.source, load_split(attempt.split).randomisation, attempt.seed
        )
    except OutOfReach as error:
        record_failure(folder, attempt, str(error), resampled=DRAWS)
        seconds = time.perf_counter() - began
        cpu = time.process_time() - spent
        return timing(attempt, planning_seconds=seconds, wall_seconds=seconds, cpu_seconds=cpu)
    placing = time.perf_counter() - began
    simulation = _simulation()
    simulation.reset(attempt.source, attempt.safe, attempt.seed, variation)
    recorder = Recorder(simulation)
    try:
        result = run_expert(simulation, styled(attempt.style), watch=recorder.watch)
        planning, ending = placing + result.planning_seconds, _ending(result)
    except MemoryError:
        raise
    except Exception as error:
        planning = placing
        ending = failed(f"{type(error).__name__}: {error}") | {"digest": simulation.digest}
        ending["traceback"] = traceback.format_exc()
    facts = {
        **facts_of(attempt),
        "variation": variation.to_dict(),
        "resampled": resampled,
        **ending,
        **recorder.names,
    }
    save(Folder(folder).file(attempt.rule, attempt.number, ending["success"]), recorder.rows, facts)
    return timing(
        attempt,
        success=ending["success"],
        frames=len(recorder.rows) - 1,
        planning_seconds=planning,
        wall_seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )


def timing(
    attempt: Attempt,
    success: bool = False,
    frames: int = 0,
    **seconds: float,
) -> dict[str, Any]:
    """What timings.jsonl notes of an attempt: planning_seconds (the choice of the safe's place
    included), wall_seconds and cpu_seconds, where they are known."""
    return {
        "rule": attempt.rule,
        "attempt": attempt.number,
        "success": success,
        "frames": frames,
        **{name: round(value, 3) for name, value in seconds.items()},
    }


def record_failure(folder: Path, attempt: Attempt, reason: str, resampled: int = 0) -> None:
    """Records an attempt that left no states. Errors: RuleSafeError on a full disk."""
    facts = {**facts_of(attempt), "variation": None, "resampled": resampled, **failed(reason)}
    save(Folder(folder).file(attempt.rule, attempt.number, success=False), [], facts)


def facts_of(attempt: Attempt) -> dict[str, Any]:
    """What is known of an attempt before it is made."""
    rule = load_rule(attempt.source)
    plan = shortest_plan(rule)
    return {
        "rule": attempt.rule,
        **({"lock": attempt.lock} if attempt.lock else {}),
        "safe": attempt.safe,
        "seed": attempt.seed,
        "attempt": attempt.number,
        "split": attempt.split,
        "style": attempt.style,
        "instruction": rule.description,
        "plan": plan,
        "program": decompose(plan, load_safe(attempt.safe)),
        "versions": versions(),
    }


def _ending(result: Result) -> dict[str, Any]:
    return {
        "success": result.success,
        "failure": result.failure,
        "events": list(result.events),
        "steps": list(result.steps),
        "retries": result.retries,
        "digest": result.digest,
    }


def failed(reason: str) -> dict[str, Any]:
    """How an attempt ended of which nothing is known but the reason."""
    return {
        "success": False,
        "failure": reason,
        "events": [],
        "steps": [],
        "retries": 0,
        "digest": "",
    }
