"""What a language model is told: the templates of data/lock_*.md, filled in.

A change of a template changes every request, so exchanges of before are not found again.
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

TAKEN = 20
"""Descriptions of the newest locks that a request shows, so that a model writes another one."""

MAX_REPLY_SHOWN = 40_000
"""Characters of a reply that a model is shown again with what is wrong with it."""

Messages = tuple[tuple[str, str], ...]


def opening(number: int, cell: Cell, taken: Iterable[str], max_steps: int) -> Messages:
    """The first messages of a conversation: who wants what, and which lock now."""
    newest = list(taken)[-TAKEN:]
    listed = "".join(f"- {description}\n" for description in newest)
    said = f"These, and others, are there already:\n\n{listed}" if newest else ""
    asked = _template("lock_request.md").substitute(number=number, cell=cell.name, taken=said)
    return (("system", system(max_steps)), ("user", asked))


def repair(reply: str, kind: str, meaning: str, message: str, advice: str = "") -> Messages:
    """What continues a conversation after a reply that failed."""
    said = _template("lock_repair.md").substitute(
        kind=kind, meaning=meaning, message=message, advice=advice
    )
    return (("assistant", quoted(reply)), ("user", said))


def quoted(reply: str) -> str:
    """A reply as its model is shown it again."""
    return reply[:MAX_REPLY_SHOWN] or "(nothing)"


@lru_cache(maxsize=8)
def system(max_steps: int) -> str:
    """The system message."""
    return _template("lock_system.md").substitute(
        template=_data("lock_template.md"),
        functions=", ".join(f"`{name}`" for name in BUILTINS if name.islower()),
        max_steps=max_steps,
        least=DESCRIPTION[0],
        most=DESCRIPTION[1],
        examples="\n\n".join(_shown(example) for example in examples()),
    )


def examples() -> list[dict[str, Any]]:
    """The worked examples: "rule", the id of the lock of the twenty that it behaves as, then
    "description", "program" (source) and "plan"."""
    found: list[dict[str, Any]] = json.loads(_data("examples.json"))
    return [{**example, "program": "\n".join(example["program"]) + "\n"} for example in found]


def prompts_digest() -> str:
    """SHA-256 of all templates, examples and the schema: another one, other requests."""
    names = ("lock_system.md", "lock_template.md", "lock_request.md", "lock_repair.md")
    texts = [_data(name) for name in (*names, "examples.json")]
    return hashlib.sha256(json.dumps([texts, SCHEMA, list(BUILTINS)]).encode()).hexdigest()


def _shown(example: dict[str, Any]) -> str:
    """An example as an answer, and its program once more in lines, which read better."""
    answer = {key: example[key] for key in ("description", "program", "plan")}
    return f"```python\n{example['program']}```\n\nis answered as\n\n{json.dumps(answer)}"


def _template(name: str) -> Template:
    return Template(_data(name))


def _data(name: str) -> str:
    return (files("rulesafe_design") / "data" / name).read_text("utf-8")
