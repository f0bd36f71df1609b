"""Exceptions in the callbacks of a node are logged and do not end it."""

import time
import traceback

from rclpy.impl.rcutils_logger import RcutilsLogger

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.throttle import Throttle

LOG_INTERVAL = 5.0
"""Minimum time in s between two log lines about the same exception."""

_throttle = Throttle(LOG_INTERVAL)


def describe_error(error: Exception) -> str:
    """Return an exception in one line, with the place in the source if it is a programming
    error."""
    text = " ".join(str(error).split())
    if isinstance(error, RuleSafeError):
        return text
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{place}"


def log_failure(logger: RcutilsLogger, callback: str, error: Exception) -> None:
    """Log an exception of a callback, at most once every LOG_INTERVAL s."""
    text = f"{callback} failed: {describe_error(error)}"
    if _throttle.passes(text, time.monotonic()):
        logger.error(text)
