"""Training data: windows of demonstrations, one for each frame, as batches of tensors.

Joints, actions and memory values are small and kept in RAM; point clouds and images are
memory-mapped. With augmentation, each batch has a random subset of N points of the point clouds;
without, the first N, as at inference. A batch takes a few milliseconds, so that there are no worker
processes: they would compete with the model for CPU cores.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from policy_node.augmentation import disturb, far_offsets, warp_time
from policy_node.batches import Batch
from policy_node.configs import NetworkConfig
from policy_node.image_arrays import load_images
from policy_node.memory_inputs import memory_input
from policy_node.normaliser import Floats, Normaliser, fit_absolute, fit_relative, min_max
from policy_node.policy import CHUNK
from policy_node.safe_frame import SafeFrame
from policy_node.scene_encoder import QUANTITIES, SceneEncoder
from policy_node.scene_features import load_image_features, load_scene_features
from policy_node.train_config import TrainConfig
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ARM_JOINTS
from rulesafe_data.cache import cached
from rulesafe_data.layout import ACTION, MISS, POINTS, STATE, SUBTASK
from rulesafe_data.store import EpisodeStore
from vq_memory_node.grids import ends_of
from vq_memory_node.memory import Memory
from vq_memory_node.rolling import grid_of, newest_keyframes

OVERLAP = 5
"""Frames before the end of a subtask from which the next one is also a label. The skill of the
first one ends at rest, where the next one is then the label of all earlier windows."""

BEFORE = 15
"""Frames before the hand opens or closes in which windows may be drawn more often."""

MOVING = 1e-3
"""Least change of a finger's target between two frames while the hand opens or closes, rad."""

TokenIds = Callable[[str], list[int]]


def select_episodes(store: EpisodeStore, instructions: Collection[str] | None) -> list[int]:
    """Return the indices of the episodes with one of these instructions; None: all episodes. Raise
    RuleSafeError if there is no episode with one of them."""
    if instructions is None:
        return [episode.index for episode in store.episodes]
    available = {episode.task for episode in store.episodes}
    for instruction in instructions:
        if instruction not in available:
            raise RuleSafeError(f"{store.root} has no demonstration of: {instruction}")
    return [episode.index for episode in store.episodes if episode.task in instructions]


class ObservationWindows:
    """The windows of some episodes: each frame with its observation and the actions after it.

    Args:
        store: the dataset; its privileged data are used by privileged memories only.
        episodes: indices of episodes.
        config: configuration of the network, which defines its inputs.
        memory: the policy's memory.
        train: settings of the training, such as the kind of actions and the noise.
        cache: folder for decoded point clouds and images.
        token_ids: returns the token ids of an instruction (`Network.token_ids`).
        normaliser: normaliser of a frozen part of the network (`Network.normaliser`); None: it is
            fitted to the data.
        encoder: a frozen scene encoder (`Network.scene_encoder`), if any: batches contain its
            features instead of point clouds.

    Attributes:
        normaliser: normaliser of joints and actions.
        cameras: the cameras of images and point clouds.
        first: (F,) index of the first window of each window's episode.

    Raises:
        RuleSafeError: the dataset has no point clouds or images, too few points, or lacks the input
            of the memory.
    """

    def __init__(
        self,
        store: EpisodeStore,
        episodes: Sequence[int],
        config: NetworkConfig,
        memory: Memory,
        train: TrainConfig,
        cache: Path,
        token_ids: TokenIds = lambda _: [],
        encoder: SceneEncoder | None = None,
        normaliser: Normaliser | None = None,
    ) -> None:
        self._config, self._train, self.cameras = config, train, store.cameras
        chosen = hashlib.sha256(str(list(episodes)).encode()).hexdigest()[:12]
        name = f"{store.digest} {chosen}"
        self._points: NDArray[np.float32] | None = None
        self._features: NDArray[np.float32] | None = None
        if config.points:
            self._open_clouds(store, episodes, cache)
            if encoder is not None and not train.points_jitter:
                assert self._points is not None
                clouds = self._points, self._cloud_rows
                self._features = load_scene_features(encoder, *clouds, config.points, cache, name)
        elif encoder is not None:
            self._features = load_image_features(encoder, store, episodes, cache, name)
        recorded, actions = _joints_and_actions(store, episodes)
        lengths = np.array([len(joints) for joints in recorded])
        joints, frame = recorded, None
        if _uses_safe_frame(train, encoder):
            assert encoder is not None and self._features is not None
            poses = self._estimate_poses(encoder, lengths)
            frame = SafeFrame(*poses.mean(0).tolist())
            if normaliser is not None and normaliser.frame is not None:
                frame = normaliser.frame
            self._features = encoder.with_pose(self._features, frame.pose)
            joints = [frame.to_canonical(*each) for each in zip(recorded, poses, strict=True)]
            actions = [frame.to_canonical(*each) for each in zip(actions, poses, strict=True)]
        if normaliser is not None and (normaliser.frame is None) != (frame is None):
            raise RuleSafeError(
                "the frozen part of the network (skills) "
                f"{'has no' if frame else 'has a'} safe frame; train with "
                f"{'--no-safe-frame' if frame else 'a safe frame and a points_jitter of 0'}"
            )
        if config.mean_identity:
            assert self._features is not None
            self._features = _with_mean_identity(self._features, lengths)
        self._noise = _noise(train)
        if normaliser is None:
            normaliser = replace(_fit(joints, actions, config, train), frame=frame)
        self.normaliser = normaliser
        starts = np.cumsum(lengths) - lengths
        self.first = np.repeat(starts, lengths)
        self._last = np.repeat(starts + lengths - 1, lengths)
        self._joints, self._actions = np.concatenate(joints), np.concatenate(actions)
        self._subtask: NDArray[np.int64] | None = None
        self._imitated = np.arange(len(self))
        self._load_subtasks(store, episodes)
        memory_frame = frame if memory.safe_frame else None
        self._compute_memory(
            memory,
            (memory_input(store, index, memory.input) for index in episodes),
            lambda values, at: (
                values if memory_frame is None else memory_frame.to_canonical(values, poses[at])
            ),
        )
        self._images: NDArray[np.uint8] | None = None
        if config.images and (config.points or encoder is None):
            folder = cache / f"pictures_{chosen}"
            self._images = load_images(store, episodes, config.image_size, folder)
        self._tokenize(store, episodes, lengths, token_ids)

    def __len__(self) -> int:
        """Return the number of windows, which is the number of frames."""
        return len(self._joints)

    def draw(self, rng: np.random.Generator, count: int, grasps: float = 0.0) -> NDArray[np.int64]:
        """Return the indices of random windows outside of deliberate misses, on average a share
        `grasps` of them of those at most BEFORE frames before the hand opens or closes. Those after
        a miss are not drawn more often: whether a grasp succeeded is often not observed, and a
        policy that expects more failures than there are repeats motions that succeeded."""
        indices = rng.choice(self._imitated, count)
        if grasps and len(self._decisive):
            chosen = rng.random(count) < grasps
            indices[chosen] = rng.choice(self._decisive, chosen.sum())
        return indices

    @cached_property
    def _decisive(self) -> NDArray[np.int64]:
        fingers = self._actions[:, len(ARM_JOINTS) :]
        moving = np.append(False, (np.abs(np.diff(fingers, axis=0)) > MOVING).any(1))
        moving[self.first == np.arange(len(self))] = False
        before = np.append(0, moving.cumsum())
        ends = np.minimum(np.arange(len(self)) + BEFORE, self._last + 1)
        return self._imitated[(before[ends] > before[:-1])[self._imitated]]

    def batch(self, indices: NDArray[np.int64], rng: np.random.Generator | None = None) -> Batch:
        """Return the windows with these indices (B,), with augmentation if `rng` is given."""
        config, first = self._config, self.first[indices]
        frames = np.maximum(indices[:, None] + np.arange(1 - config.frames, 1), first[:, None])
        joints = self._joints[frames]
        arm, remaining = slice(len(ARM_JOINTS)), None
        if rng is not None:
            # All frames of a window get the same offset of the arm; it is not sensor noise.
            offset = rng.standard_normal((len(indices), len(ACTION_JOINTS)), np.float32)
            offset *= self._noise
            if self._train.far:
                remaining = far_offsets(offset[:, arm], self._train.far, rng)
            joints = joints + offset[:, None]
        ahead = indices[:, None] + np.arange(-config.past, CHUNK)
        last, labelled = self._last[indices], indices
        if self._subtask is not None:
            if rng is not None:  # near its end, a subtask overlaps with the next one
                labelled = np.minimum(indices + rng.integers(OVERLAP + 1, size=len(indices)), last)
            last = self._subtask_end[labelled]
        ahead = np.clip(ahead, first[:, None], last[:, None])
        actions = self._actions[ahead]
        if remaining is not None:
            actions[:, -CHUNK:, arm] += remaining
        targets = self.normaliser.actions.encode(actions, joints[:, -1])
        batch = Batch(
            joints=torch.from_numpy(self.normaliser.joints.encode(joints)),
            actions=torch.from_numpy(targets),
        )
        if self._subtask is not None:
            batch.subtask = torch.from_numpy(self._subtask[labelled])
        if self._features is not None:
            self._add_features(batch, self._scene_frames(indices, rng), rng)
        elif self._points is not None:
            self._add_clouds(batch, frames[:, -config.cloud_frames :], rng)
        if self._images is not None:
            batch.images = torch.from_numpy(self._images[indices])
        if config.instruction:
            task = self._task[indices]
            batch.language, batch.language_mask = self._ids[task], self._ids_mask[task]
        if self._values is not None:  # last, so that the rest is the same without a memory
            self._add_memory(batch, indices, rng)
        return batch

    def _estimate_poses(
        self, encoder: SceneEncoder, lengths: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the mean estimated pose of the safe in each episode (E, 4)."""
        assert self._features is not None
        estimates = np.split(encoder.poses(self._features[0]), np.cumsum(lengths)[:-1])
        return np.stack([each.mean(0) for each in estimates])

    def _load_subtasks(self, store: EpisodeStore, episodes: Sequence[int]) -> None:
        """Read the subtask of each frame, and compute the last frame of its run."""
        if SUBTASK not in store.features:
            if not self._config.subtasks:
                return
            raise RuleSafeError(
                f"{store.root} has no subtasks; `rulesafe demos render` writes them, bags have none"
            )
        subtask = np.concatenate([store.episode(e, [SUBTASK])[SUBTASK] for e in episodes])
        self._imitated = np.flatnonzero(subtask != MISS)
        if not self._config.subtasks:
            return
        if len(self._imitated) < len(subtask):
            raise RuleSafeError(
                f"{store.root} has deliberate misses, which skills cannot replay; generate "
                "demonstrations without --misses"
            )
        self._subtask = subtask
        ends = np.append(np.diff(self._subtask) != 0, True)  # of a run of equal subtasks
        ends[self._last] = True
        frames = np.where(ends, np.arange(len(ends)), len(ends))
        self._subtask_end = np.minimum.accumulate(frames[::-1])[::-1]

    def _compute_memory(
        self, memory: Memory, inputs: Iterable[Floats], transform: Callable[[Floats, int], Floats]
    ) -> None:
        """Compute the memory value of each keyframe once; batches index into these values.

        Args:
            memory: the memory.
            inputs: its input in each episode, read only if the memory has values.
            transform: transforms values (K, 13), rad, of the episode with an index, to the safe
                frame.
        """
        self._values: NDArray[np.int64] | Floats | None = None
        self._memory, self._grid = memory, grid_of(memory)
        if not memory.length:
            return
        inputs = list(inputs)
        keyframes = [memory.keyframes(rows) for rows in inputs]
        values = [memory.values_at(*each) for each in zip(inputs, keyframes, strict=True)]
        if not memory.vocabulary:
            values = [transform(v, at) if len(v) else v for at, v in enumerate(values)]
        # The last value is that of episodes without keyframes; it is always masked.
        found = np.concatenate([*values, memory.zeros(1)])
        self._values = found if memory.vocabulary else self.normaliser.joints.encode(found)
        counts, lengths = [np.array([len(each) for each in parts]) for parts in (keyframes, inputs)]
        self._first_value = np.repeat(np.cumsum(counts) - counts, lengths)
        self._newest = np.concatenate(
            [newest_keyframes(*each) for each in zip(keyframes, lengths, strict=True)]
        )

    def _add_memory(
        self, batch: Batch, indices: NDArray[np.int64], rng: np.random.Generator | None
    ) -> None:
        assert self._values is not None
        memory = self._memory
        ends = ends_of(self._newest[indices], self._grid)
        if rng is not None and self._train.memory_warp and memory.timed:
            ends = warp_time(ends, self._train.memory_warp, rng)
        mask = ends >= 0
        values = self._values[self._first_value[indices][:, None] + np.where(mask, ends, 0)]
        if rng is not None and self._train.memory_disturbance:
            disturb(values, mask, self._train.memory_disturbance, rng)
        values[~mask] = 0
        if values.ndim == 3 and memory.timed:
            # The last step of a raw memory is the current posture and gets the same noise:
            # otherwise the difference would reveal the noise, which is impossible at inference.
            now = self.normaliser.joints.encode(self._joints[indices])
            values[:, -1] += batch.joints[:, -1].numpy() - now
        batch.memory, batch.memory_mask = torch.from_numpy(values), torch.from_numpy(mask)

    def _open_clouds(self, store: EpisodeStore, episodes: Sequence[int], cache: Path) -> None:
        count = self._config.points
        if POINTS not in store.features:
            raise RuleSafeError(
                f"{store.root} has no point clouds; run `rulesafe demos render DEMOS "
                "--observations points --out OTHER`, or train rdt, cogact or pi0 with "
                "--size images on its images"
            )
        available = store.features[POINTS]["shape"][0]
        if available < count:
            raise RuleSafeError(
                f"{store.root} has clouds of {available} points; {count} are needed"
            )
        every = store.episodes
        self._points = cached(
            cache / f"{POINTS}.npy",
            {"dataset": store.digest},
            store.frames,
            lambda: (store.episode(each.index, [POINTS])[POINTS] for each in every),
        )
        rows = [np.arange(every[e].start, every[e].start + every[e].length) for e in episodes]
        self._cloud_rows = np.concatenate(rows)

    def _add_clouds(
        self, batch: Batch, frames: NDArray[np.int64], rng: np.random.Generator | None
    ) -> None:
        assert self._points is not None
        count = self._config.points
        points = np.empty((*frames.shape, count, self._points.shape[2]), np.float32)
        chosen = np.arange(count) if rng is None else rng.permutation(self._points.shape[1])[:count]
        for index in np.ndindex(frames.shape):
            points[index] = self._points[self._cloud_rows[frames[index]]][chosen]
        if rng is not None and self._train.points_jitter:
            noise = rng.standard_normal((*points.shape[:-1], 3), np.float32)
            points[..., :3] += np.float32(self._train.points_jitter) * noise
        batch.points = torch.from_numpy(points)

    def _scene_frames(
        self, indices: NDArray[np.int64], rng: np.random.Generator | None
    ) -> NDArray[np.int64]:
        """Return the frames (B, C) whose scene features the windows have."""
        earlier = self._config.earlier_scenes
        if earlier and self._features is None:
            raise RuleSafeError("earlier scenes require a scene encoder and a points_jitter of 0")
        back = np.array([*earlier, *range(self._config.cloud_frames - 1, -1, -1)])
        frames = indices[:, None] - back
        if earlier and rng is not None and self._train.memory_warp:
            frames = warp_time(frames, self._train.memory_warp, rng)
        return np.maximum(frames, self.first[indices][:, None])

    def _add_features(
        self, batch: Batch, frames: NDArray[np.int64], rng: np.random.Generator | None
    ) -> None:
        assert self._features is not None
        count = len(frames)
        available = len(self._features)
        views = np.zeros(count, int) if rng is None else rng.integers(available, size=count)
        batch.scene_features = torch.from_numpy(self._features[views[:, None], frames])

    def _tokenize(
        self,
        store: EpisodeStore,
        episodes: Sequence[int],
        lengths: NDArray[np.int64],
        token_ids: TokenIds,
    ) -> None:
        tasks = [store.episodes[index].task for index in episodes]
        self.instructions = tuple(dict.fromkeys(tasks))
        numbers = [self.instructions.index(task) for task in tasks]
        self._task = torch.from_numpy(np.repeat(numbers, lengths))
        if self._config.instruction:
            self._ids, self._ids_mask = pad([token_ids(task) for task in self.instructions])


def _joints_and_actions(
    store: EpisodeStore, episodes: Sequence[int]
) -> tuple[list[Floats], list[Floats]]:
    """Return the joint positions and actions (N, 13) of each episode, rad."""
    joints, actions = [], []
    for index in episodes:
        found = store.episode(index, [STATE, ACTION])
        joints.append(np.ascontiguousarray(found[STATE], np.float32))
        actions.append(np.ascontiguousarray(found[ACTION], np.float32))
    return joints, actions


def _uses_safe_frame(train: TrainConfig, encoder: SceneEncoder | None) -> bool:
    possible = encoder is not None and not train.points_jitter
    if train.safe_frame and not possible:
        raise RuleSafeError(
            "safe_frame is True, which requires a network with a scene encoder and a points_jitter "
            "of 0; valid here: False, None"
        )
    return possible and train.safe_frame is not False


def pad(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad token ids of several instructions; return ids (B, L) int64 and a mask, False if padded.

    The padding is on the left because the memory tokens follow the instruction: their positions
    relative to it are then the same as at inference, where there is no padding.
    """
    longest = max(map(len, ids))
    padded = torch.zeros(len(ids), longest, dtype=torch.int64)
    mask = torch.zeros(len(ids), longest, dtype=torch.bool)
    for row, found in enumerate(ids):
        padded[row, longest - len(found) :] = torch.tensor(found)
        mask[row, longest - len(found) :] = True
    return padded, mask


def _with_mean_identity(
    features: NDArray[np.float32], lengths: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return scene features (V, F, features) in which the probabilities of the safes are the means
    of those since the beginning of the episode. `lengths`: frames of each episode."""
    found = np.array(features)
    for part in np.split(found[..., len(QUANTITIES) :], np.cumsum(lengths)[:-1], axis=1):
        part[:] = part.cumsum(1) / np.arange(1, part.shape[1] + 1)[:, None]  # a view of `found`
    return found


def _noise(train: TrainConfig) -> Floats:
    """Return the standard deviations (13,) of the noise on the observed joints, rad."""
    arm = len(ARM_JOINTS)
    hand = len(ACTION_JOINTS) - arm
    return np.array([train.jitter] * arm + [train.hand_jitter] * hand, np.float32)


def _fit(
    joints: Sequence[Floats], actions: Sequence[Floats], config: NetworkConfig, train: TrainConfig
) -> Normaliser:
    positions = np.concatenate(joints)
    scaling = min_max(positions.min(0), positions.max(0))
    if train.actions == "relative":
        relative = fit_relative(joints, actions, config.past, margin=2 * _noise(train))
        return Normaliser(scaling, relative)
    return Normaliser(scaling, fit_absolute(actions))
