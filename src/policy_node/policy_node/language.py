"""Tokens of instruction and memory in one vocabulary.

Memory token j has the id V - N + j, where V is the vocabulary size of the language model and N that
of the memory; memory tokens follow the instruction (paper, section "Experimental Setup"). With the
shipped tokenizer, it is an error if these ids overlap with its own; pretrained vocabularies end in
tokens that are rare in instructions. Each step of a raw memory is a token, by a linear layer.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from policy_node.batches import Batch
from policy_node.configs_vla import SHIPPED_TOKENS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent / "data" / "instructions.json"
"""The shipped tokenizer of instructions, written by scripts/make_instruction_words.py."""


def tokenize(text: str, tokenizer: str = "", download: bool = False) -> list[int]:
    """Return the token ids of a text.

    Args:
        tokenizer: folder or Hugging Face name of a tokenizer of transformers; empty: the shipped
            tokenizer.
        download: whether the tokenizer may be downloaded from the hub.

    Raises:
        RuleSafeError: there is no such tokenizer.
    """
    if not tokenizer:
        return list(_shipped().encode(text).ids)
    return list(_published(tokenizer, download)(text)["input_ids"])


def memory_ids(tokens: Tensor, size: int, vocabulary: int) -> Tensor:
    """Return the ids of memory tokens 0 .. vocabulary - 1: the last ones of `size` ids."""
    return size - vocabulary + tokens


class TokenEmbedding(nn.Module):
    """Embeds instruction and memory for a language model.

    Args:
        table: embedding table of the language model, (V, width); not a part of this module.
        memory: shape of the memory.
        shipped: whether the shipped tokenizer is used, with whose ids memory ids must not overlap.
    """

    def __init__(self, table: nn.Embedding, memory: MemoryShape, shipped: bool) -> None:
        super().__init__()
        self.memory, self.size = memory, table.num_embeddings
        room = self.size - (SHIPPED_TOKENS if shipped else 0)
        if memory.vocabulary > room:
            raise RuleSafeError(
                f"a memory of {memory.vocabulary} tokens does not fit into the language model's "
                f"vocabulary of {self.size} ids, of which {room} are available for a memory"
            )
        self.raw: nn.Linear | None = None
        self.tail: nn.Parameter | None = None
        if memory.kind == "raw":
            self.raw = nn.Linear(len(ACTION_JOINTS), table.embedding_dim)
        elif memory.kind == "tokens" and not table.weight.requires_grad:
            # A frozen language model cannot learn these tokens: only their embeddings are trained,
            # starting from those of the table.
            ids = memory_ids(torch.arange(memory.vocabulary), self.size, memory.vocabulary)
            self.tail = nn.Parameter(table(ids).detach().clone())

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
        if self.tail is not None:
            return self.tail[memory]
        return table(memory_ids(memory, self.size, self.memory.vocabulary))


@lru_cache(maxsize=1)
def _shipped() -> "Tokenizer":
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(SHIPPED))


@lru_cache(maxsize=2)
def _published(tokenizer: str, download: bool) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(tokenizer, local_files_only=not download)
    except (OSError, ValueError) as error:
        raise RuleSafeError(f"cannot load a tokenizer from {tokenizer}: {error}") from error
