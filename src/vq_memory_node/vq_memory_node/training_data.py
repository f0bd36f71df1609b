"""Training data: a split of the episodes by seed, a normaliser, and the windows of all frames."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ARM_JOINTS
from vq_memory_node.train_config import Seen
from vq_memory_node.windows import WINDOW


@dataclass(frozen=True)
class JointNormaliser:
    """Mean and standard deviation (13,) float32 of each joint, rad.

    An infinite standard deviation maps a joint to 0, so that it is ignored.
    """

    mean: NDArray[np.float32]
    std: NDArray[np.float32]


def fit_normaliser(
    trajectories: Sequence[NDArray[np.float32]], floor: float, sees: Seen = "arm_and_hand"
) -> JointNormaliser:
    """Fit a normaliser to all frames of trajectories (N, 13), rad; see `MemoryTrainConfig.sees`.

    The minimum `floor` of the standard deviations, rad, keeps noise of joints at rest small.
    """
    frames = np.concatenate(trajectories).astype(float)
    std = np.maximum(frames.std(0), floor)
    if sees == "hand":
        std[: len(ARM_JOINTS)] = np.inf
    return JointNormaliser(frames.mean(0).astype(np.float32), std.astype(np.float32))


def check_trajectories(trajectories: Sequence[NDArray[np.float32]]) -> None:
    """Raise RuleSafeError if there are fewer than two, or one is not (N, 13) and finite."""
    if len(trajectories) < 2:
        raise RuleSafeError(
            f"{len(trajectories)} episodes; training needs 2 or more, one for validation"
        )
    for episode, path in enumerate(trajectories):
        if path.ndim != 2 or path.shape[1] != len(ACTION_JOINTS) or not len(path):
            raise RuleSafeError(
                f"episode {episode} has the shape {path.shape}, expected (N, {len(ACTION_JOINTS)})"
            )
        if not np.isfinite(path).all():
            raise RuleSafeError(f"episode {episode} has joint positions with NaN or infinity")


def digest(trajectories: Sequence[NDArray[np.float32]]) -> str:
    """Return the SHA-256, hexadecimal, of the positions and lengths of all episodes."""
    found = hashlib.sha256()
    for path in trajectories:
        found.update(len(path).to_bytes(8, "little"))
        found.update(np.ascontiguousarray(path, "<f4").tobytes())
    return found.hexdigest()


def split(episodes: int, validation: float, seed: int) -> tuple[list[int], list[int]]:
    """Return the indices of training and validation episodes, ascending; at least one of each."""
    count = min(max(round(episodes * validation), 1), episodes - 1)
    order = np.random.default_rng(seed).permutation(episodes).tolist()
    return sorted(order[count:]), sorted(order[:count])


class JointWindows:
    """All windows of some episodes, normalised, one for each frame."""

    def __init__(
        self, trajectories: Sequence[NDArray[np.float32]], normaliser: JointNormaliser
    ) -> None:
        before = WINDOW - 1
        padded = [np.concatenate([path[:1].repeat(before, 0), path]) for path in trajectories]
        frames = np.concatenate(padded).astype(np.float32)
        frames = (frames - normaliser.mean) * (np.float32(1) / normaliser.std)
        self._views = torch.from_numpy(frames).unfold(0, WINDOW, 1)  # (rows, 13, WINDOW), no copy
        self.lengths = [len(path) for path in trajectories]
        starts = np.cumsum([0, *(len(path) for path in padded)])[:-1]
        rows = [
            start + np.arange(length) for start, length in zip(starts, self.lengths, strict=True)
        ]
        self._rows = torch.from_numpy(np.concatenate(rows))

    def __len__(self) -> int:
        """Return the number of windows, which is the number of frames."""
        return len(self._rows)

    def __getitem__(self, frames: Tensor) -> Tensor:
        """Return windows (B, 13, WINDOW) float32; `frames` (B,) indexes all frames in order."""
        return self._views[self._rows[frames]]
