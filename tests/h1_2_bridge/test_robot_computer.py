"""The bridge's unit tests pass on a robot computer that has only the core, the bridge and the
message packages, without SAPIEN and torch."""

import subprocess
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.episode

ROOT = Path(__file__).parents[2]
INSTALLED = ("rulesafe_core", "h1_2_bridge")
ABSENT = ("rulesafe_sim", "rulesafe_locks", "sapien", "torch", "gymnasium")
TESTS = ("states", "wire", "motors", "remote", "hands")


@pytest.fixture
def python(tmp_path) -> Path:
    """Return the Python of a virtual environment with only the packages of a robot computer."""
    venv.create(tmp_path / "venv", symlinks=True)
    packages = tmp_path / "packages"
    packages.mkdir()
    for source in Path(sysconfig.get_path("purelib")).iterdir():
        name = source.name.lower()
        own = name.startswith(("rulesafe", "__editable__")) and "interfaces" not in name
        if not own and name.partition("-")[0].partition(".")[0] not in ABSENT:
            (packages / source.name).symlink_to(source)
    for name in INSTALLED:
        (packages / name).symlink_to(ROOT / f"src/{name}/{name}")
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    dynamics = Path(find_spec("pinocchio").origin).parents[1]  # of the simulated motors
    (site / "packages.pth").write_text(f"{packages}\n{dynamics}\n")
    return tmp_path / "venv/bin/python"


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_units_pass_with_the_core_and_the_bridge_alone(python):
    code = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    assert run(python, "-c", code, *ABSENT, *INSTALLED).stdout == f"{[*INSTALLED]}\n"
    files = [f"tests/h1_2_bridge/test_{name}.py" for name in TESTS]
    options = ("-q", "-p", "no:cacheprovider", "-k", "not test_ros_reads")
    done = run(python, "-m", "pytest", *options, *files)
    assert done.returncode == 0, done.stdout + done.stderr
