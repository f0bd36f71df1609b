"""The few lines that every node shares: parameters, one writer a topic, life and exit code."""

import errno
import signal
import socket
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, TypeVar

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
from rulesafe_core.settings import Settings, convert, described, setting
from rulesafe_interfaces.srv import ResetEpisode

T = TypeVar("T", bound=Settings)

UNNAMED = "_NODE_NAME_UNKNOWN_"
"""What rmw calls the node of a publisher that was just discovered, or that is no ROS 2 node's."""


@dataclass(frozen=True)
class EpisodeParameters(Settings):
    """Parameters of a node that starts episodes: the first one."""

    rule: str = setting("rule_001", "Rule: an id or the path of a lock's .json file.")
    safe: str = setting("safe_01", "Safe: an id or the path of a YAML file.")
    seed: int = setting(0, "Seed: one of the split's variations.", 0, 2**32 - 1)
    split: str = setting(
        "nominal", "What a seed varies: nominal, train, shifted, or the path of a YAML file."
    )


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


def declare(node: Node, kind: type[T]) -> T:
    """Declares the settings of a dataclass as the node's parameters; the values given at its start.
    Later changes are checked likewise; `read_parameters` gives the values then."""
    known = {of.name: of for of in fields(kind)}
    for name, of in known.items():
        default = list(of.default) if isinstance(of.default, tuple) else of.default
        node.declare_parameter(name, default, _descriptor(of))

    def check(changed: list) -> SetParametersResult:
        try:
            for parameter in changed:
                if parameter.name in known:
                    _checked(known[parameter.name], parameter.value)
        except RuleSafeError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    return read_parameters(node, kind)


def read_parameters(node: Node, kind: type[T]) -> T:
    """The values of parameters that were declared. Errors: RuleSafeError for one that is not
    valid."""
    known = fields(kind)
    return kind(**{of.name: _checked(of, node.get_parameter(of.name).value) for of in known})


def _checked(of: Field, value: Any) -> Any:
    value = list(value) if isinstance(value, array) else value
    return convert(of.type, value, f"parameter {of.name}", of.metadata)


def _descriptor(of: Field) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(
        description=described(of.metadata),
        read_only=not of.metadata["changeable"],
        dynamic_typing=of.type is float,  # so that 1 is accepted for 1.0
    )
    if "low" in of.metadata:
        low, high = of.metadata["low"], of.metadata["high"]
        if of.type is float:
            span = FloatingPointRange(from_value=float(low), to_value=float(high))
            descriptor.floating_point_range = [span]
        else:
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
    return descriptor


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
