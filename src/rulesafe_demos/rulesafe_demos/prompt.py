"""Prompts for a language model that writes a task program; the texts are in data/*.md.

They contain no privileged state: neither the lock's plan nor its state, only the description of the
rule and what is visible of the safe.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from importlib import resources
from math import degrees
from string import Template

from planner_node.decompose import decompose
from planner_node.tasks import TaskPlanner
from rulesafe_data.films.frames import in_words
from rulesafe_demos.program import ProgramRun
from rulesafe_demos.remote import CALLS, MAX_CALLS
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import PARTS, Rule, load_rule
from rulesafe_sim.safe import RotaryPart, Safe
from rulesafe_sim.safes import load_safe

EXAMPLES = ("rule_002", "rule_003")
"""Rules of the worked example; the first that is not the task is used."""

EXAMPLE_SAFE = "safe_02"

SCHEMA = {
    "type": "object",
    "properties": {
        "program": {"type": "string", "description": "The complete task program, in Python."}
    },
    "required": ["program"],
    "additionalProperties": False,
}
"""JSON schema of an answer."""

MAX_LOG = 20
"""Maximum number of lines of the planner's log in a prompt; the last ones are used."""


Messages = tuple[tuple[str, str], ...]


def opening(rule: Rule, safe: Safe) -> Messages:
    """Return the first messages of a conversation."""
    return (("system", system(rule)), ("user", task(rule, safe)))


def system(rule: Rule) -> str:
    """Return the system prompt: calls, language, an example, the format of the answer."""
    example = load_rule(next(name for name in EXAMPLES if name != rule.id))
    safe = load_safe(EXAMPLE_SAFE)
    return _text(
        "write_system",
        api=api(),
        calls=str(MAX_CALLS),
        example_rule=example.description,
        example_scene=scene(safe),
        example_program=decompose(shortest_plan(example), safe),
    )


def task(rule: Rule, safe: Safe) -> str:
    """Return the task: the rule's description, the safe, the phases at the start."""
    closed = dict.fromkeys(PARTS, False)
    return _text(
        "write_task", rule=rule.description, scene=scene(safe), phases=phases_in_words(closed)
    )


def feedback(played: ProgramRun, kind: str, reason: str) -> str:
    """Return the message after a program has run: the verdict, and what moved."""
    steps = played.planner.log.steps
    log = [f"- {line}" for line in steps[-MAX_LOG:]] or ["- no part was moved"]
    if len(steps) > MAX_LOG:
        log.insert(0, f"- {len(steps) - MAX_LOG} earlier lines")
    return _text(
        "write_feedback",
        kind=kind,
        reason=reason,
        log="\n".join(log),
        events=events_in_words(change.event for change in played.result.events),
        phases=phases_in_words(played.planner.simulation.state().part_open),
    )


def refused(kind: str, reason: str) -> str:
    """Return the message after an answer that was not run."""
    return _text("write_refused", kind=kind, reason=reason)


def api() -> str:
    """Return signatures and docstrings of the planner's calls, from their source."""
    return "\n\n".join(_stub(name) for name in CALLS)


def _stub(name: str) -> str:
    source = textwrap.dedent(inspect.getsource(getattr(TaskPlanner, name)))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    function.name = f"planner.{name}"
    function.args.args.pop(0)  # self
    function.body = function.body[:1]  # the docstring
    return ast.unparse(function)


def scene(safe: Safe) -> str:
    """Return a description of the safe, one line per part."""
    free = {"left": "right", "right": "left"}[safe.hinge]
    turners = [_turner(name, part, free) for name, part in safe.turners.items()]
    door = (
        f"- door: hinged on the {safe.hinge}, opens towards the robot by up to "
        f"{degrees(safe.door.range):g} degrees; open above {safe.door.open_above:.0%} of that"
    )
    return "\n".join([*turners, door])


def _turner(name: str, part: RotaryPart, free: str) -> str:
    sense = "clockwise" if part.opening_sign > 0 else "counterclockwise"
    height = part.above_centre
    place = f"{abs(height):.2f} m {'above' if height > 0 else 'below'} the door's middle"
    return (
        f"- {name} (shape: {type(part.shape).__name__.lower()}): {place}, "
        f"{part.from_free_edge:.2f} m "
        f"from the door's {free} edge; opens {sense} as seen from the front, its range is "
        f"{degrees(part.range):g} degrees; open above {part.open_above:.0%} of that, closed again "
        f"below {part.closed_below:.0%}"
    )


def phases_in_words(part_open: Mapping[str, bool]) -> str:
    """Return the phases as text: "knob open, handle closed, door closed"."""
    return ", ".join(f"{name} {'open' if part_open[name] else 'closed'}" for name in PARTS)


def events_in_words(events: Iterable[str]) -> str:
    """Return events as text: "open knob, close knob"."""
    return ", ".join(in_words(event) for event in events) or "nothing"


def _text(name: str, **words: str) -> str:
    template = resources.files("rulesafe_demos").joinpath(f"data/{name}.md")
    return Template(template.read_text(encoding="utf-8")).substitute(words).strip()
