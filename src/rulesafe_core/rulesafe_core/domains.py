"""ROS domains for graphs that must not meet: tests, benchmarks, the generated reference."""

import os
import socket

from rulesafe_core.errors import RuleSafeError

LARGEST = 101
"""Domains above use ports that Linux gives to other programs (ROS 2 documentation, "The
ROS_DOMAIN_ID")."""


def reserve_domain() -> int:
    """Return a ROS domain, 1 to LARGEST, that no other process has reserved.

    The reservation, an abstract Unix socket, ends with the process.

    Raises:
        RuleSafeError: all domains are reserved.
    """
    for n in range(LARGEST):
        domain = (os.getpid() + n) % LARGEST + 1
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0rulesafe_domain_{domain}")
        except OSError:
            lock.close()
            continue
        lock.detach()  # open until the process ends
        return domain
    raise RuleSafeError(f"ROS domains 1 to {LARGEST} are all reserved; end a test run or benchmark")
