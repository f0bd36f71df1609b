"""Helpers for nodes: parameters, exclusive topics, diagnostics, startup and shutdown."""

import errno
import os
import signal
import socket
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields, replace
from types import FrameType
from typing import Any, TypeVar

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from rulesafe_core.convert import STATE_QOS, to_header
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.executor_ros import NodeExecutor
from rulesafe_core.namespaces import namespace_arguments
from rulesafe_core.settings import Settings, convert, described
from rulesafe_core.signals import collected_signals, exit_code, uninterruptible

AnyNode = TypeVar("AnyNode", bound=Node)
T = TypeVar("T", bound=Settings)

BUILT_IN = {"use_sim_time", "start_type_description_service"}
"""Parameters that rclpy declares for each node."""

POSTPONEMENT = 0.05
"""Time until a signal received in uninterruptible code is handled, s."""

UNNAMED = "_NODE_NAME_UNKNOWN_"
"""Node name that rmw reports for a publisher just discovered or not owned by a ROS 2 node."""

NAMES = dict.fromkeys((UNNAMED, "_CREATED_BY_BARE_DDS_APP_"), "a program that is not a ROS 2 node")
"""What messages for users say instead of the names that rmw reports."""


def declare(node: Node, kind: type[T]) -> T:
    """Declare settings as parameters of the node and validate later changes.

    Returns:
        The initial values; `read_parameters` returns the current ones.
    """
    known = {of.name: of for of in fields(kind)}
    for name, of in known.items():
        default = list(of.default) if isinstance(of.default, tuple) else of.default
        node.declare_parameter(name, default, _descriptor(of))

    def check(changed: list) -> SetParametersResult:
        try:
            new = {p.name: _checked(known[p.name], p.value) for p in changed if p.name in known}
            values = replace(read_parameters(node, kind), **new)
            for validate in dict.fromkeys(known[name].metadata["check"] for name in new):
                if validate:
                    validate(values)
        except RuleSafeError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(check)
    return read_parameters(node, kind)


def read_parameters(node: Node, kind: type[T]) -> T:
    """Return the current values of declared parameters; raise RuleSafeError if one is invalid."""
    known = fields(kind)
    return kind(**{of.name: _checked(of, node.get_parameter(of.name).value) for of in known})


def _checked(of: Field, value: Any) -> Any:
    value = list(value) if isinstance(value, array) else value
    return convert(of.type, value, f"parameter {of.name}", of.metadata)


def _descriptor(of: Field) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(
        description=described(of.metadata),
        read_only=not of.metadata["changeable"],
        dynamic_typing=of.type is float,  # accept the integer 1 for 1.0
    )
    if "low" in of.metadata:
        low, high = of.metadata["low"], of.metadata["high"]
        if of.type is float:
            span = FloatingPointRange(from_value=float(low), to_value=float(high))
            descriptor.floating_point_range = [span]
        else:
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
    return descriptor


def reserve_topic(node: Node, topic: str) -> socket.socket:
    """Reserve a topic, so that only this process on this machine publishes it in the ROS domain.

    Two simulations in one domain would publish conflicting states, and DDS discovery detects this
    too late. An abstract Unix socket is visible on the complete machine, and the kernel releases
    its name when the process ends.

    Returns:
        The reservation. Keep a reference to it; close it to release the topic.

    Raises:
        RuleSafeError: another process has reserved the topic.
    """
    name, domain = node.resolve_topic_name(topic), node.context.get_domain_id()
    reservation = socket.socket(socket.AF_UNIX)
    try:
        reservation.bind(f"\0rulesafe/{domain}{name}")
    except OSError as error:
        reservation.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise RuleSafeError(
            f"another {node.get_name()} already runs on this machine in ROS domain {domain} "
            f"and publishes {name}: stop it, or set ROS_DOMAIN_ID to another number"
        ) from None
    return reservation


def publishers_of(node: Node, topic: str) -> dict[bytes, str]:
    """Return the publishers of a topic: GID -> name of the node, UNNAMED for some."""
    infos = node.get_publishers_info_by_topic(topic)
    return {bytes(info.endpoint_gid): info.node_name for info in infos}


class Diagnostics:
    """Publishes the state of a node on /diagnostics.

    Args:
        node: the node.
        options: keyword arguments of `create_publisher`.
    """

    def __init__(self, node: Node, **options: Any) -> None:
        self._node = node
        self._publisher = node.create_publisher(
            DiagnosticArray, "/diagnostics", STATE_QOS, **options
        )

    def publish(self, level: bytes, message: str, values: Mapping[str, object]) -> None:
        """Publish a status; `level` is DiagnosticStatus.OK, WARN or ERROR."""
        status = DiagnosticStatus(
            level=level,
            name=self._node.get_name(),
            message=message,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        header = to_header(self._node.get_clock().now().nanoseconds, "")
        self._publisher.publish(DiagnosticArray(header=header, status=[status]))


@contextmanager
def ros_context(args: Sequence[str] = (), handle_signals: bool = False) -> Iterator[None]:
    """Initialise rclpy, and shut it down on exit.

    DDS discovers only nodes of this machine unless ROS_AUTOMATIC_DISCOVERY_RANGE is set: other
    machines must neither command a robot nor receive its topics.

    Args:
        args: command-line arguments.
        handle_signals: whether SIGINT and SIGTERM also shut rclpy down.

    Raises:
        RuleSafeError: rclpy cannot start, for example because its log folder cannot be created, or
            the namespace is invalid.
    """
    discovery = "ROS_AUTOMATIC_DISCOVERY_RANGE"
    os.environ[discovery] = os.environ.get(discovery) or "LOCALHOST"  # an empty one is SUBNET
    options = SignalHandlerOptions.ALL if handle_signals else SignalHandlerOptions.NO
    try:
        rclpy.init(args=[*args, *namespace_arguments()], signal_handler_options=options)
    except RuntimeError as error:
        rclpy.try_shutdown()
        raise RuleSafeError(f"ROS 2 cannot start: {error}") from error
    try:
        yield
    finally:
        rclpy.try_shutdown()


@contextmanager
def executing(make: Callable[[], AnyNode]) -> Iterator[tuple[AnyNode, NodeExecutor]]:
    """Create a node, log its parameters and create its executor; destroy the node on exit."""
    node = make()
    _log_parameters(node)
    executor = NodeExecutor()
    executor.add_node(node)
    try:
        yield node, executor
    finally:
        executor.services.close()
        node.destroy_node()


def _log_parameters(node: Node) -> None:
    """Log the parameters' values, which show that an argument of `ros2 launch` with a misspelt name
    was ignored."""
    parameters: Any = node.get_parameters_by_prefix("")
    values = {name: p.value for name, p in parameters.items() if name not in BUILT_IN}
    if values:
        shown = (f"{n}={list(v) if isinstance(v, array) else v!r}" for n, v in values.items())
        node.get_logger().info(f"parameters: {', '.join(shown)}")


def serve(node: Node, executor: Executor) -> int:
    """Execute callbacks until rclpy is shut down; the default `run` of `run_node`.

    spin() is not used because a signal that arrives during a callback may not wake it up.
    """
    while rclpy.ok():
        executor.spin_once(timeout_sec=0.5)
    return 0


def run_node(
    name: str,
    make: Callable[[], AnyNode],
    args: Sequence[str] | None = None,
    run: Callable[[AnyNode, Executor], int] = serve,
    unfinished: Callable[[AnyNode], str] = lambda node: "",
) -> int:
    """Create a node, run it and shut down: the `main` of a node.

    Args:
        name: name of the node, for error messages.
        make: class of the node.
        args: command-line arguments; None: those of the process.
        run: runs the node and returns the exit code.
        unfinished: returns the text that is printed if a signal ends `run` before it returns.

    Returns:
        The exit code of `run`; 2, with one line on stderr, for an error that the user can fix;
        0 after SIGINT, which launch sends to stop its nodes; 143 after SIGTERM.
    """
    signals: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if uninterruptible(frame):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, POSTPONEMENT)
            return
        raise KeyboardInterrupt

    # rclpy shuts down on both signals and then calls these handlers.
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    code: int | None = None
    text = ""
    try:
        with ros_context(sys.argv if args is None else args, handle_signals=True):
            try:
                with executing(make) as (node, executor):
                    text = unfinished(node)
                    code = run(node, executor)
            except (RuleSafeError, ParameterException):
                raise
            except (KeyboardInterrupt, ExternalShutdownException):
                pass
            except Exception:
                # After a signal, ignore errors caused by it: publishing after the context was shut
                # down, or a KeyboardInterrupt that rclpy converted into another exception.
                if rclpy.ok() and not signals:
                    raise
    except (RuleSafeError, ParameterException) as error:
        code = _print_error(name, error)
    except KeyboardInterrupt:  # while rclpy starts or shuts down
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # of code that failed after the signal
    if code is None:
        code = 0
        if text:
            print(f"{name}: {text}", flush=True)
    return 128 + signal.SIGTERM if signal.SIGTERM in signals else code


def run_beyond_signals(
    name: str,
    run: Callable[[list[int]], object],
    args: Sequence[str] | None = None,
    prepare: Callable[[Sequence[str]], object] = lambda arguments: None,
) -> int:
    """Run a node that controls the robot and must release it before it ends: its `main`.

    The signals `STOPPING` do not end the process; they are collected in a list.

    Args:
        name: name of the node, for error messages.
        run: called with the list of signals received. It must release the robot after the first
            signal and return immediately after the second.
        args: command-line arguments; None: those of the process.
        prepare: called with the arguments before rclpy is initialised.

    Returns:
        The exit code: 0 after SIGINT, 128 + n after another signal n; 2, with one line on stderr,
        for an error that the user can fix.
    """
    arguments = sys.argv[1:] if args is None else list(args)
    with collected_signals() as received:
        try:
            prepare(arguments)
            with ros_context(arguments):
                run(received)
        except (RuleSafeError, ParameterException) as error:
            return _print_error(name, error)
        except ExternalShutdownException:
            return 1
        return exit_code(received)


def _print_error(name: str, error: Exception) -> int:
    print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 2
