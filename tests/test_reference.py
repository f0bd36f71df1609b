"""The references: those of the site are complete; that of topics is what running graphs have."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import make_reference

    return make_reference


def test_each_argument_of_a_command_has_a_meaning(reference):
    text = reference.cli()
    assert text.count("### rulesafe ") > 40
    assert re.findall(r"^.*\|  \|$", text, re.M) == []


def test_helps_do_not_refer_to_internal_modules(reference):
    text = reference.cli().replace("torchrun --nproc-per-node 8 -m rulesafe_cli.cli ", "")
    packages = "|".join(path.name for path in (ROOT / "src").iterdir())
    assert re.findall(rf"(?:{packages})\.\w+|see \w+\.\w+", text) == []


def test_each_parameter_of_a_node_has_a_meaning(reference):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    text = reference.configuration().partition("## Settings in Python")[0]
    assert all(f"### {name}" in text for name in reference.NODES)
    assert re.findall(r"^.*\|  \|$", text, re.M) == []


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
    page = ROOT / "docs/reference/topics.md"
    found = page.read_text("utf-8")
    assert found == written.read_text("utf-8"), "call scripts/make_reference.py"
