"""Tests of complete evaluations with real nodes (simulation, planner, evaluator), physics only."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import Log
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from planner_node.episode import run_expert
from rulesafe_core import convert
from rulesafe_core.messages import to_ns
from rulesafe_demos.attempts import Attempt
from rulesafe_eval.benchmarks import load_benchmark
from rulesafe_eval.recorder_ros import wait_for_recorder
from rulesafe_eval.request import Setup
from rulesafe_eval.runner import execute
from rulesafe_interfaces.action import Evaluate
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.runtime import Playback
from rulesafe_sim.simulation import HOME_ACTION, Simulation
from rulesafe_sim.variation import Variation

pytestmark = pytest.mark.ros

SIM, PLANNER, EVALUATOR = "rulesafe_sim.node", "planner_node.node", "rulesafe_eval.node"
LAUNCH = Path(__file__).parents[2] / "launch/sim_evaluation.launch.xml"
EPISODE = ("rule:=rule_003", "safe:=safe_07", "seed:=4")


def episode(summary) -> dict:
    return json.loads(summary.read_text())["episodes"][0]


def opened_in_process(rule: str, safe: str, seed: int) -> tuple[int, str]:
    """Return frame and digest when the expert, without ROS, has opened the door."""
    simulation = Simulation()
    moments: list[tuple[int, str]] = []
    advance = simulation.advance

    def watched(drive) -> None:
        advance(drive)
        if simulation.success and not moments:
            moments.append((simulation.frame, simulation.digest))

    simulation.advance = watched  # type: ignore[method-assign]
    simulation.reset(rule, safe, seed)
    assert run_expert(simulation).success
    return moments[0]


def test_the_planner_opens_a_safe_over_the_graph_exactly_as_in_process(client, start, tmp_path):
    """The episode does not depend on processes, DDS or time, and the instruction contains no
    progress."""
    heard = []
    client.create_subscription(String, "/instruction", heard.append, convert.LATCHED_QOS)
    sim = start(SIM, "cameras:=false", "start:=false")
    planner = start(PLANNER, "use_sim_time:=true")
    evaluator = start(EVALUATOR, *EPISODE, "film:=false", f"out:={tmp_path}")
    client.until(lambda: evaluator.process.poll() is not None, "the evaluation's end")
    code, output = evaluator.wait()
    assert code == 0, output + planner.stop()[1]
    assert "rule_003 on safe_07, seed 4: opened, 2/2 steps" in output
    client.until(lambda: heard, "the instruction")  # it may still be queued behind many states
    planner.stop_well()
    sim.stop_well()
    found = episode(tmp_path / "summary.json")
    assert (found["frames"], found["state_digest"]) == opened_in_process("rule_003", "safe_07", 4)
    assert [e["event"] for e in found["events"]] == ["handle+", "door+"]
    assert [message.data for message in heard] == [load_rule("rule_003").description]


def test_an_episode_of_a_benchmark_is_the_same_as_in_process(client, start, tmp_path):
    """The evaluator sends the variation; the simulation's own split is another one."""
    entry = load_benchmark("out_of_distribution").entry(23)
    where = entry["rule"], 0, entry["safe"], entry["seed"]
    rows = np.linspace(HOME_ACTION, HOME_ACTION + 0.1, 6, dtype=np.float32)
    line, _, _ = execute(
        Playback(rows),
        Setup("expert"),
        Attempt(*where, "shifted"),
        load_rule(entry["rule"]),
        Variation.from_dict(entry["variation"]),
    )
    start(SIM, "cameras:=false", "start:=false")
    evaluator = start(
        EVALUATOR,
        "benchmark:=out_of_distribution",
        "first_episode:=23",
        "film:=false",
        f"out:={tmp_path}",
    )
    status = client.wait_for_turn()
    assert (status.rule, status.safe, status.seed) == (where[0], where[2], where[3])
    client.send(rows, client.now)
    client.until(lambda: client.status.frame == len(rows) and client.status.waiting, "the chunk")
    assert client.status.state_digest == line["state_digest"]
    assert evaluator.process.poll() is None


def test_the_first_episode_of_no_benchmark_is_refused(start):
    code, output = start(EVALUATOR, "first_episode:=5").wait()
    assert code == 2 and "first_episode requires a benchmark" in output


def test_an_episode_that_is_reset_from_elsewhere_has_failed(client, start, tmp_path):
    start(SIM, "cameras:=false", "start:=false")
    evaluator = start(EVALUATOR, *EPISODE, "film:=false", f"out:={tmp_path}")
    client.wait_for_turn()
    client.until(lambda: client.status.seed == 4, "the evaluator's episode")
    client.reset(rule="rule_001")
    code, output = evaluator.wait()
    assert code == 1
    assert "rule_003 on safe_07, seed 4: failed at step 1 (handle+): another client of" in output


def test_a_launch_whose_planner_is_stopped_fails_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), *EPISODE]
    command += ["policy:=expert"]
    launch = subprocess.Popen(
        [*command, "cameras:=false", "film:=false", f"out:={tmp_path}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    pids, lines = {}, []
    for line in launch.stdout:
        lines.append(line)
        if found := re.search(r"\[(\w+)-\d\]: process started with pid \[(\d+)\]", line):
            pids[found[1]] = int(found[2])
        if "safe_07, seed 4: handle+ door+" in line:  # the planner has received its episode
            os.kill(pids["planner_node"], signal.SIGTERM)
    assert launch.wait(60) == 128 + signal.SIGTERM, "".join(lines)
    assert any("planner_node-2]: process has died" in line for line in lines)
    assert any("evaluator_node: interrupted" in line for line in lines)
    assert pids.keys() == {"sim_node", "planner_node", "evaluator_node"}
    assert not [pid for pid in pids.values() if Path(f"/proc/{pid}").exists()]


@pytest.mark.render
def test_the_launch_file_runs_a_policy_with_its_memory(tmp_path):
    """Without arguments it is the policy for all rules, over the graph with cameras."""
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), *EPISODE]
    done = subprocess.run(
        [*command, "film:=false", f"out:={tmp_path}"], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = episode(tmp_path / "summary.json")
    assert found["opened"] and found["events"][-1]["event"] == "door+"
    for name in ("vq_memory_node", "policy_node"):
        assert f"[{name}" in done.stdout + done.stderr


def test_a_node_of_another_package_is_evaluated_by_the_launch_file(client, start, tmp_path):
    """With policy:=none. The node publishes a chunk when a joint state repeats a stamp."""
    words = ("launch", str(LAUNCH), *EPISODE, "policy:=none", "memory:=none", "time_limit:=4")
    words += ("cameras:=false", "film:=false", f"out:={tmp_path}")
    launch = start("rulesafe_cli.cli", words=words)
    stamps, repeated, answered = [], set(), set()

    def on_joint_state(message):
        stamps.append(to_ns(message.header.stamp))
        if stamps[-2:-1] == stamps[-1:]:
            repeated.add(stamps[-1])

    client.create_subscription(JointState, "/joint_states", on_joint_state, convert.STATE_QOS)

    def ended() -> bool:
        for stamp in sorted(repeated - answered):
            answered.add(stamp)
            client.send(np.repeat(HOME_ACTION[None], 50, axis=0), stamp)
        return launch.process.poll() is not None

    client.until(ended, "the end of the evaluation")
    code, output = launch.wait()
    assert code == 1, output  # the door is closed
    assert episode(tmp_path / "summary.json")["frames"] == 40
    first, *others = sorted(answered)  # time continues after the end of the episode
    assert [stamp - first for stamp in others[:3]] == [1_200_000_000, 2_400_000_000, 3_600_000_000]
    started = re.findall(r"\[(\w+)-\d\]: process started", output)
    assert sorted(started) == ["evaluator_node", "sim_node"]


def test_without_a_planner_the_evaluator_says_that_no_chunk_came(start, tmp_path):
    start(SIM, "cameras:=false", "start:=false")
    out = f"out:={tmp_path}"
    code, output = start(EVALUATOR, *EPISODE, "film:=false", "stall_limit:=25.0", out).wait()
    assert code == 1
    assert "rule_003 on safe_07, seed 4: failed at step 1 (handle+): simulated time" in output
    assert episode(tmp_path / "summary.json")["opened"] is False


@pytest.mark.parametrize(
    ("subscribed", "ready", "begins", "warning"),
    [
        ({1: "/joint_states", 4: "/policy/action_chunk"}, 0, 8, ""),
        ({1: "/joint_states", 4: "/policy/action_chunk", 7: "/camera/points"}, 0, 11, ""),
        ({1: "/joint_states", 4: "/policy/action_chunk", 9: "/camera/points"}, 0, 8, ""),
        ({1: "/joint_states", 58: "/policy/action_chunk"}, 0, 62, ""),
        ({1: "/joint_states", 4: "/policy/action_chunk"}, 20, 24, ""),
        ({1: "/joint_states", 4: "/policy/action_chunk"}, 99, 60, "no service /episode/reset"),
        ({1: "/joint_states"}, 0, 60, "no recorder has subscribed to"),
        (
            {1: "/joint_states", 4: "/policy/action_chunk"}
            | {at + 0.5: f"/{at}" for at in range(99)},
            *(0, 60.5, "a recorder has subscribed to further topics"),
        ),
    ],
)
def test_episodes_begin_4_s_after_the_last_subscription_of_a_recorder(
    monkeypatch, subscribed, ready, begins, warning
):
    """And 4 s after the simulation is ready; or, with a warning, after a minute."""
    now, warned = [0.0], []

    def topics():
        return [(topic, []) for at, topic in subscribed.items() if at <= now[0]]

    def subscriptions(topic):
        return [SimpleNamespace(node_name="recorder")] * ((topic, []) in topics())

    def wait(timeout_sec):
        now[0] += timeout_sec

    node = SimpleNamespace(
        get_topic_names_and_types=topics,
        get_subscriptions_info_by_topic=subscriptions,
        get_logger=lambda: SimpleNamespace(warning=warned.append),
    )
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    reset = SimpleNamespace(service_is_ready=lambda: now[0] >= ready)
    wait_for_recorder(node, reset, SimpleNamespace(spin_once=wait))
    monkeypatch.undo()
    assert now[0] == pytest.approx(begins, abs=0.25)
    assert [warning in text for text in warned] == [True] * bool(warning)


def test_an_error_on_diagnostics_ends_the_episode_with_its_reason(client, start, tmp_path):
    start(SIM, "cameras:=false", "start:=false")
    evaluator = start(EVALUATOR, *EPISODE, "film:=false", f"out:={tmp_path}")
    status = client.wait_for_turn()
    publisher = client.create_publisher(DiagnosticArray, "/diagnostics", convert.STATE_QOS)

    def report(number: int, level: bytes, message: str) -> None:
        values = [KeyValue(key="episode", value=str(number))]
        entry = DiagnosticStatus(name="policy", level=level, message=message, values=values)
        publisher.publish(DiagnosticArray(status=[entry]))

    client.until(publisher.get_subscription_count, "the evaluator listens")
    report(status.episode, DiagnosticStatus.WARN, "only a warning")
    report(status.episode + 1, DiagnosticStatus.ERROR, "of another episode")
    client.until(
        lambda: (
            report(client.status.episode, DiagnosticStatus.ERROR, "out of reach")
            or (evaluator.process.poll() is not None)
        ),
        "the evaluator ends",
    )
    code, output = evaluator.wait()
    assert code == 1
    assert "failed at step 1 (handle+): policy: out of reach, 0 frames" in output


def test_the_planner_says_on_diagnostics_what_it_cannot_do(client, start):
    """An invalid plan: the lock of rule_001 locks the door while the handle is closed."""
    start(SIM, "cameras:=false", "rule:=rule_001", "safe:=safe_03")
    status = client.wait_for_turn()
    status.safe, status.episode = "safe_99", 77
    said: list[DiagnosticStatus] = []
    client.create_subscription(
        DiagnosticArray, "/diagnostics", lambda m: said.extend(m.status), convert.STATE_QOS
    )
    publisher = client.create_publisher(type(status), "/episode/status", convert.STATE_QOS)
    start(PLANNER, "use_sim_time:=true")

    def failed() -> bool:
        publisher.publish(status)
        return any(s.level == DiagnosticStatus.ERROR and "safe_99" in s.message for s in said)

    client.until(failed, "an error that names the safe")
    error = next(s for s in said if s.level == DiagnosticStatus.ERROR)
    assert {v.key: v.value for v in error.values}["episode"] == "77"


def send_goal(client, action, goal, on_feedback=None):
    """Return the goal's handle. DDS may lose the response to a client that was just discovered, so
    it waits first."""
    client.until_discovered(action)
    sent = action.send_goal_async(goal, on_feedback)
    client.until(sent.done, "an answer")
    return sent.result()


def test_goals_that_cannot_be_executed_are_rejected_with_a_reason(client, start, tmp_path):
    logs = []
    client.create_subscription(Log, "/rosout", lambda m: logs.append(m.msg), convert.LATCHED_QOS)
    server = start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    action = ActionClient(client, Evaluate, "/evaluate")
    client.until(action.server_is_ready, "/evaluate")
    valid = {"rules": ["rule_001"], "safes": ["safe_03"], "first_seed": 4, "episodes": 2}
    for change, reason in (
        ({"rules": ["rule_021"]}, "unknown rule or set 'rule_021'"),
        ({"safes": ["safe_99"]}, "safe_99"),
        ({"safes": []}, "must be 1 to 10000, got 1 x 0 x 2"),
        ({"episodes": 4_000_000_000}, "must be 1 to 10000, got 1 x 1 x 4000000000"),
        ({"first_seed": 2**32 - 1}, "seeds are 0 to 4294967295"),
        ({"time_limit": -1.0}, "time_limit must be finite and not negative"),
    ):
        assert not send_goal(client, action, Evaluate.Goal(**(valid | change))).accepted
        client.until(lambda text=reason: any(text in line for line in logs), reason)
    output = server.stop()[1]
    assert "Traceback" not in output and "interrupted" not in output
    action.destroy()


def test_a_goal_that_fails_is_aborted_with_its_reason(client, start, tmp_path):
    start(SIM, "cameras:=false", "start:=false", "wait_for_action:=false")
    server = start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    client.create_publisher(EpisodeStatus, "/episode/status", convert.STATE_QOS)
    action = ActionClient(client, Evaluate, "/evaluate")
    client.until(action.server_is_ready, "/evaluate")
    goal = Evaluate.Goal(rules=["rule_001"], safes=["safe_03"], episodes=1)
    done = send_goal(client, action, goal).get_result_async()
    client.until(done.done, "the result")
    assert done.result().status == GoalStatus.STATUS_ABORTED
    result = done.result().result
    assert "more than one publisher on /episode/status" in result.message
    assert (result.episodes, result.summary_path) == (0, "")
    assert "Traceback" not in server.stop()[1]
    action.destroy()


def test_an_episode_ends_when_the_simulation_is_restarted(client, start, tmp_path):
    going = ("cameras:=false", "wait_for_action:=false", "real_time_factor:=1.0")
    simulation = start(SIM, "start:=false", *going)
    evaluator = start(EVALUATOR, *EPISODE, "film:=false", f"out:={tmp_path}")
    client.until(lambda: client.status.frame >= 10, "the episode")
    simulation.stop(signal.SIGKILL)
    start(SIM, *EPISODE, *going)
    code, output = evaluator.wait()
    assert code == 1, output
    assert "the simulation was restarted during the episode" in output


def test_the_action_evaluates_rules_safes_and_seeds(client, start, tmp_path):
    """No node publishes chunks and time continues, so every episode ends at its limit."""
    lock = tmp_path / "my_lock.json"
    automaton = smallest(automaton_of(load_rule("rule_002")))
    lock.write_text(dump_lock(LockFile("my_lock", "Open the knob.", automaton)), encoding="utf-8")
    start(SIM, "cameras:=false", "start:=false", "wait_for_action:=false")
    start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    action = ActionClient(client, Evaluate, "/evaluate")
    client.until(action.server_is_ready, "/evaluate")
    goal = Evaluate.Goal(
        rules=["rule_001", str(lock)], safes=["safe_03"], first_seed=4, episodes=2, time_limit=0.5
    )
    progress = []
    sent = send_goal(client, action, goal, lambda m: progress.append(m.feedback.episodes_done))
    assert sent.accepted
    done = sent.get_result_async()
    client.until(done.done, "the result")
    result = done.result().result
    assert (result.episodes, result.successes, result.message) == (4, 0, "")
    client.until(lambda: len(progress) >= 4, "feedback")
    assert progress == [1, 2, 3, 4]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert result.summary_path == str(tmp_path / "summary.json")
    assert [(e["rule"], e["seed"], e["frames"]) for e in summary["episodes"]] == [
        (rule, seed, 5) for rule in ("rule_001", "my_lock") for seed in (4, 5)
    ]
    action.destroy()


def test_a_second_goal_is_rejected_and_a_cancelled_one_ends(client, start, tmp_path):
    """The simulation waits for a chunk, so the first episode lasts until the test sends one."""
    logs = []
    client.create_subscription(Log, "/rosout", lambda m: logs.append(m.msg), convert.LATCHED_QOS)
    start(SIM, "cameras:=false", "start:=false")
    start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    action = ActionClient(client, Evaluate, "/evaluate")
    client.until(action.server_is_ready, "/evaluate")
    goal = Evaluate.Goal(rules=["rule_001"], safes=["safe_03"], episodes=4, time_limit=0.5)
    sent = send_goal(client, action, goal)
    client.wait_for_turn()
    assert not send_goal(client, action, goal).accepted
    client.until(lambda: any("an evaluation is running" in line for line in logs), "the reason")
    cancelled = sent.cancel_goal_async()
    client.until(cancelled.done, "the response")
    done = sent.get_result_async()
    client.send(np.tile(HOME_ACTION, (5, 1)), client.now)
    client.until(done.done, "the result")
    assert done.result().status == GoalStatus.STATUS_CANCELED
    assert done.result().result.episodes == 1
    action.destroy()


@pytest.mark.parametrize(
    ("parameters", "valid"),
    [(("rule:=rule_021", "safe:=safe_03"), RULES[-1]), (("safe:=safe_99",), "safe_10")],
)
def test_a_name_that_is_not_known_is_one_line_and_exit_code_2(start, parameters, valid):
    start(SIM, "cameras:=false", "start:=false")
    code, output = start(EVALUATOR, "film:=false", *parameters).wait()
    assert code == 2
    assert output.strip().count("\n") == 0 and valid in output


def test_an_episode_that_two_tell_of_is_not_judged(client, start):
    """For example, a bag that is played."""
    client.create_publisher(EpisodeStatus, "/episode/status", convert.STATE_QOS)
    start(SIM, "cameras:=false", "start:=false")
    code, output = start(EVALUATOR, *EPISODE, "film:=false").wait()
    assert code == 2
    assert "more than one publisher on /episode/status" in output and "sim_node" in output


def test_an_interrupted_evaluator_shuts_down_without_an_error(client, start, tmp_path):
    start(SIM, "cameras:=false", "start:=false")
    evaluator = start(EVALUATOR, *EPISODE, "film:=false", f"out:={tmp_path}")
    client.wait_for_turn()
    code, output = evaluator.stop(signal.SIGINT)
    assert code == 0, "ros2 launch logs an error for other exit codes"
    assert output.rstrip().endswith("evaluator_node: interrupted before the last episode ended")
    assert "Traceback" not in output
