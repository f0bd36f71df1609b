"""Files of an evaluation, and the loop that writes them.

DIR/eval.json                  the request
DIR/results.jsonl              one line per episode, in the order of completion
DIR/actions/RULE/NUMBER.npy    executed actions, (N, 13) float32, rad
DIR/results.json               all episodes and statistics; see docs/evaluation.md
DIR/report.html, films/        report and videos
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import remove_drafts
from rulesafe_core.text_files import read_json
from rulesafe_data.bars import ProgressBar
from rulesafe_data.engines import run
from rulesafe_data.files import write_json
from rulesafe_data.run_folder import Line
from rulesafe_eval.agents import absolute, load_agent
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.request import EvaluationRequest, ResultsFolder, Setup, load_request
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_eval.statistics import failures, summary, timings
from rulesafe_eval.validation import checked
from rulesafe_sim.episodes import Episode

FORMAT = 1
RESULTS = "results.json"


class Evaluation:
    """An evaluation that runs: its folder, which is locked, and the episodes that it lacks."""

    def __init__(self, request: EvaluationRequest, directory: Path) -> None:
        self.request, self.folder = request, ResultsFolder(directory)
        known = self.folder.lines()
        self.missing = [each for each in request if each.key not in known]
        self.total = len(request.rules) * request.episodes

    def add(self, line: Line) -> None:
        """Store the line of an episode. Raises RuleSafeError if the disk is full."""
        self.folder.add(line)


@contextmanager
def evaluation(request: EvaluationRequest, directory: Path) -> Iterator[Evaluation]:
    """Open a directory for the episodes of an evaluation; all engines run them inside.

    Args:
        request: the evaluation.
        directory: directory of the results.

    Raises:
        RuleSafeError: if the directory has another request or is in use, or the disk is full.
    """
    folder = ResultsFolder(directory)
    with folder.exclusive_lock():
        folder.settle(request)
        remove_drafts(directory, "actions/*/.*")
        yield Evaluation(request, directory)


def evaluate(
    request: EvaluationRequest,
    directory: Path,
    workers: int = 1,
    engine: str = "local",
    runner: EpisodeRunner | None = None,
) -> dict[str, Any]:
    """Run the missing episodes of a directory, write results.json and return its content.

    An interrupted evaluation resumes when called again; its results.json equals that of an
    uninterrupted run except for "timing".

    Args:
        request, directory: as for `evaluation`.
        workers, engine: as for `rulesafe eval`.
        runner: runs an episode; by default `EpisodeRunner(request.setup)`.

    Raises:
        RuleSafeError: as `evaluation`, or if workers cannot start.
    """
    work = partial((runner or EpisodeRunner(request.setup)).run, directory)
    with evaluation(request, directory) as opened:
        if missing := opened.missing:
            successes, total = 0, opened.total
            with ProgressBar(total=total, initial=total - len(missing), unit="episode") as bar:

                def note(_: Episode, line: Line) -> None:
                    nonlocal successes
                    opened.add(line)
                    successes += line["opened"]
                    bar.update()
                    bar.set_postfix_str(f"{successes} opened")

                run(work, missing, note, workers, engine)
        else:
            print(f"{directory}: all {opened.total} episodes are finished; none was run")
        return write_results(directory)


def evaluate_policy(
    setup: Setup,
    conditions: Conditions,
    directory: Path,
    workers: int = 1,
    engine: str = "local",
) -> dict[str, Any]:
    """Evaluate the agent of a setup in the episodes of some conditions; otherwise as `evaluate`.

    Raises:
        RuleSafeError: as `evaluate`, or if an option is not valid or the agent cannot be used.
    """
    conditions.request(setup, {})  # reports invalid arguments before a policy is loaded
    setup = replace(setup, policy=absolute(setup.policy))
    agent, facts = load_agent(setup)
    agent.close()  # the workers load it again
    trained_on = (facts.get("data") or {}).get("safes")
    if trained_on and not (conditions.safes or conditions.benchmark):
        print(f"on the safes of its training, {', '.join(trained_on)}; all: --safes all")
    return evaluate(conditions.request(setup, facts), directory, workers, engine)


def results_of(directory: Path) -> dict[str, Any]:
    """Return the content of results.json: the statistics of the finished episodes. Raises
    RuleSafeError if there is no request, or results.jsonl is not valid."""
    request, known = load_request(directory), ResultsFolder(directory).lines()
    keys = [episode.key for episode in request]
    lines = [known[key] for key in keys if key in known]
    stored = {"request": asdict(request), "episodes": lines}
    checked(stored, directory / "results.jsonl", "valid results of an evaluation")
    return {
        "format": FORMAT,
        "request": asdict(request),
        "complete": len(lines) == len(keys),
        "summary": summary(lines),
        "failures": failures(lines),
        "episodes": [{k: v for k, v in line.items() if k != "timing"} for line in lines],
        "timing": timings(lines),
    }


def write_results(directory: Path) -> dict[str, Any]:
    """Write the statistics of the finished episodes to results.json and return its content."""
    content = results_of(directory)
    write_json(directory / RESULTS, content)
    return content


def read_results(path: Path) -> dict[str, Any]:
    """Return the content of results.json, given the file or its directory. Raises RuleSafeError."""
    file = path / RESULTS if path.is_dir() else path
    try:
        content: dict[str, Any] = read_json(file, "results of an evaluation")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{file} does not exist; create it with rulesafe eval --policy NAME --out DIR, or for "
            "an evaluation that was interrupted, with rulesafe eval report DIR"
        ) from None
    if content.get("format") != FORMAT:
        raise RuleSafeError(f"{file} has no results of an evaluation in format {FORMAT}")
    return checked(content, file, "valid results of an evaluation")
