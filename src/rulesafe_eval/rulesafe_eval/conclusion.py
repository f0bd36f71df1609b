"""What an evaluation prints and writes when its episodes have ended."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulesafe_eval.request import load_request, title_of

if TYPE_CHECKING:
    from rich.console import Console

    from rulesafe_eval.runner import EpisodeRunner

WIDE = 150
"""Width of tables without a terminal, characters."""


def conclude(
    folder: Path,
    content: dict[str, Any],
    films: int,
    workers: int = 1,
    engine: str = "local",
    runner: "EpisodeRunner | None" = None,
) -> None:
    """Print the summary of an evaluation; write its report, videos and submission.

    Args:
        folder: directory of the results.
        content: content of results.json.
        films, workers, engine: as for `evaluate`.
        runner: as for `results.evaluate`.
    """
    from rulesafe_eval.report import write_report
    from rulesafe_eval.submission import obstacle, unknown_actions, write_submission
    from rulesafe_eval.videos import choose, make, missing

    report = write_report(folder, content)
    print_summary(content)
    if without_video := missing(folder, choose(content["episodes"], films)):
        # Flushed, so that it is printed before the progress bar, which is written to stderr.
        count = f"{len(without_video)} video{'s' if len(without_video) > 1 else ''}"
        print(f"rendering {count}; disable with --films 0", flush=True)
        make(load_request(folder), folder, without_video, workers, engine, runner)
        report = write_report(folder, content)
    print(f"{folder / 'results.json'}\n{report}", flush=True)
    if reason := obstacle(content["request"]) or unknown_actions(folder, content):
        print(f"not written: submission.json, since {reason}", flush=True)
    else:
        print(write_submission(folder, content), flush=True)


def console() -> "Console":
    """Return a console as wide as the terminal, or as the widest table if there is no terminal."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)


def print_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich.table import Table

    shown = Table(title=title)
    for name in heads:
        shown.add_column(name, justify="left" if name == "rule" else "right")
    for row in rows:
        shown.add_row(*map(str, row))
    console().print(shown)


def print_summary(content: dict[str, Any]) -> None:
    from rulesafe_eval.statistics import FEW_EPISODES, FEWEST, as_text, clipped

    title = f"{title_of(content['request']['setup']['policy'])}, 95 % intervals"
    heads = ("rule", "episodes", "opened", "success", "process score", "order-free score")
    by_rule = [row for row in content["summary"] if row["safe"] == "all"]
    print_table(title, heads, ((row["rule"], *as_text(row)) for row in by_rule))
    output = console()
    if any(row["episodes"] < FEWEST for row in by_rule):
        output.print(FEW_EPISODES, markup=False, soft_wrap=True)
    for row in content["failures"]:
        cause = row["cause"].replace("_", " ")
        output.print(
            f"failed, {row['count']} x: {row['rule']} at step {row['step']} ({row['event']}), "
            f"{cause}",
            markup=False,
        )
    if warning := clipped(content["episodes"]):
        output.print(f"warning: {warning}", markup=False, soft_wrap=True)
