"""One attempt: the expert or a task program in the simulation, with its states recorded. Runs in
worker processes."""

import time
import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from planner_node.decompose import decompose
from planner_node.episode import run_expert
from planner_node.habits import style_config
from planner_node.reach import out_of_reach
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import import_object, is_reference
from rulesafe_core.text_files import read_text
from rulesafe_core.versions import versions
from rulesafe_data.attempt_recording import Recorder, save
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import GenerationRequest, program_file
from rulesafe_demos.program import TrustedProgram, play
from rulesafe_demos.remote import SandboxedProgram
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import EpisodeRecord
from rulesafe_sim.episodes import DRAWS, Episode, OutOfReach, place
from rulesafe_sim.runtime import Agent, Runtime
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import Simulation


@cache
def _simulation() -> Simulation:
    return Simulation()


@cache
def _agent(reference: str) -> Agent:
    found = import_object(reference)
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise RuleSafeError(
            f"{reference} is {found!r}; valid: a subclass of {Agent.__module__}.Agent"
        )
    return found()


def perform(folder: Path, request: GenerationRequest, episode: Episode) -> dict[str, Any]:
    """Make an attempt, write its recording below `folder` and return its line of results.jsonl.

    A safe out of reach and an exception of the expert or the program make the attempt fail, with
    that reason.

    Raises:
        RuleSafeError: if the disk is full, the safe and the variation do not match, or the agent
            cannot be used.
    """
    began, spent = time.perf_counter(), time.process_time()
    if is_reference(request.by):
        _agent(request.by)
    try:
        episode = place(episode, out_of_reach)
    except OutOfReach as error:
        episode = replace(episode, resampled=DRAWS)
        seconds = time.perf_counter() - began
        cpu = time.process_time() - spent
        line = record_failure(folder, request, episode, str(error))
        return line | {"timing": timing(planning=seconds, wall=seconds, cpu=cpu)}
    placing = time.perf_counter() - began
    simulation = _simulation()
    simulation.reset(episode.source, episode.safe, episode.seed, episode.variation)
    recorder = Recorder()
    trace = {}
    try:
        record = _play(simulation, request, episode, recorder)
    except MemoryError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        record = failed(episode, reason, simulation.digest)
        trace = {"traceback": traceback.format_exc()}
    facts = {**facts_of(request, episode), **ending(record), **trace, **recorder.names}
    file = DemoFolder(folder).file(episode.rule, episode.number, record.success)
    save(file, recorder.rows, facts)
    return line_of(episode, record, len(recorder.rows) - 1) | {
        "timing": timing(
            planning=placing + record.log.planning_seconds,
            wall=time.perf_counter() - began,
            cpu=time.process_time() - spent,
        )
    }


def _play(
    simulation: Simulation, request: GenerationRequest, episode: Episode, recorder: Recorder
) -> EpisodeRecord:
    config = replace(style_config(request.style), misses=request.misses)
    limit = episode.time_limit
    if request.by == "expert":
        return run_expert(simulation, config, limit, [recorder])
    if is_reference(request.by):
        return Runtime(simulation, limit, [recorder]).run(_agent(request.by))
    source, path = program_of(request, episode), Path(f"{episode.rule}.py")
    program = SandboxedProgram(source) if request.programs else TrustedProgram(path, source)
    return play(program, simulation, [recorder], config, limit).result


def program_of(request: GenerationRequest, episode: Episode) -> str:
    """Return the task program for an attempt: that of its file, or the one written for the rule's
    shortest plan."""
    if request.programs:
        return read_text(program_file(request.programs, episode.rule))
    return decompose(shortest_plan(load_rule(episode.source)), load_safe(episode.safe))


def line_of(episode: Episode, record: EpisodeRecord, frames: int = 0) -> dict[str, Any]:
    """Return the line of an attempt in results.jsonl, without its timing."""
    return episode.to_dict() | {
        "opened": record.success,
        "reason": record.reason,
        "frames": frames,
        "retries": record.log.retries,
        "state_digest": record.state_digest,
    }


def timing(**seconds: float) -> dict[str, float]:
    """Return the timing of an attempt: planning (including the choice of the safe's pose), wall and
    CPU time."""
    return {f"{name}_seconds": round(value, 3) for name, value in seconds.items()}


def record_failure(
    folder: Path, request: GenerationRequest, episode: Episode, reason: str
) -> dict[str, Any]:
    """Record a failed attempt without states; return its line of results.jsonl. Raises
    RuleSafeError if the disk is full."""
    record = failed(episode, reason)
    file = DemoFolder(folder).file(episode.rule, episode.number, success=False)
    save(file, [], {**facts_of(request, episode), **ending(record)})
    return line_of(episode, record) | {"timing": {}}


def facts_of(request: GenerationRequest, episode: Episode) -> dict[str, Any]:
    """Return the facts of an attempt that are known in advance."""
    rule = load_rule(episode.source)
    return {
        **episode.to_dict(),
        "style": request.style,
        "instruction": rule.description,
        "plan": shortest_plan(rule),
        "program": "" if is_reference(request.by) else program_of(request, episode),
        **({"misses": request.misses} if request.misses else {}),
        **({} if request.by == "expert" else {"by": request.by}),
        "versions": versions(),
    }


def failed(episode: Episode, reason: str, digest: str = "") -> EpisodeRecord:
    """Return the record of a failed attempt, with its reason only."""
    return EpisodeRecord(episode.rule, episode.safe, reason=reason, state_digest=digest)


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
