"""An instruction and a memory as tokens of one language.

Token j of a memory has the id V - N + j, where V is the size of the language model's vocabulary and
N the memory's; the memory's tokens follow the instruction's (paper, section "Experimental Setup").
Ids of the shipped tokenizer must not be overwritten, that is an error; published vocabularies end
in tokens that hardly any instruction has. Steps of a raw memory are tokens too, mapped linearly.
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
"""The tokenizer of instructions, written by scripts/make_instruction_words.py."""


def tokenize(text: str, tokenizer: str = "", download: bool = False) -> list[int]:
    """Return the ids of a text's tokens.

    Args:
        tokenizer: empty: the shipped one. Else folder or hub's name of a tokenizer of transformers.
        download: whether a name on the hub may be fetched.

    Errors: RuleSafeError if there is no such tokenizer.
    """
    if not tokenizer:
        return list(_shipped().encode(text).ids)
    return list(_published(tokenizer, download)(text)["input_ids"])


def memory_ids(tokens: Tensor, size: int, vocabulary: int) -> Tensor:
    """Return the ids of a memory's tokens 0 .. vocabulary - 1, at the tail of `size` ids."""
    return size - vocabulary + tokens


class TokenEmbedding(nn.Module):
    """A batch's instruction and memory as embeddings for a language model.

    Args:
        table: the language model's embedding, (V, width); not a part of this module.
        memory: shape of the memory.
        shipped: whether instructions come from the shipped tokenizer, whose ids stay its own.
    """

    def __init__(self, table: nn.Embedding, memory: MemoryShape, shipped: bool) -> None:
        super().__init__()
        self.memory, self.size = memory, table.num_embeddings
        room = self.size - (SHIPPED_TOKENS if shipped else 0)
        if memory.vocabulary > room:
            raise RuleSafeError(
                f"a memory of {memory.vocabulary} tokens does not fit into the language model's "
                f"vocabulary of {self.size}: there is room for {room}"
            )
        self.raw: nn.Linear | None = None
        self.tail: nn.Parameter | None = None
        if memory.kind == "raw":
            self.raw = nn.Linear(len(ACTION_JOINTS), table.embedding_dim)
        elif memory.kind == "tokens" and not table.weight.requires_grad:
            # A frozen language model cannot learn what these tokens mean: only their embeddings
            # are trained, starting from those of the table.
            ids = memory_ids(torch.arange(memory.vocabulary), self.size, memory.vocabulary)
            self.tail = nn.Parameter(table(ids).detach().clone())

    def forward(self, batch: Batch, table: nn.Module) -> tuple[Tensor, Tensor]:
        """Return embeddings (B, L + M, width), and (B, L + M) bool, True where there is a token."""
        if batch.language is None or batch.language_mask is None:
            raise ValueError("a batch without instructions")
        found, mask = table(batch.language), batch.language_mask
        if self.memory.kind == "none":
            return found, mask
        if batch.memory is None or batch.memory_mask is None:
            raise ValueError("a batch without the memory that the network was made for")
        remembered = self._remembered(batch.memory, table)
        return torch.cat([found, remembered], 1), torch.cat([mask, batch.memory_mask], 1)

    def _remembered(self, memory: Tensor, table: nn.Module) -> Tensor:
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
        raise RuleSafeError(f"no tokenizer in {tokenizer}: {error}") from error
