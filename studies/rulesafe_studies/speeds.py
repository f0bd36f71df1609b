"""Demonstrations and evaluations at other speeds of the arm.

In all demonstrations the arm moves at the same speed, so that the elapsed time determines the
progress in the task. `join` writes a dataset in which each episode has a random speed. `eval
--speeds` executes the chunks of a policy at a random speed in each episode, and samples its joint
positions accordingly; its memory is not changed.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from tqdm import tqdm

from policy_node.policy import CHUNK, Observation, Policy, check_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_output
from rulesafe_core.text_files import read_json
from rulesafe_data import layout
from rulesafe_data.files import write_json
from rulesafe_data.frame import Frame
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData


def interpolated(rows: NDArray[np.floating], frames: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the rows (N, D) at some frames (M,), linearly interpolated; the last row after it."""
    frames = frames.clip(0, len(rows) - 1)
    before = frames.astype(int)
    after = np.minimum(before + 1, len(rows) - 1)
    share = (frames - before)[:, None]
    mixed = (1 - share) * rows[before] + share * rows[after]
    return np.asarray(mixed, np.float32)


def stretched(store: EpisodeStore, index: int, speed: float) -> EpisodeData:
    """Return an episode of a dataset with point clouds as if the arm had been `speed` times as
    fast; point clouds, subtasks and privileged columns are those of the frame before."""
    episode = store.episode(index)
    actions = episode[layout.ACTION]
    frames = np.arange(0, len(actions) - max(speed, 1.0) + 1e-9, speed)
    rows = frames.astype(int)
    positions, velocities = episode[layout.ALL_POSITIONS], episode[layout.VELOCITY]
    clouds = episode[layout.POINTS]
    privileged = store.privileged.frames(index)
    return EpisodeData(
        task=store.episodes[index].task,
        joint_positions=interpolated(positions, frames),
        joint_velocities=speed * interpolated(velocities, frames),
        actions=interpolated(actions, frames + speed - 1),  # action i is due at frame i + 1
        frames=(Frame(points=clouds[row]) for row in rows),
        privileged={name: column[rows] for name, column in privileged.items()},
        facts=store.privileged.facts(index) | {"speed": speed},
        subtasks=episode[layout.SUBTASK][rows] if layout.SUBTASK in store.features else None,
    )


class Paced:
    """A policy that is executed at another speed: the steps of its chunks, and the frames of joint
    positions that it observes, are 0.1 s / `speed` apart. Memory and cameras are not changed.

    Attributes:
        speed: at least SLOWEST; 1: the policy itself.
    """

    SLOWEST = 0.5

    def __init__(self, policy: Policy) -> None:
        self._policy, self.speed = policy, 1.0
        frames = math.ceil((policy.needs.frames - 1) / self.SLOWEST) + 1
        # Clouds stay those of the last frames; without them, 0 is "of all frames".
        self.needs = replace(policy.needs, frames=frames, clouds=policy.needs.cloud_frames)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def reset(self) -> None:
        self._policy.reset()

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        back = np.arange(self._policy.needs.frames - 1, -1, -1) / self.speed
        joints = interpolated(observation.joints, len(observation.joints) - 1 - back)
        chunk = check_chunk(self._policy.infer(replace(observation, joints=joints)))
        steps = np.arange(1, min(CHUNK, max(1, int(len(chunk) / self.speed))) + 1) * self.speed
        return interpolated(np.concatenate([joints[-1:], chunk]), steps)


def join(
    data: Annotated[tuple[Path, ...], tyro.conf.Positional],
    out: Path,
    low: float = 1.0,
    high: float = 1.0,
    seed: int = 0,
) -> None:
    """Write one dataset of all episodes of others, each at another speed of the arm.

    Point clouds are kept, images are not. Run again with the same arguments to resume.

    Args:
        data: The datasets, in this order.
        out: The new dataset.
        low: Smallest speed, relative to that of the dataset.
        high: Largest speed; they are uniform between both.
        seed: Seed of the speeds.
    """
    if not 0 < low <= high:
        raise RuleSafeError(f"low is {low:g} and high {high:g}; valid: 0 < low <= high")
    stores = [EpisodeStore(folder) for folder in data]
    if not stores:
        raise RuleSafeError("no datasets; at least one is needed")
    for store in stores:
        if layout.POINTS not in store.features:
            raise RuleSafeError(f"{store.root} has no point clouds; run `rulesafe demos render`")
        if (store.cameras, store.versions) != (stores[0].cameras, stores[0].versions):
            raise RuleSafeError(
                f"{store.root} and {stores[0].root} have other cameras, or are of other versions"
            )
    digests = [store.digest for store in stores]
    request = {"data": digests, "low": low, "high": high, "seed": seed}
    file = out / "join.json"
    episodes = [(store, index) for store in stores for index in range(len(store.episodes))]
    with exclusive_output(out, "join"):
        if file.exists() and read_json(file, "the request of a joined dataset") != request:
            raise RuleSafeError(f"{out} was begun with other arguments; use another folder")
        write_json(file, request)
        writer = DatasetWriter(out, stores[0].cameras, stores[0].versions)
        speeds = tqdm(random_speeds(len(episodes), low, high, seed))
        for index, (speed, (store, number)) in enumerate(zip(speeds, episodes, strict=True)):
            if not writer.has(index):
                writer.write(index, stretched(store, number, speed))
        writer.finish()
    print(out)


def random_speeds(count: int, low: float, high: float, seed: int) -> list[float]:
    """Return uniform random speeds of episodes."""
    return np.random.default_rng(seed).uniform(low, high, count).round(3).tolist()
