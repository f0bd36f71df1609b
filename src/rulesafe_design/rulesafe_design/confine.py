"""Restrict the sandbox process before it reads a program (Linux only).

The restrictions are independent of each other: resource limits, no new file descriptors, no
privileges, and a seccomp filter that kills the process at the first system call that a computation
does not need. docs/programs.md lists the guarantees.

This module runs in the sandbox process and imports only light modules.
"""

import ctypes
import os
import resource
import signal
from typing import Any

try:  # the import fails if libseccomp is missing
    import pyseccomp
except Exception:
    pyseccomp = None

NOBODY_ID = 65534

SET_DEATH_SIGNAL, SET_DUMPABLE, SET_NO_NEW_PRIVILEGES = 1, 4, 38  # prctl(2)
EXECUTABLE = 4  # PROT_EXEC, mmap(2)

CALLS = (
    *("brk", "munmap", "mremap", "madvise", "futex", "sched_yield", "restart_syscall"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack"),
    *("setitimer", "getitimer", "clock_gettime", "gettimeofday", "getrandom"),
    *("getpid", "gettid", "exit", "exit_group"),
)
"""System calls allowed with any arguments. With restricted arguments, the filter also allows: read
from descriptor 0, write to descriptor 1, map memory that is not executable, signal itself."""


def confine(memory_mb: int, cpu_s: float, parent: int) -> dict[str, bool]:
    """Restrict this process to computing, reading descriptor 0 and writing descriptor 1.

    Args:
        memory_mb: Limit of the address space, in MiB.
        cpu_s: Limit of the CPU time, in s.
        parent: Process ID of the parent; this process is killed when the parent ends.

    Returns:
        For each restriction, by name, whether it is active.

    Raises:
        OSError: A resource limit (memory, CPU time, descriptors) cannot be set.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    restrictions = {"user": _drop_root()}
    _limit(memory_mb, cpu_s)
    restrictions["limits"] = True
    restrictions["parent"] = libc.prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0) == 0
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before prctl was called
    restrictions["untraceable"] = libc.prctl(SET_DUMPABLE, 0, 0, 0, 0) == 0
    restrictions["no_new_privileges"] = libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    restrictions["seccomp"] = _filter_calls()
    return restrictions


def _drop_root() -> bool:
    """If the process runs as root, to which some limits do not apply, switch to the user "nobody".

    Returns:
        Whether the process no longer runs as root.
    """
    if os.geteuid() != 0:
        return True
    try:
        os.setgroups([])
        os.setresgid(NOBODY_ID, NOBODY_ID, NOBODY_ID)
        os.setresuid(NOBODY_ID, NOBODY_ID, NOBODY_ID)
    except OSError:
        return False
    return os.geteuid() != 0


def _limit(memory_mb: int, cpu_s: float) -> None:
    memory, seconds = memory_mb * 2**20, max(1, int(-(-cpu_s // 1)))
    for limit, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, 0, 0),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
    ):
        ceiling = resource.getrlimit(limit)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(limit, (soft, hard))


def _filter_calls() -> bool:
    if pyseccomp is None:
        return False
    try:
        _filter().load()
    except OSError:
        return False
    return True


def _filter() -> Any:
    """Return the filter that allows CALLS and kills the process at any other system call."""
    allowed = pyseccomp.SyscallFilter(pyseccomp.KILL_PROCESS)
    equals, masked = pyseccomp.EQ, pyseccomp.MASKED_EQ
    for name in CALLS:
        allowed.add_rule(pyseccomp.ALLOW, name)
    allowed.add_rule(pyseccomp.ALLOW, "read", pyseccomp.Arg(0, equals, 0))
    allowed.add_rule(pyseccomp.ALLOW, "write", pyseccomp.Arg(0, equals, 1))
    for name in ("mmap", "mprotect"):
        allowed.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(2, masked, EXECUTABLE, 0))
    allowed.add_rule(pyseccomp.ALLOW, "tgkill", pyseccomp.Arg(0, equals, os.getpid()))
    return allowed
