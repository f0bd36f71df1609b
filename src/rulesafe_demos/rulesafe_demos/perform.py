"""One attempt: the expert or a task program in the simulation, with its states recorded. Runs in
worker processes."""

import time
import traceback
from functools import cache
from pathlib import Path
from typing import Any

from planner_node.decompose import decompose
from planner_node.episode import run_expert
from planner_node.habits import style_config
from planner_node.reach import DRAWS, OutOfReach, reachable_variation
from rulesafe_core.text_files import read_text
from rulesafe_data.attempt_recording import Recorder, save
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import Attempt, versions
from rulesafe_demos.program import TrustedProgram, play
from rulesafe_demos.remote import SandboxedProgram
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import EpisodeRecord
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Simulation


@cache
def _simulation() -> Simulation:
    return Simulation()


def perform(folder: Path, attempt: Attempt) -> dict[str, Any]:
    """Make an attempt, write its recording below `folder` and return its line of timings.jsonl.

    A safe out of reach and an exception of the expert or the program make the attempt fail, with
    that reason.

    Raises:
        RuleSafeError: if the disk is full, or the safe and the variation do not match.
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
    recorder = Recorder()
    trace = {}
    try:
        record = _play(simulation, attempt, recorder)
    except MemoryError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        record = failed(attempt, reason, simulation.digest)
        trace = {"traceback": traceback.format_exc()}
    facts = {
        **facts_of(attempt),
        "variation": variation.to_dict(),
        "resampled": resampled,
        **ending(record),
        **trace,
        **recorder.names,
    }
    save(
        DemoFolder(folder).file(attempt.rule, attempt.number, record.success), recorder.rows, facts
    )
    return timing(
        attempt,
        success=record.success,
        frames=len(recorder.rows) - 1,
        planning_seconds=placing + record.log.planning_seconds,
        wall_seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )


def _play(simulation: Simulation, attempt: Attempt, recorder: Recorder) -> EpisodeRecord:
    config = style_config(attempt.style)
    if attempt.by == "expert":
        return run_expert(simulation, config, subscribers=[recorder])
    source, program = program_of(attempt), Path(f"{attempt.rule}.py")
    runs = SandboxedProgram(source) if attempt.program else TrustedProgram(program, source)
    return play(runs, simulation, [recorder], config).result


def program_of(attempt: Attempt) -> str:
    """Return the task program for an attempt: that of its file, or the one written for the rule's
    shortest plan."""
    if attempt.program:
        return read_text(Path(attempt.program))
    return decompose(shortest_plan(load_rule(attempt.source)), load_safe(attempt.safe))


def timing(
    attempt: Attempt,
    success: bool = False,
    frames: int = 0,
    **seconds: float,
) -> dict[str, Any]:
    """Return an attempt's line of timings.jsonl: planning_seconds (including the choice of the
    safe's pose), wall_seconds and cpu_seconds, if known."""
    return {
        "rule": attempt.rule,
        "attempt": attempt.number,
        "success": success,
        "frames": frames,
        **{name: round(value, 3) for name, value in seconds.items()},
    }


def record_failure(folder: Path, attempt: Attempt, reason: str, resampled: int = 0) -> None:
    """Record a failed attempt without states. Raises RuleSafeError if the disk is full."""
    record = failed(attempt, reason)
    facts = {**facts_of(attempt), "variation": None, "resampled": resampled, **ending(record)}
    save(DemoFolder(folder).file(attempt.rule, attempt.number, success=False), [], facts)


def facts_of(attempt: Attempt) -> dict[str, Any]:
    """Return the facts of an attempt that are known in advance."""
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
        "program": program_of(attempt),
        **({} if attempt.by == "expert" else {"by": attempt.by}),
        "versions": versions(),
    }


def failed(attempt: Attempt, reason: str, digest: str = "") -> EpisodeRecord:
    """Return the record of a failed attempt, with its reason only."""
    return EpisodeRecord(attempt.rule, attempt.safe, reason=reason, state_digest=digest)


def ending(record: EpisodeRecord) -> dict[str, Any]:
    """Return the outcome in the format of a recording's facts."""
    return {
        "success": record.success,
        "failure": record.reason,
        "events": record.log.events,
        "steps": record.log.steps,
        "retries": record.log.retries,
        "digest": record.state_digest,
    }
