"""The parser translates what it was trained on, and its file is refused if it is damaged."""

import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import cross_entropy

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import automaton_of
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_reader.designs import automaton_of_tokens
from rulesafe_reader.parser import UNKNOWN, Parser, ParserConfig, load_parser, save_parser, words_of

TEXTS = {"open the knob": ("a",), "close the knob": ("b", "a"), "open the handle": ("b", "b", "a")}
SMALL = ParserConfig(width=16, heads=2, layers=1)


@pytest.fixture(scope="module")
def parser():
    """Return a parser that has learned TEXTS."""
    torch.manual_seed(0)
    words = sorted({word for text in TEXTS for word in words_of(text)})
    found = Parser(words, ("a", "b"), SMALL)
    optimiser = torch.optim.Adam(found.parameters(), 1e-2)
    rows = [
        (torch.tensor([found.word_ids(text)]), torch.tensor([found.token_ids(tokens)]))
        for text, tokens in TEXTS.items()
    ]
    for _ in range(60):
        loss = torch.stack(
            [cross_entropy(found(text, ids[:, :-1])[0], ids[0, 1:]) for text, ids in rows]
        ).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return found.eval().requires_grad_(False)


def test_words_are_in_lower_case_without_articles():
    assert words_of("Open the knob: 12 times!") == ["open", "knob", ":", "1", "2", "times", "!"]


def test_candidates_are_ordered_and_the_first_is_what_was_learned(parser):
    for text, tokens in TEXTS.items():
        found = parser.candidates(text, 3)
        assert found[0].tokens == tokens and found[0].score > -0.5
        scores = [each.score for each in found]
        assert scores == sorted(scores, reverse=True) and len({each.tokens for each in found}) == 3
        assert parser.candidates(parser.word_ids(text), 3) == found
    assert UNKNOWN in parser.word_ids("open the hatch")


def test_a_word_without_learned_embedding_is_read_by_its_vector():
    torch.manual_seed(0)
    known = ParserConfig(16, 2, 1, learned=1, pretrained=4)
    found = Parser(("open", "lift"), ("a",), known).eval()
    found.vectors[2:] = torch.eye(4)[:2]
    ids = torch.tensor([found.token_ids(("a",))])
    one, two, none = (torch.tensor([found.word_ids(text)]) for text in ("open", "lift", "xyz"))
    assert not torch.equal(found(two, ids), found(none, ids))
    hidden = torch.ones(1, 1, dtype=torch.bool)
    assert not torch.equal(found(one, ids), found(one, ids, hidden))
    found.vectors[3] = found.vectors[2]
    torch.testing.assert_close(found(one, ids, hidden), found(two, ids))


def test_padding_changes_nothing(parser):
    short, long = (torch.tensor([parser.word_ids(text)]) for text in ("open", "close the knob"))
    ids = torch.tensor([parser.token_ids(("b",))])
    padded = torch.zeros(2, long.shape[1], dtype=torch.long)
    padded[0, : short.shape[1]], padded[1] = short, long
    both = parser(padded, ids.expand(2, -1))
    torch.testing.assert_close(both[:1], parser(short, ids), atol=1e-5, rtol=1e-5)


def test_a_saved_parser_is_the_same(parser, tmp_path):
    path = tmp_path / "parser.safetensors"
    save_parser(parser, path)
    again = load_parser(path)
    for text in TEXTS:
        for one, other in zip(again.candidates(text), parser.candidates(text), strict=True):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=0.02), "in half precision"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(RuleSafeError, match="is not a parser of instructions"):
        load_parser(path)
    with pytest.raises(RuleSafeError, match=r"none\.safetensors is not a parser"):
        load_parser(tmp_path / "none.safetensors")


def test_the_shipped_parser_translates_locks_that_it_has_never_seen():
    parser, locks = load_parser(), list(expand_rules("sampled_test").values())[:10]
    best = [parser.candidates(lock.description, 1)[0] for lock in locks]
    pairs = zip(best, locks, strict=True)
    right = sum(automaton_of_tokens(each.tokens) == automaton_of(lock) for each, lock in pairs)
    assert right >= 7
