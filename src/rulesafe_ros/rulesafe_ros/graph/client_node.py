"""A client that inspects a graph: its topics, services and parameters."""

import os
import time
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, NamedTuple

from rclpy.exceptions import InvalidTopicNameException
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.task import Future
from rclpy.validate_topic_name import validate_topic_name

from rulesafe_core.client_node import ClientNode, RepeatedRequest
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.metadata import Topic
from rulesafe_ros.bag import convert
from rulesafe_ros.bag.selection import NOISE
from rulesafe_ros.graph.plain import to_plain

QUIET = 1.0
"""s without changes of the graph after which discovery is regarded as complete."""

DISCOVERY_TIMEOUT = 10.0
"""s after which discovery is not waited for any longer. On a busy machine announcements get lost;
Fast DDS repeats them after 3 s, first those of nodes, then those of their topics and services."""

NOTICE = 2.0
"""s without a publisher after which the user is told what is waited for."""

SETTLE = 1.0
"""s within which other publishers of a topic, or the server of a new client, are discovered."""

STANDARD = (
    *("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters"),
    *("set_parameters", "set_parameters_atomically", "get_type_description"),
)
"""Services of every node."""


class TopicInfo(NamedTuple):
    """A topic with its numbers of publishers and subscribers."""

    name: str
    type: str
    publishers: int
    subscribers: int


class GraphClient(ClientNode):
    """Inspects a graph, without a topic or service of its own that others would see."""

    def __init__(self) -> None:
        super().__init__(f"rulesafe_graph_{os.getpid()}")

    def wait_for_discovery(self, found: Callable[[], object]) -> None:
        """Wait until something is found and the graph has stopped changing."""
        last, since = None, time.monotonic()

        def complete() -> bool:
            nonlocal last, since
            now = (self.topic_infos(), self.service_types(), self.get_node_names())
            if now != last:
                last, since = now, time.monotonic()
            return time.monotonic() - since > QUIET and bool(found())

        self.spin_until(complete, DISCOVERY_TIMEOUT)

    def topic_infos(self) -> list[TopicInfo]:
        """Return the topics of other nodes, sorted; not those of actions."""
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
        """Return the types of services by name, sorted; not those of actions."""
        found = sorted(self.get_service_names_and_types())
        return {name: ", ".join(kinds) for name, kinds in found if "/_" not in name}

    @property
    def domain(self) -> str:
        return f"ROS domain {self.context.get_domain_id()}"

    # Topics -------------------------------------------------------------------------------

    def find(self, name: str, ended: Callable[[], object], report: Callable[[str], None]) -> Topic:
        """Return a topic as soon as it has a publisher.

        Args:
            name: of the topic.
            ended: whether to stop waiting.
            report: called with a line if there is no publisher yet.

        Raises:
            RuleSafeError: the name is invalid, the type is not installed, or there is no publisher
                until `ended`.
        """
        full = name if name.startswith("/") else f"/{name}"
        try:
            validate_topic_name(full)
        except InvalidTopicNameException as error:
            raise RuleSafeError(f"{name!r} is no topic: {str(error).splitlines()[0]}") from None

        def found() -> bool:
            return bool(self.get_publishers_info_by_topic(full) or ended())

        if not self.spin_until(found, NOTICE):
            report(f"waiting for {full}: {self._published_text()}")
            self.spin_until(found)
        self.spin_until(ended, SETTLE)
        infos = self.get_publishers_info_by_topic(full)
        if not infos:
            raise RuleSafeError(f"no publisher on {full}: {self._published_text()}")
        return convert.to_topic(full, infos)

    def published(self) -> list[str]:
        """Return the names of topics that others publish, without those of every node."""
        return [t.name for t in self.topic_infos() if t.publishers and t.name not in NOISE]

    def _published_text(self) -> str:
        return f"in {self.domain} there is {', '.join(self.published()) or 'nobody'}"

    def listen(self, topic: Topic, take: Callable[[Any], None], raw: bool = False) -> None:
        """Call `take` with each message, or with its bytes if `raw`; a latched topic's last too."""
        kind, request = convert.interface_class(topic.type), convert.to_request(topic.offered)
        self.create_subscription(kind, topic.name, take, request, raw=raw)

    # Services -----------------------------------------------------------------------------

    def service_class(self, name: str, timeout: float) -> Any:
        """Return the class of a service's type.

        Raises:
            RuleSafeError: there is no such service within `timeout` s, or no such type installed.
        """
        if not self.spin_until(lambda: name in self.service_types(), timeout):
            ours = [n for n in self.service_types() if n.rsplit("/", 1)[1] not in STANDARD]
            offered = ", ".join(ours) or "none"
            raise RuleSafeError(f"nobody offers {name}; services in {self.domain}: {offered}")
        return convert.interface_class(self.service_types()[name])

    def call(self, kind: Any, name: str, request: Any, timeout: float) -> Any:
        """Return the response to a request. Errors: RuleSafeError after `timeout` s without one."""
        client = self.create_client(kind, name)
        self.spin_until(client.service_is_ready, timeout)
        self.spin_for(SETTLE)  # a server answers only clients that it has discovered
        # Not repeated: a service may do something each time.
        return self._response(lambda: client.call_async(request), name, timeout, interval=inf)

    def _response(
        self, send: Callable[[], Future], name: str, timeout: float, interval: float = SETTLE
    ) -> Any:
        request = RepeatedRequest(send, interval)
        if not self.spin_until(request.poll, timeout):
            raise RuleSafeError(f"{name} did not answer within {timeout:g} s")
        return request.response.result()

    # Parameters ---------------------------------------------------------------------------

    def parameters(self, node: str, timeout: float) -> dict[str, Any]:
        """Return a node's parameters by name.

        Raises:
            RuleSafeError: there is no such node within `timeout` s, or it does not answer.
        """
        client = self._parameter_client(node, timeout)
        found = self._response(client.list_parameters, f"{node}/list_parameters", timeout)
        names = sorted(found.result.names)
        ask = partial(client.get_parameters, names)
        values = self._response(ask, f"{node}/get_parameters", timeout).values
        return {
            name: to_plain(parameter_value_to_python(value), None)
            for name, value in zip(names, values, strict=True)
        }

    def set_parameter(self, node: str, name: str, value: Any, timeout: float) -> None:
        """Change a parameter. Errors: RuleSafeError if the value has no parameter type, or the node
        refuses it."""
        try:
            parameters = [Parameter(name, value=value)]
        except TypeError:
            raise RuleSafeError(f"no parameter can be {value!r}") from None
        client = self._parameter_client(node, timeout)
        ask = partial(client.set_parameters, parameters)
        (result,) = self._response(ask, f"{node}/set_parameters", timeout).results
        if not result.successful:
            raise RuleSafeError(f"{node} refused {name}: {result.reason}")

    def _parameter_client(self, node: str, timeout: float) -> AsyncParameterClient:
        name, last = "/" + node.strip("/"), "/set_parameters"
        if not self.spin_until(lambda: name + last in self.service_types(), timeout):
            having = [n.removesuffix(last) for n in self.service_types() if n.endswith(last)]
            listed = ", ".join(having) or "none"
            raise RuleSafeError(f"no node {name}; nodes with parameters in {self.domain}: {listed}")
        client = AsyncParameterClient(self, name)
        self.spin_until(client.services_are_ready, timeout)
        return client
