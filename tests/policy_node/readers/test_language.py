"""Token ids of instructions, and memory tokens at the end of the vocabulary."""

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")

from tokenizers import Tokenizer

from policy_node.batches import Batch
from policy_node.configs_vla import SHIPPED_TOKENS, VOCABULARY
from policy_node.language import SHIPPED, TokenEmbedding, memory_ids, tokenize
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.lock_sets import expand_rules
from vq_memory_node.memory import MemoryShape

SCRIPT = Path(__file__).parents[3] / "scripts" / "make_instruction_words.py"


def a_batch(memory, mask):
    ids = torch.tensor([[7, 8, 9]])
    there = torch.ones_like(ids, dtype=torch.bool)
    return Batch(
        torch.zeros(1, 1, 13), language=ids, language_mask=there, memory=memory, memory_mask=mask
    )


def test_the_script_writes_the_shipped_file():
    spec = importlib.util.spec_from_file_location("make_instruction_words", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    trained = script.train(script.descriptions()).to_str(pretty=True)
    assert trained == SHIPPED.read_text("utf-8")


def test_any_text_can_be_written_and_read_again():
    tokenizer = Tokenizer.from_file(str(SHIPPED))
    for text in ("Turn the knob 17 times.", "Öffne den Griff \N{ELECTRIC LIGHT BULB}!"):
        ids = tokenize(text)
        assert tokenizer.decode(ids).strip() == text.lower()
        assert min(ids) > 0 and max(ids) < SHIPPED_TOKENS


def test_the_rules_are_short_and_no_two_alike():
    ids = [tokenize(rule.description) for rule in expand_rules("twenty").values()]
    assert len({tuple(found) for found in ids}) == 20
    assert max(map(len, ids)) < 160


def test_a_token_has_its_id_at_the_tail():
    tokens = torch.arange(4)
    assert memory_ids(tokens, 32000, 4).tolist() == [31996, 31997, 31998, 31999]
    table = torch.nn.Embedding(VOCABULARY, 8)
    words = TokenEmbedding(table, MemoryShape("tokens", 2, 4))
    mask = torch.tensor([[False, True]])
    found, there = words(a_batch(torch.tensor([[0, 3]]), mask), table)
    rows = [7, 8, 9, VOCABULARY - 4, VOCABULARY - 1]
    assert torch.equal(found[0], table.weight[rows])
    assert there.tolist() == [[True, True, True, False, True]]


def test_rows_of_a_raw_memory_are_mapped_linearly():
    table = torch.nn.Embedding(VOCABULARY, 8)
    words = TokenEmbedding(table, MemoryShape("raw", 2))
    rows = torch.rand(1, 2, 13)
    found, _ = words(a_batch(rows, torch.ones(1, 2, dtype=torch.bool)), table)
    torch.testing.assert_close(found[0, 3:], rows[0] @ words.raw.weight.T + words.raw.bias)


def test_a_memory_that_would_take_the_words_ids_is_refused():
    table = torch.nn.Embedding(VOCABULARY, 8)
    TokenEmbedding(table, MemoryShape("tokens", 2, VOCABULARY - SHIPPED_TOKENS))
    with pytest.raises(RuleSafeError, match="of which 512 are available"):
        TokenEmbedding(table, MemoryShape("tokens", 2, VOCABULARY - SHIPPED_TOKENS + 1))
