"""Task programs in the simulation, with a video of the episode.

    run_program(TrustedProgram(Path("rule_001.py")), "rule_001", "safe_02", 0, "nominal", None)

`TrustedProgram` runs in this process, `remote.SandboxedProgram` in a process that can only call the
planner. Episode and video are the same.
"""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from numpy.typing import NDArray

from planner_node.expert import ExpertConfig
from planner_node.tasks import TaskPlanner
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_text
from rulesafe_data.bars import ProgressBar
from rulesafe_data.films.subscriber import EpisodeVideo
from rulesafe_demos.attempts import PROGRAM_TIME_LIMIT
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.episode import Activity, EpisodeRecord
from rulesafe_sim.runtime import Runtime, Subscriber
from rulesafe_sim.simulation import Simulation


class TimeLimitExceeded(RuleSafeError):
    """The program exceeded its limit of simulated time."""


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended: `kind` for statistics, `reason` as text, with the line of the program if
    it is known. Both are empty if the program ended normally."""

    kind: str = ""
    reason: str = ""


class Program(Protocol):
    """A task program that can be executed."""

    def execute(self, planner: TaskPlanner) -> ProgramEnd:
        """Run the program with a planner whose episode has just begun; raise no exceptions."""
        ...


class TrustedProgram:
    """A Python program in which `planner` is the TaskPlanner. It runs without a sandbox.

    Args:
        path: file of the program, or its name in messages if `source` is given.
        source: the program; empty: that of the file.

    Raises:
        RuleSafeError: if the file cannot be read or parsed.
    """

    def __init__(self, path: Path, source: str = ""):
        self._path = path
        try:
            self._code = compile(source or read_text(path), str(path), "exec")
        except FileNotFoundError:
            raise RuleSafeError(f"cannot read the program {path}: it does not exist") from None
        except SyntaxError as error:
            raise RuleSafeError(f"{path}, line {error.lineno}: {error.msg}") from error
        except (ValueError, MemoryError, RecursionError) as error:
            raise RuleSafeError(f"{path} cannot be compiled: {error!r}") from error

    def execute(self, planner: TaskPlanner) -> ProgramEnd:
        try:
            exec(self._code, {"planner": planner, "__name__": "__main__"})
        except Exception as error:
            trace = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in trace if frame.filename == str(self._path)]
            where = f"line {lines[-1]}: " if lines else ""
            if isinstance(error, RuleSafeError):
                return ProgramEnd("planner", f"{where}{error}")
            return ProgramEnd("error", f"{where}{type(error).__name__}: {error}")
        return ProgramEnd()


@dataclass(frozen=True)
class ProgramRun:
    """The result of an episode that a program ran in."""

    result: EpisodeRecord
    ending: ProgramEnd  # how the program ended; it may end normally with a closed door
    planner: TaskPlanner  # with its log
    files: tuple[Path, ...] = ()  # files written


def run_program(
    program: Program, rule: str, safe: str, seed: int, split: str, out: Path | None
) -> ProgramRun:
    """Run a program in a new episode, with a progress bar.

    Args:
        out: folder for film.mp4 and sheet.png; None for no files.

    Raises:
        RuleSafeError: for an unknown rule, safe or split. Exceptions of the program are not raised;
            they are the reason of a failed episode.
    """
    simulation = Simulation(SimulationConfig(split=split))
    simulation.reset(rule, safe, seed)
    film = EpisodeVideo(simulation, out, PROGRAM_TIME_LIMIT) if out else None
    with ProgressBar(unit="frame", desc=f"{simulation.rule.id} on {simulation.safe.id}") as bar:
        run = play(program, simulation, [*([film] if film else []), _showing(bar)])
    return replace(run, files=tuple(film.close(run.result.reason))) if film else run


def play(
    program: Program,
    simulation: Simulation,
    subscribers: Sequence[Subscriber] = (),
    config: ExpertConfig = ExpertConfig(),
    time_limit: float = PROGRAM_TIME_LIMIT,
) -> ProgramRun:
    """Run a program in a simulation that has just been reset.

    Args:
        subscribers: called after each frame.
        config: configuration of the motions.
        time_limit: simulated time limit, s.
    """
    runtime = Runtime(simulation, subscribers=[*subscribers, _limit(time_limit)])
    planner = TaskPlanner(simulation, config, runtime)
    ending = program.execute(planner)
    reason = ending.reason or "the program ended, and the door is not open"
    planner.log.planning_seconds = planner.planning_seconds
    return ProgramRun(runtime.tracker.end(reason, planner.log), ending, planner)


def _limit(time_limit: float) -> Subscriber:
    """Return a subscriber that ends a program at its time limit (s), even if the door is open."""

    def check(simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        if simulation.time >= time_limit:
            raise TimeLimitExceeded(f"the program exceeded {time_limit:g} s of simulated time")

    return check


def _showing(bar: ProgressBar) -> Subscriber:
    """Return a subscriber that updates the bar."""

    def update(simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        now = simulation.snapshot()
        bar.update()
        bar.set_postfix_str(f"{now.steps_done}/{len(now.plan)} steps", refresh=False)

    return update
