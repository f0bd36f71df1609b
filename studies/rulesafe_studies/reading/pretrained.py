"""Pretrained vectors of English words, so that the parser understands words that the grammar does
not use. They are those of WordLlama (MIT licence), whose package contains them:
`pip install --no-deps wordllama`. The file of a parser contains the vectors of its words."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from rulesafe_core.errors import RuleSafeError

TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
WEIGHTS = "weights/l2_supercat_256.safetensors"

START = "\u2581"
"""Character with which tokens of the vocabulary begin that are the start of a word."""


def common_words() -> set[str]:
    """Return the English words of three to fourteen letters that are one token of WordLlama."""
    tokens = Tokenizer.from_file(str(_package() / TOKENIZER)).get_vocab()
    words = (token[1:] for token in tokens if token.startswith(START))
    return {word for word in words if 3 <= len(word) <= 14 and word.isascii() and word.islower()}


def word_vectors(words: Sequence[str], size: int) -> Tensor:
    """Return the vectors (words, size) of words, of length one: the mean of their tokens. The first
    numbers of a vector of WordLlama are a shorter vector."""
    tokenizer = Tokenizer.from_file(str(_package() / TOKENIZER))
    (table,) = load_file(_package() / WEIGHTS).values()
    ids = [tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    found = torch.stack([table[each, :size].float().mean(0) for each in ids])
    return found / found.norm(dim=1, keepdim=True).clamp(min=1e-6)


def _package() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise RuleSafeError(
            "the pretrained vectors of words require WordLlama: pip install --no-deps wordllama"
        )
    return Path(spec.origin).parent
