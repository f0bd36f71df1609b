"""The few lines that every node shares: parameters, one writer a topic, life and exit code."""

import errno
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import rclpy
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from rulesafe_core.errors import RuleSafeError
from rulesafe_interfaces.srv import ResetEpisode

UNNAMED = "_NODE_NAME_UNKNOWN_"
"""What rmw calls the node of a publisher that was just discovered, or that is no ROS 2 node's."""


@dataclass(frozen=True)
class Parameter:
    """A ROS parameter; `low` and `high` bound a number. Read once, unless it is `changeable`."""

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    changeable: bool = False

    def descriptor(self) -> ParameterDescriptor:
        number = isinstance(self.default, float)
        descriptor = ParameterDescriptor(
            description=self.description,
            read_only=not self.changeable,
            dynamic_typing=number,  # so that a person may write 1 for 1.0
        )
        if self.low is not None and self.high is not None:
            if number:
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(self.low), to_value=float(self.high))
                ]
            else:
                descriptor.integer_range = [
                    IntegerRange(from_value=int(self.low), to_value=int(self.high), step=1)
                ]
        return descriptor

    def check(self, value: Any) -> Any:
        """The value in the default's type. Errors: RuleSafeError if it is out of bounds."""
        if isinstance(self.default, float):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise RuleSafeError(f"parameter {self.name} takes a number, not {value!r}")
            value = float(value)
        if self.low is not None and self.high is not None and not self.low <= value <= self.high:
            raise RuleSafeError(
                f"parameter {self.name} must lie within {self.low:g} and {self.high:g}, "
                f"got {value:g}"
            )
        return value


EPISODE_PARAMETERS = (
    Parameter(
        "rule", "rule_001", "Rule of the first episode: an id or the path of a lock's .json file."
    ),
    Parameter("safe", "safe_01", "Safe of the first episode: an id or the path of a YAML file."),
    Parameter("seed", 0, "Seed of the first episode: one of the split's variations.", 0, 2**32 - 1),
    Parameter(
        "split",
        "nominal",
        "What a seed varies: nominal, train, shifted, or the path of a YAML file.",
    ),
)
"""Of a node that begins with an episode."""


def answer_reset(
    request: ResetEpisode.Request,
    response: ResetEpisode.Response,
    loaded: tuple[str, str],
    begin: Callable[[str, str, int], int],
) -> ResetEpisode.Response:
    """Answers /episode/reset. `loaded`: rule and safe that an empty name stands for. `begin` starts
    an episode of a rule, safe and seed and gives its number; its RuleSafeError is the answer."""
    rule, safe = request.rule or loaded[0], request.safe or loaded[1]
    try:
        response.episode = begin(rule, safe, request.seed)
    except RuleSafeError as error:
        response.success, response.message = False, str(error)
        return response
    response.success, response.message = True, f"{rule} on {safe}, seed {request.seed}"
    return response


def declare(node: Node, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Declares the parameters; their values by name. Later changes are checked likewise."""
    known = {parameter.name: parameter for parameter in parameters}
    values = {p.name: p.check(_declared(node, p)) for p in parameters}

    def check(changed: list) -> SetParametersResult:
        try:
            for parameter in changed:
                if parameter.name in known:
                    known[parameter.name].check(parameter.value)
        except RuleSafeError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    return values


def _declared(node: Node, parameter: Parameter) -> Any:
    return node.declare_parameter(parameter.name, parameter.default, parameter.descriptor()).value


def claim(node: Node, topic: str) -> socket.socket:
    """Makes this process the topic's only writer in its ROS domain, for as long as it holds what
    this gives. Errors: RuleSafeError where another process is that.

    Two simulations on one domain would be one robot with two bodies. DDS discovery tells too late;
    the name of an abstract socket reaches as far as loopback does and is free once its process
    has ended, however that was.
    """
    name, domain = node.resolve_topic_name(topic), node.context.get_domain_id()
    held = socket.socket(socket.AF_UNIX)
    try:
        held.bind(f"\0rulesafe/{domain}{name}")
    except OSError as error:
        held.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise RuleSafeError(
            f"another {node.get_name()} already runs on this machine in ROS domain {domain} "
            f"({name}): stop it, or set ROS_DOMAIN_ID to another number"
        ) from None
    return held


def serve(node: Node, executor: SingleThreadedExecutor) -> int:
    """What `run_node` runs of a node that has nothing to do but to answer.

    Not spin(): a signal that comes within a callback may fail to wake it, and where nothing more
    comes, nothing would.
    """
    while rclpy.ok():
        executor.spin_once(timeout_sec=0.5)
    return 0


def run_node(
    name: str,
    make: Callable[[], Node],
    run: Callable[[Any, SingleThreadedExecutor], int],
    args: Sequence[str] | None = None,
    interrupted: int = 0,
) -> int:
    """A node's life: make it, run it, shut down. The exit code: that of `run`; 2 with one line on
    stderr for what the user can mend; `interrupted` after a SIGINT, which is how a launch ends its
    nodes; 143 after a SIGTERM, so that a launch whose node somebody stopped does not pass for a
    success."""
    signals: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    # rclpy shuts down upon both signals, and calls these too.
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    code = _live(name, make, run, args, interrupted, signals)
    return 128 + signal.SIGTERM if signal.SIGTERM in signals else code


def _live(
    name: str,
    make: Callable[[], Node],
    run: Callable[[Any, SingleThreadedExecutor], int],
    args: Sequence[str] | None,
    interrupted: int,
    signals: Sequence[int],
) -> int:
    rclpy.init(args=None if args is None else list(args))
    executor = SingleThreadedExecutor()
    node = None
    try:
        node = make()
        executor.add_node(node)
        return run(node, executor)
    except (RuleSafeError, ParameterException) as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return interrupted
    except Exception:
        # After a signal: publishing into a context that is shut down, or a KeyboardInterrupt that
        # rclpy's own code made into another error.
        if rclpy.ok() and not signals:
            raise
        return interrupted
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
