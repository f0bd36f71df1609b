"""List the publishers and subscribers of running graphs, for scripts/make_reference.py."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rulesafe_core.domains import reserve_domain

os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
os.environ["ROS_DOMAIN_ID"] = str(reserve_domain())

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from rulesafe_ros.bag.selection import NODE_TOPICS

TIME_LIMIT = 120.0
"""Time until all nodes must be discovered, s."""

STABLE_FOR = 7.0
"""Time for which the graph must not have changed, s. Fast DDS repeats discovery messages that were
lost after 3 s."""

OWN = "rulesafe_reference"

ALL_INPUTS = """
import numpy as np
from vq_memory_node.memory import VqMemory
from policy_node.policy import CHUNK, Needs

class AllInputs:
    needs = Needs(frames=1, points=1024, images=True, instruction=True, memory=True)
    memory = VqMemory()
    def reset(self): pass
    def infer(self, observation): return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""
"""A policy that needs all inputs."""


@dataclass
class Graph:
    """Rows of the tables of topics and of services."""

    topics: list[list[str]]
    services: list[list[str]]


Found = dict[str, tuple[set[str], set[str], set[str], set[str]]]
"""Topic -> types, publishers, subscribers, remarks."""


def simulation() -> Graph:
    """Return the graph of simulation, evaluator and memory, with the expert and with a policy."""
    always: list[tuple[str, ...]] = [
        ("rulesafe_sim.node", "film:=true", "start:=false"),
        ("vq_memory_node.node",),
        ("rulesafe_eval.node", "episodes:=0"),
    ]
    names = ["sim_node", "vq_memory_node", "evaluator_node"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "all_inputs.py").write_text(ALL_INPUTS)
        path = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        policy = ("policy_node.node", "policy:=all_inputs:AllInputs", "execute_steps:=50")
        with _running([*always, ("planner_node.node",)], {}) as node:
            expert, services = _ask(node, [*names, "planner_node"])
        with _running([*always, policy], {"PYTHONPATH": path}) as node:
            learned, more = _ask(node, [*names, "policy_node"], "/camera/points")
    for topic, kinds in learned.items():
        for known, new in zip(expert.setdefault(topic, kinds), kinds, strict=True):
            known |= new
    return _rows(expert, services | more)


def beside_the_robot() -> Graph:
    """Return the graph of bridge, supervisor, frames and cameras with the simulated robot side."""
    modules: list[tuple[str, ...]] = [("h1_2_sim.node", "start:=false", "cameras:=true")]
    modules += [("policy_node.instruction_node",)]
    modules += [(f"h1_2_bridge.{name}",) for name in ("node", "supervisor_node")]
    modules += [("h1_2_bridge.camera_points_node",), ("rulesafe_core.frames_node",)]
    names = ["robot_side_node", "instruction_node", "h1_2_bridge"]
    names += ["h1_2_bridge_listener", "h1_2_bridge_supervisor", "camera_points"]
    names += ["frames_node"]
    with _running(modules, {}) as node:
        return _rows(*_ask(node, names))


@contextmanager
def _running(modules: Sequence[Sequence[str]], more: dict[str, str]) -> Iterator[Node]:
    """Run modules as processes, and yield a node that observes their graph."""
    processes = []
    rclpy.init()
    node = rclpy.create_node(OWN)
    try:
        for module, *parameters in modules:
            words = [word for parameter in parameters for word in ("-p", parameter)]
            command = [sys.executable, "-m", module, *(["--ros-args", *words] if words else [])]
            quiet = subprocess.DEVNULL
            environment = {**os.environ, **more}
            processes.append(subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet))
        yield node
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:  # Fast DDS may wait for itself at the end
                process.kill()
                process.wait()
        node.destroy_node()
        rclpy.shutdown()


def _ask(node: Node, names: Sequence[str], read: str = "") -> tuple[Found, set[tuple[str, ...]]]:
    """Return topics and services when all nodes are discovered, the topic `read` has a subscriber,
    and the graph is stable."""
    end = time.monotonic() + TIME_LIMIT
    last, since = None, time.monotonic()
    while time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.2)
        found = _topics(node), _services(node, names)
        if found != last:
            last, since = found, time.monotonic()
        complete = set(names) <= set(node.get_node_names())
        complete = complete and (not read or (read in found[0] and bool(found[0][read][2])))
        if complete and time.monotonic() - since > STABLE_FOR:
            return found
    missing = set(names) - set(node.get_node_names())
    raise RuntimeError(f"the graph is not stable; missing: {missing or read}")


def _topics(node: Node) -> Found:
    found: Found = {}
    for topic, types in node.get_topic_names_and_types():
        if topic in NODE_TOPICS or topic.endswith("/transition_event") or "/_action" in topic:
            continue
        entry = found.setdefault(topic, (set(types), set(), set(), set()))
        for info in node.get_publishers_info_by_topic(topic):
            if info.node_name == OWN:
                continue
            entry[1].add(_shown(info.node_name))
            if info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL:
                entry[3].add("latched")
            if info.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT:
                entry[3].add("best effort")
        entry[2].update(
            _shown(info.node_name)
            for info in node.get_subscriptions_info_by_topic(topic)
            if info.node_name != OWN
        )
    return found


def _shown(name: str) -> str:
    return name.removesuffix("_listener")


def _services(node: Node, names: Sequence[str]) -> set[tuple[str, ...]]:
    """Return (name, type, node) of services and actions, without those of every node."""
    found: set[tuple[str, ...]] = set()
    for name in set(names) & set(node.get_node_names()):
        for service, types in node.get_service_names_and_types_by_node(name, "/"):
            base, _, last = service.rpartition("/")
            if last == "send_goal":
                action = base.removesuffix("/_action")
                kind = types[0].removesuffix("_SendGoal").replace("/srv/", "/action/")
                found.add((action, kind, name))
            elif "_action" not in service and _is_ours(service, types[0]):
                found.add((service, types[0], _shown(name)))
    return found


def _is_ours(service: str, kind: str) -> bool:
    return kind.split("/")[0] not in (
        "rcl_interfaces",
        "lifecycle_msgs",
        "type_description_interfaces",
    )


def _rows(topics: Found, services: set[tuple[str, ...]]) -> Graph:
    def words(names: set[str]) -> str:
        return ", ".join(f"`{name}`" for name in sorted(names))

    rows = []
    for topic, (types, publishers, subscribers, remarks) in sorted(topics.items()):
        kind = ", ".join(sorted(types)).replace("/msg", "")
        remark = ", ".join(sorted(remarks))
        rows.append([f"`{topic}`", f"`{kind}`", words(publishers), words(subscribers), remark])
    return Graph(rows, [[f"`{a}`", f"`{b}`", f"`{c}`"] for a, b, c in sorted(services)])
