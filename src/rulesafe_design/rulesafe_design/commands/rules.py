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
    compact_plan,
    headings,
    markdown,
    select_rules,
    table,
    topic_table,
)
from rulesafe_design.commands.rule_text import origin_text, proof_topics
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
    format: Literal["table", "markdown", "json"] = "table",
) -> None:
    """List rules with their shortest plans, or with measures of their difficulty.

    docs/rules.md explains the measures.

    Example: rulesafe rules list --rules sampled_test --sort bits --columns figures

    Args:
        choice: The selection of rules.
        columns: plans: shortest plans and instructions. figures: measures of difficulty. short:
            short instructions with an upper estimate of their tokens.
        format: Terminal table, Markdown table, or JSON with all properties.
    """
    found = select_rules(choice)
    if format == "json":
        print(json.dumps([asdict(entry) for entry in found], indent=2))
    elif format == "markdown":
        print(markdown(found, headings(columns, choice)))
    else:
        Console(markup=False).print(table(found, headings(columns, choice)))


def show(
    rule: RuleId, out: Path | None = None, format: Literal["text", "program"] = "text"
) -> None:
    """Show a rule: instruction, shortest plan, state of the lock, and proved properties.

    Example: rulesafe rules show rule_020 --out rule_020.svg

    Args:
        rule: Id of a rule, such as rule_004, or path of a .json lock file.
        out: File for a drawing of the automaton with the shortest plan: .svg, .png or .pdf.
        format: text: a description. program: the source of the program of a generated lock.
    """
    found = load_rule(rule)
    lock = None if rule in RULES else find_lock(rule)
    if out:
        from rulesafe_design.commands.automaton_figure import draw

        draw(found, out)
    if format == "program":
        print(_program(found, lock), end="")
    else:
        Console(markup=False, highlight=False).print(topic_table(_topics(found, lock)))
    if out:
        print(f"wrote {out}")


def _topics(rule: Rule, lock: LockFile | None) -> dict[str, str]:
    proof = prove(rule)
    topics = {
        rule.id: rule.description,
        "short": rule.short_instruction or "none",
        "plan": f"{compact_plan(proof.plan)}  ({proof.steps} steps)" if proof.plan else "none",
        "locks": _locked_parts(rule),
    }
    if lock is None:
        topics["remembers"] = rule.remembers
    else:
        topics["origin"] = origin_text(lock)
    return {**topics, **proof_topics(proof)}


def _locked_parts(rule: Rule) -> str:
    others = {
        f"; in some states also the {'open' if getattr(state.phases, part) else 'closed'} {part}"
        for state in reachable_states(rule)
        for part in rule.locked(state) - {"door"}
    }
    return "the door" + "".join(sorted(others))


def _program(rule: Rule, lock: LockFile | None) -> str:
    if lock is None or not lock.program:
        raise RuleSafeError(f"{rule.id} has no program; only generated locks have one")
    return lock.program


def solve(rule: RuleId) -> None:
    """Print a shortest plan, one numbered step per line.

    Example: rulesafe rules solve rule_020

    Args:
        rule: Id of a rule, such as rule_020, or path of a .json lock file.
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
"""The subcommands by name; each returns its exit code, or None for 0."""
