"""The sandbox process when it is compromised, hangs, floods or dies: no process or file is left."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design import processes
from rulesafe_design.exploring import explore
from rulesafe_design.processes import Worker
from rulesafe_design.sandbox import Refused
from rulesafe_design.verdicts import ProgramLimits

pytestmark = pytest.mark.usefixtures("no_leaks")


def body(*lines):
    return "\n".join(["def check_lock(self):", *(f"    {line}" for line in lines)])


def verdict(source, limits):
    with pytest.raises(Refused) as refused:
        explore(source, limits)
    return refused.value.kind, str(refused.value)


COMPROMISED = (
    "import sys; sys.path.remove(''); sys.path += sys.argv[2:]; import json, os, signal, time; "
    "from rulesafe_design.confine import confine; s = json.loads(sys.argv[1]); "
    "w = confine(s['memory_mb'], s['cpu_s'], s['parent']); "
    "say = lambda m: os.write(1, json.dumps(m).encode() + b'\\n'); "
    "say({'restrictions': w}); exec(%r)"
)
MESSAGES = {
    "nothing": ("crash", "pass"),
    "a flood": ("output", "while True: os.write(1, b'x' * 60000)"),
    "a flood of lines": ("output", "while True: os.write(1, b'{}\\n' * 10000)"),
    "no JSON": ("output", "os.write(1, b'hello\\n')"),
    "deep JSON": ("output", "os.write(1, b'[' * 60000 + b'\\n')"),
    "a long number": ("output", "os.write(1, b'{\"graph\":' + b'1' * 50000 + b'}\\n')"),
    "no object": ("output", "say([1])"),
    "another kind": ("output", "say({'refused': 'duplicate', 'message': 'x'})"),
    "a kind that is a list": ("output", "say({'refused': [], 'message': 'x'})"),
    "no message": ("output", "say({'refused': 'time', 'message': {}})"),
    "no graph": ("output", "say({'graph': 7})"),
    "an empty graph": (
        "output",
        "say({'graph': {'rows': [], 'next': [], 'depth': [], 'complete': True, 'events': 1}})",
    ),
    "silence": ("time", "os.read(0, 10); os.read(0, 10**6); os.read(0, 1)"),
    "a signal": ("crash", "signal.raise_signal(signal.SIGABRT)"),
    "half a line": ("crash", "os.write(1, b'{')"),
}


@pytest.mark.parametrize("kind, code", MESSAGES.values(), ids=MESSAGES)
def test_invalid_messages_are_refused(monkeypatch, kind, code):
    monkeypatch.setattr(processes, "BOOT", COMPROMISED % code)
    limits = ProgramLimits(wall_s=1 if kind == "time" else 20, output_bytes=200_000)
    assert verdict(body("pass"), limits)[0] == kind


def test_process_that_closes_its_descriptors_and_keeps_running(monkeypatch):
    boot = COMPROMISED.replace("w = confine", "w = {} and confine")  # without restrictions
    boot %= "os.close(1); signal.pthread_sigmask(0, range(1, 32)); time.sleep(60)"
    monkeypatch.setattr(processes, "BOOT", boot)
    assert verdict(body("pass"), ProgramLimits(wall_s=8)) == ("crash", "the process gave no answer")


def test_children_of_the_process_are_killed(monkeypatch, tmp_path):
    mark = tmp_path / "child"
    code = f"p = os.fork(); open({str(mark)!r}, 'w').write(str(os.getpid())) if not p else 0"
    code += "; time.sleep(60) if not p else os._exit(0)"
    boot = COMPROMISED.replace("w = confine", "w = {} and confine") % code
    monkeypatch.setattr(processes, "BOOT", boot)
    assert verdict(body("pass"), ProgramLimits(wall_s=8))[0] in ("crash", "time")
    assert mark.exists()
    assert ended(int(mark.read_text()))


def ended(pid):
    """Return whether the process ends in time; it may remain as a zombie of another parent."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


PARENT = """
import sys, time
from rulesafe_design.processes import Worker
from rulesafe_design.verdicts import ProgramLimits
long = ProgramLimits(call_s=60, cpu_s=60, wall_s=60)
with Worker("lock", "def check_lock(self):\\n    while True: pass", long) as worker:
    print(worker._process.pid, flush=True)
    time.sleep(60)
"""


def test_the_process_dies_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        parent.kill()
        assert ended(pid)


def test_interrupt_in_the_parent_kills_the_process():
    with pytest.raises(KeyboardInterrupt), Worker("lock", body("pass"), ProgramLimits()) as worker:
        pid = worker._process.pid
        raise KeyboardInterrupt
    assert ended(pid)


def test_process_that_cannot_be_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RuleSafeError, match="cannot start a process"):
        explore(body("pass"))
