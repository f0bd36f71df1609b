"""Executor of the nodes."""

from collections.abc import Callable, Coroutine
from typing import Any

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.service import Service

from rulesafe_core.callbacks_ros import log_failure
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.services_ros import ServiceServer


class NodeExecutor(SingleThreadedExecutor):
    """Logs an exception of a callback and continues; executes services by `services`.

    A RuleSafeError still ends `spin_once`: with it a node reports that it cannot continue.
    """

    def __init__(self) -> None:
        super().__init__()
        self.services = ServiceServer()

    def _take_service(self, srv: Service) -> Callable[[], Coroutine]:
        async def execute() -> None:
            self.services.execute(srv)

        return execute

    def _spin_once_impl(self, *args: Any, **options: Any) -> None:
        try:
            super()._spin_once_impl(*args, **options)
        except (RuleSafeError, ExternalShutdownException):
            raise
        except Exception as error:
            if not self.context.ok():  # callbacks fail after a shutdown
                raise
            log_failure(self.get_nodes()[0].get_logger(), "a callback", error)
