"""The subcommands of `rulesafe demos`. What they need is imported when they run."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_demos.commands_write import write

if TYPE_CHECKING:
    from rulesafe_demos.render import Rendering

Directory = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


@resumable()
def generate(
    out: Path,
    rules: str = "all",
    episodes: int = 100,
    safes: str = "all",
    split: str = "nominal",
    seed: int = 0,
    attempts: int | None = None,
    style: Literal["varied", "habitual", "strict"] = "varied",
    passes: Literal["both", "states"] = "both",
    workers: int = 1,
    engine: Literal["local", "ray"] = "local",
) -> int:
    """Let the expert open safes until each rule has its episodes, and make a dataset of them.

    Called again with the same words it goes on where it stopped.

    Example: rulesafe demos generate --rules rule_001,rule_020 --episodes 100 --out demos

    Args:
        out: Directory of the demonstrations.
        rules: Rules, sets of rules and .json files of locks, joined by commas; all: the twenty.
        episodes: Successes wanted for each rule. It may grow later.
        safes: Safes joined by commas, or all of the split. A rule takes them in turn.
        split: What the episodes differ in: nominal, train, shifted or a .yaml file.
        seed: Base of the seeds, 0..4000. No seed is below 10000: those are for evaluations.
        attempts: Attempts of a rule at most; twice the episodes and 20 if not given.
        style: habitual: the expert takes each part of a safe in one posture as far as it can, and
            safes that stand nearly alike nearly alike, which is easier to learn from. strict: the
            same, and an attempt fails where it cannot. varied: in whatever way is cheapest from
            where the arm stands.
        passes: states: physics alone. both: pictures and clouds too, in a second pass.
        workers: Processes at work at once.
        engine: ray: by Ray, on this machine or on the cluster that RAY_ADDRESS names.
    """
    from rulesafe_demos.attempts import make_request
    from rulesafe_demos.generate import generate as make
    from rulesafe_demos.render import Rendering

    request = make_request(rules, episodes, attempts, safes, split, seed, style)
    if short := make(request, out, workers, engine):
        print(
            f"{out}: too few episodes of {', '.join(short)} and no attempts left; more with a "
            f"larger --attempts. Why attempts fail: rulesafe demos stats {out}"
        )
    else:
        print(f"{out}: {episodes} episodes of each rule")
    if passes == "both":
        _render(out, Rendering(out), workers, engine)
    return 1 if short else 0


@resumable()
def render(
    directory: Directory,
    out: Path | None = None,
    observations: Literal["all", "points", "joints"] = "all",
    look: str = "",
    cameras: str = "",
    workers: int = 1,
    engine: Literal["local", "ray"] = "local",
) -> None:
    """Make pictures and clouds of recorded episodes, and the dataset.

    Called again it goes on where it stopped.

    Example: rulesafe demos render demos --workers 2

    Args:
        directory: What `rulesafe demos generate` made.
        out: Another directory for the dataset.
        observations: points: without pictures, in half the time. joints: joint states and actions
            alone.
        look: A split: its lights, colours and cameras instead of the recorded ones; needs --out.
        cameras: A YAML file of other cameras: poses, angles, sizes; or the name of one that an
            installed package has (entry point rulesafe.cameras), or module:NAME; needs --out.
        workers: Processes at work at once.
        engine: ray: by Ray, on this machine or on the cluster that RAY_ADDRESS names.
    """
    from rulesafe_demos.render import Rendering
    from rulesafe_sim.camera_file import camera_file

    if (look or cameras) and not out:
        raise RuleSafeError("another look is for another dataset: give --out")
    file = str(camera_file(cameras).absolute()) if cameras else ""
    _render(directory, Rendering(out or directory, observations, look, file), workers, engine)


def _render(directory: Path, rendering: "Rendering", workers: int, engine: str) -> None:
    from rulesafe_demos.render import render as make

    total, new = make(directory, rendering, workers, engine)
    print(f"{rendering.dataset}: a dataset of {total} episodes, {new} of them new")


def replay(
    directory: Directory,
    episode: Annotated[int | None, tyro.conf.Positional] = None,
    rule: str = "",
    attempt: int | None = None,
    out: Path | None = None,
) -> int:
    """Simulate a recorded attempt again and compare every state bit by bit; exit code 1 where one
    differs.

    Example: rulesafe demos replay demos 3 --out film.mp4

    Args:
        directory: What `rulesafe demos generate` made, or a recording's file.
        episode: Number in the dataset.
        rule: With --attempt, in place of an episode: an attempt, failed ones too.
        attempt: Number among the rule's attempts.
        out: Film it (MP4).
    """
    from rulesafe_data.recording import read
    from rulesafe_demos.replay import find
    from rulesafe_demos.replay import replay as again

    path = find(directory, episode, rule, attempt)
    recording = read(path)
    facts = recording.facts
    difference = again(recording, out)
    ending = "opened" if facts["success"] else f"failed: {facts['failure']}"
    print(f"{path}: {facts['rule']} on {facts['safe']}, seed {facts['seed']}, {ending}")
    if out:
        print(f"film: {out}")
    print(f"differs: {difference}" if difference else f"equal in {recording.frames} frames")
    return 1 if difference else 0


def stats(directory: Directory, report: Path | None = None) -> None:
    """Print and draw success rate and frames of each rule; writes DIR/stats.csv and DIR/stats.png.

    Example: rulesafe demos stats demos

    Args:
        directory: What `rulesafe demos generate` made; of another dataset, episodes are counted.
        report: A Markdown file for tables by rule and by safe, failures by cause, and sizes; with
            five to forty rules also a figure beside it, as .png.
    """
    from rich.console import Console

    from rulesafe_core.files import write_atomically
    from rulesafe_data.layout import INFO
    from rulesafe_demos import figure
    from rulesafe_demos import stats as statistics

    if (directory / INFO).is_file() and not (directory / "generate.json").exists():
        if report:
            raise RuleSafeError(
                f"{directory} is a dataset without the attempts of `rulesafe demos generate`: "
                "there can be no --report of it"
            )
        print("\n".join(statistics.dataset_lines(directory)))
        return
    found = statistics.collect(directory)
    console = Console(highlight=False)
    console.print(statistics.table(found.by_rule, f"Attempts in {directory}", console.width))
    for number, cause, where in statistics.causes(found.rows):
        console.print(f"failed, {number} x: {cause}\n    {where}", markup=False)
    statistics.write_csv(directory / "stats.csv", found.by_rule)
    figure.draw(directory / "stats.png", found.by_rule)
    for line in statistics.sizes(directory):
        console.print(line)
    console.print(f"{directory / 'stats.csv'}\n{directory / 'stats.png'}")
    if report:
        drawing = report.with_suffix(".png")
        if drawn := len(found.request.rules) in statistics.FIGURES:
            figure.draw(drawing, found.by_rule)
        page = statistics.report(found, directory, drawing.name if drawn else "")
        write_atomically(report, page.encode())
        console.print(str(report))


def run(
    program: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PROGRAM.py")],
    rule: str,
    safe: str,
    seed: int = 0,
    split: str = "nominal",
    out: Path | None = None,
    film: bool = True,
) -> int:
    """Execute a task program in a new episode and film it; exit code 1 where the door stays shut.

    The program is trusted: it may do what any Python program may.

    Example: rulesafe demos run examples/programs/rule_001.py --rule rule_001 --safe safe_02

    Args:
        program: A Python file that calls `planner`, such as `rulesafe demos program` writes.
        rule: The lock's rule.
        safe: The safe's id, or the path of a YAML file.
        seed: What varies from episode to episode: the place of the safe and more, by the split.
        split: What the episodes differ in: nominal, train, shifted or a .yaml file.
        out: Folder for film.mp4, sheet.png and summary.json; runs/(date and time) if not given.
        film: Without it there are no pictures and no files, and no Vulkan is needed.
    """
    from rulesafe_demos.film.summary import results_folder
    from rulesafe_demos.program import TrustedProgram, run_program

    folder = results_folder(out) if film else None
    played = run_program(TrustedProgram(program), rule, safe, seed, split, folder)
    planner = played.planner
    for line in planner.log.steps:
        print(line)
    print(played.result.outcome)
    print(f"retries {planner.log.retries}, planning {planner.planning_seconds:.1f} s")
    for file in played.files:
        print(f"wrote {file}")
    return 0 if played.result.success else 1


def program(rule: str, safe: str) -> None:
    """Print the task program for a rule's shortest plan on a safe.

    Example: rulesafe demos program --rule rule_020 --safe safe_07 > rule_020.py

    Args:
        rule: The lock's rule.
        safe: The safe's id, or the path of a YAML file; angles and senses are its own.
    """
    from planner_node.decompose import decompose
    from rulesafe_locks.plans import shortest_plan
    from rulesafe_locks.rules import load_rule
    from rulesafe_sim.safes import load_safe

    print(decompose(shortest_plan(load_rule(rule)), load_safe(safe)), end="")


def export(directory: Directory, out: Path) -> None:
    """Write a dataset's joint states and actions, and its manifest, small enough for git.

    OUT.parquet has the 13 joints' positions and actions; OUT.json the size and SHA-256 of every
    file of the dataset, and the request it was made for.

    Example: rulesafe demos export demos --out datasets/demos

    Args:
        directory: What `rulesafe demos generate` made.
        out: The files' name without suffix.
    """
    from dataclasses import asdict

    from rulesafe_data.files import write_json
    from rulesafe_data.inventory import manifest
    from rulesafe_data.states import export_states
    from rulesafe_demos.attempts import load_request

    request = load_request(directory)
    export_states(directory, out.with_suffix(".parquet"))
    about = {"command": request.command(), "request": asdict(request)}
    write_json(out.with_suffix(".json"), {**about, **manifest(directory)})
    print(f"wrote {out.with_suffix('.parquet')}, {out.with_suffix('.json')}")


def verify(directory: Directory, manifest: Annotated[Path, tyro.conf.Positional]) -> None:
    """Compare a dataset with a manifest; exit code 2 names the files that differ.

    Example: rulesafe demos verify demos datasets/demos.json

    Args:
        directory: A dataset.
        manifest: What `rulesafe demos export` wrote.
    """
    from rulesafe_data.files import read_json
    from rulesafe_data.inventory import check_manifest

    expected = read_json(manifest, "a manifest")
    check_manifest(directory, expected)
    print(f"{directory}: {expected['episodes']} episodes, {expected['frames']} frames, all equal")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "program": program,
    "run": run,
    "write": write,
    "generate": generate,
    "render": render,
    "replay": replay,
    "stats": stats,
    "export": export,
    "verify": verify,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
