"""The tutorials run as they stand: each page's blocks, in order, in a folder of their own."""

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
PAGES = sorted((ROOT / "docs/tutorials").glob("*.md"))
ROBOT = ROOT / "docs/tutorials/run_on_the_robot.md"
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<kind>python|bash|yaml)"
    r"(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```",
    re.M | re.S,
)
SHARED = ("launch", "config", "datasets", "examples", "src", "package.xml")
"""What commands of the tutorials name from the repository's root."""

NEEDS = {
    "run_on_the_robot": (pytest.mark.ros,),
    "record_a_demo": (pytest.mark.ros,),
}
CHUNKS = "/policy/action_chunk"
LONGEST = 60
"""Lines of Python on a page, blanks aside: a screen. add_a_policy has a whole family."""


def blocks(page):
    return [match.groupdict() for match in BLOCK.finditer(page.read_text("utf-8"))]


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.stem, marks=NEEDS.get(page.stem, ())) for page in PAGES]
)
@pytest.mark.train
def test_a_tutorial_runs(page, tmp_path, monkeypatch):
    if page.stem in NEEDS:
        pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    for name in SHARED:
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    environment = {**os.environ}
    beside = []
    assert blocks(page)
    try:
        for block in blocks(page):
            if (block["note"] or "").startswith("not run: "):
                continue
            if block["title"]:
                (tmp_path / block["title"]).write_text(block["code"], "utf-8")
                continue
            if block["note"] == "beside the next":
                beside.append(begin(block, tmp_path, environment))
                continue
            process = begin(block, tmp_path, environment)
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

    (program,) = (block for block in blocks(ROBOT) if block["title"] == "bend.py")
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
    """A screen each; and every page has something that is run."""
    for page in PAGES:
        found = blocks(page)
        run = [b for b in found if not (b["note"] or "").startswith("not run: ")]
        assert run or page.stem == "index", page
        code = "".join(b["code"] for b in found if b["kind"] == "python").splitlines()
        assert len([line for line in code if line.strip()]) <= LONGEST, page
