"""A client node that inspects a graph: its topics, services and parameters."""

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, NamedTuple

from rclpy.exceptions import InvalidTopicNameException
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.validate_topic_name import validate_topic_name

from rulesafe_core.client_node import ClientNode
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.metadata import Topic
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.selection import NODE_TOPICS
from rulesafe_ros.graph.plain import to_plain

STABLE_PERIOD = 3.5
"""Time without changes of the graph after which discovery is considered complete, s. On a busy
machine announcements are lost, and the nodes of a graph are often discovered one per second. Fast
DDS repeats announcements after 3 s: first those of nodes, then those of their topics and services.
"""

DISCOVERY_TIMEOUT = 15.0
"""Timeout of discovery, s."""

REPORT_DELAY = 2.0
"""Time without a publisher after which a message names the missing topic, s."""

MATCHING_DELAY = 1.0
"""Time to discover further publishers of a topic, or the server of a new client, s."""

NODE_SERVICES = (
    *("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters"),
    *("set_parameters", "set_parameters_atomically", "get_type_description"),
)
"""Services of every node."""


class TopicInfo(NamedTuple):
    """A topic and the numbers of its publishers and subscribers."""

    name: str
    type: str
    publishers: int
    subscribers: int


class GraphClient(ClientNode):
    """Inspects a graph without publishing topics or offering services itself."""

    def __init__(self) -> None:
        super().__init__(f"rulesafe_graph_{os.getpid()}")

    def wait_for_discovery(self, found: Callable[[], object]) -> None:
        """Wait until `found` returns true and the graph has stopped changing, or the timeout, after
        which a graph that still changes is reported on stderr."""
        last, since = None, time.monotonic()

        def complete() -> bool:
            nonlocal last, since
            now = (self.topic_infos(), self.service_types(), self.get_node_names())
            if now != last:
                last, since = now, time.monotonic()
            return time.monotonic() - since > STABLE_PERIOD and bool(found())

        if not self.spin_until(complete, DISCOVERY_TIMEOUT) and found():
            text = f"the graph still changes after {DISCOVERY_TIMEOUT:g} s; run the command again"
            print(f"incomplete list: {text}", file=sys.stderr)

    def topic_infos(self) -> list[TopicInfo]:
        """Return the topics of other nodes, sorted, without those of actions."""
        found = []
        for name, kinds in sorted(self.get_topic_names_and_types()):
            infos = (
                self.get_publishers_info_by_topic(name),
                self.get_subscriptions_info_by_topic(name),
            )
            counts = [sum(info.node_name != self.get_name() for info in each) for each in infos]
            if any(counts) and "/_" not in name:
                found.append(TopicInfo(name, ", ".join(kinds), *counts))
        return found

    def service_types(self) -> dict[str, str]:
        """Return the types of services by name, sorted, without those of actions."""
        found = sorted(self.get_service_names_and_types())
        return {name: ", ".join(kinds) for name, kinds in found if "/_" not in name}

    @property
    def domain(self) -> str:
        return f"ROS domain {self.context.get_domain_id()}"

    # Topics -------------------------------------------------------------------------------

    def find(self, name: str, ended: Callable[[], object], report: Callable[[str], None]) -> Topic:
        """Wait until a topic has a publisher, and return the topic.

        Args:
            name: name of the topic.
            ended: returns whether to stop waiting.
            report: called with a line of text if there is no publisher yet.

        Raises:
            RuleSafeError: the name is invalid, its type is not installed, or no publisher was
                discovered before `ended`.
        """
        full = name if name.startswith("/") else f"{self.get_namespace().rstrip('/')}/{name}"
        try:
            validate_topic_name(full)
        except InvalidTopicNameException as error:
            raise RuleSafeError(f"invalid topic {name!r}: {str(error).splitlines()[0]}") from None

        def found() -> bool:
            return bool(self.get_publishers_info_by_topic(full) or ended())

        if not self.spin_until(found, REPORT_DELAY):
            report(f"waiting for a publisher on {full}; {self._published_text()}")
            self.spin_until(found)
        self.spin_until(ended, MATCHING_DELAY)
        infos = self.get_publishers_info_by_topic(full)
        if not infos:
            raise RuleSafeError(f"no publisher on {full}; {self._published_text()}")
        return convert.to_topic(full, infos)

    def published(self) -> list[str]:
        """Return the names of topics published by other nodes, without NODE_TOPICS."""
        return [t.name for t in self.topic_infos() if t.publishers and t.name not in NODE_TOPICS]

    def _published_text(self) -> str:
        return f"published topics in {self.domain}: {', '.join(self.published()) or 'none'}"

    def listen(self, topic: Topic, callback: Callable[[Any], None], raw: bool = False) -> None:
        """Subscribe: call `callback` with each message, or with its serialized bytes if `raw`."""
        kind, request = convert.interface_class(topic.type), convert.to_request(topic.offered)
        self.create_subscription(kind, topic.name, callback, request, raw=raw)

    # Services -----------------------------------------------------------------------------

    def service_class(self, name: str, timeout: float) -> Any:
        """Return the class of a service's type.

        Raises:
            RuleSafeError: no such service is discovered within `timeout` s, or its type is not
                installed.
        """
        if not self.spin_until(lambda: name in self.service_types(), timeout):
            names = [n for n in self.service_types() if n.rsplit("/", 1)[1] not in NODE_SERVICES]
            offered = ", ".join(names) or "none"
            raise RuleSafeError(f"no service {name}; services in {self.domain}: {offered}")
        return convert.interface_class(self.service_types()[name])

    def call(self, kind: Any, name: str, request: Any, timeout: float) -> Any:
        """Call a service and return its response; raise RuleSafeError after `timeout` s."""
        client = self.create_client(kind, name)
        self.spin_until(client.service_is_ready, timeout)
        self.spin_for(MATCHING_DELAY)  # a server responds only to clients that it has discovered
        # The request is not repeated, since a service may act on each request.
        return self.response(name, lambda: client.call_async(request), timeout, interval=inf)

    # Parameters ---------------------------------------------------------------------------

    def parameters(self, node: str, timeout: float) -> dict[str, Any]:
        """Return a node's parameters by name.

        Raises:
            RuleSafeError: the node is not discovered or does not respond within `timeout` s.
        """
        client = self._parameter_client(node, timeout)
        found = self.response(
            f"{node}/list_parameters", client.list_parameters, timeout, MATCHING_DELAY
        )
        names = sorted(found.result.names)
        send = partial(client.get_parameters, names)
        values = self.response(f"{node}/get_parameters", send, timeout, MATCHING_DELAY).values
        return {
            name: to_plain(parameter_value_to_python(value), None)
            for name, value in zip(names, values, strict=True)
        }

    def set_parameter(self, node: str, name: str, value: Any, timeout: float) -> None:
        """Set a parameter.

        Raises:
            RuleSafeError: the value has no parameter type, or the node rejects it.
        """
        try:
            parameters = [Parameter(name, value=value)]
        except TypeError:
            raise RuleSafeError(
                f"{value!r} has no parameter type; valid: bool, number, text, or a list of these"
            ) from None
        client = self._parameter_client(node, timeout)
        send = partial(client.set_parameters, parameters)
        response = self.response(f"{node}/set_parameters", send, timeout, MATCHING_DELAY)
        (result,) = response.results
        if not result.successful:
            raise RuleSafeError(f"{node} rejected the value {value!r} of {name}: {result.reason}")

    def _parameter_client(self, node: str, timeout: float) -> AsyncParameterClient:
        name, last = "/" + node.strip("/"), "/set_parameters"
        if not self.spin_until(lambda: name + last in self.service_types(), timeout):
            nodes = [n.removesuffix(last) for n in self.service_types() if n.endswith(last)]
            listed = ", ".join(nodes) or "none"
            raise RuleSafeError(f"no node {name}; nodes with parameters in {self.domain}: {listed}")
        client = AsyncParameterClient(self, name)
        self.spin_until(client.services_are_ready, timeout)
        return client
