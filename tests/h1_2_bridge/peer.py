"""Client of sdk_peer.py."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from recorder import Record


class Peer:
    """Runs sdk_peer.py in a separate process. `rate`: of states, Hz.

    Attributes:
        late: number of commands that may arrive late in the test (assert_within_limits).
    """

    late = 0

    def __init__(self, folder: Path, rate: float = 500.0) -> None:
        self._folder = folder
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        command = [sys.executable, str(Path(__file__).with_name("sdk_peer.py")), domain, "lo"]
        self._errors = (folder / "peer.err").open("w")
        self.process = subprocess.Popen(
            [*command, str(rate)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            # A session of its own, as bridge and supervisor may have: Linux shares a busy machine
            # equally between sessions, and a robot that is not scheduled loses commands.
            start_new_session=True,
        )
        assert self._answer() == "ready"

    def ask(self, do: str, **arguments):
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        assert self.process.stdout
        while line := self.process.stdout.readline():
            try:
                return json.loads(line)
            except ValueError:  # the SDK prints the exceptions that it catches
                continue
        raise AssertionError((self._folder / "peer.err").read_text()[-2000:])

    def faults(self, **changes) -> None:
        """Set fields of sdk_peer.Faults; the others do not change. The robot's step with them is
        complete on return."""
        assert self.ask("faults", **changes) == "done"

    def restore(self) -> None:
        """End all faults and discard the recorded commands."""
        self.late = 0
        assert self.ask("restore") == "done"

    def report(self) -> dict:
        """Return commands, hand_commands, newest (system time at which the last command was
        published, s), weight, q, dq (27), hands (12)."""
        return self.ask("report")

    def weight_is_zero(self) -> bool:
        """Return whether the last command that the robot received has weight 0."""
        return self.report()["weight"] == 0.0

    def until_weight_is_zero(self, patience: float = 60.0) -> None:
        """Wait until the last command that the robot received has weight 0. On a busy machine it
        may be minutes behind: fail if a command that was sent later than `patience` (s) has another
        weight, or if none is received for this time."""
        called, received, end = time.time(), -1, 0.0
        while (report := self.report())["weight"] != 0:
            late = (report["newest"] or 0.0) - called > patience
            assert not late, f"the weight after {patience:g} s: {report['weight']}"
            if report["commands"] != received:
                received, end = report["commands"], time.monotonic() + patience
            assert time.monotonic() < end, f"the last of {received} commands: {report['weight']}"
            time.sleep(0.1)

    def record(self) -> Record:
        """Return all commands received so far."""
        path = self._folder / "commands.npz"
        self.ask("save", path=str(path))
        with np.load(path) as file:
            return Record(**{name: file[name] for name in file.files})

    def stop(self) -> None:
        if self.process.poll() is None:
            assert self.process.stdin
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._errors.close()
