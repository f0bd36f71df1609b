"""Tokens of instruction and memory in one vocabulary.

Memory token j has the id V - N + j, where V is the vocabulary size of the language model and N that
of the memory; memory tokens follow the instruction (paper, section "Experimental Setup"). It is an
error if these ids overlap with those of the tokenizer of instructions. Each step of a raw memory is
a token, by a linear layer.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from policy_node.attention import sinusoids
from policy_node.batches import Batch
from policy_node.configs_vla import SHIPPED_TOKENS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent / "data" / "instructions.json"
"""The shipped tokenizer of instructions, written by scripts/make_instruction_words.py."""


def tokenize(text: str) -> list[int]:
    """Return the token ids of a text."""
    return list(_shipped().encode(text).ids)


def memory_ids(tokens: Tensor, size: int, vocabulary: int) -> Tensor:
    """Return the ids of memory tokens 0 .. vocabulary - 1: the last ones of `size` ids."""
    return size - vocabulary + tokens


class InstructionEncoder(nn.Module):
    """Encodes instructions (B, L) as vectors (B, width): self-attention, then the mean. Equal ones
    are encoded once: a batch of training contains each of them many times."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(SHIPPED_TOKENS, width)
        self.layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        if ids.is_meta:  # only shapes are of interest
            return self._encode(ids, mask)
        rows = torch.cat([ids, mask.to(ids.dtype)], dim=1)
        found, where = rows.unique(dim=0, return_inverse=True)
        length = ids.shape[1]
        return self._encode(found[:, :length], found[:, length:].bool())[where]

    def _encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        # Counted from the first token, so that padding in front does not shift positions.
        places = (mask.long().cumsum(1) - 1).clamp(min=0)
        x = self.tokens(ids) + sinusoids(places, self.tokens.embedding_dim)
        x = self.layer(x, src_key_padding_mask=~mask)
        weights = mask.to(x.dtype)[..., None]
        return (x * weights).sum(1) / weights.sum(1)


class TokenEmbedding(nn.Module):
    """Embeds instruction and memory for a language model.

    Args:
        table: embedding table of the language model, (V, width); not a part of this module.
        memory: shape of the memory.
    """

    def __init__(self, table: nn.Embedding, memory: MemoryShape) -> None:
        super().__init__()
        self.memory, self.size = memory, table.num_embeddings
        room = self.size - SHIPPED_TOKENS
        if memory.vocabulary > room:
            raise RuleSafeError(
                f"a memory of {memory.vocabulary} tokens does not fit into the language model's "
                f"vocabulary of {self.size} ids, of which {room} are available for a memory"
            )
        self.raw: nn.Linear | None = None
        if memory.kind == "raw":
            self.raw = nn.Linear(len(ACTION_JOINTS), table.embedding_dim)

    def forward(self, batch: Batch, table: nn.Module) -> tuple[Tensor, Tensor]:
        """Return embeddings (B, L + M, width) and their mask (B, L + M), True for tokens."""
        if batch.language is None or batch.language_mask is None:
            raise ValueError("the batch has no instructions, which the network requires")
        language, mask = table(batch.language), batch.language_mask
        if self.memory.kind == "none":
            return language, mask
        if batch.memory is None or batch.memory_mask is None:
            raise ValueError(f"the batch has no memory; the network requires {self.memory}")
        embeddings = self._embed_memory(batch.memory, table)
        return torch.cat([language, embeddings], 1), torch.cat([mask, batch.memory_mask], 1)

    def _embed_memory(self, memory: Tensor, table: nn.Module) -> Tensor:
        if self.raw is not None:
            return self.raw(memory)
        return table(memory_ids(memory, self.size, self.memory.vocabulary))


@lru_cache(maxsize=1)
def _shipped() -> "Tokenizer":
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(SHIPPED))
