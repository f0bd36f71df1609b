"""Test that the memory node publishes the tokens of the stored episodes that it receives."""

from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.states import load_states
from rulesafe_sim.simulation import HOME_ACTION
from vq_memory_node.grids import FromStart, Sliding
from vq_memory_node.memory import VqMemory

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from rulesafe_core import convert, messages
from rulesafe_interfaces.msg import MemoryTokens

pytestmark = pytest.mark.ros

STATES = Path(__file__).parents[2] / "datasets/rule_001_rule_020.parquet"
NODE = "vq_memory_node.node"
SIM = "rulesafe_sim.node"


@pytest.fixture(scope="module")
def episode():
    """The first 400 frames of the longest stored episode (400, 13)."""
    states = load_states(STATES)
    positions, _ = states[int(np.diff(states.starts).argmax())]
    assert len(positions) >= 400
    return positions[:400]


@pytest.mark.parametrize(
    ("frames", "hz", "speed", "grid"),
    [
        (120, 100, 5, Sliding()),
        pytest.param(400, 20, 0, Sliding(), marks=pytest.mark.thorough),
        (400, 20, 0, FromStart()),
    ],
)
def test_the_node_says_what_the_batch_says(
    player, start, model_dir, episode, frames, hz, speed, grid
):
    """At five times real time with 100 Hz, and without pacing."""
    name = "sliding" if isinstance(grid, Sliding) else "from_start"
    start(NODE, f"model:={model_dir}", f"grid:={name}", "clusters:=16", "use_sim_time:=true")
    player.wait()
    player.play(episode[:frames], 5 * SECOND, hz, speed)
    last = (frames - 1) // grid.every * grid.every
    player.until(5 * SECOND + last * PERIOD)
    memory = VqMemory(str(model_dir), 16)
    player.check(episode[:frames], 5 * SECOND, memory, grid=grid)
    message = player.heard[max(player.heard)]
    described = (message.vocabulary_size, message.stride, message.window, message.model_hash)
    assert described == (16, 20, 50, memory.hash)
    assert len(set(message.tokens)) > 1


def test_a_second_episode_begins_where_it_is_said_whenever_that_is(
    player, start, model_dir, episode
):
    """The stamps continue over the reset, as in the simulation."""
    memory = VqMemory(str(model_dir))
    start(NODE, f"model:={model_dir}")
    player.wait()
    player.begin(SECOND)
    player.play(episode[:30], SECOND)
    player.until(SECOND + 29 * PERIOD)
    player.check(episode[:30], SECOND, memory)
    for number, late in enumerate((False, True), 1):
        begin = SECOND + number * 30 * PERIOD
        if not late:
            player.begin(begin)
            player.until(begin)
            assert not any(player.heard[begin].mask)  # no tokens of the previous episode
            del player.heard[begin]  # the first frame's tokens may not reach a slow subscriber
        player.play(episode[50:55], begin)
        player.until(begin + 4 * PERIOD)
        if late:
            player.heard.clear()
            player.begin(begin)
            player.client.until(
                lambda b=begin: sum(player.heard.get(b + 4 * PERIOD, MemoryTokens()).mask) == 1,
                "a memory of the new episode",
            )
            player.heard = {s: m for s, m in player.heard.items() if s == begin + 4 * PERIOD}
        player.play(episode[55:80], begin + 5 * PERIOD)
        player.until(begin + 29 * PERIOD)
        player.check(episode[50:80], begin, memory)


def test_a_simulation_that_is_restarted_in_the_first_frame_begins_a_new_episode(
    player, start, episode
):
    """All stamps are equal to those before; the joint positions are not."""
    memory = VqMemory("all_rules")
    first, other = episode[:1], episode[40:41]
    assert memory.values_at(first, np.array([0])) != memory.values_at(other, np.array([0]))
    start(NODE, "model:=all_rules")
    player.wait()
    for positions in (first, other):
        player.begin(PERIOD)
        player.heard.clear()

        def observed(row=positions[0]) -> bool:
            player.send(row, PERIOD)  # as the simulation does while it waits
            return PERIOD in player.heard and any(player.heard[PERIOD].mask)

        player.client.until(observed, "a memory of the first frame")
        player.client.settle()
        player.check(positions, PERIOD, memory)


def test_a_start_that_is_received_after_joint_states_of_its_episode_keeps_the_memory(
    player, start, model_dir
):
    """As in a node that is started during an episode. The simulation may be waiting, so that no
    other joint state follows."""
    start(NODE, f"model:={model_dir}")
    player.wait()
    now = 5 * SECOND
    player.send(HOME_ACTION, now)
    player.until(now)
    player.begin(PERIOD)
    warning = "no joint states of the first 4.90 s of this episode"
    player.client.until(lambda: any(warning in d.message for d in player.diagnostics), warning)
    player.heard.clear()

    def repeated() -> bool:
        player.send(HOME_ACTION, now)
        return bool(player.heard)

    player.client.until(repeated, "the tokens again")
    assert {stamp: sum(m.mask) for stamp, m in player.heard.items()} == {now: 1}


def test_reset_and_publish_on_request_and_late_joiners(player, client, start, model_dir, episode):
    memory = VqMemory(str(model_dir))
    start(NODE, f"model:={model_dir}")
    player.wait()
    player.play(episode[:50], SECOND)
    end = SECOND + 49 * PERIOD
    player.until(end)

    late = []
    client.create_subscription(MemoryTokens, "/memory/tokens", late.append, convert.LATCHED_QOS)
    client.until(lambda: late, "the last tokens")
    assert late[0] == player.heard[end]
    reply = player.call(Trigger, "/vq_memory_node/publish")
    assert (reply.success, reply.message) == (True, "3 of 40 tokens")
    client.until(lambda: len(late) == 2, "the tokens again")
    assert late[1] == late[0]

    assert player.call(Trigger, "/vq_memory_node/reset").success
    client.until(lambda: len(late) == 3, "an empty memory")
    assert not any(late[2].mask) and len(late[2].mask) == 40
    player.heard.clear()
    begin = end + PERIOD
    player.play(episode[50:80], begin)
    player.until(begin + 29 * PERIOD)
    player.check(episode[50:80], begin, memory)


def test_length_and_allowed_gap_are_parameters(player, start, model_dir, episode):
    """Without joint states for a second the memory would be reset by default."""
    start(NODE, f"model:={model_dir}", "length:=7", "max_gap:=2.0")
    player.wait()
    begin = 5 * SECOND
    player.play(episode[:21], begin)
    player.until(begin + 20 * PERIOD)
    player.play(episode[30:41], begin + 30 * PERIOD)
    player.until(begin + 40 * PERIOD)
    assert player.heard[begin + 40 * PERIOD].mask == [False] * 4 + [True] * 3


def test_bad_joint_states_are_reported_and_left_out(player, client, start, model_dir, episode):
    start(NODE, f"model:={model_dir}")
    player.wait()
    player.play(episode[:10], SECOND)
    spoilt = episode[10].copy()
    spoilt[0] = np.nan
    player.send(spoilt, SECOND + 10 * PERIOD - 1)
    names = list(ACTION_JOINTS)
    short = JointState(name=names[1:], position=[0.0] * 12)
    short.header.stamp = convert.to_time(SECOND + 10 * PERIOD - 1)
    player._joints.publish(short)
    player.play(episode[10:12], SECOND + 10 * PERIOD)
    player.until(SECOND + 11 * PERIOD)
    player.check(episode[:12], SECOND, VqMemory(str(model_dir)))

    def warning():
        return [d for d in player.diagnostics if d.level == DiagnosticStatus.WARN and d.values]

    client.until(lambda: any(names[0] in d.message for d in warning()), "a warning")
    (seen,) = [d for d in warning() if names[0] in d.message]
    values = {pair.key: pair.value for pair in seen.values}
    assert values["not finite"] == "1"
    assert float(values["input rate (Hz)"]) > float(values["token rate (Hz)"]) > 0
    assert float(values["latency of a token, worst (ms)"]) > 0


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (["model:=nobody"], "no model 'nobody'"),
        (["max_gap:=100.0"], "max_gap"),
        (["OTHER JOINTS"], "left_elbow_joint"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    start, model_dir, save_random_model, parameters, reason
):
    """The other parameters that a model may not fit: test_parameters.py."""
    model = model_dir
    if parameters == ["OTHER JOINTS"]:
        model = save_random_model(joints=("left_elbow_joint", *ACTION_JOINTS[1:]))
        parameters = []
    code, output = start(NODE, f"model:={model}", *parameters).wait()
    assert code == 2
    assert reason in output.strip().splitlines()[-1]
    assert "Traceback" not in output


def test_a_lifecycle_manager_configures_activates_and_stops_it(
    player, client, start, model_dir, episode
):
    memory = VqMemory(str(model_dir))
    node = "/vq_memory_node"
    process = start(NODE, f"model:={model_dir}", "autostart:=false", "model_hash:=abc")

    def change(transition) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return player.call(ChangeState, f"{node}/change_state", request).success

    def state() -> int:
        return player.call(GetState, f"{node}/get_state").current_state.id

    assert state() == State.PRIMARY_STATE_UNCONFIGURED
    assert not change(Transition.TRANSITION_CONFIGURE)
    assert state() == State.PRIMARY_STATE_UNCONFIGURED
    client.until(
        lambda: [d for d in player.diagnostics if d.level == DiagnosticStatus.ERROR],
        "the reason on /diagnostics",
    )
    reasons = [d.message for d in player.diagnostics if d.level == DiagnosticStatus.ERROR]
    assert "expected abc" in reasons[0]

    parameters = AsyncParameterClient(client, "vq_memory_node")
    assert parameters.wait_for_services(60)
    client.until_discovered(parameters)
    future = parameters.set_parameters([Parameter("model_hash", value=memory.hash)])
    client.until(future.done, "the new hash")
    assert change(Transition.TRANSITION_CONFIGURE)
    assert not player.call(Trigger, f"{node}/publish").success
    assert not player.call(Trigger, f"{node}/reset").success
    for begin in (SECOND, 50 * SECOND):
        assert change(Transition.TRANSITION_ACTIVATE)
        player.heard.clear()
        reply = player.call(Trigger, f"{node}/publish")
        assert reply.message == "0 of 40 tokens", "no tokens of the time before"
        client.until(lambda: player.heard, "the empty memory")
        player.wait()
        player.heard.clear()
        player.play(episode[:30], begin)
        player.until(begin + 29 * PERIOD)
        player.check(episode[:30], begin, memory)
        assert change(Transition.TRANSITION_DEACTIVATE)
        assert state() == State.PRIMARY_STATE_INACTIVE
    assert change(Transition.TRANSITION_CLEANUP)
    assert change(Transition.TRANSITION_UNCONFIGURED_SHUTDOWN)
    code, output = process.stop()
    assert code == 0 and "Traceback" not in output, output


def test_in_the_simulation_each_episode_has_a_memory_of_its_own(client, player, start, model_dir):
    memory = VqMemory(str(model_dir), 16)
    start(NODE, f"model:={model_dir}", "clusters:=16", "use_sim_time:=true")
    client.until_subscribed_by("vq_memory_node", "/joint_states")
    start(SIM, "cameras:=false")
    client.wait_for_turn()
    for number in range(2):
        if number:
            episode = client.reset(seed=number).episode
            client.wait_for_turn()
            client.until(lambda e=episode: client.status.episode == e, "the next episode")
        begin = client.now
        client.until(
            lambda b=begin: b in player.heard and any(player.heard[b].mask), "its first frame"
        )
        rows = HOME_ACTION + np.random.default_rng(number).uniform(-0.3, 0.3, (45, 13))
        client.send(rows, begin)
        end = begin + 45 * PERIOD
        client.until(lambda e=end: client.status.waiting and client.now == e, "the chunk's end")
        player.until(end)
        # Each topic has its own queue: a status may arrive before the joint states of its frame.
        client.until(
            lambda e=end: e == messages.to_ns(client.joints.header.stamp),
            "the joints at the chunk's end",
        )
        positions = client.positions(range(begin, end + 1, PERIOD))
        player.check(positions, begin, memory, at_least=10)


def test_a_pause_of_the_simulation_is_not_a_warning(player, start, model_dir):
    start(NODE, f"model:={model_dir}", "clusters:=16")
    player.wait()
    publisher = player.client.create_publisher(Bool, "/episode/paused", convert.LATCHED_QOS)
    for paused, level, text in (
        (True, DiagnosticStatus.OK, "the simulation is paused"),
        (False, DiagnosticStatus.WARN, "no messages on /joint_states"),
    ):
        publisher.publish(Bool(data=paused))
        player.client.until(
            lambda: player.diagnostics and player.diagnostics[-1].message == text,  # noqa: B023
            text,
        )
        assert player.diagnostics[-1].level == level
