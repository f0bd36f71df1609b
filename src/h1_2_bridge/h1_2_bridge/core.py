"""Everything that the bridge decides: which state it is in, and what the robot is sent. No ROS.

`now` is a steady clock's time and `clock` the graph's, both integer ns and passed in, so that a
test can play hours in a second. Example::

    core = BridgeCore(BridgeConfig(), load_output("arm_sdk"))
    core.receive(raw_low_state, now)
    core.engage(now)
    while core.state is not State.IDLE:
        sent = core.tick(now, clock)
        if sent.body is not None:
            publish(encode_low_cmd(sent.body))

A tick looks at the watchdogs, then moves, then lets the guard look at the command.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.drive import Drive
from h1_2_bridge.hand_watch import HandWatch
from h1_2_bridge.limits import ARM, action_limits
from h1_2_bridge.messages import LowCmd, LowState
from h1_2_bridge.motors import RIGHT_ARM
from h1_2_bridge.outputs import Output
from h1_2_bridge.remote import parse_combinations, pressed
from h1_2_bridge.safety import check_chunk
from h1_2_bridge.states import ENGAGED, STOPPED, ControlState, HoldReason
from h1_2_bridge.watchdogs import (
    ChunkWatch,
    ClockWatch,
    OverloadWatch,
    StateWatch,
    measured_posture,
)
from rulesafe_core.chunks import SECOND, Chunk, load_executor
from rulesafe_core.errors import RuleSafeError

LOAD_PERIOD = SECOND // 100
"""Motors and hands are looked at this often, ns: what is wrong with them is slow."""


@dataclass(frozen=True)
class Sent:
    """What a tick gives: the body's command and the hand driver's targets (12,), rad; None where
    nothing is sent."""

    body: LowCmd | None = None
    hand: NDArray[np.float64] | None = None


class BridgeCore:
    """The state machine of docs/safety.md.

    Args:
        config: its settings.
        output: how the body is commanded.
        hand_joints: the 12 joints of the hands' driver; empty: no hands.

    Attributes:
        state, reason: what the bridge does, and why, for people.
        drive: what is commanded; its `weight` is 0..1.
        watch: of the robot's states; `watch.last` is the newest good one.
        hand: of the hands, or None.
        accepted, refused, refusal: chunks so far, and why the last one was refused.
        episode: how often it became ACTIVE after an engagement.
    """

    def __init__(
        self, config: BridgeConfig, output: Output, hand_joints: Sequence[str] = ()
    ) -> None:
        limits = action_limits(config)
        self.config = config
        self.drive = Drive(config, output)
        self._chunks = load_executor(config.execution)(
            limits.lower, limits.upper, config.execute_rows
        )
        self.watch = StateWatch(config)
        self.hand = HandWatch(config, hand_joints) if hand_joints else None
        self._stop_buttons = parse_combinations(config.stop_buttons)
        self._overload = OverloadWatch(config, output.motors)
        self._clock, self._chunk_watch = ClockWatch(config), ChunkWatch(config)
        self.state, self.reason = ControlState.DISCONNECTED, "no state has come from the robot yet"
        self.accepted, self.refused, self.refusal, self.episode = 0, 0, "", 0
        self._hold = HoldReason("")
        self._held = 0  # ns, when HOLDING began
        self._rest: NDArray[np.float64] | None = None  # where a hold yields to, (13,) rad
        self._releasing = False  # the weight falls; then IDLE
        self._begins = False  # this engagement has not become ACTIVE yet
        self._ticked: int | None = None
        self._load_due = 0  # ns
        self._restarts = 0
        self._grip: NDArray[np.float64] | None = None  # where fingers are to stay, to be sent once

    @property
    def clipped(self) -> int:
        """Rows of chunks that were clipped to the limits since the episode began."""
        return self._chunks.clipped

    # What comes in ------------------------------------------------------------------------

    def receive(self, raw: bytes, now: int) -> LowState | None:
        """Takes a raw state of the robot; gives it where it is good and fresh. The remote's
        buttons, which come with it, may stop."""
        state = self.watch.receive(raw, now)
        if state is None:
            return None
        if self.state is ControlState.DISCONNECTED:
            self._enter(ControlState.IDLE, "the robot is heard")
        down = pressed(state.remote) if any(state.remote) else frozenset()
        for buttons in self._stop_buttons:
            if buttons <= down:
                self.stop(f"{' and '.join(sorted(buttons))} of the remote")
        return state

    def accept(self, chunk: Chunk, clock: int) -> None:
        """Follows a chunk from now on. Errors: RuleSafeError with the reason for a refusal; what
        was followed is followed on."""
        try:
            resumes = self.state is ControlState.HOLDING and self._hold.resumes
            if self.state is not ControlState.ACTIVE and not resumes:
                raise RuleSafeError(f"{self.state.value}: {self.reason}")
            command = self.drive.command
            check_chunk(chunk, clock, command, self.config)
            self._chunks.accept(chunk, clock, command)
        except RuleSafeError as error:
            self.refuse(str(error))
            raise
        self.accepted += 1
        if self.state is ControlState.HOLDING:
            self._follow()

    def refuse(self, reason: str) -> None:
        """Notes a chunk that was refused, here or before it became one."""
        self.refused += 1
        self.refusal = reason

    # What people ask for ------------------------------------------------------------------

    def engage(self, now: int) -> str:
        """Begins, or goes on after a hold; what it does, in words. Errors: RuleSafeError with what
        stands in the way; nothing has changed then."""
        if self.state in (ControlState.ENGAGING, ControlState.ACTIVE):
            return f"already {self.state.value}"
        if self.state in STOPPED:
            raise RuleSafeError(f"{self.state.value}: {self.reason}; /bridge/reset comes first")
        if self._releasing:
            raise RuleSafeError("the weight still falls: wait until the bridge is IDLE")
        state = self.watch.last
        if state is None or self.watch.lost(now):
            raise RuleSafeError(self.watch.why_lost(now))
        if self.hand is not None:
            self.hand.check(now)
        posture = (
            self.drive.posture if self.state is ControlState.HOLDING else measured_posture(state)
        )
        self._overload.reset()
        if why := self._overload.excess(state, posture):
            raise RuleSafeError(why)
        if self.state is ControlState.IDLE:
            self.drive.begin(state, None if self.hand is None else self.hand.fingers)
            self._restarts = self.watch.counts.restarts
            self._begins = True
            self._ticked = None  # the ramp starts at the next tick, however late that comes
        self._enter(ControlState.ENGAGING, f"the weight rises within {self.config.ramp:g} s")
        return self.reason

    def disengage(self, now: int) -> str:
        """Lets the weight fall to exactly 0. Errors: RuleSafeError while it is stopped."""
        if self.state in STOPPED:
            raise RuleSafeError(f"{self.state.value}: {self.reason}; /bridge/reset lets go as well")
        if self.state not in ENGAGED:
            return "not engaged"
        self._pause(HoldReason(f"disengaging: the weight falls within {self.config.ramp:g} s"), now)
        self._releasing = True
        return self.reason

    def stop(self, reason: str) -> str:
        """The software's emergency stop, from any state: motors are damped until a reset."""
        if self.state is not ControlState.DAMPING:
            self._enter(ControlState.DAMPING, reason)
        return f"{self.state.value}: {self.reason}"

    def reset(self) -> str:
        """Out of DAMPING or FAULT: the weight falls to exactly 0, then the bridge is IDLE.
        Errors: RuleSafeError in another state."""
        if self.state not in STOPPED:
            raise RuleSafeError(f"{self.state.value}: there is nothing to reset")
        self._releasing = True
        return f"the weight falls within {self.config.ramp:g} s"

    # A tick -------------------------------------------------------------------------------

    def tick(self, now: int, clock: int) -> Sent:
        """What is sent at `now`; to be called `config.rate` times a second."""
        dt = self._elapsed(now)
        self._look(now, clock)
        if self._weigh(dt, now, clock):
            return Sent(hand=self._hand_targets())
        try:
            if self.state is not ControlState.DAMPING:
                self._move(dt, clock)
                return Sent(self.drive.message(dt), self._hand_targets())
        except RuleSafeError as error:  # a mistake of the bridge itself
            self.stop(f"a command was refused before it was sent: {error}")
        return Sent(self.drive.damped(dt), self._hand_targets())

    def _elapsed(self, now: int) -> float:
        """s since the last tick; after a stall one period, since the arm has come to rest."""
        period, last = 1 / self.config.rate, self._ticked
        self._ticked = now
        if last is None or now <= last:
            return period
        dt = (now - last) / SECOND
        if dt <= self.config.stall_timeout:
            return dt
        self.drive.halt()
        if self.state is ControlState.ACTIVE:
            self._pause(
                HoldReason(f"the bridge itself stood still for {dt:.2f} s", resumes=True), now
            )
        return period

    def _weigh(self, dt: float, now: int, clock: int) -> bool:
        """Moves the weight; whether nothing is to be sent any more."""
        if self.state is ControlState.ENGAGING:
            self.drive.rise(dt)
            if self.drive.weight == 1:
                self._activate(clock)
        elif self._releasing or self.state is ControlState.FAULT:
            self.drive.fall(dt)
        if self._releasing and self.drive.released():
            self.drive.end()
            heard = not self.watch.lost(now)
            why = "the weight is 0" if heard else self.watch.why_lost(now)
            self._enter(ControlState.IDLE if heard else ControlState.DISCONNECTED, why)
        return self.drive.silent()

    def _move(self, dt: float, clock: int) -> None:
        if self.state is ControlState.ACTIVE:
            self.drive.move(self._chunks.target(clock, self.drive.command), dt)
        elif self._rest is not None and not self._releasing and self.state is ControlState.HOLDING:
            self.drive.move(self._rest, dt)
        else:
            self.drive.brake(dt)

    def _hand_targets(self) -> NDArray[np.float64] | None:
        if self.hand is None:
            return None
        grip, self._grip = self._grip, None
        if grip is not None:
            return self.hand.targets(grip)
        if self.state in (ControlState.ACTIVE, ControlState.HOLDING) and not self._releasing:
            return self.hand.targets(self.drive.fingers)
        return None

    # Watchdogs, the gravest first -----------------------------------------------------------

    def _look(self, now: int, clock: int) -> None:
        jumped, state = self._clock.jumped(now, clock), self.watch.last
        if self.state in (ControlState.DISCONNECTED, *STOPPED) or state is None:
            return
        engaged = self.state in ENGAGED
        if self.watch.lost(now):
            self._enter(
                ControlState.FAULT if engaged else ControlState.DISCONNECTED,
                self.watch.why_lost(now),
            )
        elif not engaged:
            return
        elif self.watch.counts.restarts != self._restarts:
            self._enter(ControlState.FAULT, "the robot has started anew")
        elif state.mode_machine != self.drive.mode_machine:
            before = self.drive.mode_machine
            why = f"the robot's mode_machine changed from {before} to {state.mode_machine}"
            self._enter(ControlState.FAULT, why)
        elif not self._releasing:
            self._look_for_holds(state, now)
            self._look_at_time(now, clock, jumped)

    def _look_for_holds(self, state: LowState, now: int) -> None:
        """What only /bridge/engage ends."""
        resumes = self.state is not ControlState.HOLDING or self._hold.resumes
        if not resumes or now < self._load_due:
            return
        self._load_due = now + LOAD_PERIOD
        hold = self._overload.look(state, self.drive.posture, now)
        if hold is None and self.hand is not None and (why := self.hand.trouble(now)):
            hold = HoldReason(why)
        if hold is not None:
            self._pause(hold, now)

    def _look_at_time(self, now: int, clock: int, jumped: float) -> None:
        if self.state is ControlState.ACTIVE:
            if jumped:
                self._chunks.reset(clock)
                self._pause(HoldReason(f"the clock jumped by {jumped:.2f} s", resumes=True), now)
            elif self._chunk_watch.starved(self._chunks.done(clock), now):
                self._pause(HoldReason("no chunk came in time", resumes=True), now)
        elif self.state is ControlState.HOLDING:
            if jumped:
                self._chunks.reset(clock)
            timeout = self.config.damping_timeout
            if now - self._held > timeout * SECOND:
                self._enter(ControlState.DAMPING, f"held for {timeout:g} s: {self.reason}")

    # Changes of state -----------------------------------------------------------------------

    def _activate(self, clock: int) -> None:
        self._chunks.reset(clock)
        if self._begins:
            self._begins = False
            self.episode += 1
        self._follow()

    def _follow(self) -> None:
        self._chunk_watch.reset()
        self._enter(ControlState.ACTIVE, "chunks are followed")

    def _pause(self, hold: HoldReason, now: int) -> None:
        """Holds; damping comes after a while of any holding, so that its start stays."""
        if self.state is not ControlState.HOLDING:
            self._held = now
        self._hold, self._rest = hold, None
        if hold.yields and self.watch.last is not None:
            arm = measured_posture(self.watch.last)[list(RIGHT_ARM)]
            self._rest = np.r_[arm, self.drive.command[ARM:]]
        self._enter(ControlState.HOLDING, hold.reason)

    def _enter(self, state: ControlState, reason: str) -> None:
        if state in STOPPED and self.state in ENGAGED and self.hand is not None:
            self._grip = self.hand.fingers
        if state is not ControlState.HOLDING:
            self._releasing, self._rest = False, None
        self.state, self.reason = state, reason
