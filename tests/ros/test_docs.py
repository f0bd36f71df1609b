"""Compare the tables of topics in docs/interface.md and docs/reference with a running graph."""

import os
import re
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.action import get_action_names_and_types
from ros_client import PATIENCE, PatientNode

from rulesafe_core.client_node import connected

pytestmark = pytest.mark.ros

EXAMPLES = Path(__file__).parents[2] / "examples/policies"
FOLDER = Path(__file__).parents[2] / "docs"
DOCS = (FOLDER / "interface.md").read_text("utf-8")
REFERENCE = (FOLDER / "reference/topics.md").read_text("utf-8")
NODES = (
    "sim_node",
    "planner_node",
    "policy_node",
    "vq_memory_node",
    "evaluator_node",
)
BESIDE_THE_ROBOT = (
    *("h1_2_bridge", "h1_2_bridge_supervisor", "camera_points", "robot_side_node"),
    *("instruction_node", "frames_node"),
)
OF_EVERY_NODE = {
    *("/rosout", "/parameter_events", "/h1_2_bridge/transition_event"),
    *("/vq_memory_node/transition_event", "/policy_node/transition_event"),
}


def section(title: str, page: str = DOCS) -> list[list[str]]:
    """Return the cells of the table below a heading, without code marks."""
    text = re.split(r"^#+ ", page.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.M)[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("`", "") for cell in row] for row in rows[2:]]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split(", ")) - {""}


def until_it_agrees(client, names, expected, what: str) -> None:
    """Wait until the topics of these nodes have the expected entries (topic, type, publishers) or
    (topic, type, publishers, subscribers)."""
    size = len(next(iter(expected)))
    difference: set = set()

    def entries(observer) -> set[tuple]:
        asked = (
            observer.get_publisher_names_and_types_by_node,
            observer.get_subscriber_names_and_types_by_node,
        )
        found: dict[tuple[str, str], tuple[set, set]] = {}
        for end, ask in enumerate(asked):
            for name in names:
                for topic, types in ask(name, "/"):
                    if topic not in OF_EVERY_NODE and not topic.startswith("/evaluate/_action"):
                        key = topic, types[0].replace("/msg", "")
                        node = name.removesuffix("_listener")
                        found.setdefault(key, (set(), set()))[end].add(node)
        return {(*key, *map(frozenset, ends))[:size] for key, ends in found.items()}

    def agrees(observer) -> bool:
        difference.clear()
        difference.update(
            set(names) - set(observer.get_node_names()) or entries(observer) ^ expected
        )
        return not difference

    # A participant of Fast DDS sometimes never receives the announcements of another one, on a
    # machine where both wait for the CPU. The table is about the nodes: a new observer asks again.
    if client.spin_until(lambda: agrees(client), PATIENCE / 3):
        return
    seen = set(difference)
    with connected(lambda: PatientNode("second_observer")) as second:
        found = second.spin_until(lambda: agrees(second), PATIENCE)
    assert found, f"{what}: {difference}; the first observer: {seen}"


def test_topics_services_and_the_action(client, start, model_dir, monkeypatch):
    """The tables have every topic of the nodes with its type and publishers. Only one of planner
    and policy may be active; tests/ros/test_policy_node.py checks the subscriptions of a policy."""
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES), prepend=os.pathsep)
    start("rulesafe_sim.node", "start:=false", "cameras:=true", "film:=true")
    start("planner_node.node")
    start("vq_memory_node.node", f"model:={model_dir}")
    start("rulesafe_eval.node", "episodes:=0")
    start("policy_node.node", "policy:=hold_still:HoldStill", "autostart:=false")
    configure = client.create_client(ChangeState, "/policy_node/change_state")
    client.meet(configure)
    transition = Transition(id=Transition.TRANSITION_CONFIGURE)
    configured = configure.call_async(ChangeState.Request(transition=transition))
    client.until(configured.done, "the policy's configuration")
    client.until(lambda: "/evaluate" in dict(get_action_names_and_types(client)), "the action")
    services = {row[0]: row[1] for row in section("Services and actions")}
    assert services == {
        "/episode/reset": "rulesafe_interfaces/srv/ResetEpisode",
        "/episode/pause": "std_srvs/srv/SetBool",
        "/vq_memory_node/reset": "std_srvs/srv/Trigger",
        "/vq_memory_node/publish": "std_srvs/srv/Trigger",
        "/evaluate": "rulesafe_interfaces/action/Evaluate",
    }
    publishers = {row[0]: row[2] for row in section("The simulation", REFERENCE) if len(row) == 5}
    expected = {(row[0], row[1], words(publishers[row[0]])) for row in section("Topics")}
    until_it_agrees(client, NODES, expected, "the graph of docs/interface.md")


def test_topics_and_services_beside_the_robot(client, start):
    """The table of the robot's graph: types, publishers, subscribers, and the bridge's services."""
    start("h1_2_sim.node", "start:=false", "cameras:=true")
    start("policy_node.instruction_node")
    for module in ("node", "supervisor_node", "camera_points_node"):
        start(f"h1_2_bridge.{module}")
    start("rulesafe_core.frames_node")
    names = [*BESIDE_THE_ROBOT, "h1_2_bridge_listener"]  # the node with which the bridge subscribes
    rows = section("The robot", REFERENCE)
    services = {row[0] for row in rows if len(row) == 3 and row[0].startswith("/")}
    bridge = {f"/bridge/{word}" for word in ("engage", "disengage", "stop", "reset")}
    assert services == {*bridge, "/episode/reset"}
    expected = {(*row[:2], words(row[2]), words(row[3])) for row in rows if len(row) == 5}
    until_it_agrees(client, names, expected, "the graph beside the robot")
    client.until(
        lambda: services <= {name for name, _ in client.get_service_names_and_types()},
        "the services of the bridge and the episode",
    )
