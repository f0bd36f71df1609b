"""Skills execute a given subtask, such as "turn the knob open", by replaying demonstrations of it.

They are the lower level of `two_level` and receive neither an instruction nor a memory. The scene
encoder recognises the safe and estimates its pose. In the safe frame, demonstrations of a subtask
differ little between poses of the safe, so that a chunk is copied from the demonstration whose
posture is nearest (VINN; Pari et al., 2021), without a trained network. The nearest posture is
ambiguous where the arm rests or passes the same posture twice. Therefore the skills follow one
demonstration until its end:

- The progress in the current demonstration is estimated from the posture.
- A new subtask begins after the current demonstration if that is about to end: its last frames
  release the part, and without them the hand would move the part again. Otherwise it begins at the
  current posture, after two successive inferences with this subtask.
- The door is pulled by the knob or the handle, whose position the posture alone does not show.
  Its demonstrations are those with the same open parts, counted from the completed subtasks.
- If the demonstration ends and the subtask does not change, or if the arm makes no progress, the
  attempt has failed, and the skills start another demonstration of the subtask.

An inference is expected after every `execute` steps. With fewer than four steps between two
inferences, a slow motion is classified as no progress.
"""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policy_node.batches import Batch, Network, Windows
from policy_node.configs import NetworkConfig, SkillsConfig
from policy_node.policy import CHUNK
from policy_node.scene_encoder import QUANTITIES, SceneEncoder, make_encoder
from policy_node.schedules import JOINTS
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import SUBTASKS
from rulesafe_locks.locks import PARTS
from vq_memory_node.memory import MemoryShape

LEVERS = (0.6, 0.6, 0.5, 0.4, 0.2, 0.15, 0.1, *[0.05] * 6)
"""Approximate motion of the palm or a fingertip per motion of each of ACTION_JOINTS, m/rad, so that
the distance of two postures is approximately that of the hands."""

RELEASE = 40
"""Last frames of a demonstration in which the expert may be releasing the part and moving the hand
away: 23 to 38 after the event."""

START = 15
"""First frames of a demonstration, in which another attempt may begin."""

END = 3
"""Last frames of a demonstration, in which it counts as finished."""

PATIENCE = 2
"""Number of successive inferences without progress after which another attempt begins."""

CONFIRMATIONS = 2
"""Number of successive inferences with another subtask after which a demonstration is left early:
a single one is more often a mistake of the classifier than a part that moved early."""

STEP_PENALTY = 0.002
"""Penalty (m) per step of deviation from `execute`; it determines the progress where the posture
does not change."""

OPEN = {part: 1 << number for number, part in enumerate(PARTS)}
"""Codes of open parts."""

PHASES = 1 << len(PARTS)
"""Number of sets of open parts."""

DOOR = list(SUBTASKS).index("door+")
"""The subtask whose motion depends on the phases of the part by which the door is pulled."""

PLAN = 2 * CHUNK
"""Number of frames that are planned ahead."""

BATCH = 4096
"""Number of windows that are read at once."""


class Skills(Network):
    """Demonstrations of each subtask on each safe, and the scene encoder.

    The state of an episode is the plan: the indices of the demonstrations' frames whose actions
    follow. `sample` continues it, and `reset` discards it.
    """

    joints: Tensor  # (N, 13) float16, normalised, in the safe frame: frames of all demonstrations
    actions: Tensor  # (N, 13) float16, normalised, in the safe frame
    demonstration: Tensor  # (N,) int32, increasing: the demonstration of each frame
    pair: Tensor  # (N,) uint8: its safe and subtask
    phases: Tensor  # (N,) uint8: open parts at its start, as sums of OPEN
    levers: Tensor  # (13,) LEVERS of normalised joints, m

    def __init__(self, config: SkillsConfig, memory: MemoryShape) -> None:
        super().__init__()
        if memory.kind != "none":
            raise RuleSafeError(f"skills have no memory, got {memory.kind}; valid: none")
        self.config = config
        self.encoder = make_encoder(config.encoder, config.images)
        count = config.stored
        self.register_buffer("joints", torch.zeros(count, JOINTS, dtype=torch.float16))
        self.register_buffer("actions", torch.zeros(count, JOINTS, dtype=torch.float16))
        self.register_buffer("demonstration", torch.zeros(count, dtype=torch.int32))
        self.register_buffer("pair", torch.zeros(count, dtype=torch.uint8))
        self.register_buffer("phases", torch.zeros(count, dtype=torch.uint8))
        self.register_buffer("levers", torch.tensor(LEVERS))
        self.reset()

    def reset(self) -> None:
        self._plan: Tensor | None = None
        self._stalls = 0  # number of successive inferences without progress
        self._changes = 0  # number of successive inferences with another subtask
        self._failed: list[int] = []  # demonstrations that did not succeed
        self._phases = 0  # open parts, according to the completed demonstrations
        self._safe: Tensor | float = 0.0  # sum of the episode's probabilities of the safes

    def store_demonstrations(self, windows: Windows) -> None:
        """Store some demonstrations of each pair of safe and subtask; see `typical`."""
        count = len(windows)
        joints, actions = (np.empty((count, JOINTS), np.float16) for _ in range(2))
        subtask, safe = (np.empty(count, np.int64) for _ in range(2))
        for begin in range(0, count, BATCH):
            rows = np.arange(begin, min(begin + BATCH, count))
            batch = windows.batch(rows)
            assert batch.actions is not None and batch.subtask is not None
            joints[rows], actions[rows] = batch.joints[:, -1], batch.actions[:, 0]
            subtask[rows] = batch.subtask
            safe[rows] = self._safes(batch).argmax(-1)
        changes = (np.diff(subtask) != 0) | (np.diff(windows.first) != 0)
        demonstration = np.append(0, changes.cumsum())
        starts = np.append(0, np.flatnonzero(changes) + 1)
        ends = np.append(starts[1:], count) - 1
        pairs = np.array(
            [
                len(SUBTASKS) * np.bincount(safe[begin:end]).argmax() + subtask[begin]
                for begin, end in zip(starts, ends + 1, strict=True)
            ]
        )
        same = windows.first[starts[1:]] == windows.first[starts[:-1]]
        before = np.append(-1, np.where(same, pairs[:-1], -1))
        phases = opened_before(subtask[starts], same)
        before = PHASES * before + np.where(subtask[starts] == DOOR, phases, 0)
        levers = np.array(LEVERS) * windows.normaliser.joints.scale
        chosen = typical(
            pairs,
            before,
            joints[starts] * levers,
            joints[ends] * levers,
            self.config.demonstrations,
        )
        kept = np.isin(demonstration, chosen)
        self.joints, self.actions = torch.from_numpy(joints[kept]), torch.from_numpy(actions[kept])
        self.demonstration = torch.from_numpy(demonstration[kept].astype(np.int32))
        self.pair = torch.from_numpy(pairs[demonstration[kept]].astype(np.uint8))
        self.phases = torch.from_numpy(phases[demonstration[kept]].astype(np.uint8))
        self.levers = torch.from_numpy(levers.astype(np.float32))
        self.config = replace(self.config, stored=int(kept.sum()))

    def loss(self, batch: Batch) -> Tensor:
        raise NotImplementedError("skills are not trained")

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """Return the next chunk of the episode (1, 50, 13), normalised.

        Raises:
            RuleSafeError: the batch has no subtask, or there is no demonstration of it.
        """
        if batch.subtask is None:
            raise RuleSafeError("skills execute a given subtask: train a two_level policy on them")
        if len(batch) != 1:
            raise ValueError(f"skills execute one episode at a time, got {len(batch)}")
        self._safe = self._safe + self._safes(batch)[0]
        if batch.joints.is_meta:  # only shapes are of interest
            return batch.joints.new_empty(1, CHUNK, JOINTS)
        assert isinstance(self._safe, Tensor)
        pair = self._pair(self._safe, int(batch.subtask))
        self._plan = self._next_plan(pair, self._features(batch.joints[0, -1], batch.joints[0, 0]))
        return self.actions[self._plan[:CHUNK]].float()[None]

    def available_subtasks(self) -> Tensor:
        """Return a mask (6,) of the subtasks with demonstrations."""
        subtasks = torch.arange(len(SUBTASKS), device=self.pair.device)
        return torch.isin(subtasks, self.pair % len(SUBTASKS))

    def _safes(self, batch: Batch) -> Tensor:
        """Return the probabilities of the safes (B, safes)."""
        return batch.scene(self.encoder, count=self.config.points)[:, -1, len(QUANTITIES) :]

    def _pair(self, probabilities: Tensor, subtask: int) -> int:
        """Return the pair of a subtask and the most probable safe with a demonstration of it, given
        the probabilities of the safes (safes,), not normalised."""
        pairs = torch.unique(self.pair[self.pair % len(SUBTASKS) == subtask]).long()
        if not len(pairs):
            name = list(SUBTASKS)[subtask]
            raise RuleSafeError(f"the skills have no demonstration of {name}")
        return int(pairs[probabilities[pairs // len(SUBTASKS)].argmax()])

    def _next_plan(self, pair: int, posture: Tensor) -> Tensor:
        """Return the plan (PLAN,) for a pair of safe and subtask at the features of a posture."""
        if self._plan is None:
            return self._plan_from(self._nearest(pair, posture))
        steps = torch.arange(CHUNK, device=posture.device)
        # Without the change of the posture, which differs if the arm lags behind.
        distances = (self._stored(self._plan[:CHUNK]) - posture)[:, :JOINTS].norm(dim=-1)
        progress = int((distances + STEP_PENALTY * (steps - self.config.execute).abs()).argmin())
        here = int(self._plan[progress])
        left = int(self._bounds(here)[1]) - here
        self._stalls = self._stalls + 1 if left <= END or progress <= 1 else 0
        if int(self.pair[here]) == pair:
            self._changes = 0
            if self._stalls < PATIENCE:
                return self._plan_from(here)
            self._failed.append(int(self.demonstration[here]))
            begin = self._nearest(pair, posture, START)
        elif left <= RELEASE:
            self._phases = after(self._phases, int(self.pair[here]) % len(SUBTASKS))
            last = torch.tensor(here + left, device=posture.device)
            begin = self._nearest(pair, self._stored(last), START)
            if self._stalls < PATIENCE or left <= END:
                rest = torch.arange(here, here + left + 1, device=posture.device)
                return torch.cat([rest, self._plan_from(begin)])
        else:
            self._changes += 1
            if self._changes < CONFIRMATIONS:
                return self._plan_from(here)
            begin = self._nearest(pair, posture)
        self._stalls = self._changes = 0
        return self._plan_from(begin)

    def _plan_from(self, frame: int) -> Tensor:
        """Return the plan (PLAN,) of a demonstration from a frame on; at its end, the arm rests."""
        frames = torch.arange(frame, frame + PLAN, device=self.pair.device)
        return frames.clamp(max=int(self._bounds(frame)[1]))

    def _nearest(self, pair: int, posture: Tensor, within: int | None = None) -> int:
        """Return the nearest frame of a pair's demonstrations, or of their first frames. Those that
        have failed are used again only if all have."""
        frames = torch.nonzero(self.pair == pair)[:, 0]
        failed = torch.tensor(self._failed, dtype=self.demonstration.dtype, device=frames.device)
        untried = frames[~torch.isin(self.demonstration[frames], failed)]
        frames = untried if len(untried) else frames
        if pair % len(SUBTASKS) == DOOR:
            alike = frames[self.phases[frames] == self._phases]
            frames = alike if len(alike) else frames
        if within is not None:
            frames = frames[frames - self._bounds(frames)[0] < within]
        return int(frames[(self._stored(frames) - posture).norm(dim=-1).argmin()])

    def _bounds(self, frames: Tensor | int) -> tuple[Tensor, Tensor]:
        """Return the first and the last frame of the demonstrations of some frames."""
        numbers = self.demonstration[frames].contiguous()
        first = torch.searchsorted(self.demonstration, numbers)
        return first, torch.searchsorted(self.demonstration, numbers, right=True) - 1

    def _stored(self, frames: Tensor) -> Tensor:
        """Return the features (..., 26) of stored frames (...)."""
        before = torch.maximum(frames - self.config.frames + 1, self._bounds(frames)[0])
        return self._features(self.joints[frames].float(), self.joints[before].float())

    def _features(self, now: Tensor, before: Tensor) -> Tensor:
        """Return the features (..., 26), m, of a posture (..., 13) and its change, which
        distinguishes opposite motions."""
        return torch.cat([self.levers * now, self.levers * (now - before)], dim=-1)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return replace(self.config, encoder=self.encoder.config)

    def scene_encoder(self) -> SceneEncoder:
        return self.encoder


def after(phases: int, subtask: int) -> int:
    """Return the open parts after a subtask."""
    event = list(SUBTASKS)[subtask]
    code = OPEN[event[:-1]]
    return phases | code if event.endswith("+") else phases & ~code


def opened_before(subtasks: NDArray[np.int64], same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the open parts at the start of each demonstration (N,), as sums of OPEN.

    Args:
        subtasks: (N,) subtask of each demonstration.
        same: (N - 1,) whether the next one is of the same episode.
    """
    found = np.zeros(len(subtasks), np.int64)
    for at in range(1, len(subtasks)):
        if same[at - 1]:
            found[at] = after(int(found[at - 1]), int(subtasks[at - 1]))
    return found


def typical(
    pairs: NDArray[np.int64],
    before: NDArray[np.int64],
    starts: NDArray[np.floating],
    ends: NDArray[np.floating],
    count: int,
) -> NDArray[np.int64]:
    """Return the indices of the demonstrations to store, of N.

    A demonstration begins where the subtask before it ended, and should end where the next ones
    begin. Few end elsewhere, with the wrist turned the other way. Therefore those with the most
    central first and last postures are stored.

    Args:
        pairs: (N,) pair of each demonstration.
        before: (N,) what precedes each demonstration, such as the pair before it in its episode.
        starts, ends: (N, 13) first and last postures, m.
        count: number of demonstrations of each pair after each predecessor.
    """
    chosen = []
    for pair in np.unique(pairs):
        of_pair = np.flatnonzero(pairs == pair)
        off = np.zeros(len(pairs))
        off[of_pair] = _from_centre(ends[of_pair])
        for previous in np.unique(before[of_pair]):
            found = of_pair[before[of_pair] == previous]
            chosen.append(found[(off[found] + _from_centre(starts[found])).argsort()[:count]])
    return np.concatenate(chosen)


def _from_centre(postures: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the distances (n,) of postures (n, 13), m, from the most central one."""
    distances = np.linalg.norm(postures[:, None] - postures, axis=-1)
    found: NDArray[np.float64] = distances[distances.sum(1).argmin()]
    return found
