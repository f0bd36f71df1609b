"""Files of an evaluation, and the loop that writes them.

DIR/eval.json                  the request
DIR/results.jsonl              one line per episode, in the order of completion
DIR/actions/RULE/NUMBER.npy    executed actions, (N, 13) float32, rad
DIR/results.json               all episodes and statistics; see docs/evaluation.md
DIR/report.html, films/        report and videos
DIR/locks/                     locks of a sealed evaluation
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import exclusive_lock, remove_drafts
from rulesafe_core.text_files import read_json
from rulesafe_data.bars import ProgressBar
from rulesafe_data.engines import Engine, run
from rulesafe_data.files import append_line, read_lines, write_json
from rulesafe_demos.attempts import Attempt, settle
from rulesafe_eval.request import EvaluationRequest, load_request
from rulesafe_eval.runner import perform
from rulesafe_eval.statistics import failures, recovery, summary, timings

FORMAT = 1

Line = Mapping[str, Any]
"""An episode, as returned by `runner.play`."""


class ResultsFolder:
    """A directory of results."""

    def __init__(self, path: Path):
        self.path = path

    def exclusive_lock(self) -> AbstractContextManager[None]:
        """See `rulesafe_core.files.exclusive_lock`."""
        return exclusive_lock(self.path, "rulesafe eval")

    def add(self, line: Line) -> None:
        """Append an episode; an incomplete line is ignored when read. Raises RuleSafeError if the
        disk is full."""
        append_line(self.path / "results.jsonl", line)

    def lines(self) -> dict[tuple[str, int], Line]:
        """Return all finished episodes by (rule, number)."""
        lines = read_lines(self.path / "results.jsonl")
        return {(line["rule"], line["number"]): line for line in lines}


def evaluate(
    request: EvaluationRequest,
    directory: Path,
    workers: int,
    engine: Engine,
    prepare: Callable[[], object] | None = None,
) -> dict[str, Any]:
    """Run the missing episodes of a directory, write results.json and return its content.

    An interrupted evaluation resumes when called again; its results.json equals that of an
    uninterrupted run except for "timing".

    Args:
        request: the evaluation.
        directory: directory of the results.
        workers, engine: as for `rulesafe eval`.
        prepare: called before the first episode; writes files that the episodes need to the
            directory, which is then known to be that of the request.

    Raises:
        RuleSafeError: if the directory has another request or is in use, the disk is full, or
            workers cannot start.
    """
    folder = ResultsFolder(directory)
    with folder.exclusive_lock():
        settle(directory, request, load_request)
        if prepare:
            prepare()
        remove_drafts(directory, "actions/*/.*")
        known = folder.lines()
        missing = [e for e in request.all_episodes() if (e.rule, e.number) not in known]
        if missing:
            total, opened = len(request.rules) * request.episodes, []
            with ProgressBar(total=total, initial=total - len(missing), unit="episode") as bar:

                def note(_: Attempt, line: Line) -> None:
                    folder.add(line)
                    opened.append(line["opened"])
                    bar.update()
                    bar.set_postfix_str(f"{sum(opened)} opened")

                run(partial(perform, directory, request.setup), missing, note, workers, engine)
        return write_results(directory)


def write_results(directory: Path) -> dict[str, Any]:
    """Write the statistics of the finished episodes to results.json and return its content."""
    request, known = load_request(directory), ResultsFolder(directory).lines()
    keys = [(episode.rule, episode.number) for episode in request.all_episodes()]
    lines = [known[key] for key in keys if key in known]
    content = {
        "format": FORMAT,
        "request": asdict(request),
        "complete": len(lines) == len(keys),
        "summary": summary(lines),
        "failures": failures(lines),
        "recovery": recovery(lines),
        "episodes": [{k: v for k, v in line.items() if k != "timing"} for line in lines],
        "timing": timings(lines),
    }
    write_json(directory / "results.json", content)
    return content


def read_results(path: Path) -> dict[str, Any]:
    """Return the content of results.json, given the file or its directory. Raises RuleSafeError."""
    file = path / "results.json" if path.is_dir() else path
    try:
        content: dict[str, Any] = read_json(file, "results of an evaluation")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{file} does not exist; create it with rulesafe eval --policy NAME --out DIR"
        ) from None
    if (
        not isinstance(content, dict)
        or content.get("format") != FORMAT
        or "setup" not in str(content.get("request"))
    ):
        raise RuleSafeError(f"{file} has no results of an evaluation in format {FORMAT}")
    return content
