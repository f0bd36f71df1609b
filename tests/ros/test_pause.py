"""Tests of the simulation node for the live view: pause and the safe's URDF. Physics only."""

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool

from rulesafe_core import convert, messages
from rulesafe_core.chunks import PERIOD
from rulesafe_core.urdf import to_urdf
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION
from rulesafe_sim.stand import safe_on_stand

pytestmark = pytest.mark.ros

PHYSICS = ("cameras:=false", "safe:=safe_04", "rule:=rule_001", "seed:=5")


@pytest.fixture
def pause(client):
    """pause(True), pause(False): call the service and wait until it is done."""
    caller = client.create_client(SetBool, "/episode/pause")

    def ask(paused: bool) -> None:
        client.meet(caller)
        answer = caller.call_async(SetBool.Request(data=paused))
        client.until(answer.done, "/episode/pause")
        assert answer.result().success

    return ask


def test_joint_states_are_repeated_while_the_simulation_waits_unless_it_is_paused(
    client, start, pause
):
    start("rulesafe_sim.node", *PHYSICS)
    client.wait_for_turn()
    for paused in (True, False):
        pause(paused)
        client.settle()  # until the joint states from before are received
        client.joint_states.clear()
        client.statuses.clear()
        client.until(lambda: len(client.statuses) > 5, "repeated statuses")
        assert bool(client.joint_states) is not paused


@pytest.mark.parametrize("waits", [pytest.param(True, marks=pytest.mark.thorough), False])
def test_time_stands_still_in_a_pause_and_goes_on_after_it(client, start, pause, waits):
    """During a chunk: statuses are still published; joint states, to which a policy would respond,
    are not. A reset does not end the pause."""
    paused_messages = []
    client.create_subscription(Bool, "/episode/paused", paused_messages.append, convert.LATCHED_QOS)
    factor = f"wait_for_action:={waits}".lower()
    start("rulesafe_sim.node", *PHYSICS, factor, "real_time_factor:=1")
    client.until(lambda: client.statuses and paused_messages, "the simulation")
    pause(False)  # until it has discovered this client
    client.send(np.tile(HOME_ACTION, (50, 1)), client.now)
    client.until(lambda: client.status.frame > 2, "some frames")
    pause(True)
    client.until(lambda: paused_messages[-1].data, "/episode/paused")
    client.statuses.clear()

    def stands_still() -> bool:
        """Some statuses may have been sent before the pause."""
        last = client.statuses[-5:]
        return len(last) == 5 and len({status.frame for status in last}) == 1

    client.until(stands_still, "the pause")
    moment = client.now
    client.settle()  # until the joint states from before the pause are received
    client.joint_states.clear()
    client.statuses.clear()
    client.until(lambda: len(client.statuses) > 5, "more of them")
    assert client.now == moment and client.joint_states == []
    reply = client.reset("rule_002")
    assert reply.success
    client.until(lambda: client.status.episode == reply.episode, "the new episode")
    client.statuses.clear()
    client.until(lambda: len(client.statuses) > 5, "its statuses")
    assert client.status.frame == 0
    begun = client.now
    pause(False)
    client.send(np.tile(HOME_ACTION, (5, 1)), begun)
    client.until(lambda: client.now >= begun + 5 * PERIOD, "time goes on")
    assert not paused_messages[-1].data


def test_the_safes_description_follows_the_episode(client, start):
    """The URDF is that of the present safe, whose pose is in the status."""
    shapes = []
    client.create_subscription(
        String, "/episode/safe_description", shapes.append, convert.LATCHED_QOS
    )
    start("rulesafe_sim.node", *PHYSICS)
    for safe in ("safe_04", "safe_07"):
        if safe != "safe_04":
            assert client.reset("rule_001", safe, seed=2).success
        client.until(lambda safe=safe: client.status.safe == safe, safe)
        pose = messages.decode_pose(client.status.safe_pose)
        expected = to_urdf(safe_on_stand(load_safe(safe), pose))
        client.until(lambda safe=safe: shapes and f'name="{safe}"' in shapes[-1].data, safe)
        assert lines(shapes[-1].data) == lines(expected)


def lines(urdf: str) -> list[str]:
    """Return the lines without the last digits of the support, which change by rounding."""
    return [line for line in urdf.splitlines() if "origin" not in line and "size" not in line]
