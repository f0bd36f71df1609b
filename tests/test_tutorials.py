"""The tutorials run as they stand: their blocks, in order, in one folder."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rulesafe_core.joints import BODY_JOINTS
from rulesafe_core.robot import HOME

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs/tutorials.md").read_text("utf-8")
TUTORIALS = dict(part.split("\n", 1) for part in re.split(r"^## ", TEXT, flags=re.M)[1:])
"""Title -> text."""

BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<kind>python|bash|yaml)"
    r"(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```",
    re.M | re.S,
)
SHARED = ("launch", "config", "datasets", "examples", "src", "package.xml")
"""What commands of the tutorials name from the repository's root."""

NEED_ROS = ("My first node", "Record a demo", "Run on the robot")
CHUNKS = "/policy/action_chunk"
LONGEST = 60
"""Lines of Python of a tutorial, blanks aside: a screen. "Add a policy" has a whole family."""


def blocks(text):
    return [match.groupdict() for match in BLOCK.finditer(text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tutorials")
    for name in SHARED:
        (made / name).symlink_to(ROOT / name)
    return made


@pytest.mark.parametrize(
    "title",
    [pytest.param(t, marks=(pytest.mark.ros,) if t in NEED_ROS else ()) for t in TUTORIALS],
)
@pytest.mark.train
def test_a_tutorial_runs(title, folder, monkeypatch):
    if title in NEED_ROS:
        pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    environment = {**os.environ}
    beside = []
    assert blocks(TUTORIALS[title])
    try:
        for block in blocks(TUTORIALS[title]):
            if (block["note"] or "").startswith("not run: "):
                continue
            if block["title"]:
                (folder / block["title"]).write_text(block["code"], "utf-8")
                continue
            if block["note"] == "beside the next":
                beside.append(begin(block, folder, environment))
                continue
            process = begin(block, folder, environment)
            output, _ = process.communicate(timeout=300)
            assert process.returncode == 0, f"{block['code']}\n{output}"
    finally:
        for process in beside:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=60)


@pytest.mark.ros
def test_the_program_for_the_robot_bends_the_elbow(tmp_path):
    """Its chunk changes no other joint. The bridge publishes the fingers later than the body."""
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from sensor_msgs.msg import JointState
    from trajectory_msgs.msg import JointTrajectory

    (program,) = (block for block in blocks(TEXT) if block["title"] == "bend.py")
    chunks, joints, published = [], {name: HOME[name] for name in BODY_JOINTS}, 0
    rclpy.init()
    node = rclpy.create_node("test_robot")
    states = node.create_publisher(JointState, "/joint_states", 10)
    node.create_subscription(JointTrajectory, CHUNKS, chunks.append, 10)
    process = begin(program, tmp_path, {**os.environ})
    try:
        while process.poll() is None:
            states.publish(JointState(name=list(joints), position=list(joints.values())))
            rclpy.spin_once(node, timeout_sec=0.05)
            published += states.get_subscription_count() and node.count_publishers(CHUNKS)
            if published == 40:
                joints = dict(HOME)
            for chunk in chunks:
                joints |= zip(chunk.joint_names, chunk.points[-1].positions, strict=True)
    finally:
        process.kill()
        node.destroy_node()
        rclpy.try_shutdown()
    assert process.returncode == 0, process.stdout.read()
    assert joints == pytest.approx(HOME | {"right_elbow_joint": HOME["right_elbow_joint"] - 0.4})


def begin(block, folder, environment):
    """Starts a block in a process group of its own."""
    shell = (
        ["bash", "-euo", "pipefail", "-c"] if block["kind"] == "bash" else [sys.executable, "-c"]
    )
    return subprocess.Popen(
        [*shell, block["code"]],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_tutorials_are_short():
    """A screen each; and every one has something that is run."""
    for title, text in TUTORIALS.items():
        found = blocks(text)
        assert [b for b in found if not (b["note"] or "").startswith("not run: ")], title
        code = "".join(b["code"] for b in found if b["kind"] == "python").splitlines()
        assert len([line for line in code if line.strip()]) <= LONGEST, title
