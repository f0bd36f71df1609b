"""`rulesafe rules generate`: generate locks with a language model or the grammar."""

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
    """Generate locks with a language model or the grammar, and keep the verified ones.

    The same command continues a stopped run; recorded replies are not requested again. The key of
    an endpoint is read from the environment variable OPENAI_API_KEY.

    Example: rulesafe rules generate --count 20 --model grammar --out my_locks

    Args:
        out: Output folder for locks/, exchanges/ and report.json.
        count: Number of locks. It may be increased to continue a run.
        model: Name of the model at the endpoint, or grammar to sample locks without a model.
        options: The options of the model.
        name: Prefix of the lock ids. Default: "drawn" for the grammar, "written" for a model.
        repairs: Maximum number of times that an error is sent back to the model for a lock.
        per_cell: Maximum number of locks per cell of difficulty (steps, memory).
        max_steps: Maximum number of steps of a shortest plan; locks with longer plans are refused.
        attempts: Maximum number of conversations. Default: 2 * count + 20. It may be increased to
            continue a run.
        unlike: Rules that no lock may be equivalent to: ids and sets, separated by commas; all: the
            twenty rules.
        seed: Random seed of the grammar.
        price_in: Price per million input tokens, for the report.
        price_out: Price per million output tokens, for the report.
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
    """Print the result of a generation."""
    table = Table(title=f"{report.accepted} of {report.count} locks")
    table.add_column("replies", justify="right")
    table.add_column("outcome", no_wrap=True)
    table.add_column("meaning")
    facts = report.as_json()
    for kind, number in facts["outcomes"].items():
        table.add_row(str(number), kind, "" if kind == ACCEPTED else KINDS.get(kind, ""))
    for kind, number in facts["retries"].items():
        table.add_row(
            f"({number})",
            kind,
            FAILURES.get(kind, "the endpoint does not support the response format"),
        )
    console = Console(markup=False)
    console.print(table)
    cost = "unknown: give --price-in and --price-out" if report.cost is None else report.cost
    lines = [
        f"conversations {report.conversations}, {report.failed} without a lock; "
        f"yield {report.lock_yield:.0%}",
        f"repairs {report.repairs}, repaired locks {report.repaired}",
        f"tokens {report.tokens_in} in, {report.tokens_out} out"
        + (f"; {report.uncounted} replies without token counts" if report.uncounted else ""),
        f"cost {cost}",
        f"locks in {out / LOCKS}, report in {out / REPORT}",
    ]
    print("\n".join(lines))
    if report.stopped:
        print(
            f"rulesafe: stopped: {report.stopped}. The results are kept; the same command "
            "continues the run",
            file=sys.stderr,
        )
