"""A node that looks at a graph: who is there, what a topic says, what a service answers."""

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
"""s without news after which discovery has come to rest."""

DISCOVERY = 10.0
"""s after which no more is waited for: nodes may come and go all the time, or there is none. What
is lost as two nodes meet, on a busy machine, Fast DDS says again after 3 s: first that there is a
node, then what it writes and offers."""

SOON = 2.0
"""s in which a topic that is there is found."""

SETTLE = 1.0
"""s in which a topic's other publishers are heard of, or a server of its new client."""

STANDARD = (
    *("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters"),
    *("set_parameters", "set_parameters_atomically", "get_type_description"),
)
"""Services of every node."""


class Row(NamedTuple):
    """A topic and how many write and read it."""

    name: str
    type: str
    publishers: int
    subscribers: int


class GraphClient(ClientNode):
    """Inspects a graph, without a topic or service of its own that others would see."""

    def __init__(self) -> None:
        super().__init__(f"rulesafe_graph_{os.getpid()}")

    def settle(self, found: Callable[[], object]) -> None:
        """Waits until something is found and discovery has come to rest."""
        last, since = None, time.monotonic()

        def at_rest() -> bool:
            nonlocal last, since
            now = (self.rows(), self.offered(), self.get_node_names())
            if now != last:
                last, since = now, time.monotonic()
            return time.monotonic() - since > QUIET and bool(found())

        self.spin_until(at_rest, DISCOVERY)

    def rows(self) -> list[Row]:
        """Topics that others write or read, in order; not those of actions."""
        found = []
        for name, kinds in sorted(self.get_topic_names_and_types()):
            infos = (
                self.get_publishers_info_by_topic(name),
                self.get_subscriptions_info_by_topic(name),
            )
            counts = [sum(info.node_name != self.get_name() for info in each) for each in infos]
            if any(counts) and "/_" not in name:
                found.append(Row(name, ", ".join(kinds), *counts))
        return found

    def offered(self) -> dict[str, str]:
        """Services by name, with their types, in order; not those of actions."""
        found = sorted(self.get_service_names_and_types())
        return {name: ", ".join(kinds) for name, kinds in found if "/_" not in name}

    @property
    def where(self) -> str:
        """Where it looks."""
        return f"ROS domain {self.context.get_domain_id()}"

    # Topics -------------------------------------------------------------------------------

    def find(self, name: str, ended: Callable[[], object], said: Callable[[str], None]) -> Topic:
        """A topic, once somebody writes it; `said` hears, after SOON, that nobody does yet.

        Errors: RuleSafeError for a name that cannot be one, a type that nobody here knows, or if
        nobody writes it until `ended`.
        """
        full = name if name.startswith("/") else f"/{name}"
        try:
            validate_topic_name(full)
        except InvalidTopicNameException as error:
            raise RuleSafeError(f"{name!r} is no topic: {str(error).splitlines()[0]}") from None

        def found() -> bool:
            return bool(convert.publishers(self, full) or ended())

        if not self.spin_until(found, SOON):
            said(f"waiting for {self._nobody(full)}")
            self.spin_until(found)
        self.spin_until(ended, SETTLE)
        infos = convert.publishers(self, full)
        if not infos:
            raise RuleSafeError(f"nobody writes {self._nobody(full)}")
        return convert.to_topic(full, infos)

    def written(self) -> list[str]:
        """Topics that others write, but for those of every node."""
        return [row.name for row in self.rows() if row.publishers and row.name not in NOISE]

    def _nobody(self, name: str) -> str:
        return f"{name}: in {self.where} there is {', '.join(self.written()) or 'nobody'}"

    def listen(self, topic: Topic, take: Callable[[Any], None], raw: bool = False) -> None:
        """Calls `take` with each message, or with its bytes if `raw`; asks for no more than the
        topic's publishers offer, so that the last message of a latched topic comes too."""
        kind, request = convert.interface_class(topic.type), convert.to_request(topic.offered)
        self.create_subscription(kind, topic.name, take, request, raw=raw)

    # Services -----------------------------------------------------------------------------

    def service_class(self, name: str, timeout: float) -> Any:
        """The class of a service's type. Errors: RuleSafeError if nobody offers it within
        `timeout` s, or nobody here knows its type."""
        if not self.spin_until(lambda: name in self.offered(), timeout):
            ours = [n for n in self.offered() if n.rsplit("/", 1)[1] not in STANDARD]
            offered = ", ".join(ours) or "none"
            raise RuleSafeError(f"nobody offers {name}; services in {self.where}: {offered}")
        return convert.interface_class(self.offered()[name])

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
        """A node's parameters by name. Errors: RuleSafeError where there is no such node within
        `timeout` s, or it does not answer."""
        client = self._of(node, timeout)
        found = self._response(client.list_parameters, f"{node}/list_parameters", timeout)
        names = sorted(found.result.names)
        ask = partial(client.get_parameters, names)
        values = self._response(ask, f"{node}/get_parameters", timeout).values
        return {
            name: to_plain(parameter_value_to_python(value), None)
            for name, value in zip(names, values, strict=True)
        }

    def set_parameter(self, node: str, name: str, value: Any, timeout: float) -> None:
        """Changes a parameter. Errors: RuleSafeError for a value that no parameter has, or if the
        node refuses it."""
        try:
            parameters = [Parameter(name, value=value)]
        except TypeError:
            raise RuleSafeError(f"no parameter can be {value!r}") from None
        client = self._of(node, timeout)
        ask = partial(client.set_parameters, parameters)
        (result,) = self._response(ask, f"{node}/set_parameters", timeout).results
        if not result.successful:
            raise RuleSafeError(f"{node} refused {name}: {result.reason}")

    def _of(self, node: str, timeout: float) -> AsyncParameterClient:
        name, last = "/" + node.strip("/"), "/set_parameters"
        if not self.spin_until(lambda: name + last in self.offered(), timeout):
            having = [n.removesuffix(last) for n in self.offered() if n.endswith(last)]
            listed = ", ".join(having) or "none"
            raise RuleSafeError(f"no node {name}; nodes with parameters in {self.where}: {listed}")
        client = AsyncParameterClient(self, name)
        self.spin_until(client.services_are_ready, timeout)
        return client
