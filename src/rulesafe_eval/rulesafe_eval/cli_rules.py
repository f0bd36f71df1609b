"""`rulesafe rules`: list the rules, show one, print its shortest plan."""

import json
from typing import Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from rulesafe_sim.plans import reachable_states, shortest_plan
from rulesafe_sim.rules import RULES, Rule, load_rule

RuleId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RULE")]


def list_rules(output: Literal["table", "markdown", "json"] = "table") -> None:
    """List the rules with the number of steps and a shortest plan of each.

    Example: rulesafe rules list --output json

    Args:
        output: A table for people, a Markdown table, or JSON.
    """
    if output == "markdown":
        print(markdown_table())
        return
    rules = [(load_rule(rule_id), shortest_plan(load_rule(rule_id))) for rule_id in RULES]
    if output == "json":
        print(
            json.dumps(
                [{"id": r.id, "description": r.description, "plan": plan} for r, plan in rules],
                indent=2,
            )
        )
        return
    table = Table(title="Rules (K knob, H handle, D door; + opens, - closes)")
    table.add_column("rule", no_wrap=True)
    table.add_column("steps", justify="right")
    table.add_column("shortest plan", no_wrap=True)
    table.add_column("instruction")
    for rule, plan in rules:
        table.add_row(rule.id, str(len(plan)), short(plan), rule.description)
    Console().print(table)


def show(rule: RuleId) -> None:
    """Show a rule: its instruction, a shortest plan, and what its lock remembers.

    Example: rulesafe rules show rule_004

    Args:
        rule: The rule's id, such as rule_004.
    """
    found = load_rule(rule)
    plan = shortest_plan(found)
    states = reachable_states(found)
    memories = {state.memory for state in states}
    closed = sum(not state.phases.door for state in states)
    console = Console(highlight=False)
    console.print(f"[bold]{found.id}[/]  {found.description}")
    console.print(f"plan      {short(plan)}  ({len(plan)} steps)")
    console.print(f"holds     {_holds(found)}")
    console.print(f"remembers {found.remembers}")
    console.print(f"states    {closed} before the door opens (memory alone: {len(memories)})")


def solve(rule: RuleId) -> None:
    """Print a shortest plan, one numbered step a line.

    Example: rulesafe rules solve rule_020

    Args:
        rule: The rule's id, such as rule_020.
    """
    plan = shortest_plan(load_rule(rule))
    for number, event in enumerate(plan, 1):
        verb = "open" if event.endswith("+") else "close"
        print(f"{number:>2}. {event:<9}{verb} the {event[:-1]}")
    print(f"{len(plan)} steps")


def short(plan: list[str]) -> str:
    """A plan in one line: "K+ H+ D"."""
    letters = (event[0].upper() + event[-1] for event in plan)
    return " ".join("D" if letter == "D+" else letter for letter in letters)


def markdown_table() -> str:
    """The table of docs/rules.md."""
    lines = ["| rule | steps | shortest plan | instruction |", "|---|---|---|---|"]
    for rule_id in RULES:
        rule = load_rule(rule_id)
        plan = shortest_plan(rule)
        lines.append(f"| {rule_id} | {len(plan)} | {short(plan)} | {rule.description} |")
    return "\n".join(lines)


def _holds(rule: Rule) -> str:
    held = {
        f"; at times the {'open' if getattr(state.phases, part) else 'closed'} {part} too"
        for state in reachable_states(rule)
        for part in rule.locked(state) - {"door"}
    }
    return "the door" + "".join(sorted(held))


def main(argv: list[str]) -> int:
    """Run `rulesafe rules` with these arguments; the exit code."""
    tyro.extras.subcommand_cli_from_dict(
        {"list": list_rules, "show": show, "solve": solve},
        prog="rulesafe rules",
        description="The twenty lock rules. Example: rulesafe rules solve rule_020",
        args=argv,
    )
    return 0
