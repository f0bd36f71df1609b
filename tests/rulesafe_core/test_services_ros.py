"""Requests delay no node, and an exception of a callback ends none."""

from threading import Event
from time import monotonic

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.parameter_client import AsyncParameterClient
from ros_client import PATIENCE, PatientNode
from std_msgs.msg import String
from std_srvs.srv import Trigger

from rulesafe_core import services_ros
from rulesafe_core.client_node import connected
from rulesafe_core.executor_ros import NodeExecutor
from rulesafe_core.services_ros import MOST_RESPONSES, ServicePoller

pytestmark = pytest.mark.ros


@pytest.fixture
def client():
    with connected(lambda: PatientNode("client")) as node:
        yield node


@pytest.fixture
def serve(client):
    """serve(make) -> a node and its executor, which runs while the client waits."""
    found = []

    def begin(make):
        node, executor = make(), NodeExecutor()
        executor.add_node(node)
        found.append((node, executor))
        return node, executor

    yield begin
    for node, executor in found:
        executor.services.close()
        node.destroy_node()


def until(client, condition, what):
    """Execute the client until the condition is true, with short pauses."""
    end = monotonic() + PATIENCE
    while not condition():
        client._executor.spin_once(timeout_sec=0.01)
        assert monotonic() < end, f"{what}: not within {PATIENCE:g} s"


def response(client, executor, send):
    """Return the response to a request, while the executor runs."""
    future = send()
    until(client, lambda: executor.spin_once(timeout_sec=0) or future.done(), "a response")
    return future.result()


def broken(request, response):
    raise ZeroDivisionError("no luck")


def test_a_callback_that_raises_is_answered_and_the_node_continues(client, serve):
    node, executor = serve(lambda: Node("server"))
    node.create_service(Trigger, "/broken", broken)
    node.create_service(Trigger, "/works", lambda request, response: response)
    received = []
    node.create_subscription(String, "/text", lambda message: received.append(1 / 0), 1)
    publisher = client.create_publisher(String, "/text", 1)
    client.until(publisher.get_subscription_count, "the subscription")
    for name in ("/broken", "/works", "/broken"):
        caller = client.create_client(Trigger, name)
        client.until(caller.service_is_ready, name)
        publisher.publish(String())
        found = response(
            client, executor, lambda caller=caller: caller.call_async(Trigger.Request())
        )
        assert not found.success
        assert found.message.startswith("ZeroDivisionError: no luck" if name == "/broken" else "")


def test_an_invalid_transition_is_refused_and_the_node_continues(client, serve):
    _, executor = serve(lambda: LifecycleNode("server"))
    change = client.create_client(ChangeState, "/server/change_state")
    state = client.create_client(GetState, "/server/get_state")
    client.until(lambda: change.service_is_ready() and state.service_is_ready(), "services")

    def request(number):
        wanted = ChangeState.Request(transition=Transition(id=number))
        return response(client, executor, lambda: change.call_async(wanted)).success

    assert not request(Transition.TRANSITION_ACTIVATE)  # not configured
    assert not request(200)  # no transition
    assert request(Transition.TRANSITION_CONFIGURE)
    found = response(client, executor, lambda: state.call_async(GetState.Request()))
    assert found.current_state.label == "inactive"


def test_parameters_are_answered_as_by_rclpy(client, serve):
    node, executor = serve(lambda: Node("server"))
    node.declare_parameter("speeds", [0.5, 1.5])
    parameters = AsyncParameterClient(client, "server")
    client.until(parameters.services_are_ready, "services")
    found = response(client, executor, lambda: parameters.get_parameters(["speeds"]))
    assert list(found.values[0].double_array_value) == [0.5, 1.5]
    assert "speeds" in response(client, executor, parameters.list_parameters).result.names


def test_a_response_that_cannot_be_sent_delays_no_request(client, serve, monkeypatch):
    """Sending waits as long as this test; rmw_fastrtps waits for a client that has left."""
    left, called = Event(), []
    monkeypatch.setattr(services_ros, "_send", lambda *arguments: left.wait() and 1)
    node, executor = serve(lambda: Node("server"))

    def count(request, response):
        called.append(1)
        return response

    node.create_service(Trigger, "/count", count)
    poller = ServicePoller(node, executor.services, ["/count"])
    caller = client.create_client(Trigger, "/count")
    client.until(caller.service_is_ready, "/count")
    total = MOST_RESPONSES + 10
    try:
        for number in range(1, total + 1):
            caller.call_async(Trigger.Request())
            until(client, lambda n=number: poller.poll() or len(called) == n, "a request")
        assert len(executor.services._queue) == MOST_RESPONSES
    finally:
        left.set()


def test_a_flooded_service_does_not_delay_the_others(client, serve):
    node, executor = serve(lambda: Node("server"))
    called = []

    def answer(name):
        return lambda request, response: called.append(name) or response

    for name in ("/flooded", "/stop"):
        node.create_service(Trigger, name, answer(name))
    poller = ServicePoller(node, executor.services, ["/flooded", "/stop"])
    callers = [client.create_client(Trigger, name) for name in ("/flooded", "/stop")]
    client.until(lambda: all(c.service_is_ready() for c in callers), "services")

    def flood() -> bool:
        callers[0].call_async(Trigger.Request())
        poller.poll()
        return "/flooded" in called

    until(client, flood, "the flooded service")
    callers[1].call_async(Trigger.Request())
    until(client, lambda: flood() and "/stop" in called, "/stop")
