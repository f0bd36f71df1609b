"""The clock of the bridge and its supervisor, their parameters in common, and their optional
real-time scheduling.

Does not import ROS.

Python is no real-time language: this keeps other processes from delaying the bridge, not its own
garbage collection. Call `use_realtime` after the node and the threads of DDS were created.
"""

import ctypes
import os
import time
from dataclasses import dataclass
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting

_MLOCK = 1 | 2  # MCL_CURRENT | MCL_FUTURE, sys/mman.h


def steady_ns() -> int:
    """Return the time of a steady clock, ns, which also advances while the machine is suspended:
    a command from before a suspension must not be sent after it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class ProcessParameters(Settings):
    """Parameters that the bridge and its supervisor have in common."""

    realtime_priority: int = setting(
        0, "Priority of real-time scheduling (SCHED_FIFO); 0: normal scheduling.", 0, 99
    )
    cpus: str = setting(
        "", "Processor cores of the process, comma-separated, as in 2,3; empty: all."
    )
    lock_memory: bool = setting(False, "Lock the memory of the process, against page faults.")
    network_interface: str = setting(
        "", "Network interface of the robot; empty: do not change the DDS settings."
    )


def use_realtime(parameters: ProcessParameters) -> None:
    """Apply the parameters to all threads of this process.

    Raises:
        RuleSafeError: the user may not do that, or a core does not exist.
    """
    threads = [int(path.name) for path in Path("/proc/self/task").iterdir()]
    try:
        if parameters.cpus:
            chosen = {int(part) for part in parameters.cpus.split(",")}
            for thread in threads:
                os.sched_setaffinity(thread, chosen)
        if parameters.realtime_priority:
            priority = os.sched_param(parameters.realtime_priority)
            for thread in threads:
                os.sched_setscheduler(thread, os.SCHED_FIFO, priority)
    except ValueError as error:
        raise RuleSafeError(
            f"cpus must be comma-separated numbers, got {parameters.cpus!r}"
        ) from error
    except OSError as error:
        raise RuleSafeError(
            f"real-time scheduling failed (realtime_priority {parameters.realtime_priority}, cpus "
            f"{parameters.cpus!r}): {error}; allow it in /etc/security/limits.conf (rtprio) or set "
            f"realtime_priority to 0; cores: {sorted(os.sched_getaffinity(0))}"
        ) from error
    libc = ctypes.CDLL(None, use_errno=True)
    if parameters.lock_memory and libc.mlockall(_MLOCK):
        raise RuleSafeError(
            f"the memory cannot be locked: {os.strerror(ctypes.get_errno())}; allow it in "
            "/etc/security/limits.conf (memlock unlimited) or set lock_memory to false"
        )
