"""One episode, from its seed to its line in results.jsonl. Runs in worker processes."""

import io
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from planner_node.reach import DRAWS, OutOfReach, reachable_variation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_demos.attempts import Attempt
from rulesafe_eval.actors import Actor, load_actor
from rulesafe_eval.live import Live, PolicyBroke
from rulesafe_eval.request import Setup
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.simulation import Simulation

simulation_of = cache(lambda renders: Simulation(render=renders))
"""This process's simulation, with or without rendering."""

actor_of = cache(load_actor)
"""This process's actor: a checkpoint is loaded once."""


def perform(directory: Path, setup: Setup, episode: Attempt) -> dict[str, Any]:
    """Plays an episode and stores its actions below `directory`; its line for results.jsonl."""
    return play(actor_of(setup), setup, episode, directory)


def play(actor: Actor, setup: Setup, episode: Attempt, directory: Path) -> dict[str, Any]:
    """The same for an actor at hand.

    The safe stands at the first of the seed's places that the arm can work, so that every actor has
    the same episode, and one that can be solved. Errors: RuleSafeError on a full disk, what a
    policy refuses, and what it raises, with its traceback.
    """
    began, spent = time.perf_counter(), time.process_time()
    ids = {"rule": episode.rule, "number": episode.number, "safe": episode.safe}
    try:
        variation, resampled = reachable_variation(
            episode.safe, episode.source, load_split(episode.split).randomisation, episode.seed
        )
    except OutOfReach as error:
        return ids | _unplayed(episode, str(error)) | {"timing": {}}
    simulation = simulation_of(actor.renders)
    simulation.reset(episode.source, episode.safe, episode.seed, variation)
    live = Live(simulation, setup.time_limit(episode.source))
    placing = time.perf_counter() - began
    try:
        reason = actor.drive(simulation, live)
    except PolicyBroke as broke:
        raise RuleSafeError(
            f"the policy {setup.policy} raised an exception\n{broke.trace}\n"
            f"policy {setup.policy} failed at frame {broke.frame} of {episode}: mend it; the same "
            "command then goes on with this episode"
        ) from None
    live.give_up(reason)  # nothing, where the episode is over
    _keep(actions_file(directory, episode.rule, episode.number), live)
    timing = {
        "wall_seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - spent, 3),
        "placing_seconds": round(placing, 3),
        "inference_seconds": [round(seconds, 5) for seconds in live.inferences],
    }
    facts = live.facts() | {"safe": episode.safe, "resampled": resampled}
    return ids | facts | {"timing": timing}


def actions_file(directory: Path, rule: str, number: int) -> Path:
    """Where an episode's actions (N, 13) float64 are: what its film is made of."""
    return directory / "actions" / rule / f"{number:06d}.npy"


def _keep(path: Path, live: Live) -> None:
    content = io.BytesIO()
    np.save(content, np.array(live.actions))
    write_atomically(path, content.getvalue())


def _unplayed(episode: Attempt, reason: str) -> dict[str, Any]:
    """The facts of an episode that was not played: the same keys."""
    plan = tuple(shortest_plan(load_rule(episode.source)))
    return {
        "seed": episode.seed,
        "opened": False,
        "reason": reason,
        "plan": plan,
        "steps_done": 0,
        "process_score": 0.0,
        "order_free_score": 0.0,
        "events": [],
        "frames": 0,
        "simulated_time": 0.0,
        "clipped_actions": 0,
        "state_digest": "",
        "failed_step": 1,
        "failed_event": plan[0],
        "cause": "out_of_reach",
        "due": plan[0],
        "touched": [],
        "touched_last": "",
        "peak_force": 0.0,
        "peak_force_on": "",
        "reached": [],
        "retries": 0,
        "inferences": 0,
        "resampled": DRAWS,
    }
