"""Test that the graph continues after SIGKILL and restart of one of its nodes. The restarts of
simulation and policy are tested in test_policy_node.py, test_evaluation.py, test_interruptions.py.
"""

import os
import signal
from itertools import count
from math import ceil
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from test_evaluation import send_goal
from test_frames import Frames
from test_policy_node import in_process, on_the_graph

from policy_node.convert import TOKENS_QOS
from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.robot import h1_2
from rulesafe_core.urdf import to_urdf
from rulesafe_interfaces.action import Evaluate
from rulesafe_interfaces.msg import MemoryTokens
from vq_memory_node.windows import STRIDE

pytestmark = pytest.mark.ros

SIM, MEMORY, POLICY = "rulesafe_sim.node", "vq_memory_node.node", "policy_node.node"
PLANNER, EVALUATOR = "planner_node.node", "rulesafe_eval.node"
FRAMES = "rulesafe_core.frames_node"
EPISODE = ("rule:=rule_020", "safe:=safe_01", "seed:=5", "cameras:=false", "execute_steps:=15")


def test_a_restarted_memory_begins_at_the_current_frame_and_warns(client, start, monkeypatch):
    """The policy continues. The next episode is as if there had been no restart."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    tokens: list[MemoryTokens] = []
    reports: list[DiagnosticStatus] = []
    client.create_subscription(MemoryTokens, "/memory/tokens", tokens.append, TOKENS_QOS)
    client.create_subscription(
        DiagnosticArray, "/diagnostics", lambda m: reports.extend(m.status), convert.STATE_QOS
    )

    def reported(level: bytes, text: str) -> bool:
        found = [r for r in reports if r.name == "vq_memory_node"]
        return bool(found) and found[-1].level == level and text in found[-1].message

    start(SIM, *EPISODE)
    client.wait_for_turn()
    memory = start(MEMORY, "model:=all_rules")
    start(POLICY, "policy:=seeing_policies:Remembering", "execute_steps:=15")
    client.until(lambda: client.status.frame >= 40, "the first chunks")
    client.until(lambda: reported(DiagnosticStatus.OK, "active"), "status OK of the memory")
    memory.stop(signal.SIGKILL)
    client.until(lambda: client.time_stops() and client.time_stops(), "the simulation waits")
    tokens.clear()
    episode, frame, stamp = client.status.episode, client.status.frame, client.now
    start(MEMORY, "model:=all_rules")
    client.until(lambda: client.status.frame >= frame + 30, "further chunks")
    assert client.status.episode == episode
    began = f"no joint states of the first {frame / 10:.2f} s of this episode"
    client.until(lambda: reported(DiagnosticStatus.WARN, began), "a warning")
    for message in tokens:
        if any(message.mask):  # an empty memory may be published before the first joint state
            frames = (messages.to_ns(message.header.stamp) - stamp) // PERIOD + 1
            assert sum(message.mask) == min(ceil(frames / STRIDE), len(message.mask))

    client.reset(seed=6)
    client.until(lambda: client.status.seed == 6, "the next episode")
    expected = in_process("Remembering", 15, 45, 6)
    assert on_the_graph(client, 45) == {frame: expected[frame] for frame in range(46)}
    client.until(lambda: reported(DiagnosticStatus.OK, "active"), "status OK of the memory")


def test_a_restarted_planner_plans_from_the_current_state(client, start, tmp_path):
    """It is killed while the hand turns the handle; the evaluation continues."""
    start(SIM, "cameras:=false", "start:=false")
    planner = start(PLANNER)
    episode = ("rule:=rule_003", "safe:=safe_07", "seed:=4")
    evaluator = start(EVALUATOR, *episode, "film:=false", f"out:={tmp_path}")
    client.until(lambda: max(client.status.part_positions) > 0.1, "a turn")
    planner.stop(signal.SIGKILL)
    planner = start(PLANNER)
    client.until(lambda: evaluator.process.poll() is not None, "the evaluation's end")
    code, output = evaluator.wait()
    assert code == 0, output + planner.stop()[1]
    assert "rule_003 on safe_07, seed 4: opened, 2/2 steps" in output


def test_a_restarted_evaluator_executes_a_new_goal(client, start, tmp_path):
    start(SIM, "cameras:=false", "start:=false", "wait_for_action:=false")
    parameters = ("episodes:=0", "film:=false", f"out:={tmp_path}")
    server = start(EVALUATOR, *parameters)
    action = ActionClient(client, Evaluate, "/evaluate")
    goal = Evaluate.Goal(rules="rule_001", safes="safe_03", episodes=1, step_seconds=900.0)
    assert send_goal(client, action, goal).accepted
    client.until(lambda: client.status.frame > 5, "the episode")
    server.stop(signal.SIGKILL)
    infos = client.get_subscriptions_info_by_topic
    client.until(
        lambda: all(i.node_name != "evaluator_node" for i in infos("/episode/status")),
        "the end of the killed node in the graph",
    )
    start(EVALUATOR, *parameters)
    client.until_subscribed_by("evaluator_node", "/episode/status")
    goal.seed, goal.step_seconds = 4, 0.2
    done = send_goal(client, action, goal).get_result_async()
    client.until(done.done, "the result")
    result = done.result().result
    assert (result.episodes, result.message) == (1, "")
    client.until(lambda: client.status.seed == 4, "its episode")
    action.destroy()


def test_a_restarted_frames_node_publishes_all_frames(client, start):
    """The description is latched, so that the node receives it again."""
    description = client.create_publisher(String, "/robot_description", convert.LATCHED_QOS)
    description.publish(String(data=to_urdf(h1_2())))
    joints = client.create_publisher(JointState, "/joint_states", convert.STATE_QOS)
    stamps = count(100 * SECOND, SECOND // 10)
    name, position = "right_elbow_joint", 0.4
    expected = h1_2().link_poses({name: position})

    def receives(frames: Frames) -> bool:
        state = JointState(name=[name], position=[position])
        state.header.stamp = convert.to_time(next(stamps))
        joints.publish(state)
        return bool(frames.moving and frames.static)

    for restarted in (False, True):
        node = start(FRAMES)
        client.until_subscribed_by("frames_node", "/joint_states")
        frames = Frames(client)
        client.until(lambda f=frames: receives(f), f"frames, restarted: {restarted}")
        for link, pose in expected.items():
            np.testing.assert_allclose(frames.pose(link, max(frames.moving)), pose, atol=1e-9)
        node.stop(signal.SIGKILL)
