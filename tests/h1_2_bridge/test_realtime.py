"""Scheduling parameters: applied to all threads, or refused with what to do."""

import json
import subprocess
import sys

import pytest

from h1_2_bridge.realtime import ProcessParameters, use_realtime
from rulesafe_core.errors import RuleSafeError

PROGRAM = """
import json, os, threading
from pathlib import Path
from h1_2_bridge.realtime import ProcessParameters, use_realtime
from rulesafe_core.errors import RuleSafeError
threading.Thread(target=threading.Event().wait, daemon=True).start()
core = min(os.sched_getaffinity(0))
try:
    use_realtime(ProcessParameters(realtime_priority=7, cpus=str(core), lock_memory=True))
except RuleSafeError as error:
    print(json.dumps(str(error)))
else:
    threads = [int(path.name) for path in Path("/proc/self/task").iterdir()]
    print(json.dumps([
        [os.sched_getscheduler(t) == os.SCHED_FIFO for t in threads],
        [os.sched_getaffinity(t) == {core} for t in threads],
        [line for line in Path("/proc/self/status").read_text().splitlines() if "VmLck" in line],
    ]))
os._exit(0)
"""


def test_all_threads_are_scheduled_or_the_reason_is_given():
    """In another process, since it cannot be undone; without the right to it, an error says so."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True
    )
    result = json.loads(done.stdout)
    if isinstance(result, str):
        assert "/etc/security/limits.conf" in result
        return
    fifo, affinity, [locked] = result
    assert len(fifo) >= 2 and all(fifo) and all(affinity)
    assert int(locked.split()[1]) > 0


def test_the_default_changes_nothing():
    use_realtime(ProcessParameters())


@pytest.mark.parametrize(("cpus", "match"), [("one", "comma-separated"), ("4095", "cores: ")])
def test_wrong_cores_are_refused(cpus, match):
    with pytest.raises(RuleSafeError, match=match):
        use_realtime(ProcessParameters(cpus=cpus))
