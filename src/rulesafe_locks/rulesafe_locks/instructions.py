"""Lengths of instructions: the long text of a rule, and a short one for models with a token limit.

openpi cuts prompts of pi0 after 48 tokens of PaliGemma's tokenizer, two of which are the start and
the end of the text (`PaligemmaTokenizer`, `max_token_len`). `MAX_TOKENS` leaves six more free.
"""

import re
from typing import Literal, get_args

from rulesafe_core.errors import unknown_name

Length = Literal["short", "long"]

EXPORT_LENGTH: Length = "short"
"""Default of exports and of policies on servers, whose prompts must be those of the training."""

MAX_TOKENS = 40
"""Maximum number of tokens of a short instruction, as estimated by `token_bound`."""

_PIECE = re.compile(r"([A-Za-z]+)|[^A-Za-z\s]|\s(?![A-Za-z])")
_LETTERS = 6


def token_bound(text: str) -> int:
    """Return an upper estimate of the number of tokens of an English text, without the tokenizer.

    Gemma's and PaliGemma's tokenizer (SentencePiece with byte fallback; Gemma Team, "Gemma: Open
    Models Based on Gemini Research and Technology", 2024, section "Pretraining") splits digits, and
    merges a space with the word after it. So a digit or sign counts 1, a space before it 1, a
    character outside ASCII one per byte, and a word of n letters n / 6, rounded up. Most English
    words of any length are a single token; rare words and names can need more. docs/rules.md
    compares the estimate with the tokenizer.
    """
    pieces = _PIECE.finditer(text)
    return sum(-(-len(p[0]) // _LETTERS) if p[1] else len(p[0].encode()) for p in pieces)


def check_length(length: str) -> None:
    """Raise RuleSafeError unless `length` is "short" or "long"."""
    if length not in get_args(Length):
        raise unknown_name("instruction", length, get_args(Length))
