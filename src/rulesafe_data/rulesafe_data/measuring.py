"""What the parts of the benchmark share: figures, a motion, clocks, processes of their own."""

import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.versions import installed
from rulesafe_data.engines import THREADS, environment

T = TypeVar("T")
Samples = Sequence[float] | NDArray[np.floating]

VERSIONS = ("rulesafe", "sapien", "numpy", "gymnasium", "torch", "ros-jazzy-rclpy")


@dataclass(frozen=True)
class Measure:
    """One figure: the median of `count` samples with its 10th and 90th percentile. `subject`:
    whose it is, where a part finds the same figures of several."""

    name: str
    unit: str
    median: float
    p10: float
    p90: float
    count: int
    note: str = ""
    subject: str = ""

    @classmethod
    def of(
        cls, name: str, unit: str, samples: Samples, note: str = "", subject: str = ""
    ) -> "Measure":
        p10, median, p90 = np.percentile(samples, [10, 50, 90])
        return cls(name, unit, float(median), float(p10), float(p90), len(samples), note, subject)


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


def peak_memory(what: str, pid: int | None = None) -> Measure:
    """The most memory that a process has held; this one, if no other is named."""
    status = Path(f"/proc/{pid or os.getpid()}/status").read_text()
    kilobytes = int(status.partition("VmHWM:")[2].split()[0])
    return Measure.of(f"peak memory, {what}", "MB", [kilobytes / 1024])


def cpu_seconds(pid: int) -> tuple[float, float]:
    """CPU seconds of a process so far (all threads), and the time now."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return float("nan"), time.monotonic()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), time.monotonic()


def run_apart(part: Callable[..., T], *arguments: Any) -> T:
    """The result of a function that runs in a process of its own."""
    return _run(None, part, *arguments)


def run_on_one_core(part: Callable[..., T], *arguments: Any) -> T:
    """The same in a process that has one core, and one thread for linear algebra."""
    with environment(dict.fromkeys(THREADS, "1")):
        return _run(_stay_on_a_core, part, *arguments)


def _run(first: Callable[[], None] | None, part: Callable[..., T], *arguments: Any) -> T:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=first) as pool:
        return pool.submit(part, *arguments).result()


def _stay_on_a_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@contextmanager
def ros_node(
    module: str, parameters: Mapping[str, Any], stderr: int | None = None
) -> Iterator[subprocess.Popen]:
    """Run a node with these parameters; at the end it is interrupted, and killed after 10 s."""
    arguments = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--ros-args", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=stderr,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


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


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows, the first of them the head; all columns but the first `left` to the right."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * left + "---:|" * (len(rows[0]) - left), *body])
