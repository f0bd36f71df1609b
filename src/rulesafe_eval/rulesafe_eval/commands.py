"""`rulesafe eval` and its subcommands. Their dependencies are imported when they run."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_data.engines import Engine
from rulesafe_eval.commands_verify import commitment, verify
from rulesafe_eval.request import (
    EXECUTE,
    EXECUTION,
    EvaluationRequest,
    Setup,
    make_request,
    title_of,
)
from rulesafe_sim.episode import SECONDS_A_STEP

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 150

Results = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
# The keys of benchmarks.BENCHMARKS, whose module would make the help slow.
names_of_benchmarks = tyro.conf.arg(
    metavar="{single_task,multi_task,out_of_distribution,generated_locks,sealed}"
)


@resumable()
def evaluate(
    policy: str,
    out: Path | None = None,
    rules: str = "all",
    safes: str = "",
    episodes: int = 100,
    split: str = "train",
    seed: int = 0,
    execute: int = EXECUTE,
    execution: Literal["newest", "blended"] = EXECUTION,
    memory_control: Literal[
        "none", "shuffled", "delayed", "truncated", "perturbed", "another"
    ] = "none",
    step_seconds: float = SECONDS_A_STEP,
    turn_back: bool = False,
    interference: bool = False,
    benchmark: Annotated[str, names_of_benchmarks] = "",
    key_file: Path | None = None,
    films: int = 2,
    workers: int = 1,
    engine: Engine = "local",
) -> None:
    """Evaluate a policy on episodes of some rules and write a report.

    Run again with the same arguments to resume. With the same --safes, all policies get the same
    episodes, so that `rulesafe eval compare A B` can compare two of them pair by pair.

    Example: rulesafe eval --policy expert --rules rule_001,rule_020 --episodes 4 --out runs/expert

    Args:
        policy: Name or folder of a checkpoint; expert, memoryless-oracle or phase-oracle; an agent
            of an installed package (entry point rulesafe.agents); module:Class, a policy or an
            agent on the PYTHONPATH; openpi://HOST:PORT or groot://HOST:PORT, a policy server.
        out: Directory of the results; by default runs/(date and time).
        rules: Rules, rule sets and .json lock files, comma-separated; all: the twenty rules.
        safes: Safes, comma-separated (they need not be in the split); all: every safe of the
            split. The episodes of a rule use them in turn. Default: the safes that a checkpoint was
            trained on; all for other policies.
        episodes: Number of episodes per rule. It may be increased later.
        split: train (safes and ranges of the demonstrations, other seeds), shifted (out of
            distribution), nominal, or the path of a .yaml file.
        seed: Seed of the first episode; evaluations use seeds below 10000.
        execute: Number of actions of each chunk that are executed before the next inference.
        execution: Actions where chunks overlap: the newest chunk, or a weighted mean (blended).
        memory_control: The policy receives its memory permuted in time (shuffled), without the last
            three values (delayed), with only the last ten (truncated), with the middle third
            replaced by random ones of its values (perturbed), or that of an episode of the expert
            under another rule with the safe in the same pose (another).
        step_seconds: Time limit of an episode per step of the rule's shortest plan, s of simulated
            time.
        turn_back: Turn a part back once in an episode, after the policy has completed a step and
            released the part, and give it time for the additional steps. The summary reports
            the recovery: the success rate of these episodes. Rules without a step that can be
            undone are not disturbed.
        interference: Before each episode, let the expert open and close knob and handle, then reset
            the lock. The memory of the policy contains these motions; results.json lists them.
        benchmark: Use the rules, safes, episodes, split, seed and step_seconds of a benchmark; its
            episodes are fixed. Those of sealed are derived from the key in --key-file.
        key_file: File with a secret key, 64 or more hexadecimal digits, from which the seed and the
            locks of the set "sealed" in --rules are derived. Results contain its SHA-256 only.
        films: Maximum number of videos per rule, alternating failures and successes; 0: none.
        workers: Number of parallel processes.
        engine: ray: run the workers with Ray, on this machine or the cluster of RAY_ADDRESS.
    """
    if benchmark and (benchmark == "sealed") != (key_file is not None):
        raise RuleSafeError(
            "the episodes of the benchmark sealed are derived from a secret key: add --key-file"
            if benchmark == "sealed"
            else f"the episodes of the benchmark {benchmark} are not secret: omit --key-file"
        )
    if key_file and seed:
        raise RuleSafeError("--key-file determines the seed: omit --seed")
    if benchmark:
        if turn_back or interference or memory_control != "none":
            raise RuleSafeError(
                "an episode of a benchmark has no --turn-back, --interference or --memory-control"
            )
        given = {"rules": rules, "safes": safes, "episodes": episodes, "split": split}
        fixed = _conditions(benchmark, given | {"seed": seed, "step-seconds": step_seconds})
        rules, safes, episodes, split, seed, step_seconds = fixed
    setup = Setup(policy, execute, execution, memory_control, step_seconds, turn_back, interference)
    from rulesafe_data.films.summary import results_folder

    folder, key = results_folder(out), None
    request_of: Callable[..., EvaluationRequest] = partial(make_request, seed=seed)
    if key_file:
        from rulesafe_eval.sealed import LOCKS, read_key

        key = read_key(key_file)
        print(f"commitment {key.commitment}", flush=True)
        request_of = partial(key.make_request, folder)
    conditions = (rules, safes or "all", episodes, split)
    request_of(setup, {}, *conditions)  # reports invalid arguments before a policy is loaded

    from rulesafe_eval.agents import load_agent
    from rulesafe_eval.report import write_report
    from rulesafe_eval.results import evaluate as play
    from rulesafe_eval.submission import obstacle, write_submission
    from rulesafe_eval.videos import choose, make, missing

    setup = replace(setup, policy=_named(policy))
    agent, facts = load_agent(setup)
    agent.close()  # the workers load it again
    if trained_on := () if safes else (facts.get("data") or {}).get("safes"):
        conditions = (rules, ",".join(trained_on), episodes, split)
    request = request_of(setup, facts, *conditions)
    write_locks = partial(key.write_locks, request.rules, folder / LOCKS) if key else None
    content = play(request, folder, workers, engine, write_locks)
    report = write_report(folder, content)
    _print_summary(content)
    if without_video := missing(folder, choose(content["episodes"], films)):
        # Flushed, so that it is printed before the progress bar, which is written to stderr.
        count = f"{len(without_video)} video{'s' if len(without_video) > 1 else ''}"
        print(f"rendering {count}; disable with --films 0", flush=True)
        make(request, folder, without_video, workers, engine)
        report = write_report(folder, content)
    print(f"{folder / 'results.json'}\n{report}")
    if reason := obstacle(content["request"]):
        print(f"not written: submission.json, since {reason}")
    else:
        print(write_submission(folder, content))


def _conditions(name: str, given: dict[str, Any]) -> tuple[str, str, int, str, int, float]:
    """Return rules, safes, episodes, split, seed and step_seconds of a benchmark. Raises
    RuleSafeError if one of them is given as an option, too."""
    from inspect import signature

    from rulesafe_eval.benchmarks import SEALED, load_benchmark

    defaults = signature(evaluate).parameters
    for option, value in given.items():
        if value != defaults[option.replace("-", "_")].default:
            raise RuleSafeError(f"--benchmark {name} determines the {option}: omit --{option}")
    found = SEALED if name == SEALED.name else load_benchmark(name)
    rules, safes = ",".join(found.rules), ",".join(found.safes)
    return rules, safes, found.episodes, found.split, found.seed, found.step_seconds


def _named(policy: str) -> str:
    """Return the absolute path of a folder, for workers; other names are returned unchanged."""
    from rulesafe_eval.oracles import ORACLES

    is_folder = policy not in ORACLES and Path(policy).is_dir()
    return str(Path(policy).absolute()) if is_folder else policy


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
        first: Directory of results, or results.json.
        second: The results to compare with; same rules, safes, seeds and split.
        out: JSON file to which the comparison is written.
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
    """Summarise many evaluations on one page: success, differences and failures by policy.

    Evaluations of checkpoints that differ only in their training seed are pooled. Policies are
    compared on the episodes that they share.

    Example: rulesafe eval table runs/none_0 runs/none_1 runs/vq_0 runs/vq_1 --out table.md

    Args:
        directories: Directories of results, or results.json files.
        out: Markdown file; its figure has the same name and the suffix .svg. By default the page is
            printed.
    """
    if not directories:
        raise RuleSafeError(
            "eval table needs one or more directories of results, such as "
            "rulesafe eval table runs/none runs/vq"
        )
    from rulesafe_core.files import write_atomically
    from rulesafe_eval.results import read_results
    from rulesafe_eval.table import bars, page

    contents = [read_results(directory) for directory in directories]
    command = " ".join(["rulesafe eval table", *map(str, directories)])
    if out is None:
        print(page(contents, command))
        return
    from rulesafe_eval.plots import success, svg

    figure = out.with_suffix(".svg")
    write_atomically(figure, svg(success(bars(contents))))
    write_atomically(out, page(contents, f"{command} --out {out}", figure.name).encode())
    print(out)


def _console() -> "Console":
    """Return a console as wide as the terminal, or as the widest table if there is no terminal."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)


def _print_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    from rich.table import Table

    shown = Table(title=title)
    for name in heads:
        shown.add_column(name, justify="left" if name == "rule" else "right")
    for row in rows:
        shown.add_row(*map(str, row))
    _console().print(shown)


def _print_summary(content: dict[str, Any]) -> None:
    from rulesafe_eval.statistics import FEW_EPISODES, FEWEST, as_text, clipped, recovery_text

    title = f"{title_of(content['request']['setup']['policy'])}, 95 % intervals"
    heads = ("rule", "episodes", "opened", "success", "process score", "order-free score")
    by_rule = [row for row in content["summary"] if row["safe"] == "all"]
    _print_table(title, heads, ((row["rule"], *as_text(row)) for row in by_rule))
    console = _console()
    if any(row["episodes"] < FEWEST for row in by_rule):
        console.print(FEW_EPISODES, markup=False, soft_wrap=True)
    for row in content["failures"]:
        cause = row["cause"].replace("_", " ")
        console.print(
            f"failed, {row['count']} x: {row['rule']} at step {row['step']} ({row['event']}), "
            f"{cause}",
            markup=False,
        )
    if found := content["recovery"]:
        console.print(f"recovery: {recovery_text(found)}", markup=False, soft_wrap=True)
    if warning := clipped(content["episodes"]):
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)


def _print_comparison(found: dict[str, Any]) -> None:
    from rulesafe_eval.comparison import as_text
    from rulesafe_eval.statistics import FEW_PAIRS, FEWEST

    first, second = found["policies"]
    heads = ("rule", "pairs", "opened A", "opened B", "B - A", "only A", "only B", "p")
    rows = []
    for row in found["rows"]:
        success, p, *score = as_text(row)
        only = (row["only_first"], row["only_second"])
        rows.append((row["rule"], row["pairs"], *row["opened"], success, *only, p, *score))
    title = f"A: {first}   B: {second}   ({found['pairs']} pairs)"
    _print_table(title, (*heads, "process score B - A", "score p"), rows)
    if any(row["places"] < FEWEST for row in found["rows"]):
        print(FEW_PAIRS)
    if any(found["unpaired"]):
        print(
            f"episodes only in one evaluation: {found['unpaired'][0]} of A, "
            f"{found['unpaired'][1]} of B"
        )


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "commitment": commitment,
    "compare": compare,
    "report": report,
    "table": table,
    "verify": verify,
}
"""Subcommands of `rulesafe eval`."""
