"""Tests of complete evaluations with real nodes (simulation, planner, evaluator), physics only."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rulesafe_core import convert
from rulesafe_core.messages import to_ns
from rulesafe_eval.comparison import compare
from rulesafe_eval.recorder_ros import wait_for_recorder
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.results import evaluate, read_results
from rulesafe_eval.runner import EpisodeRunner, actions_file
from rulesafe_eval.submission import differences, read_submission
from rulesafe_interfaces.action import Evaluate
from rulesafe_interfaces.msg import EpisodeStatus
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.benchmarks import load_benchmark
from rulesafe_sim.episodes import Episode, plan_episodes
from rulesafe_sim.runtime import Playback
from rulesafe_sim.simulation import HOME_ACTION

pytestmark = pytest.mark.ros

SIM, PLANNER, EVALUATOR = "rulesafe_sim.node", "planner_node.node", "rulesafe_eval.node"
ROOT = Path(__file__).parents[2]
LAUNCH = ROOT / "launch/sim_evaluation.launch.xml"
EPISODES = re.findall(
    r"rulesafe (launch launch/sim_evaluation\.launch\.xml (?!\$)[^#\n]*)",
    "".join((ROOT / name).read_text("utf-8") for name in ("Makefile", "README.md")).replace(
        "\\\n", ""
    ),
)
"""Those of `make demo`, then those of README.md."""

EPISODE = ("rule:=rule_003", "safe:=safe_07", "seed:=4")


def lines(folder) -> list[dict]:
    return read_results(folder)["episodes"]


def in_process(folder, rule: str, safe: str, seed: int) -> dict:
    """Return the line of an episode of the expert in `rulesafe eval`."""
    plan = plan_episodes(rule, safe, seed=seed)
    evaluate(make_request(Setup("expert"), {}, plan), folder)
    (line,) = lines(folder)
    return line


PLACED_AGAIN = ("rule_014", "safe_09", 7211)
"""The arm does not reach the safe at the first pose of the seed."""


@pytest.mark.parametrize(
    "of",
    [pytest.param(("rule_003", "safe_07", 7206), marks=pytest.mark.thorough), PLACED_AGAIN],
)
def test_a_request_gives_the_same_episode_in_process_in_gymnasium_and_over_ros(
    of, client, start, tmp_path
):
    """Equal variation, frames, digest and actions; the results are compared and verified."""
    expected = in_process(tmp_path / "process", *of)
    assert expected["opened"]

    env = gymnasium.make(
        "rulesafe_sim.env:RuleSafe-v1", observations=("joint_positions",), safe="safe_01"
    )
    known = {each.name for each in fields(Episode)} & expected.keys()
    episode = Episode.from_dict({name: expected[name] for name in known})
    _, info = env.reset(options={"episode": episode})
    assert info["variation"] == expected["variation"]
    actions = np.load(actions_file(tmp_path / "process", of[0], 0))
    ends = [env.step(action)[2] for action in actions]
    assert len(ends) == expected["frames"] and ends.index(True) == len(ends) - 1
    assert env.unwrapped.simulation.digest == expected["state_digest"]

    heard = []
    client.create_subscription(String, "/instruction", heard.append, convert.LATCHED_QOS)
    sim = start(SIM, "cameras:=false", "start:=false")
    planner = start(PLANNER, "use_sim_time:=true")
    words = ["eval", "--policy", "expert", "--rules", of[0], "--safes", of[1], "--seed", str(of[2])]
    words += ["--episodes", "1", "--engine", "ros", "--films", "0", "--out", str(tmp_path / "ros")]
    code, output = start("rulesafe_cli.cli", words=words).wait()
    assert code == 0, output + planner.stop()[1]
    (found,) = lines(tmp_path / "ros")
    of_the_policy = {"targets", "retries", "inferences"}
    differing = {key for key in expected if found.get(key) != expected[key]}
    assert differing <= of_the_policy, [(key, found.get(key), expected[key]) for key in differing]
    executed = np.load(actions_file(tmp_path / "ros", of[0], 0))
    np.testing.assert_array_equal(executed, actions)
    assert differences(read_submission(tmp_path / "ros")) == []
    assert compare(*(read_results(tmp_path / name) for name in ("process", "ros")))["pairs"] == 1
    client.until(lambda: heard, "the instruction")  # it may still be queued behind many states
    assert [message.data for message in heard] == [load_rule(of[0]).description]
    planner.stop_well()
    sim.stop_well()


def test_an_episode_of_a_benchmark_is_the_same_as_in_process(client, start, tmp_path):
    """The evaluator sends the episode; the simulation's own split is another one."""
    episode = next(iter(load_benchmark("out_of_distribution")))
    rows = np.linspace(HOME_ACTION, HOME_ACTION + 0.1, 6, dtype=np.float32)
    line, _, _ = EpisodeRunner(Setup("expert")).execute(Playback(rows), episode)
    start(SIM, "cameras:=false", "start:=false")
    parameters = ("benchmark:=out_of_distribution", "film:=false", f"out:={tmp_path}")
    evaluator = start(EVALUATOR, *parameters)
    status = client.wait_for_turn()
    assert (status.rule, status.safe, status.seed) == (episode.rule, episode.safe, episode.seed)
    client.send(rows, client.now)
    client.until(lambda: client.status.frame == len(rows) and client.status.waiting, "the chunk")
    assert client.status.state_digest == line["state_digest"]
    assert evaluator.process.poll() is None


@pytest.mark.thorough
@pytest.mark.parametrize("command", EPISODES)
def test_each_episode_of_make_demo_and_readme_opens_the_safe(command, start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a bag is recorded there
    launch, _, *words = command.split()
    words = [launch, str(LAUNCH), *words, "out:=results"]
    code, output = start("rulesafe_cli.cli", words=words).wait(patience=1800)
    assert code == 0, output
    assert list(tmp_path.rglob("film.mp4"))


def test_demo_and_readme_have_an_episode_of_the_expert_and_one_of_a_policy():
    assert [("policy:=expert" in each) for each in EPISODES] == [True, False, False, True]


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


def test_the_launch_file_runs_a_policy_with_its_memory(tmp_path):
    """Without arguments it is the policy for all rules, over the graph with cameras."""
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), *EPISODE]
    done = subprocess.run(
        [*command, "film:=false", f"out:={tmp_path}"], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = lines(tmp_path)
    assert found["opened"] and found["events"][-1]["event"] == "door+"
    for name in ("vq_memory_node", "policy_node"):
        assert f"[{name}" in done.stdout + done.stderr


def test_a_node_of_another_package_is_evaluated_by_the_launch_file(client, start, tmp_path):
    """With policy:=none. The node publishes a chunk when a joint state repeats a stamp, which is at
    the end of the last one."""
    words = ("launch", str(LAUNCH), *EPISODE, "policy:=none", "memory:=none", "step_seconds:=6")
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
    assert lines(tmp_path)[0]["frames"] == 120
    first, *others = sorted(answered)  # time continues after the end of the episode
    assert [stamp - first for stamp in others[:2]] == [5_000_000_000, 10_000_000_000]
    started = re.findall(r"\[(\w+)-\d\]: process started", output)
    assert sorted(started) == ["evaluator_node", "sim_node"]


def test_without_a_planner_the_evaluator_says_that_no_chunk_came(start, tmp_path):
    start(SIM, "cameras:=false", "start:=false")
    out = f"out:={tmp_path}"
    code, output = start(EVALUATOR, *EPISODE, "film:=false", "stall_limit:=25.0", out).wait()
    assert code == 1
    assert "rule_003 on safe_07, seed 4: failed at step 1 (handle+): simulated time" in output
    assert lines(tmp_path)[0]["opened"] is False


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


@pytest.fixture
def action(client):
    """A client of the action /evaluate."""
    found = ActionClient(client, Evaluate, "/evaluate")
    yield found
    found.destroy()


def send_goal(client, action, goal, on_feedback=None):
    """Return the goal's handle. DDS may lose the response to a client that was just discovered, so
    it waits first."""
    client.until(action.server_is_ready, "/evaluate")
    client.until_discovered(action)
    sent = action.send_goal_async(goal, on_feedback)
    client.until(sent.done, "an answer")
    return sent.result()


def test_goals_that_cannot_be_executed_are_rejected_with_a_reason(
    client, start, action, logs, tmp_path
):
    server = start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    valid = {"rules": "rule_001", "safes": "safe_03", "seed": 4, "episodes": 2}
    for change, reason in (
        ({"rules": "rule_021"}, "unknown rule or set 'rule_021'"),
        ({"safes": "safe_99"}, "safe_99"),
        ({"split": "normal"}, "unknown split 'normal'"),
        ({"episodes": 0}, "got 0 episodes from seed 4"),
        ({"seed": 9999}, "evaluations have the seeds 0..9999"),
        ({"rules": "all", "episodes": 5000}, "at most 10000 episodes, got 100000"),
        ({"step_seconds": -1.0}, "step_seconds must be more than 0 s"),
        ({"benchmark": "paper"}, "unknown benchmark 'paper'"),
    ):
        assert not send_goal(client, action, Evaluate.Goal(**(valid | change))).accepted
        client.until(lambda text=reason: any(text in line for line in logs), reason)
    output = server.stop()[1]
    assert "Traceback" not in output and "interrupted" not in output


def test_a_goal_that_fails_is_aborted_with_its_reason(client, start, action, tmp_path):
    start(SIM, "cameras:=false", "start:=false", "wait_for_action:=false")
    server = start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    client.create_publisher(EpisodeStatus, "/episode/status", convert.STATE_QOS)
    goal = Evaluate.Goal(rules="rule_001", safes="safe_03", episodes=1)
    done = send_goal(client, action, goal).get_result_async()
    client.until(done.done, "the result")
    assert done.result().status == GoalStatus.STATUS_ABORTED
    result = done.result().result
    assert "more than one publisher on /episode/status" in result.message
    assert (result.episodes, result.results_path) == (0, "")
    assert "Traceback" not in server.stop()[1]


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


def test_the_action_evaluates_rules_safes_and_seeds(client, start, action, tmp_path):
    """No node publishes chunks and time continues, so every episode ends at its limit."""
    lock = tmp_path / "my_lock.json"
    automaton = smallest(automaton_of(load_rule("rule_002")))
    lock.write_text(dump_lock(LockFile("my_lock", "Open the knob.", automaton)), encoding="utf-8")
    start(SIM, "cameras:=false", "start:=false", "wait_for_action:=false")
    start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    goal = Evaluate.Goal(
        rules=f"rule_001,{lock}", safes="safe_03", seed=4, episodes=2, step_seconds=0.2
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
    path = Path(result.results_path)
    assert path.parents[1] == tmp_path and path.name == "results.json"
    assert [(e["rule"], e["seed"], e["frames"]) for e in lines(path)] == [
        (rule, seed, frames)
        for seed in (4, 5)
        for rule, frames in (("rule_001", 6), ("my_lock", 4))
    ]


def test_a_second_goal_is_rejected_and_a_cancelled_one_ends(client, start, action, logs, tmp_path):
    """The simulation waits for a chunk, so the first episode lasts until the test sends one."""
    start(SIM, "cameras:=false", "start:=false")
    start(EVALUATOR, "episodes:=0", "film:=false", f"out:={tmp_path}")
    goal = Evaluate.Goal(rules="rule_001", safes="safe_03", episodes=4, step_seconds=0.2)
    sent = send_goal(client, action, goal)
    client.wait_for_turn()
    assert not send_goal(client, action, goal).accepted
    client.until(lambda: any("an evaluation is running" in line for line in logs), "the reason")
    cancelled = sent.cancel_goal_async()
    client.until(cancelled.done, "the response")
    done = sent.get_result_async()
    client.send(np.tile(HOME_ACTION, (6, 1)), client.now)
    client.until(done.done, "the result")
    assert done.result().status == GoalStatus.STATUS_CANCELED
    assert done.result().result.episodes == 1


def test_a_name_that_is_not_known_is_one_line_and_exit_code_2(start):
    start(SIM, "cameras:=false", "start:=false")
    code, output = start(EVALUATOR, "film:=false", "rule:=rule_021", "safe:=safe_03").wait()
    assert code == 2
    assert output.strip().count("\n") == 0 and RULES[-1] in output


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
