"""Tests of the keyboard with a pseudo terminal."""

import os
import pty
import select
import subprocess
import sys
import termios

SAY = """
import time
from rulesafe_core.terminal_keys import key_actions
from rulesafe_ros.bag.keyboard import ACTIONS
with key_actions(ACTIONS) as pressed:
    print("ready", flush=True)
    while (key := pressed()) != "quit":
        if key:
            print(key, flush=True)
        time.sleep(0.01)
print("ends", flush=True)
"""


def test_keys_are_mapped_and_the_terminal_is_restored():
    child, terminal = pty.fork()
    if not child:
        os.execv(sys.executable, [sys.executable, "-c", SAY])
    text = b""

    def read_until(word: bytes) -> None:
        nonlocal text
        while word not in text:
            assert select.select([terminal], [], [], 60)[0], text
            text += os.read(terminal, 1000)

    before = termios.tcgetattr(terminal)
    read_until(b"ready")
    during = termios.tcgetattr(terminal)
    assert not during[3] & termios.ICANON  # keys come without Return
    for sent, expected in (
        (b" ", b"pause"), (b"\x1b[C", b"next"), (b"+", b"faster"), (b"\x1b[B", b"slower"),
    ):  # fmt: skip
        os.write(terminal, sent)
        read_until(expected)
    os.write(terminal, b"zq")  # z means nothing
    read_until(b"ends")
    assert termios.tcgetattr(terminal) == before
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)


def test_without_a_terminal_there_are_no_keys():
    result = subprocess.run(
        [sys.executable, "-c", SAY.replace('!= "quit"', '!= ""')],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.stdout == "ready\nends\n", result.stderr
