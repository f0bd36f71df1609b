"""The parser: a transformer that translates an instruction into the design of its lock.

Encoder and decoder (Vaswani et al., "Attention is all you need", 2017) over words and the tokens of
designs.py. It is trained on locks of the grammar (`python -m rulesafe_studies reading`)::

    parser = load_parser(SHIPPED)
    parser.candidates("The door can be pulled while the knob is open.")[0].tokens
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from policy_node.attention import sinusoids
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_reader.designs import LONGEST

SHIPPED = Path(__file__).parent / "data" / "parser.safetensors"
"""The shipped parser, a result of `python -m rulesafe_studies reading`."""

FORMAT = "rulesafe parser 1"
PAD, UNKNOWN, FIRST_WORD = 0, 1, 2  # of words; UNKNOWN is any word not in the vocabulary
START, END = 1, 2  # of designs
FIRST = 3  # id of the first token of designs
MAX_WORDS = 320

MARGIN = 7.0
"""Designs that are less probable than the best one by this logarithm are not continued."""


@dataclass(frozen=True)
class ParserConfig:
    """Sizes of the parser.

    Attributes:
        width: of tokens.
        heads, layers: attention heads; layers of encoder and of decoder.
        learned: number of words with a learned embedding; None: all.
        pretrained: size of the vectors of other words, and of these; 0: there are none.
    """

    width: int = 96
    heads: int = 4
    layers: int = 2
    learned: int | None = None
    pretrained: int = 0


@dataclass(frozen=True)
class Candidate:
    """A possible design, and the logarithm of its probability."""

    tokens: tuple[str, ...]
    score: float


def words_of(text: str) -> list[str]:
    """Return the words, digits and punctuation marks of a text, in lower case, without "the"."""
    found = re.findall(r"[a-z]+|[0-9]|[^\w\s]", text.lower())
    return [word for word in found if word != "the"][:MAX_WORDS]


class Parser(nn.Module):
    """Words to tokens of a design.

    Args:
        words, tokens: the vocabularies.
        config: the sizes.
    """

    vectors: Tensor

    def __init__(
        self, words: Sequence[str], tokens: Sequence[str], config: ParserConfig = ParserConfig()
    ) -> None:
        super().__init__()
        self.words, self.tokens, self.config = tuple(words), tuple(tokens), config
        self._word_ids = {word: number for number, word in enumerate(words, FIRST_WORD)}
        self._token_ids = {token: number for number, token in enumerate(tokens, FIRST)}
        width = config.width
        size: dict[str, Any] = {"batch_first": True, "norm_first": True, "dropout": 0.0}
        self.learned = len(words) if config.learned is None else config.learned
        self.word = nn.Embedding(self.learned + FIRST_WORD, width)
        if config.pretrained:
            self.register_buffer("vectors", torch.zeros(len(words) + FIRST_WORD, config.pretrained))
            self.project = nn.Linear(config.pretrained, width, bias=False)
        self.token = nn.Embedding(len(tokens) + FIRST, width)
        nn.init.normal_(self.word.weight, std=0.05)
        nn.init.normal_(self.token.weight, std=0.05)
        reading = nn.TransformerEncoderLayer(width, config.heads, 4 * width, **size)
        writing = nn.TransformerDecoderLayer(width, config.heads, 4 * width, **size)
        last = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(reading, config.layers, last, False)
        self.decoder = nn.TransformerDecoder(writing, config.layers, nn.LayerNorm(width))
        self.head = nn.Linear(width, len(tokens) + FIRST)

    def word_ids(self, text: str) -> list[int]:
        return [self._word_ids.get(word, UNKNOWN) for word in words_of(text)]

    def token_ids(self, tokens: Sequence[str]) -> list[int]:
        """Return START, the ids of the tokens, and END."""
        return [START, *(self._token_ids[token] for token in tokens), END]

    def encode(self, words: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Words (B, W) -> (B, W, width); where `hidden` (B, W), without learned embedding."""
        rare = words >= self.learned + FIRST_WORD
        x = self.word(words.masked_fill(rare if hidden is None else rare | hidden, UNKNOWN))
        if self.config.pretrained:
            x = x + self.project(self.vectors[words])
        found: Tensor = self.encoder(self._placed(x), src_key_padding_mask=words == PAD)
        return found

    def decode(self, encoded: Tensor, words: Tensor, tokens: Tensor) -> Tensor:
        """Return the logits (B, T, tokens + FIRST) of the token after each of `tokens` (B, T)."""
        length = tokens.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        found: Tensor = self.decoder(
            self._placed(self.token(tokens)),
            encoded,
            tgt_mask=later,
            memory_key_padding_mask=words == PAD,
            tgt_is_causal=True,
        )
        logits: Tensor = self.head(found)
        return logits

    def forward(self, words: Tensor, tokens: Tensor, hidden: Tensor | None = None) -> Tensor:
        return self.decode(self.encode(words, hidden), words, tokens)

    @torch.no_grad()
    def candidates(self, text: str | Sequence[int], count: int = 8) -> list[Candidate]:
        """Return up to `count` designs of an instruction, or of the ids of its words, the most
        probable first (beam search); they need not be valid."""
        words = torch.tensor([self.word_ids(text) if isinstance(text, str) else list(text)])
        encoded = self.encode(words)
        rows, scores = torch.tensor([[START]]), torch.zeros(1)
        done: list[Candidate] = []
        for _ in range(LONGEST):
            logits = self.decode(
                encoded.expand(len(rows), -1, -1), words.expand(len(rows), -1), rows
            )[:, -1]
            values = (scores[:, None] + logits.log_softmax(-1)).flatten()
            best = values.topk(min(count, len(values)))
            row, token = best.indices // logits.shape[1], best.indices % logits.shape[1]
            ended = token == END
            done += [
                Candidate(tuple(self.tokens[i - FIRST] for i in rows[r, 1:].tolist()), float(score))
                for r, score in zip(row[ended], best.values[ended], strict=True)
            ]
            done.sort(key=lambda each: -each.score)
            valid = ~ended & (token >= FIRST)
            if done:
                least = done[count - 1].score if len(done) >= count else done[0].score - MARGIN
                valid &= best.values > least
            rows = torch.cat([rows[row[valid]], token[valid, None]], dim=1)
            scores = best.values[valid]
            if not len(rows):
                break
        return done[:count]

    def _placed(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)[None]
        return x * self.config.width**0.5 + sinusoids(places, self.config.width)


def save_parser(parser: Parser, path: Path) -> None:
    """Write a parser with its vocabularies, in half precision."""
    about = {
        "format": FORMAT,
        "config": asdict(parser.config),
        "words": parser.words,
        "tokens": parser.tokens,
    }
    weights = {name: value.half().contiguous() for name, value in parser.state_dict().items()}
    write_atomically(path, save(weights, {"parser": json.dumps(about)}))


def load_parser(path: Path = SHIPPED) -> Parser:
    """Read a parser. Raises RuleSafeError if the file is not one."""
    try:
        with safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {})["parser"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}")
        parser = Parser(about["words"], about["tokens"], ParserConfig(**about["config"]))
        parser.load_state_dict(weights)
    except (KeyError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        raise RuleSafeError(f"{path} is not a parser of instructions: {error!r:.300}") from error
    return parser.eval().requires_grad_(False)
