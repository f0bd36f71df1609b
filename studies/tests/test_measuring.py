"""Figures of a process include those of the processes that it has started."""

import subprocess
import sys

from rulesafe_studies.measuring import peak_memory

PARENT = """
import subprocess, sys, threading
child = []
command = [sys.executable, "-c", "x = b'1' * 200_000_000; print(flush=True); input()"]

def start():
    child.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    child[0].stdout.readline()
    print(flush=True)
    input()

thread = threading.Thread(target=start)
thread.start()
thread.join()
child[0].communicate(b"\\n")
"""


def test_children_of_all_threads_count():
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    measure = peak_memory("both", process.pid)
    process.communicate(b"\n", timeout=60)
    assert measure.median > 190
