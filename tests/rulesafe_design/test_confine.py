"""Restrictions of the process without the language checks: arbitrary code, as after an escape."""

import signal
import subprocess
import sys

import pytest

from rulesafe_design import confine, processes
from rulesafe_design.sandbox import restrictions

RAW = """
import sys
sys.path += sys.argv[1:]
import ctypes, mmap, os, resource, signal, socket, subprocess, threading, time, _ctypes
from rulesafe_design import confine
{before}
libc = ctypes.CDLL(None, use_errno=True)
opened = os.open("/", os.O_RDONLY)
writable = mmap.mmap(-1, 4096)
page = ctypes.addressof(ctypes.c_char.from_buffer(writable))
seccomp = confine.pyseccomp
tgkill = seccomp and seccomp.resolve_syscall(seccomp.system_arch(), "tgkill")
parent = os.getppid()  # before the filter, which does not allow this call either
walls = confine.confine(256, 2, parent)
os.write(1, repr(walls).encode() + b"\\n")
{code}
os.write(1, b"escaped")
"""
TRICKS = {
    "open": "open('/etc/passwd')",
    "write a file": "os.open('/tmp/x', os.O_CREAT | os.O_WRONLY)",
    "list": "os.listdir('/')",
    "use a descriptor": "os.listdir(opened)",
    "fork": "os.fork()",
    "thread": "threading.Thread(target=print).start()",
    "spawn": "subprocess.Popen(['/bin/true'])",
    "exec": "os.execv('/bin/true', ['/bin/true'])",
    "socket": "socket.socket()",
    "unix socket": "socket.socketpair()",
    "pipe": "os.pipe()",
    "kill the parent": "os.kill(parent, 9)",
    "kill all": "os.kill(-1, 9)",
    "trace": "libc.ptrace(16, parent, 0, 0)",
    "raise a limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
    "new session": "os.setsid()",
    "become root": "os.setuid(0)",
    "mount": "libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0)",
    "code in memory": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "code in memory by mprotect": "libc.mprotect(ctypes.c_void_p(page), 4096, 4)",
    "signal another process": "libc.syscall(tgkill, parent, parent, 0)",
    "shared memory": "assert libc.shmget(0, 4096, 0o1600) < 0; os.kill(parent, 0)",
    "write elsewhere": "os.write(2, b'x')",
    "wait": "time.sleep(1)",
}


def raw(code, before=""):
    """Run unchecked code in a restricted process; return walls, remaining output, exit code."""
    done = subprocess.run(
        [
            *(sys.executable, "-B", "-c", RAW.format(code=code, before=before)),
            *processes._import_path(),
        ],
        capture_output=True,
        timeout=60,
        start_new_session=True,
    )
    first, _, rest = done.stdout.partition(b"\n")
    return eval(first), rest, done.returncode


needs_seccomp = pytest.mark.skipif(
    confine.pyseccomp is None, reason="without libseccomp there is no filter of system calls"
)


@needs_seccomp
@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
def test_filter_kills_a_process_that_has_escaped_from_python(trick):
    restrictions, rest, code = raw(trick)
    assert all(restrictions.values())
    assert (rest, code) == (b"", -signal.SIGSYS)


@needs_seccomp
def test_a_process_may_signal_itself_and_use_its_own_memory():
    code = "signal.raise_signal(signal.SIGWINCH)\n"
    code += "assert not libc.mprotect(ctypes.c_void_p(page), 4096, mmap.PROT_READ)"
    assert raw(code)[1:] == (b"escaped", 0)


@pytest.mark.parametrize(
    "trick",
    ["open", "write a file", "fork", "spawn", "socket", "unix socket", "pipe", "become root"],
)
def test_limits_without_the_filter_prevent_files_processes_and_sockets(trick):
    if trick in ("fork", "spawn") and not restrictions()["user"]:
        pytest.skip("the limit on processes does not apply to root")
    trick = f"try:\n    {TRICKS[trick]}\nexcept (OSError, PermissionError):\n    os._exit(7)"
    found, rest, code = raw(trick, before="confine.pyseccomp = None")
    assert not found["seccomp"] and found["limits"]
    assert (rest, code) == (b"", 7)


def test_memory_and_time_are_limited_in_any_code():
    assert raw("try:\n    bytearray(300 * 2**20)\nexcept MemoryError:\n    os._exit(7)")[2] == 7
    assert raw("while True: pass")[2] == -signal.SIGXCPU


WITHOUT_FILTER = "confine.pyseccomp = None"
WALLS = {"user", "limits", "parent", "untraceable", "no_new_privileges", "seccomp"}


def test_each_wall_is_reported_and_no_other():
    assert set(raw("pass")[0]) == WALLS == set(restrictions())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("libc.prctl(3, 0, 0, 0, 0)", 0),  # PR_GET_DUMPABLE
        ("libc.prctl(39, 0, 0, 0, 0)", 1),  # PR_GET_NO_NEW_PRIVS
        ("libc.prctl(2, ctypes.byref(number), 0, 0, 0) or number.value", 9),  # PR_GET_PDEATHSIG
        ("resource.getrlimit(resource.RLIMIT_AS)[1] // 2**20 - 200", 56),
        ("resource.getrlimit(resource.RLIMIT_CPU)[0]", 2),
        ("resource.getrlimit(resource.RLIMIT_CPU)[1]", 3),
        *(
            (f"sum(resource.getrlimit(resource.RLIMIT_{name}))", 0)
            for name in ("CORE", "FSIZE", "NPROC", "NOFILE")
        ),
    ],
)
def test_the_kernel_confirms_each_restriction(question, answer):
    code = f"number = ctypes.c_int(); os._exit({question})"
    assert raw(code, before=WITHOUT_FILTER)[1:] == (b"", answer)


@pytest.mark.parametrize(("seconds", "limit"), [(0.1, 1), (1, 1), (1.01, 2), (2.5, 3)])
def test_cpu_time_is_limited_in_whole_seconds(seconds, limit):
    before = f"{WITHOUT_FILTER}; true = confine.confine"
    before += f"; confine.confine = lambda memory, cpu, parent: true(memory, {seconds}, parent)"
    code = "os._exit(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    assert raw(code, before=before)[2] == limit


def test_a_filter_that_the_kernel_refuses_is_reported():
    before = "confine._filter = lambda: os.stat('/nothing')  # an OSError"
    found = raw("pass", before=before)[0]
    assert found["seccomp"] is False and found["limits"]


def test_a_lower_limit_of_the_parent_is_kept():
    before = f"{WITHOUT_FILTER}; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))"
    code = "soft, hard = resource.getrlimit(resource.RLIMIT_CPU); os._exit(10 * soft + hard)"
    assert raw(code, before=before)[2] == 11


def test_a_process_whose_parent_has_ended_ends_before_the_program():
    before = "true = confine.confine; confine.confine = lambda m, c, parent: true(m, c, parent + 1)"
    done = subprocess.run(
        [
            *(sys.executable, "-B", "-c", RAW.format(code="pass", before=before)),
            *processes._import_path(),
        ],
        capture_output=True,
        timeout=60,
    )
    assert (done.stdout, done.returncode) == (b"", 0)
