"""`rulesafe rules`: list, show and solve rules; verify and generate locks."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands.generate import generate
from rulesafe_design.commands.rule_tables import (
    Choice,
    Columns,
    chosen,
    headings,
    in_lines,
    markdown,
    short,
    table,
)
from rulesafe_design.commands.rule_words import figures_in_words, origin_in_words
from rulesafe_design.commands.verify import verify
from rulesafe_locks.lock_files import LockFile, find_lock
from rulesafe_locks.locks import Rule
from rulesafe_locks.plans import reachable_states, shortest_plan
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

RuleId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RULE")]


def list_rules(
    choice: Annotated[Choice, tyro.conf.arg(name="")] = Choice(),
    columns: Columns = "plans",
    output: Literal["table", "markdown", "json"] = "table",
) -> None:
    """List rules with their shortest plans, or with figures of how hard they are.

    docs/rules.md says what the figures mean.

    Example: rulesafe rules list --rules sampled_test --sort bits --columns figures

    Args:
        choice: Which rules.
        columns: Plans and instructions, or all the figures.
        output: A table for people, a Markdown table, or JSON with everything.
    """
    found = chosen(choice)
    if output == "json":
        print(json.dumps([asdict(entry) for entry in found], indent=2))
    elif output == "markdown":
        print(markdown(found, headings(columns, choice)))
    else:
        Console().print(table(found, headings(columns, choice)))


def show(
    rule: RuleId, out: Path | None = None, output: Literal["text", "program"] = "text"
) -> None:
    """Show a rule: its instruction, a shortest plan, what its lock remembers and demands.

    Example: rulesafe rules show rule_020 --out rule_020.svg

    Args:
        rule: The rule's id, such as rule_004, or the path of a lock's .json file.
        out: Draw its automaton, the shortest plan highlighted: .svg, .png or .pdf.
        output: Text for people, or the source of a generated lock's program.
    """
    found = load_rule(rule)
    lock = None if rule in RULES else find_lock(rule)
    if out:
        from rulesafe_design.commands.automaton_figure import draw

        draw(found, out)
    if output == "program":
        print(_program(found, lock), end="")
    else:
        Console(highlight=False).print(in_lines(_described(found, lock)))
    if out:
        print(f"wrote {out}")


def _described(rule: Rule, lock: LockFile | None) -> dict[str, str]:
    proof = prove(rule)
    told = {
        rule.id: rule.description,
        "plan": f"{short(proof.plan)}  ({proof.steps} steps)" if proof.plan else "none",
        "holds": _holds(rule),
    }
    if lock is None:
        told["remembers"] = rule.remembers
    else:
        told["origin"] = origin_in_words(lock)
    return {**told, **figures_in_words(proof)}


def _holds(rule: Rule) -> str:
    held = {
        f"; at times the {'open' if getattr(state.phases, part) else 'closed'} {part} too"
        for state in reachable_states(rule)
        for part in rule.locked(state) - {"door"}
    }
    return "the door" + "".join(sorted(held))


def _program(rule: Rule, lock: LockFile | None) -> str:
    if lock is None or not lock.program:
        raise RuleSafeError(f"{rule.id} has no program; generated locks have one")
    return lock.program


def solve(rule: RuleId) -> None:
    """Print a shortest plan, one numbered step a line.

    Example: rulesafe rules solve rule_020

    Args:
        rule: The rule's id, such as rule_020, or the path of a lock's .json file.
    """
    plan = shortest_plan(load_rule(rule))
    for number, event in enumerate(plan, 1):
        verb = "open" if event.endswith("+") else "close"
        print(f"{number:>2}. {event:<9}{verb} the {event[:-1]}")
    print(f"{len(plan)} steps")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "list": list_rules,
    "show": show,
    "solve": solve,
    "verify": verify,
    "generate": generate,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
