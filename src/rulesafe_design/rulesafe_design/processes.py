"""Start the sandbox process, communicate with it and end it (the parent's side).

The process cannot block the parent: every wait has a deadline, and the total size of the messages
is limited.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import parse_json
from rulesafe_design.verdicts import SANDBOX_KINDS, ProgramLimits, Refused

SHOWN = 2000
"""Maximum number of characters of an error message from the process."""

BOOT = (
    "import sys; sys.path.remove(''); sys.path += sys.argv[2:]; "
    "from rulesafe_design.worker import main; main()"
)
PACKAGES = ("RestrictedPython", "pyseccomp")
"""Third-party packages that the worker imports."""

POLL = 0.002  # s


class Worker(AbstractContextManager["Worker"]):
    """A process that runs one program; it is killed at the end of the `with` block.

    Attributes:
        restrictions: Whether each restriction of the process, by name, is active.

    Raises:
        Refused: The sandbox refuses the program.
        RuleSafeError: The process cannot be started.
    """

    def __init__(self, kind: str, source: str, limits: ProgramLimits):
        size = len(source.encode("utf-8", "surrogatepass"))
        if size > limits.source_bytes:
            raise Refused(
                "syntax", f"the program has {size} bytes; valid: at most {limits.source_bytes}"
            )
        self._limits = limits
        self._unread = b""
        self._received = 0  # bytes
        self._process = _start(limits)
        try:
            self.restart_deadline()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe
                os.set_blocking(pipe.fileno(), False)
            self.restrictions = _restrictions(
                self.receive()
            )  # sent before the process reads the program
            self.send({"kind": kind, "source": source})
        except BaseException:
            self._end()
            raise

    def __exit__(self, *error: object) -> None:
        self._end()

    def restart_deadline(self) -> None:
        """Restart the wall-clock limit, because the program had to wait for the parent."""
        self._deadline = time.monotonic() + self._limits.wall_s

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one JSON line; raise Refused "time" if the process does not read it in time. If the
        process has ended, the next `receive` raises the reason."""
        data = json.dumps(message).encode() + b"\n"
        pipe = self._process.stdin
        assert pipe
        while data:
            self._wait(pipe, selectors.EVENT_WRITE)
            try:
                data = data[os.write(pipe.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError:
                return

    def receive(self) -> dict[str, Any]:
        """Return one JSON line of the process; raise Refused with the reason if there is none."""
        pipe = self._process.stdout
        assert pipe
        while b"\n" not in self._unread:
            self._wait(pipe, selectors.EVENT_READ)
            more = os.read(pipe.fileno(), 65_536)
            if not more:
                raise self._reason_of_end()
            self._received += len(more)
            if self._received > self._limits.output_bytes:
                raise Refused(
                    "output", f"the process sent more than {self._limits.output_bytes} bytes"
                )
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            message = parse_json(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise malformed_message()
        if "refused" in message:
            raise _refusal(message["refused"], message.get("message"))
        return message

    def _wait(self, pipe: Any, event: int) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)
            if not selector.select(max(0.0, self._deadline - time.monotonic())):
                raise Refused(
                    "time", f"no answer from the process within {self._limits.wall_s:g} s"
                )

    def _reason_of_end(self) -> Refused:
        """Return the reason why the process ended without an answer."""
        code, limits = self._ended(), self._limits
        if code is None:  # the process closed its descriptors but still runs
            return Refused("crash", "the process gave no answer")
        if code == -signal.SIGSYS:
            return Refused("forbidden", "the program made a system call that is not allowed")
        if code in (-signal.SIGPROF, -signal.SIGALRM):
            return Refused("time", f"still running after {limits.call_s:g} s; not interruptible")
        if code == -signal.SIGXCPU:
            return Refused("time", f"the program used more than {limits.cpu_s:g} s of CPU time")
        if code == -signal.SIGKILL:
            return Refused("crash", "the process was killed; the machine may be out of memory")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Refused("crash", f"the process ended unexpectedly ({name})")

    def _ended(self) -> int | None:
        """Return the return code as subprocess does, or None at the deadline.

        The process stays a zombie, so that its PID is not reused before `_end` kills its group.
        """
        pid = self._process.pid
        while True:
            try:
                found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            except ChildProcessError:  # the parent ignores SIGCHLD
                return 0
            if found:
                exited = found.si_code == os.CLD_EXITED
                return found.si_status if exited else -found.si_status
            if time.monotonic() > self._deadline:
                return None
            time.sleep(POLL)

    def _end(self) -> None:
        """Kill the process and its group, and close the pipes."""
        process = self._process
        if process.returncode is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe
            pipe.close()


def _start(limits: ProgramLimits) -> "subprocess.Popen[bytes]":
    setup = {**asdict(limits), "parent": os.getpid()}
    # Isolate the process as -I does, without ignoring PYTHONHASHSEED: no site, no user site, an
    # empty environment, an import path with the standard library and the packages needed.
    command = [sys.executable, "-s", "-S", "-B", "-W", "ignore", "-c", BOOT, json.dumps(setup)]
    environment = {"PYTHONHASHSEED": "0"}
    if "LD_LIBRARY_PATH" in os.environ:  # some Python builds do not start without it
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    try:
        return subprocess.Popen(
            [*command, *_import_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            cwd="/",
            env=environment,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise RuleSafeError(f"cannot start a process for the program: {error}") from error


def _import_path() -> list[str]:
    """Return the import directories of this package and of PACKAGES, without duplicates."""
    found = [Path(__file__).resolve().parents[1]]
    for package in PACKAGES:
        spec = find_spec(package)
        if spec and spec.origin:
            origin = Path(spec.origin).resolve()
            found.append(origin.parents[1] if origin.stem == "__init__" else origin.parent)
    return list(dict.fromkeys(map(str, found)))


def _refusal(kind: Any, text: Any) -> Refused:
    """Return the refusal in a message of the process."""
    if not isinstance(kind, str) or kind not in SANDBOX_KINDS or not isinstance(text, str):
        return malformed_message()
    return Refused(kind, bounded_text(text))


def bounded_text(text: str) -> str:
    """Return the start of untrusted text with control characters replaced, for a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text[:SHOWN])


def malformed_message() -> Refused:
    """Return the refusal for a message that does not follow the protocol."""
    return Refused("output", "the process sent an invalid message")


def _restrictions(message: dict[str, Any]) -> dict[str, bool]:
    restrictions = message.get("restrictions")
    if not isinstance(restrictions, dict) or not all(
        isinstance(active, bool) for active in restrictions.values()
    ):
        raise malformed_message()
    return restrictions
