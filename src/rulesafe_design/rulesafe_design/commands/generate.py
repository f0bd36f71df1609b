"""`rulesafe rules generate`: locks written by a language model, or sampled by the grammar."""

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from rulesafe_core.errors import resumable
from rulesafe_design.commands.model_options import ModelOptions
from rulesafe_design.generate import KINDS, LOCKS, REPORT, Config
from rulesafe_design.generate import generate as generate_locks
from rulesafe_design.grammar import Grammar
from rulesafe_design.models import FAILURES, LanguageModel
from rulesafe_design.reports import ACCEPTED, Prices, Report
from rulesafe_design.verify import MAX_STEPS

GRAMMAR = "grammar"


def generate(
    out: Path,
    count: int = 50,
    model: str = GRAMMAR,
    options: Annotated[ModelOptions, tyro.conf.arg(name="")] = ModelOptions(),
    name: str | None = None,
    repairs: int = 3,
    per_cell: int | None = None,
    max_steps: int = MAX_STEPS,
    attempts: int | None = None,
    unlike: str = "all",
    seed: int = 0,
    price_in: float | None = None,
    price_out: float | None = None,
) -> int:
    """Let a language model, or the grammar, write locks; keep those that are proved.

    Called again with the same words it goes on where it stopped, without asking again for replies
    that are on disk. The key of an endpoint comes from OPENAI_API_KEY alone.

    Example: rulesafe rules generate --count 20 --model grammar --out my_locks

    Args:
        out: Folder for locks/, exchanges/ and report.json.
        count: Locks wanted. It may grow later.
        model: The model's name at the endpoint, or grammar: sampled here, without any model.
        options: Of the model.
        name: What the locks' ids begin with; "drawn" for the grammar, else "written".
        repairs: Times that a model is told what is wrong with a lock.
        per_cell: Locks of one cell of difficulty (steps, memory) at most.
        max_steps: Locks with longer plans are refused.
        attempts: Conversations at most; twice the count and 20 if not given. They may grow later.
        unlike: Rules to none of which a lock may be equivalent: ids and sets, joined by commas;
            all: the twenty.
        seed: Of the grammar.
        price_in: Price of a million tokens in, for the report.
        price_out: Price of a million tokens out, for the report.
    """
    writer: LanguageModel
    if model == GRAMMAR:
        options.check_unused("the grammar")
        writer = Grammar(seed)
    else:
        writer = options.open(model, out)
    config = Config(
        name=name or ("drawn" if model == GRAMMAR else "written"),
        repairs=repairs,
        per_cell=per_cell,
        max_steps=max_steps,
        attempts=attempts,
        unlike=unlike,
        prices=Prices(price_in, price_out),
    )
    with resumable():
        report = generate_locks(writer, out, count, config)
    show(report, out)
    return report.exit_code


def show(report: Report, out: Path) -> None:
    """Print what a generation came to."""
    table = Table(title=f"{report.accepted} of {report.count} locks")
    table.add_column("replies", justify="right")
    table.add_column("outcome", no_wrap=True)
    table.add_column("meaning")
    facts = report.as_json()
    for kind, number in facts["outcomes"].items():
        table.add_row(str(number), kind, "" if kind == ACCEPTED else KINDS.get(kind, ""))
    for kind, number in facts["retries"].items():
        table.add_row(f"({number})", kind, FAILURES.get(kind, "another form of structured output"))
    console = Console()
    console.print(table)
    cost = "not known: give --price-in and --price-out" if report.cost is None else report.cost
    lines = [
        f"conversations {report.asked}, {report.failed} without a lock; "
        f"yield {report.lock_yield:.0%}",
        f"repairs {report.repairs}, locks thanks to them {report.repaired}",
        f"tokens {report.tokens_in} in, {report.tokens_out} out"
        + (f", and unknown ones in {report.uncounted} replies" if report.uncounted else ""),
        f"cost {cost}",
        f"locks in {out / LOCKS}, all of this in {out / REPORT}",
    ]
    print("\n".join(lines))
    if report.stopped:
        print(
            f"rulesafe: stopped: {report.stopped}. What was reached is kept, the same command goes "
            "on",
            file=sys.stderr,
        )
