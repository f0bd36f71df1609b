"""Fixtures and settings of all tests: tests/, studies/tests."""

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from cProfile import Profile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from rulesafe_core.domains import reserve_domain
from rulesafe_core.joints import ACTION_JOINTS

# A shell's background job ignores Ctrl-C, and so would each process that a test starts from it and
# interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Collection keeps almost every object that it creates, so garbage collection only takes time.
gc.disable()

# How long an example takes depends on what else this machine does.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Networks here are too small for two threads, and tests already keep every processor busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Processes that tests start import policies of tests/, which use memories of the studies.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parent / "studies"), os.environ.get("PYTHONPATH")])
)

# Each process that tests has a domain of its own, which nobody outside this machine hears. Without
# shared memory: killed processes leave some, and over that Fast DDS 2.14 falls silent at times, or
# crashes as a participant ends.
os.environ["ROS_DOMAIN_ID"] = str(reserve_domain())
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"  # of the profile's interface, loopback
os.environ["FASTRTPS_DEFAULT_PROFILES_FILE"] = str(
    Path(__file__).parent / "config/fast_dds_loopback.xml"
)


SLOW = ("colcon", "ros")
"""Marks of tests that start processes or wait for clocks."""

PLAYED = {"demonstrations", "opened"}
"""Fixtures that play complete episodes."""


@pytest.hookimpl(tryfirst=True)  # before marks deselect
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of played episodes, and sort files with slow tests first, so that none of them
    runs last, alone on its processor."""
    for item in items:
        if PLAYED.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("episode")
    slow = {item.path for item in items if any(map(item.get_closest_marker, SLOW))}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Exclude the objects of the collected modules from garbage collection, which is then 10 times
    faster: PyTorch and the like leave millions of objects."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let extension modules find their objects collected as the process ends."""
    gc.unfreeze()


def pytest_xdist_auto_num_workers() -> int:
    """Processes of `-n auto`: one more than processors, for many tests wait for a robot's clock."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """made_once(NAME, make): a folder that the first process of the tests makes, by make(FOLDER),
    and that the others share. Do not write to it."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def share(name: str, make: Callable[[Path], None]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
                make(folder)
                done.touch()
        return folder

    return share


@pytest.fixture(scope="session")
def peers(made_once):
    """peers(NAME, *requirements): this process's environment with distributions of other projects
    on the path, from the package index and without their dependencies; skips if there is none. A
    requirement may be the folder of a distribution of this repository."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]

    def install(folder: Path, *arguments: str) -> None:
        command = [*pip, "--target", str(folder), *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if run.returncode:
            pytest.skip(f"no package index: {run.stderr[-200:]}")

    def make(name: str, *requirements: str | Path) -> dict[str, str]:
        def fill(folder: Path) -> None:
            install(folder, *(each for each in requirements if isinstance(each, str)))
            for source in (each for each in requirements if isinstance(each, Path)):
                # pip builds in the folder
                copy = shutil.copytree(source, folder / ".source" / source.name)
                install(folder, "--no-index", "--no-build-isolation", str(copy))

        return {**os.environ, "PYTHONPATH": str(made_once(f"peers_{name}", fill))}

    return make


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package of one module with entry points, below `tmp_path`."""
    modules = []

    def install(name: str, source: str, entry_points: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        monkeypatch.syspath_prepend(str(tmp_path))
        modules.append(name)

    yield install
    for name in modules:
        sys.modules.pop(name, None)


@pytest.fixture
def client():
    """A node that hears an episode and sends chunks (tests/helpers/ros_client.py)."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from ros_client import Client

    from rulesafe_core.client_node import connected

    with connected(Client) as node:
        yield node


@pytest.fixture(scope="session")
def small_demos(tmp_path_factory):
    """A dataset of a short episode of rule_001 and one of rule_020, with clouds of 256 points and
    small pictures; not to be changed."""
    from rulesafe_data.frame import Frame
    from rulesafe_data.writer import DatasetWriter, EpisodeData
    from rulesafe_locks.rules import load_rule

    root = tmp_path_factory.mktemp("data") / "demos"
    writer = DatasetWriter(root)
    for index, rule in enumerate(("rule_001", "rule_020")):
        rng = np.random.default_rng(index)
        path = np.cumsum(rng.normal(0, 0.01, (60, 39)), axis=0)
        images = dict.fromkeys(("head", "front"), np.zeros((32, 32, 3), np.uint8))
        frames = [Frame(images, rng.random((256, 6), np.float32)) for _ in path]
        writer.write(
            index,
            EpisodeData(
                task=load_rule(rule).description,
                joint_positions=path,
                joint_velocities=np.gradient(path, 0.1, axis=0),
                actions=path[:, 20:33],
                frames=iter(frames),
                privileged={"step": np.zeros(60, int)},
                facts={"rule": rule},
            ),
        )
    writer.finish()
    return root


class Work:
    """`calls`: number of calls of functions in a block of code, which is the same on a fast, a slow
    and a busy machine."""

    calls = 0

    def __enter__(self) -> "Work":
        self._profile = Profile()
        self._profile.enable()
        return self

    def __exit__(self, *exc: object) -> None:
        self._profile.disable()
        self.calls = sum(entry.callcount for entry in self._profile.getstats())


@pytest.fixture
def work() -> type[Work]:
    """`with work() as done: ...` counts calls of functions: done.calls."""
    return Work


RECORDED = {"rule_001": 3, "rule_020": 8}
"""Rules of the recordings of a fixture, and the steps of their plans."""


def _attempt(steps, seed):
    """Return one attempt: each step has a different posture, reached in 30 to 60 frames."""
    rng, joints = np.random.default_rng(seed), len(ACTION_JOINTS) + 1
    times = rng.integers(30, 60, steps)
    poses = np.random.default_rng(steps).normal(0, 0.5, (steps + 1, joints))
    done = np.append(np.repeat(np.arange(steps), times), steps)
    way = np.append(np.concatenate([np.linspace(0, 1, n, endpoint=False) for n in times]), 0)
    after = poses[np.minimum(done + 1, steps)]
    positions = poses[done] + way[:, None] * (after - poses[done])
    positions += rng.normal(0, 0.01, positions.shape)
    found = []
    for frame, step in enumerate(done):
        found.append(
            {
                "time": frame * 0.1,
                "robot_positions": positions[frame].astype(np.float32),
                "robot_velocities": np.zeros(joints, np.float32),
                "safe_positions": np.zeros(3, np.float32),
                "part_open": np.zeros(3, bool),
                "part_locked": np.zeros(3, bool),
                "steps_done": int(step),
                "contact_force": np.zeros(6, np.float32),
                "action": positions[frame, :13].astype(np.float32),
                "step": min(int(step) + 1, steps),
                "event": "knob+",
                "attempt": 1,
                "operation": "turn",
            }
        )
    return found


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """Four short recordings of each of two rules, and a failure, as `rulesafe demos generate
    --passes states` writes them; tests must not change them."""
    from rulesafe_data import attempt_recording
    from rulesafe_data.demo_folder import DemoFolder
    from rulesafe_demos.attempts import make_request
    from rulesafe_sim.randomisation import load_split, sample_variation

    directory = tmp_path_factory.mktemp("memory") / "recordings"
    directory.mkdir()
    folder = DemoFolder(directory)
    folder.settle(make_request(",".join(RECORDED), 4, 20, "safe_02,safe_04", "nominal", 0))
    for rule, steps in RECORDED.items():
        for number in range(5):
            success = number != 1
            safe = ("safe_02", "safe_04")[number % 2]
            nominal = load_split("nominal").randomisation
            facts = {
                "rule": rule,
                "safe": safe,
                "seed": 10000 + number,
                "instruction": "Open it.",
                "variation": sample_variation(nominal, safe, 10000 + number).to_dict(),
                "success": success,
                "robot_joints": [*reversed(ACTION_JOINTS), "torso_joint"],
            }
            path = folder.file(rule, number, success)
            path.parent.mkdir(parents=True, exist_ok=True)
            attempt_recording.save(path, _attempt(steps, number), facts)
    return directory


class SmallDisk:
    """A file system of 64 MiB, `path`, which can be filled."""

    def __init__(self, path: Path):
        self.path, self._filler = path, path / "filler"

    def fill(self, left: int = 0) -> None:
        """Leave this number of bytes."""
        self.free()
        found = os.statvfs(self.path)
        with self._filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - left)

    def free(self) -> None:
        """Free what `fill` has taken."""
        self._filler.unlink(missing_ok=True)


@pytest.fixture
def running() -> Callable[[int], bool]:
    """running(pid) -> whether a process exists and is not a zombie."""

    def check(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    return check


@pytest.fixture
def small_disk(tmp_path):
    """A file system that can be filled (SmallDisk)."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(path)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a file system can be mounted by root only")
    yield SmallDisk(path)
    subprocess.run(["umount", "--lazy", str(path)], check=True)
