"""docs/reference is what scripts/make_reference.py writes from the code of today."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MEND = "call scripts/make_reference.py"


@pytest.fixture
def write(monkeypatch):
    """write(name) -> the page."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr(sys, "argv", ["make_reference.py"])
    import make_reference

    return lambda name: make_reference.WRITE[name]()


def page(name):
    return (ROOT / f"docs/reference/{name}.md").read_text("utf-8")


def test_commands(write):
    assert page("cli") == write("cli"), MEND


def test_configuration(write):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    assert page("configuration") == write("configuration"), MEND


@pytest.mark.thorough  # tests/ros/test_docs.py compares interface.md with a graph
@pytest.mark.ros
def test_topics(tmp_path):
    """In a process of its own, which has a ROS domain of its own."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    code = (
        "import sys; sys.path.insert(0, 'scripts'); import make_reference; "
        "open(sys.argv[1], 'w').write(make_reference.topics())"
    )
    written = tmp_path / "topics.md"
    done = subprocess.run(
        [sys.executable, "-c", code, str(written)],
        cwd=ROOT,
        env={**os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert page("topics") == written.read_text("utf-8"), MEND
