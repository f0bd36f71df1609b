"""Training of the parser on the corpus; a repeated call resumes it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from policy_node.ema import averaged
from policy_node.training import learning_rate
from rulesafe_data.files import write_json
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_reader.designs import KNOWN
from rulesafe_reader.parser import FIRST_WORD, PAD, UNKNOWN, Parser, ParserConfig, save_parser
from rulesafe_studies.reading.corpus import Pair
from rulesafe_studies.reading.paraphrases import paraphrase, vocabulary
from rulesafe_studies.reading.pretrained import common_words, word_vectors
from vq_memory_node.resume import TrainingProgress, TrainingRun, run_training

POOL = 8
"""Number of batches that are drawn at once and sorted by length, so that few words are padded."""


@dataclass(frozen=True)
class ParserTraining:
    """Settings of the training.

    Attributes:
        known: share of the pairs whose lock is a shipped one, of `KNOWN_SETS`.
        paraphrased: share of the instructions that are paraphrased.
        dropped: share of the words that are replaced by UNKNOWN; with pretrained vectors, these
            remain.
        pretrained: size of the pretrained vectors of words (`word_vectors`); 0: without.
    """

    steps: int = 20_000
    batch: int = 32
    learning_rate: float = 1e-3
    warm_up: int = 300
    ema: float = 0.999
    known: float = 0.05
    paraphrased: float = 0.5
    dropped: float = 0.05
    pretrained: int = 64
    checkpoint_every: int = 500
    threads: int = 1
    seed: int = 0


KNOWN_SETS = ("twenty", "written_train")
"""Shipped locks that the parser learns by name: most have no design in the grammar."""


def known_pairs() -> list[Pair]:
    """Return the locks of KNOWN_SETS with their instructions."""
    rules = expand_rules(",".join(KNOWN_SETS))
    return [Pair(rule.description, (KNOWN, name), name, 0) for name, rule in rules.items()]


def train_parser(
    pairs: Sequence[Pair],
    config: ParserTraining,
    out: Path,
    progress: Callable[[TrainingProgress], None] = lambda _: None,
    network: ParserConfig = ParserConfig(),
) -> Path:
    """Train a parser on these pairs, and those of `known_pairs`; write parser.safetensors and
    parser.json to `out`, which is returned."""
    facts = {"config": asdict(config), "network": asdict(network), "data": {"pairs": len(pairs)}}
    return run_training(
        lambda: _Run(pairs, config, network, out, facts),
        out / "parser.json",
        facts,
        config,
        progress,
    )


class _Run(TrainingRun):
    """A training run of the parser; the averaged weights are saved."""

    saved = ("network", "average", "optimiser")

    def __init__(
        self,
        pairs: Sequence[Pair],
        config: ParserTraining,
        network: ParserConfig,
        out: Path,
        facts: dict[str, Any],
    ) -> None:
        super().__init__(out, facts, config.steps, config.checkpoint_every)
        self.config, self.pairs, self.known = config, pairs, known_pairs()
        everything = [*pairs, *self.known]
        words = vocabulary([pair.text for pair in everything])
        network = replace(network, learned=len(words), pretrained=config.pretrained)
        tokens = sorted({token for pair in everything for token in pair.tokens})
        if config.pretrained:
            others = sorted(common_words() - set(words))
            words += others
        self.network = Parser(words, tokens, network).train()
        if config.pretrained:
            self.network.vectors[FIRST_WORD:] = word_vectors(words, config.pretrained)
        self.average = averaged(self.network, config.ema)
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), config.learning_rate, (0.9, 0.98), fused=True
        )
        self.resume()

    def advance(self) -> dict[str, float]:
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.step, self.config)
        words, tokens = self._batch()
        rng = torch.Generator().manual_seed(self.config.seed << 32 | self.step)
        hidden = torch.rand(words.shape, generator=rng) < self.config.dropped
        if not self.config.pretrained:
            words = words.masked_fill(hidden & (words != PAD), UNKNOWN)
        logits = self.network(words, tokens[:, :-1], hidden & (words != PAD))
        loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        self.average.update_parameters(self.network)
        self.step += 1
        return {"loss": loss.item(), "rate": learning_rate(self.step, self.config)}

    def _batch(self) -> tuple[Tensor, Tensor]:
        """Return words (B, W) and tokens (B, T) of one of POOL batches of similar lengths."""
        config = self.config
        pool, place = divmod(self.step, POOL)
        rng = random.Random(f"{config.seed} {pool}")
        drawn = [
            rng.choice(self.known if rng.random() < config.known else self.pairs)
            for _ in range(POOL * config.batch)
        ]
        drawn.sort(key=lambda pair: len(pair.text))
        order = rng.sample(range(POOL), POOL)
        rng = random.Random(f"{config.seed} {self.step} words")
        rows = []
        for pair in drawn[order[place] * config.batch :][: config.batch]:
            reworded = rng.random() < config.paraphrased
            ids = self.network.word_ids(paraphrase(pair.text, rng) if reworded else pair.text)
            rows.append((ids, self.network.token_ids(pair.tokens)))
        return _padded([ids for ids, _ in rows]), _padded([ids for _, ids in rows])

    def save_result(self) -> None:
        parser = self.average.module
        assert isinstance(parser, Parser)
        save_parser(parser, self.out / "parser.safetensors")
        write_json(self.out / "parser.json", {"training": {"facts": self.facts}})


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return pad_sequence([torch.tensor(ids) for ids in rows], True, PAD)
