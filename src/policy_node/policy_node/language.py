"""An instruction and a memory as tokens of one language.

A memory's token j is the word with the id V - N + j, where V is the size of the language model's
vocabulary and N the memory's; the memory's words stand behind the instruction's. This is the
paper's way, section "Experimental Setup". With the shipped pieces no word's id may be
taken, that is an error; published vocabularies end in words that hardly any instruction has. Rows
of a raw memory stand there as tokens too, each mapped linearly.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from policy_node.batches import Batch
from policy_node.configs_vla import PIECES
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent / "data" / "instructions.json"
"""Word pieces of instructions, written by scripts/make_instruction_words.py."""


def word_ids(text: str, pieces: str = "", download: bool = False) -> list[int]:
    """The ids of a text's word pieces.

    Args:
        pieces: empty: the shipped ones. Else folder or hub's name of a tokenizer of transformers.
        download: whether a name on the hub may be fetched.

    Errors: RuleSafeError if there is no such tokenizer.
    """
    if not pieces:
        return list(_shipped().encode(text).ids)
    return list(_published(pieces, download)(text)["input_ids"])


def memory_ids(tokens: Tensor, words: int, vocabulary: int) -> Tensor:
    """The ids of a memory's tokens 0 .. vocabulary - 1, at the tail of `words` ids."""
    return words - vocabulary + tokens


class Words(nn.Module):
    """A batch's instruction and memory as embeddings for a language model.

    Args:
        table: the language model's embedding, (V, width); not a part of this module.
        memory: what there is to take in.
        shipped: whether instructions come in the shipped pieces, whose ids must stay their own.
    """

    def __init__(self, table: nn.Embedding, memory: MemoryShape, shipped: bool) -> None:
        super().__init__()
        self.memory, self.words = memory, table.num_embeddings
        room = self.words - (PIECES if shipped else 0)
        if memory.vocabulary > room:
            raise RuleSafeError(
                f"a memory of {memory.vocabulary} tokens does not fit into the language model's "
                f"vocabulary of {self.words}: there is room for {room}"
            )
        self.rows: nn.Linear | None = None
        self.tail: nn.Parameter | None = None
        if memory.kind == "raw":
            self.rows = nn.Linear(len(ACTION_JOINTS), table.embedding_dim)
        elif memory.kind == "tokens" and not table.weight.requires_grad:
            # A language model that stays as it is never learned what these words mean: their
            # embeddings alone are learned, from where they were.
            ids = memory_ids(torch.arange(memory.vocabulary), self.words, memory.vocabulary)
            self.tail = nn.Parameter(table(ids).detach().clone())

    def forward(self, batch: Batch, table: nn.Module) -> tuple[Tensor, Tensor]:
        """Embeddings (B, L + M, width), and (B, L + M) bool, True where there is a word."""
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
        if self.rows is not None:
            return self.rows(memory)
        if self.tail is not None:
            return self.tail[memory]
        return table(memory_ids(memory, self.words, self.memory.vocabulary))


@lru_cache(maxsize=1)
def _shipped() -> "Tokenizer":
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(SHIPPED))


@lru_cache(maxsize=2)
def _published(pieces: str, download: bool) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(pieces, local_files_only=not download)
    except (OSError, ValueError) as error:
        raise RuleSafeError(f"no tokenizer in {pieces}: {error}") from error
