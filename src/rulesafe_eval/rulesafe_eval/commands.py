"""`rulesafe eval` and its subcommands. What they need is imported when they run."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from rulesafe_core.errors import resumable
from rulesafe_eval.request import EXECUTE, EXECUTION, SECONDS_A_STEP, Setup

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 150

Results = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


@resumable()
def evaluate(
    policy: str,
    out: Path | None = None,
    rules: str = "all",
    safes: str = "",
    episodes: int = 100,
    split: str = "normal",
    seed: int = 0,
    execute: int = EXECUTE,
    execution: Literal["newest", "blended"] = EXECUTION,
    memory_control: Literal["none", "shuffled"] = "none",
    step_seconds: float = SECONDS_A_STEP,
    films: int = 2,
    workers: int = 1,
    engine: Literal["local", "ray"] = "local",
) -> None:
    """Let a policy play the episodes of some rules, count how it ends, and write a report.

    Called again with the same words it goes on where it stopped. The episodes are the same for
    every policy: `rulesafe eval compare A B` compares two pair by pair.

    Example: rulesafe eval --policy expert --rules rule_001,rule_020 --episodes 4 --out runs/expert

    Args:
        policy: Name or folder of a checkpoint; expert, memoryless-oracle or phase-oracle; an agent
            of an installed package (entry point rulesafe.agents); or module:Class, a policy or an
            agent on the PYTHONPATH.
        out: Directory of the results; runs/(date and time) if not given.
        rules: Rules, sets of rules and .json files of locks, joined by commas; all: the twenty.
        safes: Safes joined by commas, also such as the split leaves out, or all of the split. A
            rule takes them in turn. If not given: those that a checkpoint learned from, all of the
            split for anybody else.
        episodes: Episodes of each rule. It may grow later.
        split: normal (that of demonstrations: train), shifted, nominal or a .yaml file.
        seed: Seed of the first episode; those of evaluations lie below 10000.
        execute: Rows of each chunk of 50 that are executed before the policy is asked again.
        execution: Where chunks overlap: a mean of all is followed, or the newest.
        memory_control: shuffled: the policy sees its memory permuted in time.
        step_seconds: Simulated time for each event of the rule's shortest plan, s.
        films: Films of each rule at most, failures and successes in turn; 0: none.
        workers: Processes at work at once.
        engine: ray: by Ray, on this machine or on the cluster that RAY_ADDRESS names.
    """
    from rulesafe_demos.film.summary import results_folder
    from rulesafe_eval.agents import load_agent
    from rulesafe_eval.films import choose, make, missing
    from rulesafe_eval.report import write_report
    from rulesafe_eval.request import make_request
    from rulesafe_eval.results import evaluate as play

    setup = Setup(_named(policy), execute, execution, memory_control, step_seconds)
    _, facts = load_agent(setup)
    learned = ",".join((facts.get("data") or {}).get("safes") or ()) or "all"
    request = make_request(setup, facts, rules, safes or learned, episodes, split, seed)
    folder = results_folder(out)
    content = play(request, folder, workers, engine)
    report = write_report(folder, content)
    _print_summary(content)
    if lacking := missing(folder, choose(content["episodes"], films)):
        # Flushed, so that it is printed before the bar, which goes to stderr.
        count = f"{len(lacking)} film{'s' if len(lacking) > 1 else ''}"
        print(f"making {count} (--films 0 leaves them out)", flush=True)
        make(request, folder, lacking, workers, engine)
        report = write_report(folder, content)
    print(f"{folder / 'results.json'}\n{report}")


def _named(policy: str) -> str:
    """A folder's name from wherever a worker stands; others as they are, those of oracles too."""
    from rulesafe_eval.oracles import ORACLES

    is_folder = policy not in ORACLES and Path(policy).is_dir()
    return str(Path(policy).absolute()) if is_folder else policy


def report(directory: Results) -> None:
    """Count the episodes that were played and write results.json and report.html anew.

    Example: rulesafe eval report runs/expert

    Args:
        directory: Results, of an evaluation that still runs too.
    """
    from rulesafe_eval.report import write_report
    from rulesafe_eval.results import write_results

    content = write_results(directory)
    print(write_report(directory, content))


def compare(
    first: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="A")],
    second: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="B")],
    out: Path | None = None,
) -> None:
    """Compare two evaluations on the same episodes: McNemar's test and paired bootstrap.

    Example: rulesafe eval compare runs/none runs/vq

    Args:
        first: Directory of results, or results.json.
        second: Another, with the same rules, safes, seeds and split.
        out: A JSON file of the figures.
    """
    from rulesafe_data.files import write_json
    from rulesafe_eval.comparison import compare as figures
    from rulesafe_eval.results import read_results

    found = figures(read_results(first), read_results(second))
    _print_comparison(found)
    if out:
        write_json(out, found)
        print(out)


def table(
    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")],
    out: Path | None = None,
) -> None:
    """Put many evaluations on one page: success, differences and failures by kind of policy.

    Policies that differ in their training seed alone are counted together; kinds are compared on
    the episodes they share.

    Example: rulesafe eval table runs/none_0 runs/none_1 runs/vq_0 runs/vq_1 --out table.md

    Args:
        directories: Directories of results, or results.json.
        out: A Markdown file; printed if not given.
    """
    from rulesafe_core.files import write_atomically
    from rulesafe_eval.results import read_results
    from rulesafe_eval.table import page

    words = ["rulesafe eval table", *map(str, directories), *(["--out", str(out)] if out else [])]
    text = page([read_results(directory) for directory in directories], " ".join(words))
    if out is None:
        print(text)
    else:
        write_atomically(out, text.encode())
        print(out)


def _console() -> "Console":
    """A console as wide as the terminal; where there is none, as wide as the widest table."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)


def _print_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich.table import Table

    shown = Table(title=title)
    for name in heads:
        shown.add_column(name, justify="left" if name == "rule" else "right")
    for row in rows:
        shown.add_row(*map(str, row))
    _console().print(shown)


def _print_summary(content: dict[str, Any]) -> None:
    from rulesafe_eval.statistics import clipped, in_words

    title = f"{content['request']['setup']['policy']}, 95 % intervals"
    heads = ("rule", "episodes", "opened", "success", "process score", "order-free score")
    by_rule = (row for row in content["summary"] if row["safe"] == "all")
    _print_table(title, heads, ((row["rule"], *in_words(row)) for row in by_rule))
    console = _console()
    for row in content["failures"]:
        cause = row["cause"].replace("_", " ")
        console.print(
            f"failed, {row['count']} x: {row['rule']} at step {row['step']} ({row['event']}), "
            f"{cause}",
            markup=False,
        )
    if warning := clipped(content["episodes"]):
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)


def _print_comparison(found: dict[str, Any]) -> None:
    from rulesafe_eval.comparison import in_words

    first, second = found["policies"]
    heads = ("rule", "pairs", "opened A", "opened B", "B - A", "only A", "only B", "p")
    rows = []
    for row in found["rows"]:
        success, p, *score = in_words(row)
        only = (row["only_first"], row["only_second"])
        rows.append((row["rule"], row["pairs"], *row["opened"], success, *only, p, *score))
    title = f"A: {first}   B: {second}   ({found['pairs']} pairs)"
    _print_table(title, (*heads, "process score B - A", "score p"), rows)
    if any(found["unpaired"]):
        print(
            f"episodes without a partner: {found['unpaired'][0]} of A, {found['unpaired'][1]} of B"
        )


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "compare": compare,
    "report": report,
    "table": table,
}
"""What may follow `rulesafe eval` in place of options."""
