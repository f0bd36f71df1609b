"""Run the bridge's core, its supervisor and the motor model of virtual.py in virtual time."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from sdk_motors import MOTORS
from virtual import MS, Command, World, velocity_limits

from h1_2_bridge.command_timing import PUBLICATION, SHORTEST_WAIT
from h1_2_bridge.core import Sent
from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.supervisor import Supervisor, SupervisorParameters
from rulesafe_core.chunks import SECOND

SHORTEST = 0.004
"""Time between two commands to which shorter ones are rounded up for the velocity limit, s."""


@dataclass(frozen=True)
class Change:
    """Change between two consecutive commands and the largest change within the limits.

    Attributes:
        weight, weight_limit: change of the weight, and its limit.
        moved, moved_limit: change of the positions and its limits, both (27,), rad. `moved` is 0 if
            the weight of one of the commands is 0: its positions have no effect.
    """

    weight: float
    weight_limit: float
    moved: np.ndarray
    moved_limit: np.ndarray


@dataclass(frozen=True)
class PauseInSend:
    """A pause of the bridge while it sends a command; `..._first`: who receives it before."""

    seconds: float
    robot_first: bool
    supervisor_first: bool


class SupervisedWorld(World):
    """A world with the supervisor, which runs on when the bridge is stopped.

    Attributes:
        stopped: whether the bridge's process is stopped, as by SIGSTOP; its inputs queue up.
        bridge_receives: whether the bridge receives the supervisor's commands.
        reports_stop: whether the heartbeat reports a pending stop request. If not, a bridge that
            has not received the request continues.
        sources: the publisher of each command, "bridge", "supervisor" or "intruder".
        receivers: number of subscriptions that the supervisor reaches.
        supervisor_period: time between two ticks of the supervisor, ms.
    """

    def __init__(self, patience: float = 0.2, **settings) -> None:
        super().__init__(**{"supervisor_timeout": 0.5, **settings})
        self._parameters = SupervisorParameters(ramp=self.config.ramp, patience=patience)
        self.start_supervisor()
        self.stopped = False
        self.supervisor_alive = True
        self.sources: list[str] = []
        self._unread: deque[tuple[int, bytes]] = deque(maxlen=64)  # of the command topic
        self.bridge_receives = self.reports_stop = True
        self._old_heartbeat: tuple[float, ...] | None = None  # of before a pause
        self._supervisor_due = self._heartbeat_due = self._report_due = 0
        self._pause: PauseInSend | None = None
        self.supervisor_receives, self.receivers = True, 1
        self.supervisor_period = 10

    def start_supervisor(self) -> None:
        """Start the supervisor's process, also in place of one that has ended."""
        self.supervisor = Supervisor(self._parameters)
        self._supervisor_unread: deque[bytes] = deque(maxlen=100)  # while it is paused

    @property
    def supervised(self) -> bool:
        """Whether a supervisor runs; only arm_sdk has one."""
        return self.supervisor_alive and self.output.ends

    def put(self, raw: bytes, source: str = "bridge") -> None:
        pause, self._pause = self._pause, None
        if source == "bridge" and pause is not None:
            self._put_late(raw, pause)
            return
        self._reach_robot(raw, source)
        if source != "supervisor":
            self._reach_supervisor(raw)
        if source != "bridge" and self.bridge_receives:
            self._unread.append((self.now, raw))

    def _reach_robot(self, raw: bytes, source: str, late: bool = False) -> None:
        super().put(raw)
        self.commands[-1] = replace(self.commands[-1], late=late)
        self.sources.append(source)

    def _reach_supervisor(self, raw: bytes) -> None:
        if self.supervisor_receives:
            self._supervisor_unread.append(raw)
            self._read_commands()

    def _read_commands(self) -> None:
        while self.supervised and self._supervisor_unread:
            self.supervisor.receive(self._supervisor_unread.popleft(), self.now)

    def _put_late(self, raw: bytes, pause: "PauseInSend") -> None:
        if pause.robot_first:
            self._reach_robot(raw, "bridge")
        if pause.supervisor_first:
            self._reach_supervisor(raw)
        self.stop_for(pause.seconds)
        if not pause.robot_first:
            self._reach_robot(raw, "bridge", late=True)
        if not pause.supervisor_first:
            self._reach_supervisor(raw)

    def pause_in_send(self, seconds: float, robot_first: bool, supervisor_first: bool) -> None:
        """Stop the bridge's process while it sends its next command, if it sends one in this step;
        who receives the command before the pause is given."""
        self._pause = PauseInSend(seconds, robot_first, supervisor_first)
        self.step()
        self._pause = None

    def step(self, milliseconds: int = 4) -> Sent | None:
        sent = None
        supervisor = self.supervisor
        heartbeat = (
            supervisor._patience,
            supervisor.reported_weight,
            self.receivers,
            supervisor.stop_pending and self.reports_stop,
            supervisor._ramp,
        )
        if self.stopped:
            self._old_heartbeat = self._old_heartbeat or heartbeat
            self.now += milliseconds * MS
            self.tick += milliseconds
            self._move_robot(milliseconds / 1000)
        else:
            while self._unread:
                self.core.overhear(self._unread.popleft()[1], self.now)
            if self._old_heartbeat is not None and self.output.ends:
                self.core.supervisor.receive(*self._old_heartbeat, self.now)
            self._old_heartbeat = None
            if self.supervised and self.now >= self._heartbeat_due:
                self._heartbeat_due = self.now + 50 * MS
                self.core.supervisor.receive(*heartbeat, self.now)
            sent = super().step(milliseconds)
            if self.supervised and self.now >= self._report_due:
                self._report_due = self.now + 100 * MS
                self.supervisor.bridge_reported(self.core.weight, self.now)
        if self.supervised and self.now >= self._supervisor_due:
            self._supervisor_due = self.now + self.supervisor_period * MS
            self._read_commands()
            if raw := self.supervisor.tick(self.now):
                self.put(raw, "supervisor")
                self.supervisor.receive(raw, self.now)
        return sent

    def stop_for(self, seconds: float) -> None:
        """Stop the bridge's process for a while."""
        self.stopped = True
        self.run(seconds)
        self.stopped = False

    def request_stop(self, bridge: bool = True, supervisor: bool = True) -> None:
        """Publish on the stop topic; who receives it is given. A stopped bridge reads it later."""
        if supervisor and self.supervised:
            self.supervisor.stop(self.now)
        if bridge and not self.stopped:
            self.core.stop("stop requested by a test")

    @property
    def in_time(self) -> list[Command]:
        """The commands without the late ones."""
        return [command for command in self.commands if not command.late]

    def changes(self, age: float = 0.0) -> Iterator[Change]:
        """Yield the changes between consecutive commands, as the robot receives them, without the
        late ones, which the robot executes until the next command.

        Args:
            age: time added to that between two commands, s: the age of the last command that the
                supervisor received when it took over from a bridge that was running.
        """
        velocity = velocity_limits(self.config)
        for last, new in pairwise(self.in_time):
            seconds = (new.time - last.time) / SECOND
            before, after = float(last.cmd.q[WEIGHT_SLOT]), float(new.cmd.q[WEIGHT_SLOT])
            moved = np.abs(new.cmd.q - last.cmd.q)[:MOTORS]
            yield Change(
                weight=abs(after - before),
                weight_limit=(max(seconds, 0.02) + age) / self.config.ramp,
                moved=moved if before and after else np.zeros(MOTORS),
                moved_limit=velocity * (max(seconds, SHORTEST) + age),
            )

    def assert_no_jump(self, age: float = 0.0) -> None:
        """Assert that the weight changes within the ramp and positions with an effect within the
        velocity limits, for the commands of both publishers. `age`: see `changes`."""
        for change in self.changes(age):
            text = f"{change.weight:.3f}, the limit is {change.weight_limit:.3f}"
            # A command may be computed for as much more than has passed.
            slack = (SHORTEST_WAIT + PUBLICATION) / SECOND / self.config.ramp + 1e-6
            assert change.weight <= change.weight_limit + slack, f"the weight changes by {text}"
            beyond = (change.moved - change.moved_limit).max()
            assert beyond <= 1e-3, f"a joint moves by {beyond:.4f} rad more than its limit"
