"""Parse the reply of a model into the description, program and plan of a lock.

The JSON object may be inside a code fence or between sentences. The program is not checked here;
the sandbox does that.
"""

import json
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.models import Reply
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.lock_files import SHORT, check_short
from rulesafe_locks.locks import EVENTS

KINDS = {
    "refusal": "the model or a content filter refused the request",
    "prose": "the reply contains no JSON object",
    "reasoning": "the reply ends in the model's reasoning, without an answer after it",
    "truncated": "the reply ends before its JSON object is complete",
    "schema": "the JSON is malformed, or its keys, types or sizes are invalid",
}
"""The reasons why a reply contains no valid answer."""

DESCRIPTION = (20, 600)
"""Minimum and maximum number of characters of a description."""
MAX_PROGRAM_BYTES = ProgramLimits.source_bytes
MAX_PLAN = 64
"""Maximum number of events of a plan."""

MOVES = tuple(event for event in EVENTS if event != "door-")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["description", "program", "plan"],
    "properties": {
        "description": {
            "type": "string",
            "description": f"The rule in one paragraph of {DESCRIPTION[0]} to {DESCRIPTION[1]} "
            "characters, as an instruction to whoever opens the safe.",
        },
        "program": {
            "type": "string",
            "description": "Python source that defines check_lock(self), and nothing else.",
        },
        "plan": {
            "type": ["array", "null"],
            "items": {"type": "string", "enum": list(MOVES)},
            "description": "The fewest events that open the door, the last one door+.",
        },
    },
}
"""JSON schema of an answer, in the subset that strict structured output supports."""

_DECODER = json.JSONDecoder(strict=False)  # accept raw line breaks in strings
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)```", re.DOTALL)
_TAG = "(?i:(?:\\w+:)?(?:think|thinking|thought|reasoning)>)"
_REASONING_START = re.compile(rf"<{_TAG}|\[THINK\]|<\|channel\|>analysis")
_REASONING_END = re.compile(rf"</{_TAG}|\[/THINK\]|<\|channel\|>final<\|message\|>")
"""Tags around the reasoning of models whose server does not separate it from the answer."""
_MAX_STARTS = 64
"""Maximum number of braces tried as the start of an object."""


class BadAnswer(RuleSafeError):
    """A reply without a valid answer. `kind`: one of KINDS; the message is sent to the model."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Answer:
    """A lock as written by a model, not verified."""

    description: str
    """One paragraph, without line breaks."""
    program: str
    plan: tuple[str, ...] | None
    """The events that should open the door; None if the model gave no plan."""
    short_instruction: str = ""
    """`LockFile.short_instruction`, from the grammar; language models are not asked for one."""


def parse_answer(reply: Reply) -> Answer:
    """Return the answer in a reply; raise BadAnswer if there is none."""
    found = _find_object(reply)
    return Answer(
        _description(_text(found, "description")),
        _program(_text(found, "program")),
        _plan(found),
        _short_instruction(found),
    )


def parse_program(reply: Reply) -> str:
    """Return the program in a reply whose only key is "program"; raise BadAnswer without one."""
    return _program(_text(_find_object(reply, {"program"}), "program"))


def _find_object(reply: Reply, keys: Set[str] = SCHEMA["properties"].keys()) -> dict[str, Any]:
    """Return the JSON object with the most of the keys, the last of equal ones; if no object has
    any, the first object. Text before the end of the model's reasoning is ignored: its objects are
    drafts.

    Raises:
        BadAnswer: the reply is a refusal, or has no JSON object.
    """
    if reply.finish == "refusal":
        raise BadAnswer("refusal", f"the model refused: {reply.text.strip() or '(no reason)'}")
    answer = _REASONING_END.split(reply.text)[-1]
    if reply.finish == "reasoning" or _REASONING_START.search(answer):
        raise BadAnswer(
            "reasoning",
            "the reply ends in the reasoning, without an answer after it; reason less, and write "
            "the JSON object after the reasoning (or raise the limit of tokens)",
        )
    found: dict[str, Any] | None = None
    error: json.JSONDecodeError | None = None  # the first one after `found`
    for text in (answer.strip(), *_FENCE.findall(answer)):
        if found and found.keys() & keys:
            break
        for item in _objects(text):
            if not isinstance(item, dict):
                error = error or item
            elif found is None:
                found = item
            elif item.keys() & keys and len(item.keys() & keys) >= len(found.keys() & keys):
                found, error = item, None
    cut = error is not None and _is_cut(error)
    if found is not None and not (cut and found.keys() & keys):
        return found
    if reply.finish == "length" or cut:
        raise BadAnswer(
            "truncated", "the reply ends before its JSON object is complete; write a shorter reply"
        )
    if error is not None:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadAnswer("schema", f"the JSON is malformed: {error.msg} ({where})")
    raise BadAnswer("prose", "the reply contains no JSON object; answer with one JSON object only")


def _objects(text: str) -> Iterator[dict[str, Any] | json.JSONDecodeError]:
    """Yield the JSON objects in a text, and an error for each brace that is followed by a key but
    does not start a valid object."""
    at = -1
    for _ in range(_MAX_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            found, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if re.match(r"\{\s*[\"']", text[at : at + 40]):
                yield error
        except RecursionError:
            yield json.JSONDecodeError("nested too deeply", text, at)
        except ValueError as error:  # an integer of thousands of digits
            yield json.JSONDecodeError(str(error), text, at)
        else:
            at = end - 1
            yield found


def _is_cut(error: json.JSONDecodeError) -> bool:
    rest = error.doc[error.pos :].strip()
    return not rest or error.msg.startswith("Unterminated string")


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, str):
        keys = ", ".join(sorted(found)) or "none"
        status = f"{value!r:.40}" if key in found else f"missing (present keys: {keys:.80})"
        raise BadAnswer("schema", f"{key!r} is {status}; it must be a string")
    return value


def _description(text: str) -> str:
    text = text.strip()
    if re.search(r"\n[ \t]*\n", text):
        raise BadAnswer("schema", "'description' has several paragraphs; it must be one paragraph")
    line = " ".join(text.split())
    least, most = DESCRIPTION
    if not least <= len(line) <= most:
        raise BadAnswer(
            "schema", f"'description' has {len(line)} characters; valid: {least} to {most}"
        )
    _check_characters(line, "description")
    return line


def _program(text: str) -> str:
    text = text.replace("\r\n", "\n").strip("\n") + "\n"
    if not text.strip():
        raise BadAnswer("schema", "'program' is empty")
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_PROGRAM_BYTES:
        raise BadAnswer("schema", f"'program' has {size} bytes; valid: at most {MAX_PROGRAM_BYTES}")
    _check_characters(text.replace("\n", "").replace("\t", ""), "program")
    return text


def _short_instruction(found: dict[str, Any]) -> str:
    text = found.get(SHORT, "")
    try:
        check_short(text)
    except RuleSafeError as error:
        raise BadAnswer("schema", str(error)) from None
    return str(text)


def _check_characters(text: str, key: str) -> None:
    """Raise BadAnswer for control characters, bidirectional marks and lone surrogates, so that a
    reader of the file sees what is executed."""
    for character in text:
        if not character.isprintable():
            raise BadAnswer(
                "schema", f"{key!r} contains the non-printable character U+{ord(character):04X}"
            )


def _plan(found: dict[str, Any]) -> tuple[str, ...] | None:
    plan = found.get("plan")
    if plan is None:
        return None
    if not isinstance(plan, list) or len(plan) > MAX_PLAN:
        raise BadAnswer("schema", f"'plan' must be null or a list of at most {MAX_PLAN} events")
    for event in plan:
        if event not in MOVES:
            raise BadAnswer(
                "schema", f"'plan' contains {event!r:.40}; valid events: {', '.join(MOVES)}"
            )
    return tuple(plan)
