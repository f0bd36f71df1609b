"""The supervisor publishes nothing while the bridge runs, and ramps to weight 0 after it died."""

from dataclasses import replace

import numpy as np
import pytest
from waiting import wait_for

from h1_2_bridge.messages import SLOTS
from h1_2_bridge.motors import WEIGHT_SLOT, motors
from h1_2_bridge.outputs import load_output
from h1_2_bridge.safety import may_be_repeated
from h1_2_bridge.supervisor import LAST_ZEROS, Supervisor, SupervisorParameters, Turn
from h1_2_bridge.wire import LowCmd, decode_low_cmd, encode_low_cmd
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError

MS = SECOND // 1000
RAMP, PATIENCE = 2.0, 0.1


def command(weight: float, seed: int = 0, damps: bool = False) -> bytes:
    rng = np.random.default_rng(seed)
    limits, output = motors(), load_output("arm_sdk")
    used = np.isin(np.arange(SLOTS), output.motors)
    q = np.zeros(SLOTS)
    q[: len(limits.lower)] = np.clip(rng.normal(0, 0.3, 27), limits.lower, limits.upper)
    q[WEIGHT_SLOT] = weight
    shares = rng.uniform(0.1, 1, (3, SLOTS))
    arrays = {"dq": rng.normal(0, 3, SLOTS), "tau": used * shares[0]}
    arrays |= {"kp": output.kp * shares[1] * (not damps), "kd": output.kd * shares[2]}
    arrays = {name: values.astype(np.float32) for name, values in ({"q": q} | arrays).items()}
    return encode_low_cmd(LowCmd(0, 6, used.astype(np.uint8), **arrays))


class Line:
    """A supervisor at 100 Hz that receives its own messages, as on a ROS graph."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.supervisor = Supervisor(SupervisorParameters(ramp=RAMP, patience=patience))
        self.now = 10 * SECOND
        self.sent: list[tuple[int, LowCmd]] = []

    @property
    def weights(self) -> np.ndarray:
        """The weights that the supervisor has sent."""
        return np.array([cmd.q[WEIGHT_SLOT] for _, cmd in self.sent])

    def run(self, seconds: float, *commands: bytes) -> None:
        """Advance the time; the bridge sends one of `commands` per step, if any."""
        for i in range(round(seconds * 100)):
            self.now += 10 * MS
            if commands:
                self.supervisor.receive(commands[i % len(commands)], self.now)
            raw = self.supervisor.tick(self.now)
            if raw is not None:
                self.sent.append((self.now, decode_low_cmd(raw)))
                self.supervisor.receive(raw, self.now)


@pytest.fixture
def line():
    return Line()


@pytest.mark.parametrize("weight", [None, 0.0, 0.3, 1.0])
def test_silent_while_the_bridge_publishes_and_after_it_has_released_the_robot(line, weight):
    line.run(10, *([] if weight is None else [command(weight)]))
    line.run(1, command(0.0))
    line.run(10)
    assert line.sent == []
    assert line.supervisor.turn is Turn.NONE


@pytest.mark.parametrize(
    ("name", "motor", "value"),
    [
        *((name, 23, np.nan) for name in ("q", "tau", "kp", "kd")),
        ("q", 23, 9.0),
        ("tau", 20, 500.0),
        ("kp", 20, 5000.0),
        ("kd", 20, 500.0),
        ("kp", 3, 10.0),
        ("mode", 3, 1),
    ],
)
def test_a_command_of_another_program_beyond_the_limits_is_not_repeated(line, name, motor, value):
    """Motors are damped instead, while the weight ramps down."""
    bad = decode_low_cmd(command(1.0))
    getattr(bad, name)[motor] = value
    line.run(0.5, encode_low_cmd(bad))
    line.run(RAMP + 1)
    sent = [cmd for _, cmd in line.sent]
    output, limits = load_output("arm_sdk"), motors()
    assert len(sent) > 100 * RAMP
    for cmd in sent:
        assert may_be_repeated(cmd, output)
        assert not cmd.kp.any() and not cmd.tau.any()
        assert ((cmd.q[:27] >= limits.lower - 1e-6) & (cmd.q[:27] <= limits.upper + 1e-6)).all()
    weights = [cmd.q[WEIGHT_SLOT] for cmd in sent]
    assert weights[0] > 0.9 and weights[-1] == 0 and (np.diff(weights) <= 0).all()


@pytest.mark.parametrize("weight", [1.0, 0.4])
def test_weight_falls_to_exactly_zero_after_a_dead_bridge(line, weight):
    last = command(weight, seed=3)
    line.run(1, command(weight), last)
    died = line.now
    line.run(10)
    times = np.array([time for time, _ in line.sent])
    weights = line.weights
    assert died + PATIENCE * SECOND <= times[0] <= died + PATIENCE * SECOND + 20 * MS
    assert weights[0] == pytest.approx(weight - 0.01 / RAMP)
    assert (np.diff(weights) <= 0).all()
    assert np.abs(np.diff(weights)).max() <= 0.01 / RAMP + 1e-6
    assert weights[-1] == 0.0  # exactly
    assert (weights == 0).sum() >= LAST_ZEROS * 100
    reached = times[np.argmax(weights == 0)]
    assert reached - times[0] == pytest.approx(weight * RAMP * SECOND, abs=20 * MS)
    assert line.now == times[-1], "until the bridge reports the weight, too"


def test_all_but_the_weight_is_the_last_command(line):
    last = command(0.7, seed=5)
    line.run(1, last)
    line.run(10)
    expected = decode_low_cmd(last)
    for _, sent in line.sent:
        assert sent.valid
        q = sent.q.copy()
        q[WEIGHT_SLOT] = expected.q[WEIGHT_SLOT]
        np.testing.assert_array_equal(q, expected.q)
        np.testing.assert_array_equal(sent.dq, 0)
        for name in ("mode", "tau", "kp", "kd", "mode_machine", "mode_pr", "reserve"):
            np.testing.assert_array_equal(getattr(sent, name), getattr(expected, name))


def test_a_bridge_that_comes_back_is_heard_with_its_second_command(line):
    line.run(1, command(1.0))
    line.run(1)
    count = len(line.sent)
    assert 80 < count < 100
    line.run(5, command(0.5, seed=9), command(0.5, seed=8))
    count += 1
    assert len(line.sent) == count
    line.run(5)  # and dies again
    assert line.sent[count][1].q[WEIGHT_SLOT] == pytest.approx(0.5 - 0.01 / RAMP)
    assert line.weights[-1] == 0
    assert line.supervisor.counts.takeovers == 2


def test_one_old_command_of_a_paused_bridge_does_not_end_the_takeover(line):
    """In the ramp and after it: the robot may have received the old command, so 0 is repeated."""
    line.run(1, command(1.0))
    line.run(1)
    line.supervisor.receive(command(1.0), line.now)
    line.run(5)
    line.supervisor.receive(command(1.0), line.now)
    assert line.supervisor.turn is Turn.BRIDGE, "two commands: its publisher continues"
    weights = line.weights
    assert np.abs(np.diff(weights)).max() <= 0.01 / RAMP + 1e-6
    assert weights[-1] == 0


def test_weight_zero_is_repeated_until_the_bridge_reports_it_too(line):
    line.run(1, command(1.0))
    line.supervisor.bridge_reported(0.0, line.now)
    line.run(1)
    line.supervisor.bridge_reported(0.0, line.now)
    line.run(10)
    assert line.supervisor.turn is Turn.RELEASED and line.sent[-1][0] == line.now
    line.supervisor.bridge_reported(0.4, line.now)
    line.run(1)
    assert line.supervisor.turn is Turn.RELEASED, "that bridge does not know of the takeover yet"
    line.supervisor.bridge_reported(0.0, line.now)
    count = len(line.sent)
    line.run(0.1)
    line.supervisor.bridge_reported(0.0, line.now)
    line.run(1)
    assert line.supervisor.turn is Turn.NONE
    assert len(line.sent) - count == pytest.approx(LAST_ZEROS * 100, abs=2)


def test_it_does_not_end_while_a_bridge_may_send_an_old_command(line):
    line.run(1, command(1.0))
    line.run(2.05)
    assert not line.supervisor.idle(bridge=False)
    line.run(0.1)
    assert line.supervisor.turn is Turn.RELEASED
    assert not line.supervisor.idle(bridge=False), "a single message may be lost"
    line.run(0.2)
    assert line.supervisor.idle(bridge=False) and not line.supervisor.idle(bridge=True)
    line.supervisor.bridge_reported(0.0, line.now)
    line.run(0.3)
    assert line.supervisor.idle(bridge=True)


def test_a_second_takeover_is_like_the_first(line):
    """An old command and a report of the first takeover do not count in the second one."""
    for takeovers in (1, 2):
        line.run(1, command(1.0))
        line.sent.clear()
        line.run(1)
        line.supervisor.receive(command(1.0), line.now)
        line.run(2)
        weights = line.weights
        assert np.abs(np.diff(weights)).max() <= 0.01 / RAMP + 1e-6 and weights[-1] == 0
        assert line.supervisor.turn is Turn.RELEASED
        assert line.supervisor.counts.takeovers == takeovers
        line.supervisor.bridge_reported(0.0, line.now)
        line.run(1)
        assert line.supervisor.turn is Turn.NONE


def test_after_a_pause_of_its_own_it_does_not_end_before_it_receives_commands_again(line):
    """Interrupted right after the pause, it would leave a bridge that commands unsupervised."""
    line.run(1, command(1.0))
    line.now += 600 * MS
    line.run(0.1, command(1.0))
    assert line.supervisor.turn is Turn.NONE and not line.supervisor.idle(bridge=False)
    line.run(0.2, command(1.0))
    assert line.supervisor.turn is Turn.BRIDGE and not line.supervisor.idle(bridge=False)
    line.run(5)
    assert line.weights[-1] == 0 and line.supervisor.idle(bridge=False)


def test_after_ignored_commands_it_waits_for_its_patience_before_it_ends(line):
    line.run(1, command(1.0))
    line.now += 600 * MS
    line.run(0.2, command(1.0))  # ignored
    line.run(PATIENCE)
    assert line.supervisor.turn is Turn.NONE and not line.supervisor.idle(bridge=False)
    line.run(0.01)
    assert line.supervisor.idle(bridge=False)


def test_a_patient_supervisor_does_not_end_its_takeover_after_a_pause():
    line = Line(patience=3.0)
    line.run(1, command(1.0))
    line.run(3.5)
    weight = line.weights[-1]
    assert 0.5 < weight < 1.0
    line.now += 600 * MS
    line.run(0.01)
    assert line.weights[-1] == pytest.approx(weight - 0.1 / RAMP, abs=1e-6)
    line.run(3)
    assert line.weights[-1] == 0


def test_a_patient_supervisor_keeps_the_command_in_a_pause_shorter_than_its_patience():
    """As on a busy machine, where the bridge ends in the pause."""
    for pause, keeps in ((2900, True), (3100, False)):
        line = Line(patience=3.0)
        line.run(1, command(1.0))
        line.now += pause * MS
        line.run(10)
        assert (len(line.sent) > 0 and line.weights[-1] == 0) == keeps
        assert (line.supervisor.counts.takeovers == 1) == keeps


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("period", [60, 110, 300])
def test_a_supervisor_that_always_stalls_takes_over_and_releases(period, stop):
    """As on a busy machine: each tick is later than half of its patience."""
    supervisor = Supervisor(SupervisorParameters(ramp=RAMP, patience=PATIENCE))
    start = 10 * SECOND
    supervisor.tick(start)
    supervisor.receive(command(1.0), start)
    if stop:
        supervisor.stop(start)
    ticks = np.arange(1, 100) * period * MS + start
    sent = [(time, supervisor.tick(int(time))) for time in ticks]
    first = next(time for time, raw in sent if raw is not None)
    assert first - start <= (2 * period + 1000 * PATIENCE) * MS
    assert supervisor.turn is Turn.RELEASED and supervisor.counts.takeovers == 1


def test_a_stall_before_the_first_command_changes_nothing():
    supervisor = Supervisor(SupervisorParameters(ramp=RAMP, patience=PATIENCE))
    for time in (0, 60, 120):
        assert supervisor.tick((10_000 + time) * MS) is None
    supervisor.receive(command(1.0), 10_120 * MS)
    assert supervisor.tick(10_170 * MS) is None and supervisor.tick(10_219 * MS) is None
    assert supervisor.tick(10_220 * MS) is not None


def test_a_patient_supervisor_does_not_forget_a_stop_of_a_commanded_robot():
    line = Line(patience=3.0)
    line.run(1, command(1.0))
    line.supervisor.stop(line.now)
    line.run(2.9, command(1.0), command(1.0, seed=1))
    assert line.sent == []
    line.run(0.2, command(1.0), command(1.0, seed=1))
    assert line.sent and not line.sent[-1][1].kp.any()


def test_only_one_stall_after_a_command_delays_the_takeover():
    supervisor, (first, second, third) = ticked(60 * MS, 120 * MS, 160 * MS)
    assert first is None and second is None and third is not None
    for time in (200, 270):  # the bridge's commands end the takeover, and a stall counts again
        supervisor.receive(command(1.0, seed=time), 10 * SECOND + time * MS)
    assert supervisor.turn is Turn.BRIDGE
    assert supervisor.tick(10 * SECOND + 275 * MS) is None
    assert supervisor.tick(10 * SECOND + 374 * MS) is None
    assert supervisor.tick(10 * SECOND + 375 * MS) is not None


def test_a_rate_too_low_for_the_patience_is_refused():
    SupervisorParameters(patience=0.2, rate=20.0)
    with pytest.raises(RuleSafeError, match=r"rate is 19 Hz; valid with .* 0\.2 s: 20 Hz or more"):
        SupervisorParameters(patience=0.2, rate=19.0)


def test_what_the_robot_ignores_is_not_heard(line):
    line.run(1, command(1.0))
    broken = bytearray(command(1.0))
    broken[100] ^= 1
    nan = command(float("nan"))
    line.run(1, bytes(broken), b"", nan)
    assert line.supervisor.turn is Turn.SUPERVISOR
    assert line.supervisor.counts.invalid == 100
    line.run(10)
    assert line.weights[-1] == 0


# Times at their limits, to the nanosecond -----------------------------------------------------


def ticked(*times: int) -> tuple[Supervisor, list[bytes | None]]:
    """Return a supervisor and what it sends at these times (ns) after a command of weight 1."""
    supervisor = Supervisor(SupervisorParameters(ramp=RAMP, patience=PATIENCE))
    start = 10 * SECOND
    supervisor.receive(command(1.0), start)
    assert supervisor.tick(start) is None
    return supervisor, [supervisor.tick(start + time) for time in times]


def test_it_takes_over_exactly_after_its_patience():
    for time, sends in ((100 * MS - 1, False), (100 * MS, True)):
        supervisor, (*_, last) = ticked(50 * MS, time)
        assert (last is not None) == sends == (supervisor.turn is Turn.SUPERVISOR)
        assert supervisor.counts.takeovers == sends
    assert decode_low_cmd(last).q[WEIGHT_SLOT] == pytest.approx(1 - 0.01 / RAMP)


def test_a_stall_is_more_than_half_of_the_patience():
    for stall, sends in ((50 * MS, True), (50 * MS + 1, False)):
        _, (_, last) = ticked(stall, 100 * MS)
        assert (last is not None) == sends, "after a stall the patience begins again, once"


def test_after_a_pause_of_more_than_half_a_second_commands_are_ignored_for_a_fifth():
    supervisor, sent = ticked(500 * MS)
    assert sent == [None] and supervisor.reported_weight == 1
    supervisor, sent = ticked(500 * MS + 1)
    assert sent == [None] and supervisor.reported_weight == -1 and supervisor.weight == 0
    seeing = 10 * SECOND + 500 * MS + 1 + 200 * MS
    supervisor.receive(command(0.5), seeing - 1)
    assert supervisor.reported_weight == -1 and supervisor.counts.received == 1
    supervisor.receive(command(0.5), seeing)
    assert supervisor.reported_weight == 0.5 and supervisor.counts.received == 2


def test_after_a_pause_a_takeover_ramps_for_a_tenth_of_a_second_at_most():
    for pause, weight in ((90, 1 - 0.10 / RAMP), (100, 1 - 0.11 / RAMP), (900, 1 - 0.11 / RAMP)):
        _, (*_, last) = ticked(50 * MS, 100 * MS, (100 + pause) * MS)
        assert decode_low_cmd(last).q[WEIGHT_SLOT] == pytest.approx(weight, abs=1e-6)


def test_weight_zero_is_repeated_for_more_than_a_fifth_of_a_second():
    """Before the process may end without a bridge, and after the bridge's report."""
    supervisor, (*_, last) = ticked(*range(50 * MS, 2150 * MS, 50 * MS))
    released = 10 * SECOND + 2100 * MS
    assert supervisor.turn is Turn.RELEASED and decode_low_cmd(last).q[WEIGHT_SLOT] == 0
    for time, ends in ((0, False), (200 * MS, False), (200 * MS + 1, True)):
        supervisor.tick(released + time)
        assert supervisor.idle(bridge=False) == ends
    reported = released + 300 * MS
    supervisor.bridge_reported(0.0, reported)
    for time, turn in ((200 * MS, Turn.RELEASED), (200 * MS + 1, Turn.NONE)):
        supervisor.tick(reported + time)
        assert supervisor.turn is turn


def test_a_stop_has_no_effect_on_commands_without_stiffness():
    """The patience begins at the last command, not at the stop."""
    supervisor = Supervisor(SupervisorParameters(ramp=RAMP, patience=PATIENCE))
    damping = replace(decode_low_cmd(command(1.0)), kp=np.zeros(35, np.float32))
    start = 10 * SECOND
    supervisor.receive(encode_low_cmd(damping), start)
    supervisor.tick(start)
    supervisor.stop(start + 50 * MS)
    assert supervisor.tick(start + 50 * MS) is None
    assert supervisor.tick(start + 100 * MS) is not None


@pytest.mark.parametrize("received", ["before the pause", "in the pause"])
def test_a_stop_holds_over_a_pause_of_the_supervisor(line, received):
    """The bridge cannot engage during the pause: commands with stiffness ignore the request."""
    line.run(1, command(1.0))
    if received == "before the pause":
        line.supervisor.stop(line.now)
    line.now += 600 * MS
    if received == "in the pause":
        line.supervisor.stop(line.now)
    line.run(0.19, command(0.5), command(0.5, seed=1))
    assert line.sent == [], "these commands may be older than the pause"
    line.run(2, command(0.5), command(0.5, seed=1))
    assert line.sent and not any(sent.kp.any() for _, sent in line.sent)
    assert line.weights[-1] == 0 and line.supervisor.turn is Turn.RELEASED


@pytest.mark.parametrize("obeys", [True, False])
def test_after_a_pause_a_stop_ends_with_a_bridge_that_obeys_or_after_a_second(line, obeys):
    line.run(1, command(1.0))
    line.supervisor.stop(line.now)
    line.now += 600 * MS
    if obeys:
        line.run(0.5, command(0.5, damps=True))
    else:
        line.run(1.01)
        assert line.supervisor._stop_time is not None
        line.run(0.01)
        assert line.supervisor._stop_time is None
    line.run(2, command(0.5), command(0.5, seed=1))
    assert line.sent == [] and line.supervisor.turn is Turn.BRIDGE


def test_a_stop_before_the_first_command_is_obeyed(line):
    line.run(1)
    line.supervisor.stop(line.now)
    line.run(0.5, command(0.5), command(0.5, seed=1))
    assert line.sent and not any(sent.kp.any() for _, sent in line.sent)


def test_a_publisher_that_ignores_a_stop_does_not_end_the_takeover(line):
    line.run(1, command(1.0))
    line.supervisor.stop(line.now)
    assert line.supervisor.counts.stops == 1
    line.run(3, command(1.0), command(1.0, seed=1))
    weights = line.weights
    assert not any(sent.kp.any() or sent.tau.any() for _, sent in line.sent)
    assert weights[0] == pytest.approx(1 - 0.01 / RAMP) and (np.diff(weights) <= 0).all()
    assert weights[-1] == 0 and line.supervisor.counts.takeovers == 1


def test_a_stop_begins_at_the_newest_weight_and_has_no_effect_at_weight_zero(line):
    line.run(1, command(1.0))
    line.supervisor.stop(line.now)
    line.run(0.05, command(0.8))
    line.run(0.1)
    assert line.sent[0][1].q[WEIGHT_SLOT] == pytest.approx(0.8 - 0.01 / RAMP)
    obeyed = Line()
    obeyed.run(1, command(1.0))
    obeyed.supervisor.stop(obeyed.now)
    obeyed.run(0.05, command(0.8, damps=True))
    obeyed.run(1, command(0.5))
    assert obeyed.sent == [], "a command without stiffness ends the request"
    for renewed, seconds, holds in (
        (False, 0.99, True),
        (False, 1.02, False),
        (True, 1.4, True),
        (True, 1.53, False),
    ):
        idle = Line()
        idle.run(1, command(1.0))
        idle.run(1, command(0.0))
        idle.supervisor.stop(idle.now)
        if renewed:
            idle.run(0.5, command(0.0))
            idle.supervisor.stop(idle.now)
            seconds -= 0.5
        idle.run(seconds, command(0.0))
        idle.run(1, command(0.5))
        assert bool(idle.sent) == holds, "it holds for a second after the newest request"


def test_a_command_like_one_of_an_earlier_takeover_is_the_bridges(line):
    line.run(1, command(1.0))
    line.run(0.5)
    own = encode_low_cmd(line.sent[3][1])
    line.run(0.1, command(0.7, seed=4))
    before = line.supervisor.counts.received
    line.run(0.1, own)
    assert line.supervisor.counts.received == before + 10
    assert line.supervisor.weight == pytest.approx(line.sent[3][1].q[WEIGHT_SLOT])


def test_a_weight_out_of_range_counts_as_its_limit():
    supervisor = Supervisor()
    supervisor.receive(command(1.5), 0)
    assert supervisor.weight == 1 and supervisor.turn is Turn.BRIDGE
    supervisor.receive(command(-0.5), 1)
    assert supervisor.weight == 0 and supervisor.turn is Turn.NONE


def test_default_times_and_their_ranges():
    assert (Supervisor().weight, Supervisor().reported_weight) == (0, -1)
    assert Supervisor().turn is Turn.NONE
    parameters = SupervisorParameters()
    assert (parameters.ramp, parameters.patience, parameters.rate) == (3.0, 0.2, 100.0)
    for name, low, high in (("ramp", 0.1, 60), ("patience", 0.02, 60), ("rate", 10, 1000)):
        for valid in (low, high):
            SupervisorParameters(**{"rate": 1000.0, "patience": 60.0, name: valid})
        for wrong in (low * 0.999, high * 1.0005):
            with pytest.raises(RuleSafeError, match=f"{name} is .*; valid: "):
                SupervisorParameters(**{name: wrong})


# The process --------------------------------------------------------------------------------


@pytest.mark.ros
def test_robot_gets_weight_zero_when_the_bridge_is_killed(peer, start_supervisor):
    """With the SDK as the robot, a bridge process is killed with SIGKILL: the robot's last command
    has weight 0, and the weight decreased without a jump, though the supervisor is interrupted."""
    import signal
    import subprocess
    import sys
    import time

    robot = peer(rate=50)
    ramp = 2.0
    supervisor = start_supervisor(ramp, patience=3.0)
    speaker = subprocess.Popen([sys.executable, "-c", SPEAKER], stdout=subprocess.PIPE, text=True)
    try:
        assert speaker.stdout.readline() == "found\n"  # the robot and the supervisor
        wait_for(lambda: robot.report()["commands"] >= 50)
        time.sleep(2)
        assert robot.report()["weight"] == 1.0  # the supervisor is silent
        speaker.send_signal(signal.SIGKILL)
        speaker.wait()
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            supervisor.send_signal(number)  # it outlives all of them until the weight is 0
            time.sleep(0.2)
            assert supervisor.poll() is None
        robot.until_weight_is_zero()
        assert supervisor.wait(90) == 0
    finally:
        speaker.kill()
        speaker.wait()
    record = robot.record()
    assert record.valid.all()
    assert record.weight[-1] == 0.0
    assert (np.diff(record.weight) <= 0).all()
    fall = record.sent[record.weight == 0][0] - record.sent[record.weight < 1][0]
    assert fall > 0.9 * ramp
    assert np.ptp(record.q, axis=0).max() == 0


SPEAKER = """
import time
from h1_2_bridge.network import use_interface
use_interface("lo")
import numpy as np
import rclpy
from unitree_hg.msg import LowCmd as Message
from h1_2_bridge.motors import motors
from h1_2_bridge.outputs import load_output
from h1_2_bridge.wire import encode_low_cmd

rclpy.init()
node = rclpy.create_node("h1_2_bridge")
out = node.create_publisher(Message, "/arm_sdk", 10)
end = time.monotonic() + 180
while out.get_subscription_count() < 2:
    assert time.monotonic() < end
    time.sleep(0.1)
print("found", flush=True)
q = np.clip(np.linspace(-0.3, 0.3, 27), motors().lower, motors().upper)
raw = encode_low_cmd(load_output("arm_sdk").command(q, 1.0, np.zeros(27), 6))
while True:
    out.publish(raw)
    time.sleep(0.01)
"""
