"""`rulesafe demos run`: a task program in the simulation, with a film of what it does."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from tqdm import tqdm

from planner_node.tasks import TaskPlanner
from rulesafe_eval.demos.filming import snapshot_of
from rulesafe_eval.episode import Recorder, Watch
from rulesafe_eval.film import SIDE
from rulesafe_eval.summary import EpisodeResult, write_summary
from rulesafe_sim.cameras import FRONT, HEAD
from rulesafe_sim.chunks import PERIOD
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import Simulation

TIME_LIMIT = 600.0
"""s of simulated time that a program may take."""


class TimeIsUp(RuleSafeError):
    """The program went on for too long."""


def run_program(
    program: Path, rule: str, safe: str, seed: int, split: str, out: Path | None
) -> tuple[EpisodeResult, TaskPlanner, list[Path]]:
    """Executes a program file, in which `planner` is a TaskPlanner, in a new episode; with `out`,
    a folder, it is filmed: film.mp4, sheet.png and summary.json.

    The file is trusted: it may do what any Python program may. Returns how the episode ended, the
    planner with its log, and the files written. Errors: RuleSafeError for a file that cannot be
    read or parsed and for an unknown rule, safe or split; what the program raises is the reason
    of a failed episode.
    """
    code = _compiled(program)
    simulation = Simulation(SimulationConfig(split=split), render=out is not None)
    simulation.reset(rule, safe, seed)
    watch = Watch(TIME_LIMIT, Recorder(out, simulation.rule.description) if out else None)
    with _watched(simulation, watch) as look:
        planner = TaskPlanner(simulation, watch=look)
        reason = _execute(code, program, {"planner": planner, "__name__": "__main__"})
    if watch.result is None:
        watch.give_up(reason or "the program ended, and the door is not open")
    assert watch.result is not None
    files = watch.recorder.close(watch.result) if watch.recorder else []
    if out:
        write_summary(out / "summary.json", [watch.result], TIME_LIMIT)
        files.append(out / "summary.json")
    return watch.result, planner, files


def _compiled(program: Path) -> Any:
    try:
        return compile(program.read_text(encoding="utf-8"), str(program), "exec")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleSafeError(f"cannot read the program {program}: {error}") from error
    except SyntaxError as error:
        raise RuleSafeError(f"{program}, line {error.lineno}: {error.msg}") from error


def _execute(code: Any, program: Path, names: dict[str, Any]) -> str:
    """Runs the program; why it ended early, with the line, or an empty text."""
    try:
        exec(code, names)
    except Exception as error:
        lines = [
            f.lineno
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename == str(program)
        ]
        where = f"line {lines[-1]}: " if lines else ""
        kind = "" if isinstance(error, RuleSafeError) else f"{type(error).__name__}: "
        return f"{where}{kind}{error}"
    return ""


@contextmanager
def _watched(simulation: Simulation, watch: Watch) -> Iterator[Any]:
    """What the planner calls after each frame: the facts and, for a film, the pictures."""
    cameras = [replace(camera, width=SIDE, height=SIDE) for camera in (HEAD, FRONT)]
    observer = Observer(simulation, cameras) if watch.recorder else None

    def look(simulation: Simulation, action: NDArray | None = None, activity: Any = None) -> None:
        stamp, now = simulation.frame * PERIOD, snapshot_of(simulation)
        watch.see(stamp, now, waiting=False)
        if observer:
            seen = observer.observe(("head_rgb", "front_rgb"))
            for name in ("head", "front"):
                watch.picture(name, stamp, seen[f"{name}_rgb"])
        bar.update()
        bar.set_postfix_str(f"{now.steps_done}/{len(now.plan)} steps", refresh=False)
        if watch.result and not now.success:
            raise TimeIsUp(f"the time limit of {TIME_LIMIT:g} s is over")

    with tqdm(unit="frame", desc=f"{simulation.rule.id} on {simulation.safe.id}") as bar:
        look(simulation)
        yield look
