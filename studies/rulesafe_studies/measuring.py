"""Helpers of the benchmarks: measures, a test motion, stopwatch, separate processes."""

import multiprocessing
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
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
    """A measured quantity: the median of `count` samples and their 10th and 90th percentiles.

    `subject` distinguishes equal quantities of several objects in one benchmark.
    """

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
    """A test motion: each joint oscillates around the home position with its own frequency."""

    def __init__(self) -> None:
        from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER

        self._reach = np.where(np.arange(13) < 7, 0.15, 0.2)  # rad, arm and fingers
        self._center = np.clip(HOME_ACTION, LOWER + self._reach, UPPER - self._reach)
        self._rates = 1.5 + 0.25 * np.arange(13)  # rad/s

    def __call__(self, seconds: float) -> NDArray[np.float64]:
        """Return the targets (13,), rad, at a time (s) since the start."""
        return self._center + self._reach * np.sin(self._rates * seconds)


@dataclass
class Stopwatch:
    """CPU time (all threads) and wall time since its creation, s."""

    def __post_init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        return time.process_time() - self._cpu

    @property
    def wall(self) -> float:
        return time.perf_counter() - self._wall


def peak_memory(what: str, pid: int | None = None) -> Measure:
    """Measure the peak resident memory of a process (default: this one) and its children."""
    kilobytes = 0
    for member in _family(pid or os.getpid()):
        status = Path(f"/proc/{member}/status").read_text()
        kilobytes += int(status.partition("VmHWM:")[2].split()[0])
    return Measure.of(f"peak memory, {what}", "MB", [kilobytes / 1024])


def _family(pid: int) -> list[int]:
    """Return a process and all processes that it has started."""
    children: list[str] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # it has ended
            children += (thread / "children").read_text().split()
    return [pid, *(member for child in children for member in _family(int(child)))]


def cpu_seconds(pid: int) -> tuple[float, float]:
    """Return the CPU time of a process and its children (all threads), and the monotonic time, s.

    The CPU time is NaN if the process has ended."""
    ticks = 0
    try:
        for member in _family(pid):
            fields = Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    except FileNotFoundError:
        return float("nan"), time.monotonic()
    return ticks / os.sysconf("SC_CLK_TCK"), time.monotonic()


def run_apart(part: Callable[..., T], *arguments: Any) -> T:
    """Run a function in a separate process and return its result."""
    return _run(None, part, *arguments)


def run_on_one_core(part: Callable[..., T], *arguments: Any) -> T:
    """Run a function in a separate process on one core, with one thread for linear algebra."""
    with environment(dict.fromkeys(THREADS, "1")):
        return _run(_pin_to_one_core, part, *arguments)


def _run(first: Callable[[], None] | None, part: Callable[..., T], *arguments: Any) -> T:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=first) as pool:
        return pool.submit(part, *arguments).result()


def _pin_to_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@contextmanager
def ros_node(
    module: str, parameters: Mapping[str, Any], stderr: int | None = None
) -> Iterator[subprocess.Popen]:
    """Run a node with these parameters; on exit, interrupt it, and kill it after 10 s."""
    arguments = [arg for name, value in parameters.items() for arg in ("-p", f"{name}:={value}")]
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
    """Describe this machine: processor, memory, load, versions."""
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
