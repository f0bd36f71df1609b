"""Parsing replies of a model into answers or kinds of errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesafe_design.answers import KINDS, MAX_PROGRAM_BYTES, BadAnswer, parse_answer, parse_program
from rulesafe_design.models import Reply

GOOD = {
    "description": "Open the knob and the handle, in any order.",
    "program": "def check_lock(self):\n    pass\n",
    "plan": ["knob+", "handle+", "door+"],
}
TEXT = json.dumps(GOOD)


def answer(**changed):
    return parse_answer(Reply(json.dumps({**GOOD, **changed})))


def failure(text, finish="stop"):
    with pytest.raises(BadAnswer) as raised:
        parse_answer(Reply(text, finish))
    assert raised.value.kind in KINDS
    return raised.value.kind, str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  \n{TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{json.dumps(GOOD, indent=2)}\n```",
        f"Here is the lock:\n\n```json\n{TEXT}\n```\nI hope it is of use {{really}}.",
        f"Sure! {TEXT} Anything else?",
        f"<think>The set {{knob, handle}} ... {{}} ...</think>{TEXT}",
        '{"thoughts": {"a": 1}}\n' + TEXT,
        TEXT.replace("\\n", "\n"),  # raw line breaks in a string
    ],
)
def test_json_is_found_anywhere_in_the_reply(text):
    found = parse_answer(Reply(text))
    assert found.description == GOOD["description"]
    assert found.program == GOOD["program"]
    assert found.plan == ("knob+", "handle+", "door+")


DRAFT = json.dumps({**GOOD, "plan": ["door+"]})


@pytest.mark.parametrize(
    "text",
    [
        f"<think>First: {DRAFT} No, wrong.</think>\n{TEXT}",
        f"First: {DRAFT} No, wrong.</think>\n{TEXT}",  # the start is part of the prompt
        f"[THINK]{DRAFT}[/THINK]{TEXT}",
        f"<seed:think>{DRAFT}</seed:think>{TEXT}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|channel|>final<|message|>{TEXT}",
        f"A draft:\n```json\n{DRAFT}\n```\nCorrected:\n```json\n{TEXT}\n```",
        f"{DRAFT}\n{TEXT}\nThe program in short: {{}}",
    ],
)
def test_drafts_are_ignored(text):
    assert parse_answer(Reply(text)).plan == ("knob+", "handle+", "door+")
    assert parse_program(Reply(text)) == GOOD["program"]


def test_a_draft_is_not_the_answer_if_the_answer_is_missing_or_incomplete():
    for start in ("<think>", "Well. <thinking>", "[THINK]", "<|channel|>analysis<|message|>"):
        assert failure(f"{start}A draft: {DRAFT} Now", "length")[0] == "reasoning"
    assert failure("", "reasoning")[0] == "reasoning"
    assert failure(f"{DRAFT} Corrected: {TEXT[:60]}", "length")[0] == "truncated"


def test_complete_reply_at_the_length_limit_is_accepted():
    assert parse_answer(Reply(TEXT, "length")).program == GOOD["program"]


def test_refusals():
    assert failure("I cannot help with locks.", "refusal") == (
        "refusal",
        "the model refused: I cannot help with locks.",
    )
    assert failure("", "refusal")[0] == "refusal"


@pytest.mark.parametrize(
    ("kind", "finish", "texts"),
    [
        ("prose", "stop", ["", "Open the knob.", "def check_lock(self): pass", "[1, 2]", "{"]),
        ("truncated", "length", [TEXT[:1], TEXT[:20], TEXT[:60], TEXT[:-1]]),
        ("truncated", "stop", [TEXT[:20], TEXT[:60], TEXT[:-1]]),
    ],
)
def test_kind_of_a_reply_without_an_answer(kind, finish, texts):
    for text in texts:
        assert failure(text, finish)[0] == kind


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (TEXT.replace('"plan":', '"plan"'), "malformed: Expecting ':' delimiter (line 1"),
        (TEXT.replace('"description"', "'description'", 1), "malformed"),
        ('{"rule": "x"}', "'description' is missing (present keys: rule)"),
        ("{}", "(present keys: none)"),
        (json.dumps({**GOOD, "program": ["def"]}), "'program' is ['def']; it must be a string"),
        (json.dumps({**GOOD, "description": None}), "'description' is None"),
        (json.dumps({**GOOD, "description": "Short."}), "6 characters; valid: 20 to 600"),
        (json.dumps({**GOOD, "description": "x" * 601}), "601 characters"),
        (json.dumps({**GOOD, "description": "One paragraph.\n\nAnd another."}), "paragraphs"),
        (json.dumps({**GOOD, "description": "Turn \u202e this way and that."}), "U+202E"),
        (json.dumps({**GOOD, "program": " \n "}), "'program' is empty"),
        (json.dumps({**GOOD, "program": "#" * (MAX_PROGRAM_BYTES + 1)}), "bytes; valid: at most"),
        (json.dumps({**GOOD, "program": "x = '\u2028'"}), "U+2028"),
        (json.dumps({**GOOD, "program": "x = '\ud800'"}), "U+D800"),
        (json.dumps({**GOOD, "program": "x = '\x00'"}), "U+0000"),
        (json.dumps({**GOOD, "plan": "knob+"}), "'plan' must be null or a list"),
        (json.dumps({**GOOD, "plan": ["knob"]}), "'knob'; valid events: knob+, knob-"),
        (json.dumps({**GOOD, "plan": [["knob+"]]}), "valid events"),
        (json.dumps({**GOOD, "plan": ["knob+"] * 65}), "at most 64 events"),
        ('{"a":' * 50_000, "malformed"),
        ('{"description": ' + "1" * 5000 + "}", "the JSON is malformed"),
    ],
)
def test_message_describes_the_error(text, part):
    kind, message = failure(text)
    assert kind == "schema"
    assert part in message
    assert len(message) < 300


def test_a_description_becomes_one_line():
    assert answer(description=" Open the knob,\n  then the handle. ").description == (
        "Open the knob, then the handle."
    )


def test_plan_is_optional():
    assert answer(plan=None).plan is None
    assert parse_answer(Reply(json.dumps({k: GOOD[k] for k in ("description", "program")})))


def test_line_ends_are_normalised():
    assert answer(program="\r\ndef f():\r\n    pass").program == "def f():\n    pass\n"


def test_parse_program():
    assert parse_program(Reply('{"program": "x = 1"}')) == "x = 1\n"
    with pytest.raises(BadAnswer, match="refused"):
        parse_program(Reply("no", "refusal"))


@given(st.text(st.sampled_from('{}[]":,\\`\nan "description" program'), max_size=300))
def test_any_text_is_an_answer_or_a_failure(text):
    try:
        parse_answer(Reply(text))
    except BadAnswer as error:
        assert error.kind in KINDS


def test_malicious_text_is_parsed_fast():
    with pytest.raises(BadAnswer):
        parse_answer(Reply('{"a":' * 300_000))
    with pytest.raises(BadAnswer):
        parse_answer(Reply("{" * 1_000_000 + "```" * 300_000))


def test_a_short_instruction_is_optional_and_has_a_limit():
    assert parse_answer(Reply(TEXT)).short_instruction == ""
    short = {**GOOD, "short_instruction": "Knob, then handle."}
    assert parse_answer(Reply(json.dumps(short))).short_instruction == "Knob, then handle."
    kind, message = failure(json.dumps({**GOOD, "short_instruction": "knob " * 50}))
    assert kind == "schema" and "short_instruction has an estimated 51 tokens" in message
