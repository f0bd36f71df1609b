"""`rulesafe eval` and its subcommands. Their dependencies are imported when they run."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_core.plugins import FORM
from rulesafe_core.ros_environment import check_environment
from rulesafe_core.versions import EARLIER
from rulesafe_eval.commands_verify import verify
from rulesafe_eval.conclusion import conclude, print_table
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.request import EXECUTE, EXECUTION, Setup

FORMATS: dict[str, Literal["latex", "csv"]] = {".tex": "latex", ".csv": "csv"}
"""Format of a table by the suffix of its file."""

Results = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


@resumable()
def evaluate(
    policy: str,
    out: Path | None = None,
    conditions: Annotated[Conditions, tyro.conf.arg(name="")] = Conditions(),
    execute: int = EXECUTE,
    execution: Literal["newest", "blended"] = EXECUTION,
    films: int = 0,
    workers: int = 1,
    engine: Annotated[str, tyro.conf.arg(metavar=f"{{local,ros}}|{FORM}")] = "local",
) -> None:
    """Evaluate a policy on episodes of some rules and write a report.

    Run again with the same arguments to resume. With the same --safes, all policies get the same
    episodes, so that `rulesafe eval compare A B` can compare two of them pair by pair.

    A checkpoint with a family or memory of your own also needs --allow-module MODULE.

    Example: rulesafe eval --policy expert --rules rule_001,rule_020 --episodes 4 --out runs/expert

    Args:
        policy: Name or folder of a checkpoint; expert, memoryless-oracle or phase-oracle; an agent
            of an installed package (entry point rulesafe.agents); module:Class, a policy or an
            agent on the PYTHONPATH; openpi://HOST:PORT or groot://HOST:PORT, a policy server.
        out: Directory of the results; by default runs/(date and time).
        conditions: Episodes of the evaluation.
        execute: Number of actions of each chunk that are executed before the next inference.
        execution: Actions where chunks overlap: the newest chunk, or a weighted mean (blended).
        films: Maximum number of videos per rule, alternating failures and successes; each takes
            about as long as its episode.
        workers: Number of parallel processes.
        engine: local: worker processes. ray: Ray, on this machine or the cluster of RAY_ADDRESS
            (integrations/ray_engine). ros: run the episodes in the simulation of a running ROS
            graph, where another node is the policy; --policy names it in the results.
    """
    from rulesafe_data.run_folder import results_folder

    folder = results_folder(out)
    setup = Setup(policy, execute, execution)
    if engine == "ros":
        conditions.request(setup, {})  # reports invalid arguments before the graph is sought
        check_environment()
        from rulesafe_eval.agents import absolute, facts_of_agent
        from rulesafe_eval.node import evaluate_graph

        setup = replace(setup, policy=absolute(policy))
        content = evaluate_graph(conditions.request(setup, facts_of_agent(policy)), folder, films)
        conclude(folder, content, 0)
        return
    from rulesafe_eval.results import evaluate_policy

    content = evaluate_policy(setup, conditions, folder, workers, engine)
    conclude(folder, content, films, workers, engine)


def report(directory: Results) -> None:
    """Write results.json and report.html again, from the episodes evaluated so far.

    Example: rulesafe eval report runs/expert

    Args:
        directory: Directory of results; its evaluation may still be running.
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
        first: Directory of results, results.json, or a submission.
        second: The results to compare with; same rules, safes, seeds and split.
        out: JSON file to which the comparison is written.
    """
    from rulesafe_data.files import write_json
    from rulesafe_eval.comparison import compare as figures
    from rulesafe_eval.submission import read_evaluation

    contents = read_evaluation(first), read_evaluation(second)
    _warn_of_versions(contents, [str(first), str(second)])
    found = figures(*contents)
    _print_comparison(found)
    if out:
        write_json(out, found)
        print(out)


def table(
    directories: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")],
    out: Path | None = None,
    format: Literal["markdown", "latex", "csv"] | None = None,
    labels: str = "",
) -> None:
    """Summarise many evaluations on one page: success, differences and failures by policy.

    Evaluations of checkpoints that differ only in their training seed are pooled. Policies are
    compared on the episodes that they share.

    Example: rulesafe eval table runs/none_0 runs/none_1 runs/vq_0 runs/vq_1 --out table.md

    Args:
        directories: Directories of results, results.json files, or submissions.
        out: File of the table; the figure of a Markdown page has the same name and the suffix .svg.
            By default the table is printed.
        format: markdown: success, differences and failures. csv: success and process score. latex:
            the same, of several rules only all together, but for rules that another policy has
            alone; it needs the package booktabs. Default: by the suffix of --out (.tex, .csv).
        labels: Names of the policies, comma-separated, one for each DIR; equal ones are pooled over
            their training seeds. Default: from the checkpoints.
    """
    if not directories:
        raise RuleSafeError(
            "eval table needs one or more directories of results, such as "
            "rulesafe eval table runs/none runs/vq"
        )
    from rulesafe_core.files import write_atomically
    from rulesafe_eval.exports import as_csv, as_latex
    from rulesafe_eval.submission import read_evaluation
    from rulesafe_eval.table import bars, page

    names = [name.strip() for name in labels.split(",")] if labels else [""] * len(directories)
    if len(names) != len(directories):
        raise RuleSafeError(
            f"{len(names)} labels for {len(directories)} results; give one for each"
        )
    contents = [
        read_evaluation(directory) | {"label": name}
        for directory, name in zip(directories, names, strict=True)
    ]
    notes = _warn_of_versions(contents, list(map(str, directories)))
    format = format or FORMATS.get(out.suffix if out else "", "markdown")
    options = [f"--labels {shlex.quote(labels)}"] if labels else []
    options += [f"--format {format}"] if format != "markdown" else []
    options += [f"--out {out}"] if out else []
    command = " ".join(["rulesafe eval table", *map(str, directories), *options])
    if format != "markdown":
        text = as_csv(contents) if format == "csv" else as_latex(contents, command, notes)
    elif out:
        from rulesafe_eval.plots import success, svg

        figure = out.with_suffix(".svg")
        write_atomically(figure, svg(success(bars(contents))))
        text = page(contents, command, figure.name)
    else:
        text = page(contents, command)
    if out is None:
        print(text.rstrip("\n"))
        return
    write_atomically(out, text.encode())
    print(out)


def _warn_of_versions(contents: Sequence[Mapping[str, Any]], sources: Sequence[str]) -> list[str]:
    """Print warnings if evaluations with different versions of the physics or the renderer are
    compared, and return these warnings."""
    from policy_node.loading import print_warning

    warnings = []
    for name in ("physics", "renderer"):
        found: dict[str, list[str]] = {}
        for content, source in zip(contents, sources, strict=True):
            versions = {**EARLIER, **content["request"].get("versions", {})}
            found.setdefault(str(versions[name]), []).append(source)
        if len(found) > 1:
            each = "; ".join(f"{key}: {', '.join(paths)}" for key, paths in sorted(found.items()))
            warnings.append(f"the results differ in the version of the {name} ({each})")
    for text in warnings:
        print_warning(text)
    return warnings


def _print_comparison(found: dict[str, Any]) -> None:
    from rulesafe_eval.comparison import as_text
    from rulesafe_eval.statistics import FEW_PAIRS, FEWEST

    first, second = found["policies"]
    heads = ("rule", "pairs", "opened A", "opened B", "B - A [pp]", "only A", "only B", "p")
    rows = []
    for row in found["rows"]:
        success, p, *score = as_text(row)
        only = (row["only_first"], row["only_second"])
        rows.append((row["rule"], row["pairs"], *row["opened"], success, *only, p, *score))
    title = f"A: {first}   B: {second}   ({found['pairs']} pairs)"
    print_table(title, (*heads, "process score B - A", "score p"), rows)
    if any(row["places"] < FEWEST for row in found["rows"]):
        print(FEW_PAIRS)
    if any(found["unpaired"]):
        print(
            f"episodes only in one evaluation: {found['unpaired'][0]} of A, "
            f"{found['unpaired'][1]} of B"
        )


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "compare": compare,
    "report": report,
    "table": table,
    "verify": verify,
}
"""Subcommands of `rulesafe eval`."""
