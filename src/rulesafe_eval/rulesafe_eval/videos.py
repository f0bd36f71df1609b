"""Videos of selected episodes: their actions are executed again, with cameras.

Episodes are run without cameras where the agent needs none, and selected ones are recorded
afterwards. The state digest is checked, since the physics must be bit-identical.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bars import ProgressBar
from rulesafe_data.engines import run
from rulesafe_data.films.strip import Tokens
from rulesafe_data.films.subscriber import EpisodeVideo
from rulesafe_data.layout import FPS
from rulesafe_data.run_folder import Line
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import EvaluationRequest, ResultsFolder
from rulesafe_eval.runner import EpisodeRunner, actions_file, agent_of, process_simulation
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episodes import Episode
from rulesafe_sim.runtime import Playback, Runtime
from rulesafe_sim.simulation import Simulation
from vq_memory_node.rolling import RollingMemory


def folder_of(directory: Path, rule: str, number: int) -> Path:
    """Return the folder of an episode's film.mp4 and sheet.png."""
    return directory / "films" / f"{rule}_{number:06d}"


def choose(episodes: Sequence[Line], each: int) -> list[Line]:
    """Return the episodes to record: for each rule the first failure, the first success, and so on
    in turn, at most `each`."""
    chosen: list[Line] = []
    for rule in dict.fromkeys(line["rule"] for line in episodes):
        played = [line for line in episodes if line["rule"] == rule and line["frames"]]
        by_ending = [[line for line in played if line["opened"] is end] for end in (False, True)]
        turns = [kind[turn] for turn in range(each) for kind in by_ending if turn < len(kind)]
        chosen += turns[:each]
    return chosen


def missing(directory: Path, lines: Sequence[Line]) -> list[Line]:
    """Return the episodes that have no video yet."""
    return [
        line
        for line in lines
        if not (folder_of(directory, line["rule"], line["number"]) / "sheet.png").exists()
    ]


def make(
    request: EvaluationRequest,
    directory: Path,
    lines: Sequence[Line],
    workers: int,
    engine: str,
    runner: EpisodeRunner | None = None,
) -> None:
    """Record the episodes that have no video yet; `runner` as for `results.evaluate`.

    Raises:
        RuleSafeError: if the physics differs from the evaluation, a worker fails repeatedly, or
            another process writes to the directory.
    """
    without_video = missing(directory, lines)
    jobs = {request.episode(line["rule"], line["number"]): line for line in without_video}
    if not jobs:
        return
    with ResultsFolder(directory).exclusive_lock():
        for draft in (directory / "films").glob(".*"):
            shutil.rmtree(draft, ignore_errors=True)
        facts = {(line["rule"], line["number"]): line for line in jobs.values()}
        work = partial(film, directory, runner or EpisodeRunner(request.setup), facts)
        with ProgressBar(total=len(jobs), unit="video") as bar:
            run(work, jobs, lambda *_: bar.update(), min(workers, len(jobs)), engine)


def film(
    directory: Path,
    runner: EpisodeRunner,
    facts: Mapping[tuple[str, int], Line],
    episode: Episode,
) -> None:
    """Write film.mp4 and sheet.png of one episode. If the agent uses tokens of joint positions at
    fixed times, the video shows them."""
    line = facts[episode.key]
    actions = np.load(actions_file(directory, *episode.key))
    rule, simulation = load_rule(episode.source), process_simulation()
    agent = agent_of(runner)
    memory = agent.memory if isinstance(agent, PolicyAgent) else None
    if memory:
        memory.reset()
    fixed = replace(episode, variation=episode.sample(line["resampled"]))
    runner.start(simulation, agent, fixed, rule)
    folder = folder_of(directory, *episode.key)
    # Renamed when complete. A remaining draft is ignored, and its episode recorded again.
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    disturbed = runner.disturbances(fixed, rule)
    limit = runner.time_limit(fixed, disturbed)
    # A policy with the memory of other inputs, or in a study, has other tokens.
    changed = runner.setup.variant or runner.setup.disturbances
    shown = memory if memory and memory.memory.input == "positions" and not changed else None
    filming = EpisodeVideo(simulation, draft, limit, partial(_tokens, shown))
    Runtime(simulation, subscribers=[filming, *disturbed]).run(Playback(actions), stop=False)
    if simulation.digest != line["state_digest"]:
        raise RuleSafeError(
            f"{episode}: the physics differs from that of the evaluation (state digest); videos "
            "need the same package versions and the same machine as the evaluation"
        )
    filming.close(line["reason"])
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def _tokens(memory: RollingMemory | None, simulation: Simulation) -> Tokens | None:
    """Update a memory with the joint positions; return its tokens at fixed times, if it has any."""
    if memory is None:
        return None
    memory.push(simulation.state().action_positions.astype(np.float32))
    if not (memory.memory.vocabulary and memory.memory.timed):
        return None
    values, mask = memory.read().values, memory.read().mask
    return Tokens(values, mask, memory.memory.vocabulary, memory.grid.stride / FPS)


def about(line: Line) -> str:
    """Return a short description of a video."""
    how = "opened" if line["opened"] else f"failed at step {line['failed_step']}"
    return f"{line['rule']} on {line['safe']}, seed {line['seed']}: {how}"
