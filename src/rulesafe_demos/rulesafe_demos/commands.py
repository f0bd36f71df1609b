"""Subcommands of `rulesafe demos`. Their dependencies are imported when they run."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_core.plugins import FORM, Registry
from rulesafe_data.engines import ENGINES
from rulesafe_demos.commands_write import write
from rulesafe_locks.instructions import EXPORT_LENGTH, Length
from rulesafe_sim.episode import DEFAULT_SPLIT

if TYPE_CHECKING:
    from rulesafe_demos.render import Rendering

EngineName = Annotated[str, tyro.conf.arg(metavar=ENGINES.metavar)]

Directory = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]

FORMATS: Registry[Callable[..., None]] = Registry("rulesafe.dataset_formats", "format of datasets")
"""Functions of other packages that write a dataset in another format."""


@resumable()
def generate(
    out: Path,
    rules: str = "all",
    episodes: int = 100,
    safes: str = "all",
    split: str = DEFAULT_SPLIT,
    seed: int = 0,
    attempts: int | None = None,
    style: Literal["varied", "habitual", "strict"] = "varied",
    misses: float = 0.0,
    by: Annotated[str, tyro.conf.arg(metavar=f"{{expert,programs}}|{FORM}")] = "expert",
    programs: str = "",
    passes: Literal["both", "states"] = "both",
    workers: int = 1,
    engine: EngineName = "local",
) -> int:
    """Generate demonstrations until each rule has its episodes; write a dataset.

    Run again with the same arguments to resume.

    Example: rulesafe demos generate --rules rule_001,rule_020 --episodes 100 --out demos

    Args:
        out: Directory of the demonstrations.
        rules: Rules, rule sets and .json lock files, comma-separated; all: the twenty rules.
        episodes: Number of successful episodes per rule. It may be increased later.
        safes: Safes, comma-separated, or all of the split. The attempts of a rule use them in turn.
        split: Randomisation of the episodes: nominal, varied, shifted, or the path of a .yaml file.
        seed: Base seed, 0..4000. The seeds of episodes are at least 10000; lower ones are reserved
            for evaluations.
        attempts: Maximum number of attempts per rule; by default twice the episodes plus 20.
        style: How the expert grasps parts. varied: the cheapest way from the arm's present posture.
            habitual: the same pinch and posture for each part where it is within reach, so that
            similar poses give similar motions, which are easier to learn. strict: as habitual, but
            an attempt fails if the pinch is out of reach.
        misses: Probability that a grasp of the expert deliberately misses, so that a policy learns
            to grasp again. Training does not imitate the misses.
        by: expert: reads the state of the lock after each step, and repeats steps that failed.
            programs: task programs, as in the paper, which do not read it. module:Class: an agent
            of your own.
        programs: Directory of a program for each rule, RULE.py, run in the sandbox; by default each
            rule's shortest plan as `rulesafe demos program` prints it.
        passes: states: physics only. both: also render images and point clouds in a second pass.
        workers: Number of parallel processes.
        engine: local: worker processes. ray: Ray, on this machine or the cluster of RAY_ADDRESS
            (integrations/ray_engine).
    """
    from rulesafe_demos.attempts import make_request

    # Before the other imports, so that invalid arguments are reported at once.
    request = make_request(
        rules, episodes, attempts, safes, split, seed, style, misses, by, programs
    )

    from rulesafe_demos.generate import generate as make
    from rulesafe_demos.render import Rendering

    if short := make(request, out, workers, engine):
        print(
            f"{out}: too few episodes of {', '.join(short)} after all attempts; increase "
            f"--attempts, or see why attempts fail with rulesafe demos stats {out}"
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
    camera_rate: int = 10,
    workers: int = 1,
    engine: EngineName = "local",
) -> None:
    """Render images and point clouds of recorded episodes, and write the dataset.

    Run again with the same arguments to resume.

    Example: rulesafe demos render demos --workers 2

    Args:
        directory: Directory written by `rulesafe demos generate`.
        out: Directory of the dataset; by default the same one.
        observations: points: without images, in half the time. joints: joint states and actions
            only.
        look: Split from which lights, colours and cameras are sampled instead of the recorded ones;
            requires --out.
        cameras: YAML file of other cameras (docs/interface.md); or the name of one in an installed
            package (entry point rulesafe.cameras), or module:NAME; requires --out.
        camera_rate: Rate of images and point clouds, Hz: 1, 2, 5 or 10. The frames between two of
            them repeat the last one. 1 takes a tenth of the time.
        workers: Number of parallel processes.
        engine: local: worker processes. ray: Ray, on this machine or the cluster of RAY_ADDRESS
            (integrations/ray_engine).
    """
    from rulesafe_core.cameras import load_cameras
    from rulesafe_demos.render import Rendering

    if (look or cameras) and not out:
        raise RuleSafeError("--look and --cameras make a different dataset; set its --out")
    rendering = Rendering(out or directory, observations, look, load_cameras(cameras), camera_rate)
    _render(directory, rendering, workers, engine)


def _render(directory: Path, rendering: "Rendering", workers: int, engine: str) -> None:
    from rulesafe_demos.render import render as make

    total, new = make(directory, rendering, workers, engine)
    print(f"{rendering.dataset}: dataset of {total} episodes, {new} of them new")


def replay(
    directory: Directory,
    episode: Annotated[int | None, tyro.conf.Positional] = None,
    rule: str = "",
    attempt: int | None = None,
    out: Path | None = None,
) -> int:
    """Simulate a recorded attempt again and compare every state bit by bit; exit code 1 if one
    differs.

    Example: rulesafe demos replay demos 3 --out film.mp4

    Args:
        directory: Directory written by `rulesafe demos generate`, or the file of a recording.
        episode: Index of an episode in the dataset.
        rule: Rule of an attempt, successful or not; use with --attempt instead of an episode.
        attempt: Index of the rule's attempt.
        out: Video of the replay (MP4).
    """
    from rulesafe_data.attempt_recording import read
    from rulesafe_demos.replay import find
    from rulesafe_demos.replay import replay as run_again

    path = find(directory, episode, rule, attempt)
    recording = read(path)
    facts = recording.facts
    difference = run_again(recording, out)
    ending = "opened" if facts["success"] else f"failed: {facts['failure']}"
    print(f"{path}: {facts['rule']} on {facts['safe']}, seed {facts['seed']}, {ending}")
    if out:
        print(f"film: {out}")
    print(f"differs: {difference}" if difference else f"equal in {recording.frames} frames")
    return 1 if difference else 0


def stats(directory: Directory) -> None:
    """Print success rate and frames by rule and by safe, and failures by cause; write
    DIR/stats.csv.

    Example: rulesafe demos stats demos

    Args:
        directory: Directory written by `rulesafe demos generate`; for other datasets only the
            episodes are counted.
    """
    from rich.console import Console

    from rulesafe_data.layout import INFO
    from rulesafe_demos import stats as statistics

    if (directory / INFO).is_file() and not (directory / "generate.json").exists():
        print("\n".join(statistics.dataset_lines(directory)))
        return
    rows = statistics.load_rows(directory)
    by_rule = statistics.grouped(rows, lambda row: row.rule)
    by_safe = statistics.grouped(rows, lambda row: row.safe)
    console = Console(markup=False, highlight=False)
    console.print(statistics.table(by_rule, f"Attempts in {directory}", console.width))
    console.print(statistics.table(by_safe, "By safe", console.width))
    for number, cause, where in statistics.causes(rows):
        console.print(f"failed, {number} x: {cause}\n    {where}", markup=False)
    statistics.write_csv(directory / "stats.csv", by_rule)
    for line in statistics.sizes(directory):
        console.print(line)
    console.print(str(directory / "stats.csv"))


def run(
    program: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PROGRAM.py")],
    rule: str,
    safe: str,
    seed: int = 0,
    split: str = DEFAULT_SPLIT,
    out: Path | None = None,
    film: bool = True,
) -> int:
    """Run a task program in a new episode and record a video; exit code 1 if the door stays closed.

    The program is trusted: it runs without a sandbox.

    Example: rulesafe demos run examples/programs/rule_001.py --rule rule_001 --safe safe_02

    Args:
        program: Python file that calls `planner`, such as the output of `rulesafe demos program`.
        rule: Rule of the lock.
        safe: Id of the safe, or the path of a YAML file.
        seed: Seed of the randomisation, such as the pose of the safe.
        split: Randomisation of the episode: nominal, varied, shifted or a .yaml file.
        out: Folder for film.mp4 and sheet.png; by default runs/(date and time).
        film: Write the video and the other files.
    """
    from rulesafe_data.run_folder import results_folder
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
        rule: Rule of the lock.
        safe: Id of the safe, or the path of a YAML file; it determines angles and directions.
    """
    from planner_node.decompose import decompose
    from rulesafe_locks.plans import shortest_plan
    from rulesafe_locks.rules import load_rule
    from rulesafe_sim.safes import load_safe

    print(decompose(shortest_plan(load_rule(rule)), load_safe(safe)), end="")


def export(
    directory: Directory,
    out: Path,
    format: str = "states",
    instruction: Length = EXPORT_LENGTH,
    memory_model: str | None = None,
    clusters: int | None = None,
    length: int | None = None,
) -> None:
    """Export a dataset: its joint states in one file, or in the format of another toolchain.

    Example: rulesafe demos export demos --format lerobot-v2.1 --out demos_v2

    Args:
        directory: Directory of the dataset.
        out: Path of the output.
        format: states: OUT.parquet has the positions and actions of the 13 joints, and OUT.json the
            request of `rulesafe demos generate` and the digest of the dataset. lerobot-v2.1
            (requires integrations/openpi): directory OUT has the dataset in LeRobot's format v2.1,
            which openpi reads. groot (requires integrations/groot): the same with
            meta/modality.json.
        instruction: Instructions of lerobot-v2.1 and groot. short: those of at most 40 tokens, for
            models that cut longer ones; long: those of the dataset.
        memory_model: Name or folder of a memory model (lerobot-v2.1 and groot only): also write its
            tokens at each frame, observation.memory_tokens and observation.memory_mask.
        clusters: J, the number of different tokens of the memory model.
        length: M, the number of tokens per frame, 2 s apart.
    """
    if memory_model is None and (clusters, length) != (None, None):
        raise RuleSafeError("--clusters and --length require --memory-model")
    if format != "states":
        write = FORMATS.load(format, "states")
        write(directory, out, instruction, memory_model, clusters, length)
        return
    if memory_model is not None:
        raise RuleSafeError("--memory-model requires --format lerobot-v2.1 or groot")
    from dataclasses import asdict

    from rulesafe_data.files import write_json
    from rulesafe_data.states import export_states
    from rulesafe_data.store import EpisodeStore
    from rulesafe_demos.attempts import load_request

    request = load_request(directory)
    stem = out.name.removesuffix(".parquet")
    table, facts = (out.with_name(f"{stem}.{kind}") for kind in ("parquet", "json"))
    export_states(directory, table)
    store = EpisodeStore(directory)
    about = {"episodes": len(store), "frames": store.frames, "digest": store.digest}
    write_json(facts, {"command": request.command(), "request": asdict(request), **about})
    print(f"wrote {table}, {facts}")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "program": program,
    "run": run,
    "write": write,
    "generate": generate,
    "render": render,
    "replay": replay,
    "stats": stats,
    "export": export,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
