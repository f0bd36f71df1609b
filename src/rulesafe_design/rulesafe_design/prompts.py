"""Create the prompts for a language model from the templates data/lock_*.md.

Changing a template changes every request, so exchanges recorded before the change are not used.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any

from rulesafe_design.answers import DESCRIPTION, SCHEMA
from rulesafe_design.difficulty import Cell
from rulesafe_design.guards import BUILTINS
from rulesafe_design.verdicts import ProgramLimits

RECENT = 20
"""Largest number of lock descriptions in a request, which help the model to avoid repetitions."""

MAX_REPLY_SHOWN = 40_000
"""Maximum number of characters of a failed reply that are sent back to the model."""

Messages = tuple[tuple[str, str], ...]


def opening(number: int, cell: Cell, taken: Iterable[str], max_steps: int) -> Messages:
    """Return the first messages of a conversation: the system message and the request.

    `cell`: the requested difficulty; `taken`: the descriptions of the existing locks of this
    difficulty, of which the newest are listed.
    """
    newest = list(taken)[-RECENT:]
    listed = "".join(f"- {description}\n" for description in newest)
    present = f"Some of the locks of this difficulty that are there:\n\n{listed}" if newest else ""
    user = _template("lock_request.md").substitute(number=number, cell=cell.name, taken=present)
    return (("system", system(max_steps)), ("user", user))


def repair(reply: str, kind: str, meaning: str, message: str, advice: str = "") -> Messages:
    """Return the messages after a failed reply: the reply and a description of the error."""
    user = _template("lock_repair.md").substitute(
        kind=kind, meaning=meaning, message=message, advice=advice
    )
    return (("assistant", quoted(reply)), ("user", user))


def quoted(reply: str) -> str:
    """Return the text of a reply in the form in which it is sent back to the model."""
    return reply[:MAX_REPLY_SHOWN] or "(nothing)"


@lru_cache(maxsize=8)
def system(max_steps: int) -> str:
    """Return the system message."""
    return _template("lock_system.md").substitute(
        template=_data("lock_template.md"),
        functions=", ".join(f"`{name}`" for name in BUILTINS if name.islower()),
        max_steps=max_steps,
        states=ProgramLimits().states,
        least=DESCRIPTION[0],
        most=DESCRIPTION[1],
        examples="\n\n".join(_shown(example) for example in examples()),
    )


def examples() -> list[dict[str, Any]]:
    """Return the worked examples: "rule" (id of the equivalent rule), "description", "program"
    (source) and "plan"."""
    found: list[dict[str, Any]] = json.loads(_data("examples.json"))
    return [{**example, "program": "\n".join(example["program"]) + "\n"} for example in found]


def prompts_digest() -> str:
    """Return the SHA-256 of the templates, the examples and the schema."""
    names = ("lock_system.md", "lock_template.md", "lock_request.md", "lock_repair.md")
    texts = [_data(name) for name in (*names, "examples.json")]
    return hashlib.sha256(json.dumps([texts, SCHEMA, list(BUILTINS)]).encode()).hexdigest()


def _shown(example: dict[str, Any]) -> str:
    """Return the text of an example: the program, then the complete answer."""
    answer = {key: example[key] for key in ("description", "program", "plan")}
    return f"```python\n{example['program']}```\n\nis answered as\n\n{json.dumps(answer)}"


def _template(name: str) -> Template:
    return Template(_data(name))


def _data(name: str) -> str:
    return (files("rulesafe_design") / "data" / name).read_text("utf-8")
