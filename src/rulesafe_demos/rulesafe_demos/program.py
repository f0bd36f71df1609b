"""A task program in the simulation, with a film of what it does.

    run_program(TrustedProgram(Path("rule_001.py")), "rule_001", "safe_02", 0, "nominal", None)

`TrustedProgram` is executed here, `remote.SandboxedProgram` in a process that can do nothing but
call the planner. Episode, film and summary are the same.
"""

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from numpy.typing import NDArray

from planner_node.tasks import TaskPlanner
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bars import ProgressBar
from rulesafe_demos.film.film import SIDE
from rulesafe_demos.film.subscriber import EpisodeFilm
from rulesafe_demos.film.summary import write_summary
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.episode import Activity, EpisodeRecord
from rulesafe_sim.runtime import Runtime, Subscriber
from rulesafe_sim.simulation import Simulation

TIME_LIMIT = 600.0
"""s of simulated time that a program may take."""


class TimeIsUp(RuleSafeError):
    """The program went on for too long."""


@dataclass(frozen=True)
class Ending:
    """How a program ended: `kind` a word for counting, `reason` for people, with the line of the
    program where it is known. Both are empty where it came to its end."""

    kind: str = ""
    reason: str = ""


class Program(Protocol):
    """A task program, however it is executed."""

    def execute(self, planner: TaskPlanner) -> Ending:
        """Runs it against a planner whose episode has just begun; raises nothing of its own."""
        ...


class TrustedProgram:
    """A Python file in which `planner` is the TaskPlanner: it may do what any Python program may.

    Errors: RuleSafeError for a file that cannot be read or parsed.
    """

    def __init__(self, path: Path):
        self._path = path
        try:
            self._code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        except (OSError, UnicodeDecodeError) as error:
            raise RuleSafeError(f"cannot read the program {path}: {error}") from error
        except SyntaxError as error:
            raise RuleSafeError(f"{path}, line {error.lineno}: {error.msg}") from error

    def execute(self, planner: TaskPlanner) -> Ending:
        try:
            exec(self._code, {"planner": planner, "__name__": "__main__"})
        except Exception as error:
            trace = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in trace if frame.filename == str(self._path)]
            where = f"line {lines[-1]}: " if lines else ""
            if isinstance(error, RuleSafeError):
                return Ending("planner", f"{where}{error}")
            return Ending("error", f"{where}{type(error).__name__}: {error}")
        return Ending()


@dataclass(frozen=True)
class Played:
    """An episode that a program has played."""

    result: EpisodeRecord
    ending: Ending  # of the program; it may end regularly and leave the door shut
    planner: TaskPlanner  # with its log
    files: tuple[Path, ...]  # written


def run_program(
    program: Program, rule: str, safe: str, seed: int, split: str, out: Path | None
) -> Played:
    """Executes a program in a new episode; with `out`, a folder, it is filmed: film.mp4, sheet.png
    and summary.json.

    Errors: RuleSafeError for an unknown rule, safe or split; what the program raises is the reason
    of a failed episode.
    """
    simulation = Simulation(SimulationConfig(split=split), render=out is not None)
    simulation.reset(rule, safe, seed)
    film = EpisodeFilm(simulation, out, TIME_LIMIT, SIDE) if out else None
    with ProgressBar(unit="frame", desc=f"{simulation.rule.id} on {simulation.safe.id}") as bar:
        subscribers = [film] if film else []
        runtime = Runtime(simulation, TIME_LIMIT, [*subscribers, _bounded(bar)])
        planner = TaskPlanner(simulation, runtime=runtime)
        ending = program.execute(planner)
    reason = ending.reason or "the program ended, and the door is not open"
    result = runtime.tracker.record or runtime.tracker.end(reason)
    files = film.close(reason) if film else []
    if out:
        write_summary(out / "summary.json", [result], TIME_LIMIT)
        files.append(out / "summary.json")
    return Played(result, ending, planner, tuple(files))


def _bounded(bar: ProgressBar) -> Subscriber:
    """Shows steps on a bar, and ends a program whose time is up."""

    def update(simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        now = simulation.snapshot()
        bar.update()
        bar.set_postfix_str(f"{now.steps_done}/{len(now.plan)} steps", refresh=False)
        if now.time >= TIME_LIMIT:  # with the door open too
            raise TimeIsUp(f"the time limit of {TIME_LIMIT:g} s is over")

    return update
