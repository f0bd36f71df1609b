"""State machine of the bridge and the commands that it sends. This module does not import ROS.

`now` is the time of a steady clock and `clock` the ROS time, both integer ns. They are arguments so
that tests can simulate hours in a second. Example::

    core = BridgeCore(BridgeConfig(), load_output("arm_sdk"))
    core.receive(raw_low_state, now)
    core.engage(now)
    while core.state is not ControlState.IDLE:
        sent = core.tick(now, clock)
        if sent.body is not None:
            sleep(core.early(monotonic_ns()) / 1e9)
            if core.in_time(monotonic_ns()):
                publish(raw := encode_low_cmd(sent.body))
                core.published(raw, monotonic_ns())

Each tick runs the watchdogs, computes the next command, and checks it with the command guard.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.command_timing import CommandTiming
from h1_2_bridge.command_topic import CommandTopic
from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.drive import Drive
from h1_2_bridge.hand_watch import HandWatch
from h1_2_bridge.limits import ARM, action_limits
from h1_2_bridge.messages import LowCmd, LowState
from h1_2_bridge.motors import RIGHT_ARM
from h1_2_bridge.outputs import SERIES, Output
from h1_2_bridge.remote import parse_combinations, pressed
from h1_2_bridge.safety import check_chunk
from h1_2_bridge.states import ARM_MOVES, ENGAGED, STOPPED, ControlState, HoldReason
from h1_2_bridge.watchdogs import (
    MOVING,
    ChunkWatch,
    ClockWatch,
    OverloadWatch,
    StateWatch,
    SupervisorWatch,
    arm_speed,
    measured_posture,
)
from rulesafe_core.chunks import SECOND, Chunk, load_executor
from rulesafe_core.errors import RuleSafeError

LOAD_PERIOD = SECOND // 100
"""Period of the checks of motors and hands, whose faults develop slowly, ns."""


@dataclass(frozen=True)
class Sent:
    """Output of a tick: the body command and the hand targets (12,), rad; None: send nothing."""

    body: LowCmd | None = None
    hand: NDArray[np.float64] | None = None


class BridgeCore:
    """The state machine of docs/safety.md.

    Args:
        config: settings.
        output: command interface of the body.
        hand_joints: the 12 joints of the hand driver; empty: no hands.
        receives_own: whether `overhear` is called for the bridge's own commands, too.

    Attributes:
        state, reason: current state and the human-readable reason for it.
        drive: computes the commands; its `weight` is 0..1.
        watch: checks the robot's states; `watch.last` is the newest valid one.
        hand: checks the hand states; None without hands.
        topic: what the robot received last on the command topic.
        supervisor: checks the supervisor's heartbeat; None if no supervisor is required.
        accepted, refused, refusal: numbers of chunks, and why the last one was refused.
        episode: number of times that the bridge became ACTIVE after being engaged.
    """

    def __init__(
        self,
        config: BridgeConfig,
        output: Output,
        hand_joints: Sequence[str] = (),
        receives_own: bool = True,
    ) -> None:
        limits = action_limits(config)
        self.config = config
        self.drive = Drive(config, output)
        self.topic = CommandTopic(receives_own)
        self._output = output
        self._chunks = load_executor(config.execution)(
            limits.lower, limits.upper, config.execute_steps
        )
        self.watch = StateWatch(config)
        self.hand = HandWatch(config, hand_joints) if hand_joints else None
        self._stop_buttons = parse_combinations(config.stop_buttons)
        self._overload = OverloadWatch(config, output.motors)
        self._clock, self._chunk_watch = ClockWatch(config), ChunkWatch(config)
        required = output.ends and config.supervisor_timeout > 0
        self.supervisor = SupervisorWatch(config) if required else None
        self.state, self.reason = ControlState.DISCONNECTED, "no state received from the robot yet"
        self.accepted, self.refused, self.refusal, self.episode = 0, 0, "", 0
        self._hold = HoldReason("")
        self._hold_start = 0  # ns, when HOLDING began
        self._rest: NDArray[np.float64] | None = None  # target while yielding, (13,) rad
        self._releasing = False  # the weight ramps down; IDLE follows
        self._ending = False  # `shut_down` was called
        self._first_activation = False  # engaged, but not ACTIVE yet
        self._timing = CommandTiming(config)
        self._muted_time = 0  # ns
        self._load_due = 0  # ns
        self._restarts = 0
        self._grip: NDArray[np.float64] | None = None  # finger positions to hold, sent once

    @property
    def weight(self) -> float:
        """Weight of the robot's last command, from any publisher."""
        other = self.topic.foreign and self.drive.silent()  # also after a reset or a release
        return self.topic.weight if other or self.drive.muted else self.drive.weight

    @property
    def released(self) -> bool:
        """Whether this bridge is not needed to release the robot: it sends nothing, and if it was
        muted after a gap, the supervisor has taken over."""
        uncertain = self.drive.muted and not self.topic.foreign and self.topic.weight > 0
        return self.drive.silent() and not uncertain

    @property
    def clipped(self) -> int:
        """Number of chunk steps clipped to the limits since the episode began."""
        return self._chunks.clipped

    # Inputs -------------------------------------------------------------------------------

    def receive(self, raw: bytes, now: int) -> LowState | None:
        """Process a raw LowState and return it if it is valid and new, else None.

        A stop combination of the remote's buttons, which are part of the state, stops the bridge.
        """
        state = self.watch.receive(raw, now)
        if state is None:
            return None
        if self.state is ControlState.DISCONNECTED:
            self._enter(ControlState.IDLE, "receiving states from the robot")
        down = pressed(state.remote) if any(state.remote) else frozenset()
        for buttons in self._stop_buttons:
            if buttons <= down:
                self.stop(f"{' and '.join(sorted(buttons))} pressed on the remote")
        return state

    def overhear(self, raw: bytes, now: int) -> None:
        """Process a raw message of the command topic. A command of another program silences the
        bridge: the robot must never have two publishers."""
        if self.topic.receive(raw, now) and not self.drive.silent():
            who = "a program to end"
            if self._output.ends:
                who = f"the supervisor, which ramps the weight down, or {who}"
            self._mute(f"another program publishes on {self._output.topic}: {who}", now)

    def accept(self, chunk: Chunk, clock: int) -> None:
        """Execute a chunk from now on. Raises RuleSafeError if the chunk is refused; execution of
        the previous one continues then."""
        try:
            resumes = self.state is ControlState.HOLDING and self._hold.resumes
            if self.state is not ControlState.ACTIVE and not resumes:
                raise RuleSafeError(f"the bridge is {self.state.value}: {self.reason}")
            command = self.drive.command
            check_chunk(chunk, clock, command, self.config)
            self._chunks.accept(chunk, clock, command)
        except RuleSafeError as error:
            self.refuse(str(error))
            raise
        self.accepted += 1
        if self.state is ControlState.HOLDING:
            self._follow()
        self.reason = "executing chunks"

    def refuse(self, reason: str) -> None:
        """Count a refused chunk, also one that could not be decoded."""
        self.refused += 1
        self.refusal = reason

    # Services -----------------------------------------------------------------------------

    def engage(self, now: int) -> str:
        """Engage, or resume after HOLDING, and return a message for the user.

        Raises:
            RuleSafeError: the bridge cannot engage; its state is unchanged.
        """
        if self.state in (ControlState.ENGAGING, ControlState.ACTIVE):
            return f"already {self.state.value}"
        if self.state in STOPPED:
            raise RuleSafeError(f"{self.state.value}: {self.reason}; call /bridge/reset first")
        if self._releasing:
            raise RuleSafeError("the weight is ramping down: wait until the bridge is IDLE")
        state = self.watch.last
        if state is None or self.watch.lost(now):
            raise RuleSafeError(self.watch.loss_reason(now))
        if reason := self._ankle_fault(state):
            raise RuleSafeError(reason)
        if self.state is ControlState.IDLE and (reason := self.topic.refusal(now)):
            raise RuleSafeError(reason)
        if self.supervisor is not None:
            reason = self.supervisor.trouble(now)
            if not reason and self.supervisor.stop_pending:
                reason = "a stop was requested: engage a second after the last request"
            if not reason and self.state is ControlState.IDLE:
                reason = self.supervisor.still_commanded()
            if reason:
                raise RuleSafeError(reason)
        if self.hand is not None:
            self.hand.check(now)
        posture = (
            self.drive.posture if self.state is ControlState.HOLDING else measured_posture(state)
        )
        self._overload.reset()
        if reason := self._overload.excess(state, posture):
            raise RuleSafeError(reason)
        if self.state is ControlState.IDLE:
            if (speed := arm_speed(state)) >= MOVING:
                raise RuleSafeError(
                    f"{ARM_MOVES} {speed:.2f} rad/s; valid: below {MOVING:g} rad/s. Wait until "
                    "the arms are at rest, and end the controller that moves them"
                )
            self.drive.begin(state, None if self.hand is None else self.hand.fingers)
            self._restarts = self.watch.counts.restarts
            self._first_activation = True
            self._timing.restart()
        elif self._hold.hand and self.hand is not None:
            self.drive.set_fingers(self.hand.fingers)
        reason = f"the weight ramps up to 1 within {self.config.ramp:g} s"
        if self.drive.weight == 1:
            reason = "the weight is 1: the arm resumes"
        self._enter(ControlState.ENGAGING, reason)
        return reason

    def disengage(self, now: int) -> str:
        """Ramp the weight down to exactly 0. Raises RuleSafeError in DAMPING and FAULT."""
        if self.state in STOPPED:
            raise RuleSafeError(
                f"{self.state.value}: {self.reason}; call /bridge/reset to release the robot"
            )
        if self.state not in ENGAGED:
            return "not engaged"
        self._enter_hold(
            HoldReason(f"disengaging: the weight ramps down to 0 within {self.config.ramp:g} s"),
            now,
        )
        self._releasing = True
        return self.reason

    def release(self, reason: str) -> None:
        """Ramp the weight down because of a fault outside the core, such as a second publisher."""
        if self.state in ENGAGED:
            self._enter(ControlState.FAULT, reason)

    def stop(self, reason: str) -> str:
        """Stop from any state: motors are damped until a reset. A reset in progress is cancelled,
        except for that of `shut_down`."""
        if self.state is ControlState.DAMPING:
            self._releasing &= self._ending
        else:
            if self.drive.muted and not self._output.ends:
                reason += "; motors are damped when the other program has been silent for 1 s"
            self._enter(ControlState.DAMPING, reason)
        return f"{self.state.value}: {self.reason}"

    def reset(self) -> str:
        """Leave DAMPING or FAULT: ramp the weight down to exactly 0, then enter IDLE. Raises
        RuleSafeError in another state."""
        if self.state not in STOPPED:
            raise RuleSafeError(f"{self.state.value}: only DAMPING and FAULT need a reset")
        if self.drive.muted and (self.topic.foreign or not self.topic.weight):
            self.drive.end()
        self._releasing = True
        return f"the weight ramps down to 0 within {self.config.ramp:g} s"

    def shut_down(self, now: int) -> None:
        """Release the robot from any state; call it repeatedly until `released`."""
        self._ending = True
        if self.state in STOPPED:
            self.reset()
        elif self.state in ENGAGED:
            self.disengage(now)

    # A tick -------------------------------------------------------------------------------

    def tick(self, now: int, clock: int) -> Sent:
        """Return the commands to send at `now`; call it `config.rate` times a second.

        Before sending the body's command, wait for `early`; call `in_time` immediately before
        sending it, and `published` after it.
        """
        self._check_gap(now)
        self._check_muted(now)
        sent = self._next(now, clock)
        if sent.body is not None:
            self._timing.computed(now)
        elif self.drive.silent():
            self._timing.silent()
        return sent

    def early(self, now: int) -> int:
        """Return the time (ns) to wait before the command of the last tick is sent."""
        return self._timing.early(now)

    def in_time(self, now: int) -> bool:
        """Return whether the command of the last tick may still be sent at `now`."""
        return self._timing.in_time(now)

    def published(self, raw: bytes, now: int) -> None:
        """Record that the command of the last tick was sent, and was on its way at `now`."""
        self.topic.sent(raw, self.drive.weight if self._output.ends else 0.0)
        if self._timing.sent(now):
            self.drive.halt()

    def _check_gap(self, now: int) -> None:
        """Stop publishing after a gap between two commands: the supervisor may have taken over, so
        that the bridge does not know what the robot executes."""
        gap = self._timing.gap(now)
        if not gap or self.drive.silent():
            return
        reason = (
            f"no command was published for {gap:.2f} s (gap_timeout is "
            f"{self.config.gap_timeout:g} s)"
        )
        if self._output.ends:
            self._mute(f"{reason}: left to the supervisor", now)
        else:
            self.stop(reason)

    def _mute(self, reason: str, now: int) -> None:
        self.drive.muted, self._muted_time = True, now
        damped = self.state is ControlState.DAMPING  # until a reset, muted or not
        self._enter(ControlState.DAMPING if damped else ControlState.FAULT, reason)

    def _check_muted(self, now: int) -> None:
        """Determine after a gap what the robot executes, from the supervisor's heartbeat: the
        process may not have received the supervisor's commands."""
        if not self.drive.muted:
            return
        if self.topic.foreign:
            # Without a supervisor nobody else damps the motors.
            alone = not self._output.ends and not self.topic.busy(now)
            if alone and self.state is ControlState.DAMPING:
                self.drive.unmute()
            return
        stopped = self._releasing or self.state is ControlState.DAMPING  # by a reset or a stop
        if self.supervisor is None or self.supervisor.silent(self._muted_time, now):
            if stopped:  # the robot still executes the last command of this bridge
                self.drive.unmute()
            return
        weight = self.supervisor.report(self._muted_time, now)
        if weight == 0:
            self.drive.end()
            self.topic.foreign_time = now  # the supervisor still publishes, received or not
        elif weight is not None and weight < 0:  # it was paused as well, and does not take over
            self.drive.unmute()
            if self.state is ControlState.FAULT:
                self._enter(ControlState.FAULT, f"{self.reason}, which was paused, too")

    def _next(self, now: int, clock: int) -> Sent:
        dt = self._time_step(now)
        self._run_watchdogs(now, clock)
        if self._update_weight(dt, now, clock):
            return Sent(hand=self._hand_targets(now))
        try:
            if self.state is not ControlState.DAMPING:
                self._move(dt, clock)
                return Sent(self.drive.message(dt), self._hand_targets(now))
        except RuleSafeError as error:  # an error in the bridge itself
            self.stop(f"the command guard refused a command, which was not sent: {error}")
        except Exception as error:  # the robot must not keep its last command, whatever failed
            self.stop(f"no command could be computed: {type(error).__name__}: {error}")
        return Sent(self._damping_message(dt), self._hand_targets(now))

    def _damping_message(self, dt: float) -> LowCmd | None:
        """Return the command to damp; None if the guard refuses it. The next tick tries again, and
        after `gap_timeout` the supervisor releases the robot."""
        try:
            return self.drive.damping_message(dt)
        except Exception as error:  # the process must continue: it still receives stop requests
            self.reason = f"no command to damp: {error}"
            return None

    def _time_step(self, now: int) -> float:
        """Return the time (s) of the next command: one period after a stall, since the arm is at
        rest then."""
        dt = self._timing.elapsed(now)
        if dt <= self.config.stall_timeout:
            return dt
        self.drive.halt()
        if self.state is ControlState.ACTIVE:
            self._enter_hold(
                HoldReason(f"the bridge was stalled for {dt:.2f} s", resumes=True), now
            )
        return 1 / self.config.rate

    def _update_weight(self, dt: float, now: int, clock: int) -> bool:
        """Ramp the weight and return whether to send nothing."""
        if self.drive.muted:
            return True
        if self.state is ControlState.ENGAGING:
            self.drive.raise_weight(dt)
            if self.drive.weight == 1:
                self._activate(clock)
        elif self._releasing or self.state is ControlState.FAULT or self._damps_alone(now):
            self.drive.lower_weight(dt)
        if self._releasing and self.drive.released():
            self.drive.end()
            connected = not self.watch.lost(now)
            reason = "the weight is 0" if connected else self.watch.loss_reason(now)
            if connected and self.weight:
                reason = "this bridge sends nothing; the robot executes another program's commands"
            self._enter(ControlState.IDLE if connected else ControlState.DISCONNECTED, reason)
        return self.drive.silent()

    def _damps_alone(self, now: int) -> bool:
        """Return whether the motors are damped without a supervisor, which would release the robot
        if this process ended."""
        if self.state is not ControlState.DAMPING or self.supervisor is None:
            return False
        return bool(self.supervisor.lost(self.drive.weight, now))

    def _move(self, dt: float, clock: int) -> None:
        if self.state is ControlState.ACTIVE:
            self.drive.follow(*self._chunks.path(clock, self.drive.command), dt)
        elif self._rest is not None and not self._releasing:  # HOLDING
            self.drive.move(self._rest, dt)
        else:
            self.drive.brake(dt)

    def _hand_targets(self, now: int) -> NDArray[np.float64] | None:
        if self.hand is None:
            return None
        grip, self._grip = self._grip, None
        if grip is not None:  # measured before a pause, it would be too old
            return None if self.hand.trouble(now) else self.hand.targets(grip)
        holds = self.state is ControlState.HOLDING and not self._hold.hand
        if (self.state is ControlState.ACTIVE or holds) and not self._releasing:
            return self.hand.targets(self.drive.fingers)
        return None

    # Watchdogs, the most severe first -------------------------------------------------------

    def _run_watchdogs(self, now: int, clock: int) -> None:
        jump, state = self._clock.jump(now, clock), self.watch.last
        if self.state in (ControlState.DISCONNECTED, *STOPPED) or state is None:
            return
        engaged = self.state in ENGAGED
        if self.watch.lost(now):
            self._enter(
                ControlState.FAULT if engaged else ControlState.DISCONNECTED,
                self.watch.loss_reason(now),
            )
        elif not engaged:
            return
        elif self.supervisor is not None and self.supervisor.stop_pending:
            self.stop("stop requested; the supervisor received the request")
        elif self.watch.counts.restarts != self._restarts:
            self._enter(ControlState.FAULT, "the robot has restarted")
        elif state.mode_machine != self.drive.mode_machine:
            before = self.drive.mode_machine
            reason = f"the robot's mode_machine changed from {before} to {state.mode_machine}"
            self._enter(ControlState.FAULT, reason)
        elif reason := self._ankle_fault(state) or self._overload.undervoltage(state, now):
            self._enter(ControlState.FAULT, reason)
        elif self._releasing:
            return
        elif self.supervisor is not None and (
            reason := self.supervisor.lost(self.drive.weight, now)
        ):
            self._enter(ControlState.FAULT, reason)
        else:
            self._check_load(state, now)
            self._check_timing(now, clock, jump)

    def _ankle_fault(self, state: LowState) -> str:
        """Return why measured ankle positions cannot be commanded; empty if they can or are not."""
        if self._output.ends or state.mode_pr == SERIES:
            return ""
        return (
            f"the robot's mode_pr is {state.mode_pr}: its ankle positions are those of two motors, "
            f"but commands have pitch and roll; valid: {SERIES}"
        )

    def _check_load(self, state: LowState, now: int) -> None:
        """Hold after a fault of motors or hands; only /bridge/engage ends such a hold."""
        if self.state is ControlState.HOLDING and self.hand is not None and self.hand.trouble(now):
            self._hold = replace(self._hold, hand=True)
        resumes = self.state is not ControlState.HOLDING or self._hold.resumes
        if not resumes or now < self._load_due:
            return
        self._load_due = now + LOAD_PERIOD
        hold = self._overload.check(state, self.drive.posture, now)
        if hold is None and self.hand is not None and (reason := self.hand.trouble(now)):
            hold = HoldReason(reason, hand=True)
        if hold is not None:
            self._enter_hold(hold, now)

    def _check_timing(self, now: int, clock: int, jump: float) -> None:
        if self.state is ControlState.ACTIVE:
            if jump:
                self._chunks.reset(clock)
                self._enter_hold(
                    HoldReason(f"the ROS clock jumped by {jump:.2f} s", resumes=True), now
                )
            elif self._chunk_watch.timed_out(self._chunks.done(clock), now):
                reason = f"no new chunk within {self.config.chunk_timeout:g} s (chunk_timeout)"
                self._enter_hold(HoldReason(reason, resumes=True), now)
        elif self.state is ControlState.HOLDING:
            if jump:
                self._chunks.reset(clock)
            timeout = self.config.damping_timeout
            if now - self._hold_start > timeout * SECOND:
                self._enter(ControlState.DAMPING, f"HOLDING for {timeout:g} s: {self.reason}")

    # Changes of state -----------------------------------------------------------------------

    def _activate(self, clock: int) -> None:
        self._chunks.reset(clock)
        if self._first_activation:
            self._first_activation = False
            self.episode += 1
        self._follow()

    def _follow(self) -> None:
        self._chunk_watch.reset()
        self._enter(ControlState.ACTIVE, "ready for chunks")

    def _enter_hold(self, hold: HoldReason, now: int) -> None:
        """Enter HOLDING. The start of HOLDING is kept when the reason changes, because
        `damping_timeout` counts from it."""
        if self.state is not ControlState.HOLDING:
            self._hold_start = now
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
