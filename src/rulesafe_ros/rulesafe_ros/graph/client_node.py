"""A node that looks at a graph: who is there, what a topic says, what a service answers."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from typing import Any, NamedTuple

import rclpy
from rclpy.exceptions import InvalidTopicNameException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.validate_topic_name import validate_topic_name

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


class GraphClient(Node):
    """Looks, without a topic or service of its own that others would see."""

    def __init__(self) -> None:
        name = f"rulesafe_graph_{os.getpid()}"
        super().__init__(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self)

    def spin_until(self, condition: Callable[[], object], patience: float = inf) -> bool:
        """Serves until the condition holds; whether it did within `patience` s."""
        end = time.monotonic() + patience
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._executor.spin_once(timeout_sec=min(left, 0.1))
        return True

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

    def service_class(self, name: str, patience: float) -> Any:
        """The class of a service's type. Errors: RuleSafeError if nobody offers it within
        `patience` s, or nobody here knows its type."""
        if not self.spin_until(lambda: name in self.offered(), patience):
            ours = [n for n in self.offered() if n.rsplit("/", 1)[1] not in STANDARD]
            offered = ", ".join(ours) or "none"
            raise RuleSafeError(f"nobody offers {name}; services in {self.where}: {offered}")
        return convert.interface_class(self.offered()[name])

    def call(self, kind: Any, name: str, request: Any, patience: float) -> Any:
        """The response to a request. Errors: RuleSafeError where none comes within `patience` s."""
        client = self.create_client(kind, name)
        self.spin_until(client.service_is_ready, patience)
        self.spin_until(lambda: False, SETTLE)  # a server answers only clients that it has found
        # Not asked again: a service may do something each time.
        return self.answer(lambda: client.call_async(request), name, patience, again=inf)

    def answer(
        self, ask: Callable[[], Future], name: str, patience: float, again: float = SETTLE
    ) -> Any:
        """What is answered to `ask`, the first time or when asked again after so many s."""
        asked: list[Future] = []

        def answered() -> bool:
            return any(each.done() for each in asked)

        end = time.monotonic() + patience
        while not answered():
            left = end - time.monotonic()
            if left <= 0:
                raise RuleSafeError(f"{name} did not answer within {patience:g} s")
            asked.append(ask())
            self.spin_until(answered, min(again, left))
        return next(each.result() for each in asked if each.done())

    # Parameters ---------------------------------------------------------------------------

    def parameters(self, node: str, patience: float) -> dict[str, Any]:
        """A node's parameters by name. Errors: RuleSafeError where there is no such node within
        `patience` s, or it does not answer."""
        client = self._of(node, patience)
        found = self.answer(client.list_parameters, f"{node}/list_parameters", patience)
        names = sorted(found.result.names)
        ask = partial(client.get_parameters, names)
        values = self.answer(ask, f"{node}/get_parameters", patience).values
        return {
            name: to_plain(parameter_value_to_python(value), None)
            for name, value in zip(names, values, strict=True)
        }

    def set_parameter(self, node: str, name: str, value: Any, patience: float) -> None:
        """Changes a parameter. Errors: RuleSafeError for a value that no parameter has, or if the
        node refuses it."""
        try:
            parameters = [Parameter(name, value=value)]
        except TypeError:
            raise RuleSafeError(f"no parameter can be {value!r}") from None
        client = self._of(node, patience)
        ask = partial(client.set_parameters, parameters)
        (result,) = self.answer(ask, f"{node}/set_parameters", patience).results
        if not result.successful:
            raise RuleSafeError(f"{node} refused {name}: {result.reason}")

    def _of(self, node: str, patience: float) -> AsyncParameterClient:
        name, last = "/" + node.strip("/"), "/set_parameters"
        if not self.spin_until(lambda: name + last in self.offered(), patience):
            having = [n.removesuffix(last) for n in self.offered() if n.endswith(last)]
            listed = ", ".join(having) or "none"
            raise RuleSafeError(f"no node {name}; nodes with parameters in {self.where}: {listed}")
        client = AsyncParameterClient(self, name)
        self.spin_until(client.services_are_ready, patience)
        return client


@contextmanager
def connected() -> Iterator[GraphClient]:
    """A client, which hears and calls this machine's nodes alone unless the environment says
    otherwise, as with the launch files."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # Ctrl-C is Python's, or the command's own.
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    client = GraphClient()
    try:
        yield client
    finally:
        client.destroy_node()
        rclpy.try_shutdown()
