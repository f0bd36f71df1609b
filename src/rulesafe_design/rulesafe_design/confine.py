"""The restrictions that the sandbox's own process puts on itself before it reads a program.

Each part works independently of the others: limits of the kernel, no descriptors, no privileges,
and a filter of system calls that ends the process at the first call a computation does not need.
docs/sandbox.md has the guarantees. Runs in the sandbox's own process and imports nothing heavy.
Linux only.
"""

import ctypes
import os
import resource
import signal
from typing import Any

try:  # without libseccomp the import itself fails
    import pyseccomp
except Exception:
    pyseccomp = None

NOBODY = 65534

SET_DEATH_SIGNAL, SET_DUMPABLE, SET_NO_NEW_PRIVILEGES = 1, 4, 38  # prctl(2)
EXECUTABLE = 4  # PROT_EXEC, mmap(2)

CALLS = (
    *("brk", "munmap", "mremap", "madvise", "futex", "sched_yield", "restart_syscall"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack"),
    *("setitimer", "getitimer", "clock_gettime", "gettimeofday", "getrandom"),
    *("getpid", "gettid", "exit", "exit_group"),
)
"""System calls of a computation. Beside them: read from descriptor 0, write to 1, memory that is
not executable, and a signal to itself."""


def confine(memory_mb: int, cpu_s: float, parent: int) -> dict[str, bool]:
    """Give up everything except computing, reading descriptor 0 and writing descriptor 1.

    Returns:
        Whether each part is in force, by name. The limits of memory, CPU time and descriptors raise
        OSError instead.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    walls = {"user": _become_nobody()}
    _limit(memory_mb, cpu_s)
    walls["limits"] = True
    walls["parent"] = libc.prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0) == 0
    if os.getppid() != parent:
        os._exit(0)  # it died before the line above
    walls["untraceable"] = libc.prctl(SET_DUMPABLE, 0, 0, 0, 0) == 0
    walls["no_new_privileges"] = libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    walls["seccomp"] = _filter_calls()
    return walls


def _become_nobody() -> bool:
    """Change from root, which some limits do not apply to, to nobody. True if not root."""
    if os.geteuid() != 0:
        return True
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        return False
    return os.geteuid() != 0


def _limit(memory_mb: int, cpu_s: float) -> None:
    memory, seconds = memory_mb * 2**20, max(1, int(-(-cpu_s // 1)))
    for what, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, 0, 0),
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
    ):
        ceiling = resource.getrlimit(what)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(what, (soft, hard))


def _filter_calls() -> bool:
    if pyseccomp is None:
        return False
    try:
        _filter().load()
    except OSError:
        return False
    return True


def _filter() -> Any:
    """The filter that allows CALLS and ends the process at any other."""
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
