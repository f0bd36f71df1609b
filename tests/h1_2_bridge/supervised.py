"""Run the bridge's core, its supervisor and the motor model of virtual.py in virtual time."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sdk_motors import MOTORS
from virtual import MS, World, velocity_limits

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


class SupervisedWorld(World):
    """A world with the supervisor, which runs on when the bridge is stopped.

    Attributes:
        stopped: whether the bridge's process is stopped, as by SIGSTOP; its inputs queue up.
        bridge_receives: whether the bridge receives the supervisor's commands.
        sources: the publisher of each command, "bridge", "supervisor" or "intruder".
        receivers: number of subscriptions that the supervisor reaches.
    """

    def __init__(self, patience: float = 0.2, **settings) -> None:
        super().__init__(**{"supervisor_timeout": 0.5, **settings})
        parameters = SupervisorParameters(ramp=self.config.ramp, patience=patience)
        self.supervisor, self.stopped = Supervisor(parameters), False
        self.supervisor_alive = True
        self.sources: list[str] = []
        self._unread: deque[tuple[int, bytes]] = deque(maxlen=64)  # of the command topic
        self.bridge_receives = True  # the commands of the supervisor
        self._old_heartbeat: tuple[float, float, float] | None = None  # of before a pause
        self._supervisor_due = self._heartbeat_due = 0
        self.supervisor_hears, self.receivers = True, 1

    @property
    def supervised(self) -> bool:
        """Whether a supervisor runs; only arm_sdk has one."""
        return self.supervisor_alive and self.output.ends

    def put(self, raw: bytes, source: str = "bridge") -> None:
        super().put(raw)
        self.sources.append(source)
        if self.supervised and self.supervisor_hears and source != "supervisor":
            self.supervisor.receive(raw, self.now)
        if source != "bridge" and self.bridge_receives:
            self._unread.append((self.now, raw))

    def step(self, milliseconds: int = 4) -> Sent | None:
        sent = None
        heartbeat = (self.supervisor._patience, self.supervisor.reported_weight, self.receivers)
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
        if self.supervised and self.now >= self._supervisor_due:
            self._supervisor_due = self.now + 10 * MS
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

    def changes(self, age: float = 0.0) -> Iterator[Change]:
        """Yield the changes between consecutive commands, as the robot receives them.

        Args:
            age: time added to that between two commands, s: the age of the last command that the
                supervisor received when it took over from a bridge that was running.
        """
        velocity = velocity_limits(self.config)
        for last, new in pairwise(self.commands):
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
            # A command may be computed for 0.04 ms (two DELAY_GROWTH) more than has passed.
            slack = 4e-5 / self.config.ramp + 1e-6
            assert change.weight <= change.weight_limit + slack, f"the weight changes by {text}"
            beyond = (change.moved - change.moved_limit).max()
            assert beyond <= 1e-3, f"a joint moves by {beyond:.4f} rad more than its limit"
