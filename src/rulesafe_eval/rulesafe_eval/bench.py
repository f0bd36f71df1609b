"""`rulesafe bench`: what this machine does per second, in process and through ROS 2.

Each part runs in a fresh process, so that its memory and its first picture are its own. CPU
seconds count all threads of that process, the software renderer's too. The arm moves all the
time. docs/benchmarks.md says how to read the table.
"""

import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tyro
from numpy.typing import NDArray

from rulesafe_eval.summary import installed
from rulesafe_sim.errors import RuleSafeError, unknown_name

PARTS = ("physics", "loop", "observation", "first_frame", "planning", "memory", "ros")
VERSIONS = ("rulesafe", "sapien", "numpy", "gymnasium", "ros-jazzy-rclpy")

T = TypeVar("T")


@dataclass(frozen=True)
class Measure:
    """One figure: the median of `count` samples with its 10th and 90th percentile."""

    name: str
    unit: str
    median: float
    p10: float
    p90: float
    count: int
    note: str = ""

    @classmethod
    def of(cls, name: str, unit: str, samples: Sequence[float], note: str = "") -> "Measure":
        p10, median, p90 = np.percentile(samples, [10, 50, 90])
        return cls(name, unit, float(median), float(p10), float(p90), len(samples), note)


@dataclass(frozen=True)
class Options:
    """Measures physics, observations and the ROS graph on this machine."""

    parts: tuple[str, ...] = PARTS
    """Which parts to run."""
    rule: str = "rule_001"
    safe: str = "safe_01"
    model: str = "rule_001_rule_020"
    """Of the memory: its name, or its folder."""
    seconds: float = 10.0
    """Simulated seconds of each loop in process; wall seconds of each run through ROS."""
    json: Path | None = None
    """Write the figures here too."""


class Wave:
    """Targets of a real motion: every joint swings in its own rhythm about the ready posture."""

    def __init__(self) -> None:
        from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER

        self._reach = np.where(np.arange(13) < 7, 0.15, 0.2)  # rad, arm and fingers
        self._center = np.clip(HOME_ACTION, LOWER + self._reach, UPPER - self._reach)
        self._rates = 1.5 + 0.25 * np.arange(13)  # rad/s

    def __call__(self, seconds: float) -> NDArray[np.float64]:
        """The targets (13,) in rad at a time since the start."""
        return self._center + self._reach * np.sin(self._rates * seconds)


@dataclass
class Stopwatch:
    """Seconds of CPU (all threads) and of wall clock since it was made."""

    def __post_init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        return time.process_time() - self._cpu

    @property
    def wall(self) -> float:
        return time.perf_counter() - self._wall


def peak_memory() -> float:
    """The most memory this process has held, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _memory(what: str) -> Measure:
    return Measure.of(f"peak memory, {what}", "MB", [peak_memory()])


def physics(options: Options) -> list[Measure]:
    """Control steps without any observation."""
    return run_apart(_physics, options)


def _physics(options: Options) -> list[Measure]:
    from rulesafe_sim.simulation import Simulation

    simulation, wave = Simulation(), Wave()
    simulation.reset(options.rule, options.safe, 0)
    rate, substeps = simulation.config.physics.control_hz, simulation.config.physics.substeps
    resets = []
    for _ in range(5):
        watch = Stopwatch()
        simulation.reset(options.rule, options.safe, 0)
        resets.append(watch.wall * 1000)
    samples = []
    for _ in range(max(2, round(options.seconds))):
        watch = Stopwatch()
        for _ in range(rate):
            simulation.control(wave(simulation.time))
        samples.append(rate * substeps / watch.cpu)
    return [
        Measure.of("physics steps per CPU second", "1/s", samples, "arm moving, one simulated s"),
        Measure.of("reset without cameras", "ms", resets),
        _memory("physics only"),
    ]


def loop(options: Options) -> list[Measure]:
    """The Gymnasium environment with joint states only, then with all observations."""
    joints = ("joint_positions", "all_joint_positions")
    return [
        *run_apart(_environment, options, "joint states only", {"observations": joints}),
        *run_apart(_environment, options, "all observations at 10 Hz", {}),
    ]


def _environment(options: Options, title: str, chosen: dict[str, Any]) -> list[Measure]:
    """Simulated seconds per CPU and per wall second of `env.step`, a sample a simulated second."""
    import gymnasium

    import rulesafe_sim  # noqa: F401  (registers the environment)

    env = gymnasium.make("RuleSafe-v1", rule=options.rule, safe=options.safe, **chosen)
    env.reset()
    wave, frame = Wave(), 0
    cpu, wall = [], []
    for number in range(max(2, round(options.seconds)) + 1):
        watch = Stopwatch()
        for _ in range(10):
            frame += 1
            env.step(wave(frame / 10))
        if number:  # the first second warms up
            cpu.append(1 / watch.cpu)
            wall.append(1 / watch.wall)
    env.close()
    return [
        Measure.of(f"simulated s per CPU s, {title}", "", cpu),
        Measure.of(f"simulated s per wall s, {title}", "", wall),
        _memory(title),
    ]


def observation(options: Options) -> list[Measure]:
    """A full observation, and each part of it alone, in a scene that moves between them."""
    return run_apart(_observation, options)


def _observation(options: Options) -> list[Measure]:
    from rulesafe_sim.observer import OBSERVATIONS, Observer
    from rulesafe_sim.simulation import Simulation

    simulation, wave = Simulation(render=True), Wave()
    simulation.reset(options.rule, options.safe, 0)
    observer = Observer(simulation)
    asked: dict[str, tuple[str, ...]] = {
        "full observation": OBSERVATIONS,
        "head_rgb alone": ("head_rgb",),
        "front_rgb alone": ("front_rgb",),
        "points alone (render and sample)": ("points",),
        "joint positions alone": ("joint_positions", "all_joint_positions"),
    }
    samples: dict[str, list[float]] = {name: [] for name in asked}
    cpu: list[float] = []
    for number in range(max(4, round(options.seconds * 3))):
        for name, keys in asked.items():
            simulation.control(wave(simulation.time))
            watch = Stopwatch()
            observer.observe(keys)
            if number > 1:
                samples[name].append(watch.wall * 1000)
                if keys is OBSERVATIONS:
                    cpu.append(watch.cpu * 1000)
    return [
        *(Measure.of(name, "ms", values) for name, values in samples.items()),
        Measure.of("full observation, CPU time of all threads", "ms", cpu),
        _memory("observations"),
    ]


def first_frame(options: Options) -> list[Measure]:
    """From a built scene to the first full observation, each time in a fresh process."""
    times = [run_apart(_first_frame, options) for _ in range(3)]
    scene, picture = zip(*times, strict=True)
    return [
        Measure.of("imports and reset before the first frame", "ms", scene, "fresh process"),
        Measure.of("first full observation", "ms", picture, "fresh process"),
    ]


def _first_frame(options: Options) -> tuple[float, float]:
    watch = Stopwatch()
    from rulesafe_sim.observer import OBSERVATIONS, Observer
    from rulesafe_sim.simulation import Simulation

    simulation = Simulation(render=True)
    simulation.reset(options.rule, options.safe, 0)
    ready = watch.wall
    Observer(simulation).observe(OBSERVATIONS)
    return ready * 1000, (watch.wall - ready) * 1000


def planning(options: Options) -> list[Measure]:
    """What the demonstrator's planner does, without physics."""
    return run_apart(_planning, options)


def _planning(options: Options) -> list[Measure]:
    from rulesafe_eval.bench_planning import samples

    found = samples(options.safe, max(20, round(40 * options.seconds)))
    return [Measure.of(name, "ms", values) for name, values in found.items()]


def memory(options: Options) -> list[Measure]:
    """One frame taken in by a memory, in a process with one core and one thread."""
    from rulesafe_eval.bench_memory import measured

    return measured(options.model, max(20, round(50 * options.seconds)))


def ros(options: Options) -> list[Measure]:
    """The simulation node with a listener beside it."""
    from rulesafe_eval.bench_node import through_ros

    return through_ros(options)


def run_apart(part: Callable[..., T], *arguments: Any) -> T:
    """The result of a function that runs in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(part, *arguments).result()


def machine() -> dict[str, str]:
    """What the figures depend on: processor, memory, load, versions."""
    cpu = platform.processor() or platform.machine()
    memory = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].split(":", 1)[1].strip() if models else cpu
        memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    facts = {
        "processor": f"{cpu}, {len(os.sched_getaffinity(0))} cores",
        "memory": memory,
        "load before": "{:.1f} {:.1f} {:.1f} (1, 5, 15 min)".format(*os.getloadavg()),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    return facts | installed(VERSIONS)


def table(measures: Sequence[Measure]) -> str:
    """The figures as aligned text."""
    names = [
        f"{m.name}{f' [{m.unit}]' if m.unit else ''}{f' ({m.note})' if m.note else ''}"
        for m in measures
    ]
    width = max(map(len, names))
    lines = [f"{'':{width}}{'median':>9}{'p10':>9}{'p90':>9}{'n':>6}"]
    for name, m in zip(names, measures, strict=True):
        figures = "".join(f"{_short(x):>9}" for x in (m.median, m.p10, m.p90))
        lines.append(f"{name:{width}}{figures}{m.count:>6}")
    return "\n".join(lines)


def _short(figure: float) -> str:
    return f"{figure:.3g}" if abs(figure) < 100 else f"{figure:.0f}"


def main(argv: list[str] | None = None) -> int:
    """Runs the benchmark with command-line arguments; the exit code, 1 if a part failed."""
    options = tyro.cli(Options, args=argv, prog="rulesafe bench")
    for part in options.parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    runs = dict(
        zip(PARTS, (physics, loop, observation, first_frame, planning, memory, ros), strict=True)
    )
    facts = machine()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
    measures: list[Measure] = []
    failed: dict[str, str] = {}
    for part in options.parts:
        try:
            found = runs[part](options)
        except RuleSafeError as error:
            failed[part] = str(error)
            print(f"\n{part}: not measured: {error}", file=sys.stderr)
            continue
        measures += found
        print(f"\n{table(found)}", flush=True)
    if options.json:
        figures = [asdict(measure) for measure in measures]
        content = {"machine": facts, "measures": figures, "failed": failed}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
