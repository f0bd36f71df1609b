"""Films of chosen episodes: their actions executed once more, with cameras.

An episode is played without cameras where its actor needs none, and filmed afterwards only if it
was chosen. The physics must come out the same bit by bit, and that is checked.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bars import ProgressBar
from rulesafe_data.engines import run
from rulesafe_demos.attempts import Attempt
from rulesafe_demos.film.subscriber import EpisodeFilm
from rulesafe_eval.request import EvaluationRequest, Setup
from rulesafe_eval.results import ResultsFolder
from rulesafe_eval.runner import actions_file, agent_of, simulation_of
from rulesafe_sim.randomisation import load_split, sample_variation
from rulesafe_sim.runtime import Playback, Runtime
from rulesafe_sim.safes import load_safe

SIDE = 240
"""Pixels of each picture as rendered."""

Line = Mapping[str, Any]


def folder_of(directory: Path, rule: str, number: int) -> Path:
    """Where an episode's film.mp4 and sheet.png are."""
    return directory / "films" / f"{rule}_{number:06d}"


def choose(episodes: Sequence[Line], each: int) -> list[Line]:
    """The episodes to film: of each rule the first that failed, the first that was opened, and so
    on in turn, `each` at most."""
    chosen: list[Line] = []
    for rule in dict.fromkeys(line["rule"] for line in episodes):
        played = [line for line in episodes if line["rule"] == rule and line["frames"]]
        by_ending = [[line for line in played if line["opened"] is end] for end in (False, True)]
        turns = [kind[turn] for turn in range(each) for kind in by_ending if turn < len(kind)]
        chosen += turns[:each]
    return chosen


def missing(directory: Path, lines: Sequence[Line]) -> list[Line]:
    """Those of some episodes that are not filmed yet."""
    return [
        line
        for line in lines
        if not (folder_of(directory, line["rule"], line["number"]) / "sheet.png").exists()
    ]


def make(
    request: EvaluationRequest, directory: Path, lines: Sequence[Line], workers: int, engine: str
) -> None:
    """Films what is not filmed yet. Errors: RuleSafeError where physics came out otherwise, a
    worker died again and again, or another process writes to the directory."""
    lacking = missing(directory, lines)
    jobs = {request.episode(line["rule"], line["number"]): line for line in lacking}
    if not jobs:
        return
    with ResultsFolder(directory).exclusive_lock():
        for draft in (directory / "films").glob(".*"):
            shutil.rmtree(draft, ignore_errors=True)
        facts = {(line["rule"], line["number"]): line for line in jobs.values()}
        work = partial(film, directory, request.setup, facts)
        with ProgressBar(total=len(jobs), unit="film") as bar:
            run(work, jobs, lambda *_: bar.update(), min(workers, len(jobs)), engine)


def film(
    directory: Path,
    setup: Setup,
    facts: Mapping[tuple[str, int], Line],
    episode: Attempt,
) -> None:
    """Writes film.mp4 and sheet.png of one episode. Where the actor remembers in tokens, the film
    shows what its own memory makes of the joint positions."""
    line = facts[episode.rule, episode.number]
    actions = np.load(actions_file(directory, episode.rule, episode.number))
    safe = load_safe(episode.safe)
    of_seed = load_split(episode.split).randomisation
    variation = sample_variation(of_seed, safe, episode.seed, line["resampled"])
    simulation = simulation_of(True)
    simulation.reset(episode.source, safe, episode.seed, variation)
    folder = folder_of(directory, episode.rule, episode.number)
    # Complete or not there, whenever this process is killed; one that was left behind may go on.
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    limit = setup.time_limit(simulation.rule)
    memory = getattr(agent_of(setup), "memory", None)
    filming = EpisodeFilm(simulation, draft, limit, SIDE, memory)
    Runtime(simulation, subscribers=[filming]).run(Playback(actions), stop=False)
    if simulation.digest != line["state_digest"]:
        raise RuleSafeError(
            f"{episode}: the physics came out otherwise than in the evaluation; were its packages "
            "or its machine others?"
        )
    filming.close(line["reason"])
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)


def about(line: Line) -> str:
    """What a film shows, in a few words."""
    how = "opened" if line["opened"] else f"failed at step {line['failed_step']}"
    return f"{line['rule']} on {line['safe']}, seed {line['seed']}: {how}"
