"""Tests of the simulation node with physics only, without images."""

import json
import signal
from dataclasses import fields

import numpy as np
import pytest
import yaml

from rulesafe_core.chunks import PERIOD
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.strict_yaml import build
from rulesafe_core.text_files import read_text
from rulesafe_locks.rules import PARTS, RULES, load_rule
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.safe_meshes import digest, mesh_files
from rulesafe_sim.safes import SafeFile, safe_file
from rulesafe_sim.simulation import HOME_ACTION, Simulation

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.parameter import Parameter as RosParameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from rulesafe_core import messages
from rulesafe_sim.node import SimulationParameters, next_due

pytestmark = pytest.mark.ros

SIM = "rulesafe_sim.node"
TICK = PERIOD // 10
PHYSICS = ("cameras:=false", "safe:=safe_01", "rule:=rule_001", "seed:=5")


def wave(seed: int, count: int) -> np.ndarray:
    """Return a small motion around the home posture (count, 13)."""
    rng = np.random.default_rng(seed)
    return HOME_ACTION + np.cumsum(rng.uniform(-0.02, 0.03, (count, 13)), axis=0)


def play(client, chunks) -> object:
    """Publish chunks one after another, and return the status after the last one."""
    for rows in chunks:
        stamp = client.now
        client.statuses.clear()
        client.send(rows, stamp)
        end = stamp + len(rows) * PERIOD
        client.until(
            lambda end=end: client.status.waiting and client.now == end,
            "the end of the chunk",
        )
    return client.status


def test_rates_stamps_and_names(client, start):
    start(SIM, *PHYSICS)
    client.wait_for_turn()
    begin = client.now
    client.joint_states.clear()
    client.clocks.clear()
    play(client, [wave(1, 5)])
    end = begin + 5 * PERIOD
    client.until(lambda: client.clocks and client.clocks[-1] >= end, "the clock")

    def last_has_come() -> bool:
        """The later message of two topics may arrive first."""
        states = client.joint_states
        return bool(states) and messages.to_ns(states[-1].header.stamp) >= end

    client.until(last_has_come, "the last joint state")
    stamps = {messages.to_ns(m.header.stamp) for m in client.joint_states}
    expected = set(range(begin + TICK, end + 1, TICK))
    assert expected <= stamps, "joint states at 100 Hz, none left out"
    assert expected <= set(client.clocks)
    assert client.clocks == sorted(client.clocks)
    message = client.joints
    assert tuple(message.name) == ALL_JOINTS
    assert len(message.position) == len(message.velocity) == 39
    frames = {status.frame for status in client.statuses}
    assert frames >= set(range(1, 6)), "a status each tenth of a second"


def test_an_episode_is_the_same_in_process_and_over_the_graph(client, start):
    """Lock-step: the digest depends on rule, safe, seed and chunks, not on time or processes."""
    chunks = [wave(1, 7), wave(2, 1), wave(3, 20)]
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 5)
    for row in np.concatenate(chunks):
        simulation.step(row)

    start(SIM, *PHYSICS)
    client.wait_for_turn()
    first = play(client, chunks)
    assert (first.frame, first.state_digest) == (28, simulation.digest)
    np.testing.assert_allclose(
        first.part_positions, [simulation.state().part_positions[part] for part in PARTS]
    )
    number = client.reset(seed=5).episode
    assert number == first.episode + 1
    client.until(lambda: client.status.episode == number, "the new episode")
    assert client.now > messages.to_ns(first.header.stamp), "the clock goes on"
    again = play(client, chunks)
    assert (again.frame, again.state_digest) == (first.frame, first.state_digest)


def test_the_split_varies_episodes_as_in_process(client, start):
    simulation = Simulation(SimulationConfig(split="varied"))
    simulation.reset("rule_001", "safe_01", 5)
    for row in wave(1, 7):
        simulation.step(row)
    start(SIM, *PHYSICS, "split:=varied")
    client.wait_for_turn()
    assert play(client, [wave(1, 7)]).state_digest == simulation.digest


def test_contact_forces_are_on_the_status_alone(client, start):
    """The forearm touches the torso."""
    across = HOME_ACTION.copy()
    across[:4] = (0.4, 0.3, 0.9, 0.2)  # shoulder pitch, roll, yaw and elbow
    rows = np.linspace(HOME_ACTION, across, 30)
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 5)
    for row in rows:
        simulation.step(row)
    expected = simulation.state().contact_forces
    assert expected["self"] > 5.0

    start(SIM, *PHYSICS)
    client.wait_for_turn()
    status = play(client, [rows])
    assert dict(zip(status.contact_names, status.contact_forces, strict=True)) == expected
    client.until(
        lambda: messages.to_ns(client.joints.header.stamp) == client.now,
        "the last joint state",
    )
    assert not client.joints.effort


def test_latched_topics_reach_a_late_subscriber(client, start):
    start(SIM, *PHYSICS)
    client.wait_for_turn()
    latched = QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )
    texts: dict[str, str] = {}
    for topic in ("/instruction", "/robot_description"):
        client.create_subscription(
            String, topic, lambda m, topic=topic: texts.update({topic: m.data}), latched
        )
    client.until(lambda: len(texts) == 2, "both latched topics")
    assert texts["/instruction"] == load_rule("rule_001").description
    assert all(f'name="{name}"' in texts["/robot_description"] for name in ALL_JOINTS)
    assert client.reset(rule="rule_003").success
    client.until(
        lambda: texts["/instruction"] == load_rule("rule_003").description, "the new instruction"
    )


def test_a_reset_to_a_safe_without_images_changes_nothing(client, start, tmp_path):
    """The physics can simulate the safe, but the file of its knob has no triangles."""
    (tmp_path / "knob.obj").write_text("v 0 0 0")
    data = yaml.safe_load(read_text(safe_file("safe_03")))
    knob = data["parts"]["knob"]
    visual = {"file": "knob.obj", "material": data["looks"]["knob"]}
    mesh = {"family": "mesh", "symmetry": 6, "phase_visible": False, "visual": [visual]}
    knob["shape"] = mesh | {"grip": knob["shape"]}
    data["meshes_sha256"] = digest(mesh_files(build(SafeFile, data, "mine")), tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(data))

    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 5)
    for row in np.concatenate([wave(4, 3), wave(5, 3)]):
        simulation.step(row)
    start(SIM, *PHYSICS[1:])
    client.wait_for_turn()
    play(client, [wave(4, 3)])
    reply = client.reset(safe=str(path))
    assert not reply.success and "knob.obj" in reply.message
    client.wait_for_turn()
    assert play(client, [wave(5, 3)]).state_digest == simulation.digest


def test_a_reset_to_an_unknown_name_changes_nothing(client, start):
    start(SIM, *PHYSICS)
    client.wait_for_turn()
    before = play(client, [wave(4, 3)])
    reply = client.reset(rule="rule_021")
    assert not reply.success and reply.episode == 0
    assert "rule_021" in reply.message and all(rule in reply.message for rule in RULES)
    reply = client.reset(safe="safe_99")
    assert not reply.success
    assert "safe_99" in reply.message
    named = {"rule": "rule_001", "safe": "safe_03", "seed": 3}
    pose = {"xyz": [0.6, -0.3, 0], "yaw": 0}
    for given, text in (
        ("{", "episode is not valid JSON"),
        ({}, "rule, safe, seed"),
        (named | {"variation": {"placement": {"xyz": [1, 2], "yaw": 0}}}, "xyz must be 3"),
        (named | {"variation": {"placement": pose, "cameras": {"head": {"fov": 3}}}}, "fovy is 4"),
    ):
        reply = client.reset(episode=given if isinstance(given, str) else json.dumps(given))
        assert not reply.success and text in reply.message
    reply = client.reset(rule="rule_001", episode=json.dumps(named))
    assert not reply.success and "determines rule, safe and seed" in reply.message
    after = client.wait_for_turn()
    assert (after.episode, after.frame, after.state_digest) == (
        before.episode,
        before.frame,
        before.state_digest,
    )
    assert client.reset(rule="rule_002", seed=9).success
    client.until(lambda: client.status.episode == before.episode + 1, "the new episode")
    assert (client.status.rule, client.status.safe, client.status.seed) == (
        "rule_002",
        "safe_01",
        9,
    )
    assert client.status.frame == 0


def test_malformed_chunks_are_refused_without_motion(client, start):
    process = start(SIM, *PHYSICS)
    before = client.wait_for_turn()
    bad = wave(5, 3)
    bad[1, 4] = np.nan
    client.send(bad, client.now)
    client.send(wave(5, 3), client.now, joints=[*ACTION_JOINTS[:-1], "tail_joint"])
    client.send(wave(5, 3), client.now - TICK)
    # A valid chunk follows; when it is done, the others have been handled.
    after = play(client, [wave(6, 2)])
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 5)
    for row in wave(6, 2):
        simulation.step(row)
    assert (before.frame, after.frame) == (0, 2)
    assert after.state_digest == simulation.digest
    code, output = process.stop()
    assert code == 0
    assert "not finite for right_wrist_roll_joint" in output
    assert "tail_joint" in output
    assert "before the episode began" in output


def test_without_waiting_time_goes_on_and_the_robot_holds(client, start):
    start(SIM, *PHYSICS, "wait_for_action:=false", "real_time_factor:=5")
    client.until(lambda: client.status.frame >= 10, "a second")
    assert not client.status.waiting
    moved = np.subtract(client.joints.position, client.joint_states[0].position)
    assert np.abs(moved).max() < 0.02


@pytest.mark.parametrize(("factor", "period"), [(0.5, 0.02), (2, 0.005)])
def test_steps_follow_wall_time_and_catch_up_a_tenth_of_a_second(factor, period):
    assert next_due(50.0, 0.01, factor, now=50.001) == pytest.approx(50 + period)
    assert next_due(50.0, 0.01, factor, now=50.1) == pytest.approx(50 + period)
    assert next_due(50.0, 0.01, factor, now=60.0) == pytest.approx(59.9)


def test_it_says_once_in_an_episode_that_time_waits_for_a_chunk(client, start):
    simulation = start(SIM, *PHYSICS)
    client.wait_for_turn()
    play(client, [wave(1, 2), wave(2, 2)])
    before = client.wait_for_turn().episode
    client.reset()
    client.until(lambda: client.status.episode > before, "the next episode")
    client.wait_for_turn()
    output = simulation.stop_well()
    assert output.count("until the first message on /policy/action_chunk") == 2, output


def test_parameters_describe_themselves_and_refuse_nonsense(client, start):
    start(SIM, *PHYSICS)
    client.wait_for_turn()
    remote = AsyncParameterClient(client, "sim_node")
    client.until(remote.services_are_ready, "the parameter services")
    client.until_discovered(remote)

    def ask(future):
        client.until(future.done, "a reply")
        return future.result()

    names = [parameter.name for parameter in fields(SimulationParameters)]
    described = ask(remote.describe_parameters(names)).descriptors
    assert all(d.description for d in described)
    seed = described[names.index("seed")].integer_range[0]
    assert (seed.from_value, seed.to_value) == (0, 2**32 - 1)

    def change(name, value):
        reply = ask(remote.set_parameters([RosParameter(name, value=value)]))
        return reply.results[0]

    assert change("real_time_factor", 7).successful
    for value in (-1.0, 1000, "fast"):
        assert not change("real_time_factor", value).successful
    assert not change("rule", "rule_002").successful, "/episode/reset does that"


def test_start_false_waits_for_a_reset(client, start):
    start(SIM, *PHYSICS, "start:=false")
    assert client.reset().success
    status = client.wait_for_turn()
    assert (status.episode, status.rule, status.seed) == (1, "rule_001", 0)


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        ("rule:=rule_021", "rule_020"),
        ("real_time_factor:=1000", "real_time_factor"),
        ("rule:=7", "rule"),
        ("split:=test", "nominal, varied, shifted"),
    ],
)
def test_a_bad_parameter_is_one_line_and_exit_code_2(start, parameter, reason):
    code, output = start(SIM, "cameras:=false", parameter).wait()
    assert code == 2
    lines = output.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("sim_node: ") and reason in lines[0]


def test_a_second_simulation_in_the_domain_is_refused_and_the_first_goes_on(client, start):
    start(SIM, *PHYSICS)
    before = client.wait_for_turn()
    code, output = start(SIM, *PHYSICS, "seed:=6").wait()
    assert code == 2
    assert len(output.strip().splitlines()) == 1 and "ROS_DOMAIN_ID" in output
    after = play(client, [wave(1, 2)])
    assert (after.episode, after.seed, after.frame) == (before.episode, 5, 2)


@pytest.mark.parametrize(("how", "expected"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_cleanly_on_a_signal_even_while_stepping(client, start, how, expected):
    process = start(SIM, *PHYSICS, "wait_for_action:=false")
    client.until(lambda: client.status.frame > 3, "some frames")
    code, output = process.stop(how)
    assert code == expected, output
    assert "Traceback" not in output
