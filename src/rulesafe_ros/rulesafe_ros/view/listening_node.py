"""A view's node in a thread of its own."""

import os
import threading
from collections.abc import Callable

import rclpy
from rclpy.executors import (
    ExternalShutdownException,
    ShutdownException,
    SingleThreadedExecutor,
)
from rclpy.signals import SignalHandlerOptions

from rulesafe_ros.view.board import Board
from rulesafe_ros.view.model import Model
from rulesafe_ros.view.node import ViewNode
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.relay import Relay


class Listening:
    """A context in which a ViewNode listens; gives the node. `failed` is called, in the thread,
    should it end by an error."""

    def __init__(
        self,
        board: Board,
        model: Model,
        options: ViewOptions,
        relay: Relay,
        failed: Callable[[], object],
    ):
        self._made_of = board, model, options, relay
        self._failed = failed

    def __enter__(self) -> ViewNode:
        # As a launch has it: what the buttons do shall not reach a robot elsewhere in the network.
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        # Signals are the web server's: it ends the node.
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self._node = ViewNode(*self._made_of)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name="ros")
        self._thread.start()
        return self._node

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except (ExternalShutdownException, ShutdownException):
            return
        except BaseException:
            self._failed()
            raise

    def __exit__(self, *error: object) -> None:
        self._executor.shutdown()
        self._thread.join()
        self._node.destroy_node()
        rclpy.try_shutdown()
