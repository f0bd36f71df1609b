"""Probe: a small network that predicts the task step from the joints and a memory.

It measures the information in a memory. Its labels are privileged, and it is not used as a policy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score
from torch import nn

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.memory.frames import STEPS, LabelledFrames

FLOOR = 0.01
"""Minimum standard deviation in the normalisation of joint positions, rad, so that noise of joints
at rest is not amplified."""


@dataclass(frozen=True)
class ProbeConfig:
    """The network and its training, the same for all inputs."""

    hidden: int = 64
    """Units of each of two hidden layers."""
    rate: float = 1e-3
    """Adam's learning rate."""
    batch: int = 256
    epochs: int = 60
    """Maximum number of epochs; training stops early."""
    patience: int = 6
    """Epochs without a lower validation loss before training stops; the best weights are kept."""


@dataclass(frozen=True)
class Scores:
    """Scores of one network on one set of frames."""

    accuracy: float
    macro_f1: float
    """Mean F1 over the steps of the training frames; short steps count as much as long ones."""


class Probe(nn.Module):
    """MLP with two hidden layers. A sum of embeddings replaces the product of the first layer with
    M x J one-hot values."""

    def __init__(self, dense: int, slots: int, vocabulary: int, steps: int, hidden: int):
        super().__init__()
        self.dense = nn.Linear(dense, hidden)
        padding = slots * vocabulary
        self.sparse = nn.EmbeddingBag(padding + 1, hidden, mode="sum", padding_idx=padding)
        with torch.no_grad():  # the standard deviation with which linear layers are initialised
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
    """A trained network with the normalisation of its inputs."""

    vocabulary: int
    config: ProbeConfig
    labels: NDArray[np.int64] = field(init=False)
    network: Probe = field(init=False)

    def fit(
        self, training: LabelledFrames, validation: LabelledFrames, seed: int
    ) -> "TrainedProbe":
        """Train the network; the seed determines weights and batch order."""
        self.labels = np.unique(training.steps)
        joints = training.joints
        self._mean, self._std = joints.mean(axis=0), np.maximum(joints.std(axis=0), FLOOR)
        dense, rows = self._inputs(training)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            slots, size = training.tokens.shape[1], self.config.hidden
            self.network = Probe(dense.shape[1], slots, self.vocabulary, len(self.labels), size)
        generator = torch.Generator().manual_seed(seed)
        targets = self._targets(training)
        optimiser = torch.optim.Adam(self.network.parameters(), self.config.rate)
        best, since, kept = np.inf, 0, self.network.state_dict()
        for _ in range(self.config.epochs):
            for batch in torch.randperm(len(targets), generator=generator).split(self.config.batch):
                optimiser.zero_grad()
                logits = self.network(dense[batch], rows[batch])
                nn.functional.cross_entropy(logits, targets[batch]).backward()
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
        """Return the mean cross-entropy over frames whose step occurs in training."""
        with torch.no_grad():
            logits, targets = self.network(*self._inputs(frames)), self._targets(frames)
            return nn.functional.cross_entropy(logits, targets, ignore_index=-1).item()

    def _targets(self, frames: LabelledFrames) -> torch.Tensor:
        """Return the index of each frame's step in `labels`, or -1 if it is not a label."""
        known = np.isin(frames.steps, self.labels)
        return torch.from_numpy(np.where(known, np.searchsorted(self.labels, frames.steps), -1))

    def predict(self, frames: LabelledFrames) -> NDArray[np.int64]:
        """Return the most likely step of each frame."""
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


def split_episodes(rules: Sequence[str], seed: int) -> tuple[list[int], list[int], list[int]]:
    """Draw episodes for training, validation and test: 70, 10 and 20 % of each rule, at least one.

    Raises:
        RuleSafeError: a rule has fewer than 3 episodes.
    """
    random = np.random.default_rng(seed)
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for rule in sorted(set(rules)):
        own = random.permutation([i for i, name in enumerate(rules) if name == rule]).tolist()
        if len(own) < 3:
            raise RuleSafeError(
                f"{rule} has {len(own)} episodes; 3 or more are needed for the split"
            )
        test, validation = max(1, len(own) // 5), max(1, len(own) // 10)
        parts[2].extend(own[:test])
        parts[1].extend(own[test : test + validation])
        parts[0].extend(own[test + validation :])
    return parts


def probe(
    train: LabelledFrames,
    shifted: LabelledFrames,
    rules: Sequence[str],
    vocabulary: int,
    seed: int,
    config: ProbeConfig = ProbeConfig(),
) -> tuple[Scores, Scores]:
    """Train on episodes of the split varied; return the scores on held-out and on shifted ones.

    Args:
        train: frames of episodes that are numbered as in `rules`.
        shifted: test frames of episodes of another split.
        rules: the rule of each train episode.
        vocabulary: number of different tokens.
        seed: random seed of the split, the weights and the batch order.
        config: configuration of the network.
    """
    training, validation, test = (train.of(part) for part in split_episodes(rules, seed))
    trained = TrainedProbe(vocabulary, config).fit(training, validation, seed)
    return scores(trained, test), scores(trained, shifted)


def scores(trained: TrainedProbe, frames: LabelledFrames) -> Scores:
    """Return the scores of a trained probe on these frames."""
    return scores_of(frames.steps, trained.predict(frames), trained.labels)


def most_frequent(
    train: LabelledFrames, shifted: LabelledFrames, rules: Sequence[str], seed: int
) -> tuple[Scores, Scores]:
    """Return the scores on the same frames of a baseline that always predicts the most frequent
    step of the rule in the training frames."""
    training, _, test = (train.of(part) for part in split_episodes(rules, seed))
    labels, counts = np.unique(training.steps, return_counts=True)
    prediction = {
        rule: labels[labels // STEPS == rule][np.argmax(counts[labels // STEPS == rule])]
        for rule in np.unique(labels // STEPS)
    }
    on_test, on_shifted = (
        scores_of(frames.steps, np.array([prediction[r] for r in frames.steps // STEPS]), labels)
        for frames in (test, shifted)
    )
    return on_test, on_shifted


def scores_of(
    steps: NDArray[np.int64], predicted: NDArray[np.int64], labels: NDArray[np.int64]
) -> Scores:
    """Return the scores of predicted steps against the true ones."""
    f1 = f1_score(steps, predicted, labels=labels, average="macro", zero_division=0)
    return Scores(float(accuracy_score(steps, predicted)), float(f1))
