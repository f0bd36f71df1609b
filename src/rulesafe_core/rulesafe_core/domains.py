"""Reserve ROS domains for graphs that must be isolated: tests, benchmarks, generated reference."""

import os
import socket

from rulesafe_core.errors import RuleSafeError

LARGEST = 101
"""Largest ROS domain ID; higher ones use ports from the ephemeral range of Linux (ROS 2
documentation, "The ROS_DOMAIN_ID")."""


def reserve_domain() -> int:
    """Reserve a ROS domain (1 to LARGEST) that no other process has reserved, and return it.

    The reservation is an abstract Unix socket and ends with the process.

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
