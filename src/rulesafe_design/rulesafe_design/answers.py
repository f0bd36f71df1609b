"""Parse a model's reply into a lock's description, program and plan, or report what is wrong.

The JSON object may be inside a code fence or between sentences. This module does not check what the
program does: the sandbox does.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.models import Reply
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_locks.locks import EVENTS

KINDS = {
    "refusal": "the model refused, or a content filter did",
    "prose": "no JSON object in the reply",
    "truncated": "the reply ends in the middle of its JSON",
    "schema": "the JSON is malformed, or no answer: keys, types, sizes",
}
"""Why a reply is not an answer."""

DESCRIPTION = (20, 600)
"""Fewest and most characters of a description."""
MAX_PROGRAM_BYTES = ProgramLimits.source_bytes
MAX_PLAN = 64
"""Events of a claimed plan."""

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
"""JSON schema of an answer, in the subset that strict structured output knows."""

_DECODER = json.JSONDecoder(strict=False)  # raw line breaks in strings: meant well, and clear
_FENCE = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)```", re.DOTALL)
_MAX_STARTS = 64
"""Maximum number of braces that are tried as the start of an object."""


class BadAnswer(RuleSafeError):
    """A reply without an answer. `kind`: one of KINDS; the model receives the text too."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Answer:
    """A lock as a model wrote it; nothing in it is verified."""

    description: str
    """One paragraph in one line."""
    program: str
    plan: tuple[str, ...] | None
    """Events that are claimed to open the door."""


def parse_answer(reply: Reply) -> Answer:
    """The answer in a reply. Errors: BadAnswer."""
    found = _find_object(reply)
    return Answer(
        _description(_text(found, "description")), _program(_text(found, "program")), _plan(found)
    )


def parse_program(reply: Reply) -> str:
    """Return the program of an answer that has no other key. Errors: BadAnswer."""
    return _program(_text(_find_object(reply), "program"))


def _find_object(reply: Reply) -> dict[str, Any]:
    """The first object with a key of an answer, or else the first one. Errors: BadAnswer."""
    if reply.finish == "refusal":
        raise BadAnswer("refusal", f"the model refused: {reply.text.strip() or '(no reason)'}")
    objects: list[dict[str, Any]] = []
    trouble: json.JSONDecodeError | None = None
    for text in (reply.text.strip(), *_FENCE.findall(reply.text)):
        for found in _objects(text):
            if isinstance(found, dict):
                if found.keys() & SCHEMA["properties"].keys():
                    return found
                objects.append(found)
            elif trouble is None:
                trouble = found
    if objects:
        return objects[0]
    cut = trouble is not None and _is_cut(trouble)
    if reply.finish == "length" or cut:
        raise BadAnswer("truncated", "the reply ends before its JSON object does; be briefer")
    if trouble is not None:
        raise BadAnswer(
            "schema",
            f"the JSON is malformed: {trouble.msg} (line {trouble.lineno}, column {trouble.colno})",
        )
    raise BadAnswer("prose", "there is no JSON object in the reply; answer with one and no prose")


def _objects(text: str) -> Iterator[dict[str, Any] | json.JSONDecodeError]:
    """Yield the objects in a text, and an error for each brace that is followed by a key but is not
    the start of an object."""
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
        state = f"{value!r:.40}" if key in found else f"missing (keys there: {keys:.80})"
        raise BadAnswer("schema", f"{key!r} is {state}; it must be a string")
    return value


def _description(text: str) -> str:
    text = text.strip()
    if re.search(r"\n[ \t]*\n", text):
        raise BadAnswer("schema", "'description' has several paragraphs; it must be one")
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
        raise BadAnswer("schema", f"'program' has {size} bytes; valid: up to {MAX_PROGRAM_BYTES}")
    _check_characters(text.replace("\n", "").replace("\t", ""), "program")
    return text


def _check_characters(text: str, key: str) -> None:
    """Refuse control characters, bidirectional marks and lone surrogates: a reader of the file must
    see what runs."""
    for character in text:
        if not character.isprintable():
            raise BadAnswer(
                "schema", f"{key!r} holds the character U+{ord(character):04X}, which is not shown"
            )


def _plan(found: dict[str, Any]) -> tuple[str, ...] | None:
    plan = found.get("plan")
    if plan is None:
        return None
    if not isinstance(plan, list) or len(plan) > MAX_PLAN:
        raise BadAnswer("schema", f"'plan' must be null or a list of up to {MAX_PLAN} events")
    for event in plan:
        if event not in MOVES:
            raise BadAnswer(
                "schema", f"'plan' holds {event!r:.40}; valid events: {', '.join(MOVES)}"
            )
    return tuple(plan)
