"""How well a small network reads the task's step from the joints and a memory.

Not a policy: the network sees the privileged step as the label that it learns, which says what the
memory holds, and nothing else is made of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score
from torch import nn

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.analysis.frames import STEPS, LabelledFrames

FLOOR = 0.01
"""rad, the least standard deviation by which positions are divided: a joint that never moves
otherwise turns noise into signal."""


@dataclass(frozen=True)
class ProbeConfig:
    """The network and its training, the same for whatever it reads."""

    hidden: int = 64
    """Units of each of two hidden layers."""
    rate: float = 1e-3
    """Adam's learning rate."""
    batch: int = 256
    epochs: int = 60
    """At most; it stops early."""
    patience: int = 6
    """Epochs without a better loss on validation episodes; the best epoch's weights are kept."""


@dataclass(frozen=True)
class Scores:
    """Of one network on one set of frames."""

    accuracy: float
    macro_f1: float
    """Mean over the steps of the training frames, so that short steps count as much as long."""


class Probe(nn.Module):
    """Two hidden layers. A sum of embeddings is the first layer's product with one-hot tokens,
    without making the M x J zeros."""

    def __init__(self, dense: int, slots: int, vocabulary: int, steps: int, hidden: int):
        super().__init__()
        self.dense = nn.Linear(dense, hidden)
        unknown = slots * vocabulary
        self.sparse = nn.EmbeddingBag(unknown + 1, hidden, mode="sum", padding_idx=unknown)
        with torch.no_grad():  # the spread of a linear layer's weights at their start
            self.sparse.weight *= self.dense.weight.std()
        self.rest = nn.Sequential(
            nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, steps)
        )

    def forward(self, dense: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        first = self.dense(dense)
        if rows.shape[1]:
            first = first + self.sparse(rows)
        logits: torch.Tensor = self.rest(first)
        return logits


@dataclass
class TrainedProbe:
    """A trained network with what it takes to feed it."""

    vocabulary: int
    config: ProbeConfig
    labels: NDArray[np.int64] = field(init=False)
    network: Probe = field(init=False)

    def fit(
        self, training: LabelledFrames, validation: LabelledFrames, seed: int
    ) -> "TrainedProbe":
        """Train it; the seed sets weights and order."""
        self.labels = np.unique(training.steps)
        joints = training.joints
        self._mean, self._std = joints.mean(axis=0), np.maximum(joints.std(axis=0), FLOOR)
        dense, rows = self._inputs(training)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            slots, size = training.tokens.shape[1], self.config.hidden
            self.network = Probe(dense.shape[1], slots, self.vocabulary, len(self.labels), size)
        generator = torch.Generator().manual_seed(seed)
        wanted = self._answers(training)
        optimiser = torch.optim.Adam(self.network.parameters(), self.config.rate)
        best, since, kept = np.inf, 0, self.network.state_dict()
        for _ in range(self.config.epochs):
            for batch in torch.randperm(len(wanted), generator=generator).split(self.config.batch):
                optimiser.zero_grad()
                logits = self.network(dense[batch], rows[batch])
                nn.functional.cross_entropy(logits, wanted[batch]).backward()
                optimiser.step()
            since += 1
            if (loss := self._loss(validation)) < best:
                best, since = loss, 0
                kept = {name: value.clone() for name, value in self.network.state_dict().items()}
            if since >= self.config.patience:
                break
        self.network.load_state_dict(kept)
        return self

    def _loss(self, frames: LabelledFrames) -> float:
        """The mean cross-entropy; steps that it never saw are left out."""
        with torch.no_grad():
            logits, answers = self.network(*self._inputs(frames)), self._answers(frames)
            return nn.functional.cross_entropy(logits, answers, ignore_index=-1).item()

    def _answers(self, frames: LabelledFrames) -> torch.Tensor:
        """The place of each frame's step among the labels, -1 where it is none of them."""
        known = np.isin(frames.steps, self.labels)
        return torch.from_numpy(np.where(known, np.searchsorted(self.labels, frames.steps), -1))

    def read(self, frames: LabelledFrames) -> NDArray[np.int64]:
        """The most likely step of each frame."""
        with torch.no_grad():
            found = self.network(*self._inputs(frames)).argmax(dim=1)
        return self.labels[found.numpy()]

    def _inputs(self, frames: LabelledFrames) -> tuple[torch.Tensor, torch.Tensor]:
        joints = (frames.joints - self._mean) / self._std
        raw = (frames.raw - self._mean) / self._std
        raw = np.where(frames.raw_mask()[..., None], raw, 0).reshape(len(joints), -1)
        dense = np.concatenate(
            [frames.rule_one_hot, joints, raw, frames.mask], axis=1, dtype=np.float32
        )
        slots = frames.tokens.shape[1]
        rows = np.arange(slots) * self.vocabulary + frames.tokens
        rows = np.where(frames.mask[:, :slots], rows, slots * self.vocabulary)
        return torch.from_numpy(dense), torch.from_numpy(rows)


def divided(rules: Sequence[str], seed: int) -> tuple[list[int], list[int], list[int]]:
    """Episodes for training, validation and test: 70, 10 and 20 % of each rule's, drawn by seed.

    At least one each. Errors: RuleSafeError for a rule with fewer than 3 episodes.
    """
    random = np.random.default_rng(seed)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for rule in sorted(set(rules)):
        own = random.permutation([i for i, name in enumerate(rules) if name == rule]).tolist()
        if len(own) < 3:
            raise RuleSafeError(f"{rule} has {len(own)} episodes; a division takes 3 or more")
        test, held = max(1, len(own) // 5), max(1, len(own) // 10)
        parts[2].extend(own[:test])
        parts[1].extend(own[test : test + held])
        parts[0].extend(own[test + held :])
    return parts


def probe(
    normal: LabelledFrames,
    shifted: LabelledFrames,
    rules: Sequence[str],
    vocabulary: int,
    seed: int,
    config: ProbeConfig = ProbeConfig(),
) -> tuple[Scores, Scores]:
    """Train on a part of the normal episodes; the scores on held-out normal ones and on shifted.

    Args:
        normal: frames of episodes that are numbered as in `rules`.
        shifted: frames of episodes of another split, none of them trained on.
        rules: the rule of each normal episode.
        vocabulary: of the tokens.
        seed: of the division, of the weights, of the order.
        config: of the network.
    """
    training, validation, test = (normal.of(part) for part in divided(rules, seed))
    reader = TrainedProbe(vocabulary, config).fit(training, validation, seed)
    return scores(reader, test), scores(reader, shifted)


def scores(reader: TrainedProbe, frames: LabelledFrames) -> Scores:
    """How well it reads these frames."""
    found = reader.read(frames)
    return scores_of(frames.steps, found, reader.labels)


def most_frequent(
    normal: LabelledFrames, shifted: LabelledFrames, rules: Sequence[str], seed: int
) -> tuple[Scores, Scores]:
    """The scores, on the same frames, of always answering with the training frames' most frequent
    step of the rule."""
    training, _, test = (normal.of(part) for part in divided(rules, seed))
    labels, counts = np.unique(training.steps, return_counts=True)
    guess = {
        rule: labels[labels // STEPS == rule][np.argmax(counts[labels // STEPS == rule])]
        for rule in np.unique(labels // STEPS)
    }
    on_test, on_shifted = (
        scores_of(frames.steps, np.array([guess[rule] for rule in frames.steps // STEPS]), labels)
        for frames in (test, shifted)
    )
    return on_test, on_shifted


def scores_of(
    steps: NDArray[np.int64], found: NDArray[np.int64], labels: NDArray[np.int64]
) -> Scores:
    """Scores of answers against the true steps."""
    f1 = f1_score(steps, found, labels=labels, average="macro", zero_division=0)
    return Scores(float(accuracy_score(steps, found)), float(f1))
