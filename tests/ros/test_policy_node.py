"""Tests of the policy node with real nodes: observations and chunks equal those in process."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import seeing_policies
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from test_docs import section
from trajectory_msgs.msg import JointTrajectory

from policy_node.checkpoints import find as find_checkpoint
from policy_node.convert import to_reading
from policy_node.loading import find_policy, memory_of_policy
from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD, BlendingExecutor, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import EXECUTION
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import LOWER, UPPER, Simulation
from vq_memory_node.convert import to_memory_tokens
from vq_memory_node.memory import VqMemory
from vq_memory_node.rolling import RollingMemory

pytestmark = pytest.mark.ros

SIM, MEMORY, NODE = "rulesafe_sim.node", "vq_memory_node.node", "policy_node.node"
EVALUATOR = "rulesafe_eval.node"
LAUNCH = Path(__file__).parents[2] / "launch/sim_evaluation.launch.xml"
EPISODE = ("rule:=rule_020", "safe:=safe_01", "seed:=5")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Make the policies in this folder importable for the nodes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)


@pytest.fixture
def diagnostics(client):
    """Diagnostics of the policy node."""
    said: list[DiagnosticStatus] = []

    def take(message):
        said.extend(status for status in message.status if status.name == "policy_node")

    client.create_subscription(DiagnosticArray, "/diagnostics", take, convert.STATE_QOS)
    return said


def in_process(
    name: str,
    execute: int,
    frames: int,
    seed: int = 5,
    rule: str = "rule_020",
    execution: str = "newest",
) -> dict[int, str]:
    """Return the simulation's digest at each frame with the runner in process, for a policy of this
    folder or the folder of a checkpoint."""
    kind = getattr(seeing_policies, name, None)
    policy = kind() if kind else find_policy(name)
    agent = PolicyAgent(policy, memory_of_policy(policy), execute, execution)
    simulation = Simulation()
    simulation.reset(rule, "safe_01", seed)
    digests = {}

    def note(simulation, action, activity):
        digests[simulation.frame] = simulation.digest

    Runtime(simulation, frames / 10, [note]).run(agent)
    return digests


def on_the_graph(client, frames: int) -> dict[int, str]:
    """Return the digest at each frame of the present episode, up to `frames`."""
    client.until(lambda: client.status.frame >= frames, f"frame {frames}")
    number = client.status.episode
    # A status may also come between frames, when a phase changes.
    whole = [s for s in client.statuses if messages.to_ns(s.header.stamp) % PERIOD == 0]
    return {s.frame: s.state_digest for s in whole if s.episode == number and s.frame <= frames}


@pytest.mark.parametrize(
    ("name", "execute", "memory"),
    [
        ("ShortlyInstructedPolicy", 50, ()),
        ("Recalling", 7, ()),
        # Other tests here show these observations.
        pytest.param("Seeing", 10, (), marks=pytest.mark.thorough),
        pytest.param("InstructedPolicy", 50, (), marks=pytest.mark.thorough),
        pytest.param("Clustered", 7, (), marks=pytest.mark.thorough),
        pytest.param("Remembering", 15, ("start",), marks=pytest.mark.thorough),
    ],
)
def test_the_same_chunk_at_the_same_frame_as_in_process(client, start, name, execute, memory):
    """Two episodes: the second does not depend on the first."""
    start(SIM, *EPISODE, "cameras:=false", f"execute_steps:={execute}")
    if memory:
        start(MEMORY, "model:=all_rules", "use_sim_time:=true")
    client.wait_for_turn()
    start(NODE, f"policy:=seeing_policies:{name}", f"execute_steps:={execute}")
    for seed in (5, 6):
        if seed == 6:
            client.reset(seed=6)
            client.until(lambda: client.status.seed == 6, "the second episode")
        found = on_the_graph(client, 60)
        expected = in_process(name, execute, 60, seed)
        assert set(found) == set(range(61))
        assert found == {frame: expected[frame] for frame in range(61)}


@pytest.mark.parametrize("frames", [pytest.param(0, marks=pytest.mark.thorough), 30])
def test_a_restarted_simulation_begins_a_new_episode(client, start, frames):
    """Its first stamp is that of the episode before, also if its clock had not advanced yet."""
    parameters = ("rule:=rule_020", "safe:=safe_01", "cameras:=false", "execute_steps:=15")
    simulation = start(SIM, *parameters, "seed:=5")
    client.wait_for_turn()
    start(MEMORY, "model:=all_rules", "use_sim_time:=true")
    node = start(NODE, "policy:=seeing_policies:Remembering", "execute_steps:=15")
    if frames:
        on_the_graph(client, frames)
    else:
        client.until_subscribed_by("policy_node", "/joint_states")
    simulation.stop(signal.SIGKILL)
    client.statuses.clear()
    start(SIM, *parameters, "seed:=6")
    client.until(lambda: client.status.seed == 6, "the new simulation")
    client.statuses[:] = [status for status in client.statuses if status.seed == 6]
    # The policy node may have discovered the simulation, and acted, before this client did.
    last = client.status.frame + 45
    found = on_the_graph(client, last)
    expected = in_process("Remembering", 15, last, 6)
    assert found == {frame: expected[frame] for frame in found} and max(found) == last
    node.stop_well()


def test_clouds_and_pictures_too(client, start):
    start(SIM, *EPISODE, "execute_steps:=4")
    client.wait_for_turn()
    start(MEMORY, "model:=all_rules")
    start(NODE, "policy:=seeing_policies:Watching", "execute_steps:=4")
    expected = in_process("Watching", 4, 13)
    assert on_the_graph(client, 13) == {frame: expected[frame] for frame in range(14)}


def test_blended_chunks_are_those_of_the_executor(client, start):
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=10", "execution:=blended")
    client.wait_for_turn()
    start(NODE, "policy:=seeing_policies:Seeing", "execute_steps:=10")
    found = on_the_graph(client, 40)

    from policy_node.history import ObservationHistory

    simulation, policy = Simulation(), seeing_policies.Seeing()
    simulation.reset("rule_020", "safe_01", 5)
    executor, history = BlendingExecutor(LOWER, UPPER, execute=10), ObservationHistory(policy.needs)
    expected, now = {}, 0
    executor.reset(0)
    for frame in range(41):
        expected[frame] = simulation.digest
        history.push(frame, simulation.state().action_positions)
        if executor.done(now):
            rows = policy.infer(history.observation(frame))
            executor.accept(make_chunk(ACTION_JOINTS, rows, now), now, simulation.command)
        for _ in range(10):
            now += PERIOD // 10
            simulation.control(executor.target(now, simulation.command))
    assert found == expected
    assert found[40] != in_process("Seeing", 10, 40)[40], "a chunk alone is something else"


def test_chunks_are_whole_and_carry_the_stamp_of_the_observation(client, start, diagnostics):
    chunks: list[JointTrajectory] = []
    client.create_subscription(
        JointTrajectory, "/policy/action_chunk", chunks.append, convert.STATE_QOS
    )
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=20")
    node = start(NODE, "policy:=seeing_policies:Slow", "execute_steps:=20")
    client.until(lambda: len(chunks) >= 3, "three chunks")
    stamps = [messages.to_ns(chunk.header.stamp) for chunk in chunks[:3]]
    assert [b - a for a, b in pairwise(stamps)] == [20 * PERIOD] * 2
    assert all(len(chunk.points) == 50 for chunk in chunks)
    assert all(tuple(chunk.joint_names) == ACTION_JOINTS for chunk in chunks)

    def measured():
        values = [{v.key: v.value for v in status.values} for status in diagnostics]
        return [v for v in values if float(v.get("latency of a chunk, worst (ms)", 0))]

    client.until(measured, "a latency")
    assert float(measured()[0]["latency of a chunk, mean (ms)"]) > 1000
    assert len(diagnostics) > 1, "callbacks go on while the policy thinks"
    code, output = node.stop()  # most likely during an inference
    assert code == 0 and "Traceback" not in output, output


def test_where_time_goes_on_the_policy_follows(client, start):
    """Chunks arrive late and overlap: episodes differ, but the arm moves."""
    chunks: list[JointTrajectory] = []
    client.create_subscription(
        JointTrajectory, "/policy/action_chunk", chunks.append, convert.STATE_QOS
    )
    going = ("wait_for_action:=false", "real_time_factor:=1.0")
    start(SIM, *EPISODE, "cameras:=false", *going)
    start(NODE, "policy:=seeing_policies:Slow", "execute_steps:=5")
    client.until(lambda: len(chunks) >= 3, "three chunks")
    stamps = [messages.to_ns(chunk.header.stamp) for chunk in chunks]
    assert min(b - a for a, b in pairwise(stamps)) >= 5 * PERIOD
    client.until(lambda: client.now > stamps[2] + 15 * PERIOD, "some of the third chunk")
    positions = [state.position for state in client.joint_states]
    assert np.ptp(positions, axis=0).max() > 0.05


def test_a_lost_chunk_is_sent_again(client, start):
    """The node assumes that 40 steps are executed; the simulation waits after 10."""
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=10")
    start(NODE, "policy:=seeing_policies:Seeing", "execute_steps:=40")
    client.until(lambda: client.status.frame >= 30, "chunks after the first one")


def test_a_policy_that_gives_up_ends_the_episode_with_its_reason(start, tmp_path):
    # Paced, so that the evaluator has received all but the last status.
    pace = "real_time_factor:=0.5"
    start(SIM, "cameras:=false", "start:=false", "execute_steps:=10", pace)
    node = start(NODE, "policy:=seeing_policies:GivingUp", "execute_steps:=10")
    parameters = (*EPISODE, "film:=false", "episodes:=2", f"out:={tmp_path}")
    code, output = start(EVALUATOR, *parameters).wait()
    assert code == 1, output
    # The reason may arrive before the status of the tenth frame.
    reason = r"policy_node: the hand is not where it should be, (9|10) frames"
    assert len(re.findall(reason, output)) == 2, output
    results = json.loads((tmp_path / "results.json").read_text())["episodes"]
    assert [result["seed"] for result in results] == [5, 6]
    node.stop_well()


def test_what_fails_after_its_episode_has_ended_is_not_held_against_the_next(
    client, start, diagnostics
):
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=10")
    client.wait_for_turn()
    client.meet(client._reset)
    start(NODE, "policy:=seeing_policies:GivingUpLate", "execute_steps:=10")

    def infers() -> bool:
        """Return whether the policy has received a frame, and so begun its inference."""
        frames = [v.value for d in diagnostics for v in d.values if v.key == "frames"]
        return any(value != "0" for value in frames)

    client.until(infers, "the first inference")
    client.reset(seed=6)
    client.until(lambda: client.status.seed == 6 and client.status.frame >= 10, "it acts")
    assert not [d.message for d in diagnostics if d.level == DiagnosticStatus.ERROR]


def test_the_next_episode_has_its_own_instruction(client, start):
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=10")
    client.wait_for_turn()
    start(NODE, "policy:=seeing_policies:InstructedPolicy", "execute_steps:=10")
    for rule in ("rule_001", "rule_020", "rule_001"):
        client.reset(rule=rule)
        client.until(lambda rule=rule: client.status.rule == rule, "the next episode")
        seed = client.status.seed
        expected = in_process("InstructedPolicy", 10, 20, seed, rule)
        assert on_the_graph(client, 20) == {frame: expected[frame] for frame in range(21)}


def test_an_exception_of_the_policy_is_reported_and_the_node_continues(client, start, diagnostics):
    start(SIM, *EPISODE, "cameras:=false")
    node = start(NODE, "policy:=seeing_policies:Broken")
    client.until(
        lambda: any("IndexError" in d.message and d.level == d.ERROR for d in diagnostics),
        "the exception",
    )
    assert "IndexError" in node.stop_well()


def test_an_invalid_chunk_is_reported_and_the_robot_holds_until_the_next_episode(
    client, start, diagnostics
):
    chunks: list[JointTrajectory] = []
    client.create_subscription(
        JointTrajectory, "/policy/action_chunk", chunks.append, convert.STATE_QOS
    )
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=10", "wait_for_action:=false")
    client.meet(client._reset)
    node = start(NODE, "policy:=seeing_policies:Diverging", "execute_steps:=10")
    reason = "it returned (50, 13), 650 of 650 not finite"

    def errors() -> list[str]:
        return [d.message for d in diagnostics if d.level == DiagnosticStatus.ERROR]

    client.until(lambda: len(errors()) > 2, "the error, and the same in the next reports")
    assert all(reason in error for error in errors()) and not chunks
    client.reset(seed=6)
    client.until(lambda: chunks, "a chunk of the next episode")
    diagnostics.clear()
    client.until(lambda: diagnostics, "its report")
    assert not errors()
    assert reason in node.stop_well()


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (("policy:=seeing_policies:Seeing", "execute_steps:=51"), "execute_steps"),
        (("policy:=exprt",), "sim_evaluation.launch.xml and robot.launch.xml also accept expert"),
        (("policy:=seeing_policies:Informed",), "observes phases, which are privileged"),
        (
            ("policy:=seeing_policies:Watching", "patience:=1.0"),
            "no publisher on /joint_states, /instruction, /memory/tokens, /camera/points, "
            "/camera/head/image_raw, /camera/front/image_raw",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(start, parameters, reason):
    """Names that cannot be loaded: tests/policy_node/test_loading.py and test_parameters.py."""
    code, output = start(NODE, *parameters).wait()
    assert code == 2, output
    assert reason in output.strip().splitlines()[-1]
    assert "Traceback" not in output


def test_a_policy_of_another_renderer_is_logged(client, start, logs, tmp_path):
    shutil.copytree(find_checkpoint("dp3_rule_001"), tmp_path / "policy")
    path = tmp_path / "policy/policy.json"
    about = json.loads(path.read_text())
    about["config"]["encoder"]["renderer"] = "rulesafe_render 0"
    path.write_text(json.dumps(about))
    start(NODE, f"policy:={tmp_path}/policy")
    text = "policy: trained on images or point clouds of rulesafe_render 0, and this software has "
    client.until(lambda: any(text in log for log in logs), text)


def test_images_of_another_size_are_resized_and_logged_once(client, start, tmp_path):
    cameras, chunks = tmp_path / "small.yaml", []
    cameras.write_text("head: {width: 64, height: 48}\nfront: {width: 64, height: 48}\n")
    client.create_subscription(
        JointTrajectory, "/policy/action_chunk", chunks.append, convert.STATE_QOS
    )
    start(SIM, *EPISODE, "execute_steps:=4", f"camera_file:={cameras}")
    client.wait_for_turn()
    node = start(NODE, "policy:=seeing_policies:Looking", "execute_steps:=4")
    client.until(lambda: len({chunk.header.stamp.nanosec for chunk in chunks}) >= 3, "three chunks")
    text = "/camera/head/image_raw has images of 64 x 48 pixels; their central part is resized to"
    assert node.stop_well().count(text) == 1  # /rosout may be discovered after the first image


def test_inputs_that_are_missing_are_logged(client, start, logs):
    start(NODE, "policy:=seeing_policies:InstructedPolicy")

    def logged(text):
        client.until(lambda: any(text in log for log in logs), text)

    logged("waiting for a publisher on /joint_states, /instruction")
    client.create_publisher(String, "/instruction", convert.LATCHED_QOS).publish(String(data="Go."))
    client.create_publisher(JointState, "/joint_states", convert.STATE_QOS)
    logged("no message yet on /joint_states; check the publishing nodes")


def test_tokens_of_another_memory_are_refused(client, start, model_dir, diagnostics):
    """Until the memory is restarted with the policy's model."""
    start(SIM, *EPISODE, "cameras:=false")
    memory = start(MEMORY, f"model:={model_dir}")
    start(NODE, "policy:=seeing_policies:Remembering")

    def refused():
        return [d for d in diagnostics if d.level == DiagnosticStatus.ERROR]

    client.until(refused, "an error")
    assert re.search("has model .*; the policy was trained with", refused()[0].message)
    assert client.status.frame == 0
    memory.stop_well()
    start(MEMORY, "model:=all_rules")
    client.until(lambda: client.status.frame, "the first frame")
    client.until(lambda: diagnostics[-1].level != DiagnosticStatus.ERROR, "no error")


@pytest.mark.parametrize(
    ("field", "value"),
    [("model_hash", "0" * 16), ("vocabulary_size", 5), ("stride", 10), ("window", 20)],
)
def test_tokens_that_differ_in_one_setting_are_refused(field, value):
    memory = VqMemory(length=2)
    message = to_memory_tokens(RollingMemory(memory), 0)
    assert len(to_reading(message, memory).values) == 2
    setattr(message, field, value)
    with pytest.raises(RuleSafeError, match=f"has .* {value}; the policy was trained with"):
        to_reading(message, memory)


def test_a_manager_is_told_which_topic_is_missing(client, start, diagnostics):
    sim = start(SIM, *EPISODE, "cameras:=false")
    client.wait_for_turn()
    start(NODE, "policy:=seeing_policies:Watching", "autostart:=false")
    calls = {
        kind: client.create_client(kind, f"/policy_node/{name}")
        for kind, name in ((ChangeState, "change_state"), (GetState, "get_state"))
    }

    def call(kind, request):
        client.meet(calls[kind])
        future = calls[kind].call_async(request)
        client.until(future.done, "a reply")
        return future.result()

    def change(transition) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return call(ChangeState, request).success

    assert change(Transition.TRANSITION_CONFIGURE)

    def activates():
        return change(Transition.TRANSITION_ACTIVATE)

    def said():
        return [d.message for d in diagnostics if d.level == DiagnosticStatus.ERROR]

    assert not activates()
    client.until(said, "the reason on /diagnostics")
    # During discovery, a topic that is published may be listed as missing.
    end = time.monotonic() + 60
    while "no publisher on /memory/tokens, /camera/points, /camera/head" not in said()[-1]:
        assert time.monotonic() < end, said()[-1]
        assert not activates()
        client.spin_for(0.2)
    state = call(GetState, GetState.Request()).current_state.id
    assert state == State.PRIMARY_STATE_INACTIVE
    assert change(Transition.TRANSITION_CLEANUP)
    assert change(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
    sim.stop_well()


def test_it_reads_nothing_that_a_policy_may_not(client, start):
    start(SIM, *EPISODE)
    start(MEMORY, "model:=all_rules")
    start(NODE, "policy:=seeing_policies:Watching")
    readable = {row[0] for row in section("Topics") if row[4] == "yes"}
    seen = client.get_subscriber_names_and_types_by_node

    def found() -> set[str]:
        try:
            return {topic for topic, _ in seen("policy_node", "/")} - {"/parameter_events"}
        except rclpy._rclpy_pybind11.NodeNameNonExistentError:
            return set()

    client.until(lambda: len(found()) >= 7, "the node listens")
    assert found() == {
        *("/joint_states", "/instruction", "/memory/tokens", "/episode/started"),
        *("/camera/points", "/camera/head/image_raw", "/camera/front/image_raw"),
    }
    assert found() <= readable


def test_one_launch_evaluates_a_policy_with_its_memory(tmp_path):
    """Simulation, memory, policy and evaluator: each episode ends as in process."""
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), *EPISODE]
    command += ["policy:=seeing_policies:Remembering", "memory:=vq", "memory_model:=all_rules"]
    command += ["execute_steps:=15", "episodes:=2", "step_seconds:=0.5", "cameras:=false"]
    done = subprocess.run(
        [*command, "film:=false", f"out:={tmp_path}"], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 1, done.stdout + done.stderr  # no door is open
    results = json.loads((tmp_path / "results.json").read_text())["episodes"]
    assert [(result["seed"], result["frames"]) for result in results] == [(5, 40), (6, 40)]
    for result in results:
        expected = in_process("Remembering", 15, 40, result["seed"], execution=EXECUTION)
        assert result["state_digest"] == expected[40]


def test_the_example_in_the_docs_holds_still(start, client, monkeypatch):
    monkeypatch.setenv(
        "PYTHONPATH", str(LAUNCH.parents[1] / "examples/policies"), prepend=os.pathsep
    )
    start(SIM, *EPISODE, "cameras:=false", "execute_steps:=20")
    client.wait_for_turn()
    start(NODE, "policy:=hold_still:HoldStill", "execute_steps:=20")
    on_the_graph(client, 40)
    moved = np.subtract(client.joints.position, client.joint_states[0].position)
    assert np.abs(moved).max() < 0.02
