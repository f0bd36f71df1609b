"""FTP hands with a model of the Modbus client and in virtual time: exact times, errors, limits.

test_hands.py tests the same driver with pymodbus' own client and server.
"""

from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("pymodbus")

from ftp_server import ANGLE_ACTUAL, ANGLE_SET, FORCE_ACTUAL, FORCE_SET, NO_CHANGE, SPEED_SET
from pymodbus.exceptions import ModbusException

from h1_2_bridge import ftp
from h1_2_bridge.config import BridgeParameters
from h1_2_bridge.ftp import FtpHand, FtpHands, identify, to_registers
from h1_2_bridge.hands import FTP, Registers
from rulesafe_core.errors import RuleSafeError

SECOND = 10**9
HALF_CLOSED = np.array(FTP.closed) / 2


class Clock:
    """Virtual time; replaces the module `time` and the event that ends the hand's thread.

    Attributes:
        now: s.
        waits: durations of all waits, s.
        steps: number of waits after which the event is set.
        actions: functions that are called in a wait, by the number of the wait.
        thread: replaces threading.Thread and starts no thread.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []
        self.steps = 10
        self.actions: dict[int, Callable[[], object]] = {}
        self.thread = Mock()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def wait(self, seconds: float) -> None:
        self.sleep(seconds)
        self.actions.get(len(self.waits), lambda: None)()

    def set(self) -> None:
        self.steps = 0

    def is_set(self) -> bool:
        return len(self.waits) >= self.steps


class Client:
    """A hand and its Modbus client. Writing NO_CHANGE leaves a register unchanged.

    Attributes:
        registers: six values by address.
        requests: all requests, (address, values); values is None for a read request.
        connects: results of `connect`; True after the last of them.
        errors: addresses for which a request returns an error.
        short: addresses of which only five registers are returned.
        closed: number of calls of `close`.
        duration: time of a read request, s.
        made: arguments of each call of the constructor.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.registers = {address: [0] * 6 for address in (SPEED_SET, FORCE_SET)}
        self.registers |= {ANGLE_SET: [500] * 6, ANGLE_ACTUAL: [1000, 900, 800, 700, 600, 500]}
        self.registers[FORCE_ACTUAL] = [10, 20, 30, 40, 50, 0xFFFF - 59]
        self.requests: list[tuple[int, list[int] | None]] = []
        self.connects: list[bool] = []
        self.errors: set[int] = set()
        self.short: set[int] = set()
        self.closed, self.duration = 0, 0.0
        self.made: list[tuple[str, dict]] = []

    def make(self, host: str, **words) -> "Client":
        self.made.append((host, words))
        assert len(self.made) < 100
        return self

    def connect(self) -> bool:
        return self.connects.pop(0) if self.connects else True

    def close(self) -> None:
        self.closed += 1

    def read_holding_registers(self, address, *, count, device_id):
        assert (count, device_id) == (6, 1)
        self._clock.now += self.duration
        return self._response(address, None)

    def write_registers(self, address, values, *, device_id):
        assert device_id == 1 and len(values) == 6
        response = self._response(address, list(values))
        if not response.isError():
            old = self.registers[address]
            new = zip(old, values, strict=True)
            self.registers[address] = [o if n == NO_CHANGE else n for o, n in new]
        return response

    def _response(self, address, values):
        self.requests.append((address, values))
        assert len(self.requests) < 1000
        found = self.registers[address][: 5 if address in self.short else 6]
        return SimpleNamespace(isError=lambda: address in self.errors, registers=list(found))

    @property
    def writes(self) -> list[tuple[int, list[int]]]:
        return [(address, values) for address, values in self.requests if values is not None]


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(ftp, "time", found)
    monkeypatch.setattr(ftp, "steady_ns", lambda: round(found.now * SECOND))
    monkeypatch.setattr(
        ftp,
        "threading",
        SimpleNamespace(Thread=found.thread, Event=lambda: found, Lock=ftp.threading.Lock),
    )
    return found


@pytest.fixture
def client(clock, monkeypatch):
    found = Client(clock)
    monkeypatch.setattr(ftp, "ModbusTcpClient", found.make)
    return found


def parameters(**changes) -> BridgeParameters:
    hosts = {"hand_right_host": "right.local", "hand_left_host": "left.local"}
    hosts["hand_identified"] = "right.local"
    return BridgeParameters(**{"hand": "ftp", **hosts, **changes})


def hand(**changes) -> FtpHand:
    return FtpHand("right", "right.local", FTP, Registers(), parameters(**changes))


def hands(**changes) -> FtpHands:
    return FtpHands(FTP, FTP, Registers(), parameters(**changes))


def faults(client, clock, driver, steps) -> list[str]:
    """Run the hand for some steps; return its fault in each of them."""
    found, first = [], len(clock.waits) + 1
    for step in range(first, first + steps):
        action = clock.actions.get(step, lambda: None)
        clock.actions[step] = lambda action=action: (found.append(driver.read()[3]), action())
    clock.steps = first + steps - 1
    driver._serve(client)
    return found


# One hand -------------------------------------------------------------------------------------


def test_before_the_first_response_nothing_is_measured(client):
    positions, force, stamp, fault = hand().read()
    assert np.isnan(positions).all() and np.isnan(force).all() and len(positions) == len(force) == 6
    assert (stamp, fault) == (0, "right hand at right.local:6000: no response yet")


def test_the_thread_ends_with_the_process_and_with_close(client, clock):
    driver = hand()
    clock.thread.assert_called_once_with(target=driver._run, name="ftp right", daemon=True)
    clock.thread().start.assert_called_once_with()
    assert not clock.is_set()
    driver.close()
    assert clock.is_set()
    clock.thread().join.assert_called_once_with(2.0)
    driver._run()
    assert client.made == []


def test_limits_and_first_angles_come_before_the_first_reading(client, clock):
    clock.steps = 1
    hand(hand_speed_limit=321, hand_force_limit=123)._serve(client)
    assert client.requests == [
        (SPEED_SET, [321] * 6),
        (FORCE_SET, [123] * 6),
        (SPEED_SET, None),
        (FORCE_SET, None),
        (ANGLE_SET, None),
        (ANGLE_ACTUAL, None),
        (FORCE_ACTUAL, None),
    ]


def test_a_reading(client, clock):
    clock.now, clock.steps = 3.0, 1
    driver = hand()
    driver._serve(client)
    positions, force, stamp, fault = driver.read()
    expected = np.array(FTP.closed) * (1 - np.arange(1000, 400, -100) / 1000)
    np.testing.assert_allclose(positions, expected)
    assert force.tolist() == [10, 20, 30, 40, 50, -60]
    assert (stamp, fault) == (3 * SECOND, "")


def test_readings_have_a_period_of_20_ms_and_do_not_make_up_for_lost_time(client, clock):
    """Each reading has two requests of 4 ms, and the first one is after a third. In the third
    reading both requests take 1 s."""
    client.duration, clock.steps = 0.004, 4
    clock.actions = {2: lambda: setattr(client, "duration", 1.0)}
    clock.actions[3] = lambda: setattr(client, "duration", 0.004)
    hand()._serve(client)
    assert clock.waits == pytest.approx([0.008, 0.012, 0.0, 0.012])


def test_a_target_is_written_once(client, clock):
    driver = hand()
    clock.actions[2] = lambda: driver.command(HALF_CLOSED)
    driver._serve(client)
    assert client.writes[2:] == [(ANGLE_SET, [500] * 6)]


def test_a_newer_target_replaces_only_its_own_fingers(client, clock):
    driver, clock.steps = hand(), 1
    for finger, share in ((0, 0.25), (0, 0.75), (5, 0.5)):
        positions = np.full(6, np.nan)
        positions[finger] = FTP.closed[finger] * share
        driver.command(positions)
    driver.command(np.full(6, np.nan))
    driver._serve(client)
    assert client.writes[2:] == [(ANGLE_SET, [250, *[NO_CHANGE] * 4, 500])]


def test_a_command_without_a_target_writes_nothing(client):
    driver = hand()
    driver.command(np.full(6, np.nan))
    driver._serve(client)
    assert ANGLE_SET not in dict(client.writes)


def test_in_a_dry_run_nothing_is_written(client, clock):
    driver = hand(dry_run=True)
    driver.command(HALF_CLOSED)
    driver._serve(client)
    assert client.writes == [] and driver.read()[3] == ""


def test_register_values():
    assert to_registers(np.array([0.0, 1.0, 0.4999, np.nan, 0.0004, 0.0006])) == [
        *(0, 1000, 500, NO_CHANGE, 0, 1)
    ]


# Another client -------------------------------------------------------------------------------

OTHER = "right hand at right.local:6000: another Modbus client writes to it; end that program"


def one_angle_written(client):
    """Return a function that writes the angle of the last finger, as another client does."""
    return lambda: client.registers.update({ANGLE_SET: [*client.registers[ANGLE_SET][:5], 123]})


def test_angles_of_another_client_are_a_fault_from_each_fifth_reading_on_for_two_seconds(
    client, clock
):
    """Readings are every 20 ms. The angles are written before the second one."""
    driver = hand()
    clock.actions[1] = one_angle_written(client)
    found = faults(client, clock, driver, 120)
    assert found == [""] * 4 + [OTHER] * 100 + [""] * 16
    assert [a for a, _ in client.requests].count(ANGLE_SET) == 1 + 120 // 5


@pytest.mark.parametrize("register", [SPEED_SET, FORCE_SET])
def test_limits_of_another_client_are_a_fault_and_are_replaced(client, clock, register):
    driver = hand()
    before = {address: list(client.registers[address]) for address in (SPEED_SET, FORCE_SET)}
    clock.actions[1] = lambda: client.registers.update({register: [1000] * 6})
    found = faults(client, clock, driver, 120)
    assert found == [""] * 4 + [OTHER] * 100 + [""] * 16
    limits = {a: values for a, values in client.writes if a in before}
    assert before != limits and {a: client.registers[a] for a in before} == limits


def test_the_fault_ends_exactly_after_two_seconds(client, clock):
    driver = hand()
    clock.actions[1] = one_angle_written(client)
    for step, now in ((4, 0.5), (5, 2.25), (6, 2.5)):
        clock.actions[step] = lambda now=now: setattr(clock, "now", now)
    assert faults(client, clock, driver, 7)[4:] == [OTHER, OTHER, ""]


def test_own_angles_are_no_fault_and_those_of_fingers_without_a_target_are_not_known(client, clock):
    driver = hand()
    positions = np.array(FTP.closed) / 2
    positions[5] = np.nan
    clock.actions[2] = lambda: driver.command(positions * 0.5)
    clock.actions[3] = one_angle_written(client)
    found = faults(client, clock, driver, 9)
    assert found == [""] * 9
    clock.actions = {10: one_angle_written(client), 12: lambda: driver.command(positions)}
    clock.actions[13] = lambda: client.registers.update({ANGLE_SET: [123] + [750] * 5})
    found = faults(client, clock, driver, 9)
    assert found == [""] * 4 + [OTHER] * 5, "one of five known fingers differs"


# Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("errors", "short", "message"),
    [
        ({SPEED_SET}, set(), f"cannot write registers at {SPEED_SET}"),
        ({ANGLE_ACTUAL}, set(), f"cannot read 6 registers at {ANGLE_ACTUAL}"),
        (set(), {FORCE_ACTUAL}, f"cannot read 6 registers at {FORCE_ACTUAL}"),
    ],
)
def test_errors_of_requests(client, clock, errors, short, message):
    client.errors, client.short = errors, short
    with pytest.raises(ConnectionError, match=message):
        hand()._serve(client)


def test_after_an_error_it_connects_again_and_discards_the_target(client, clock):
    driver = hand(hand_port=1234)
    client.connects, clock.steps = [False, True], 3
    client.errors = {ANGLE_ACTUAL}
    driver.command(HALF_CLOSED)
    seen = []

    def look():
        seen.append(driver.read()[3].removeprefix("right hand at right.local:1234: "))
        driver.command(HALF_CLOSED)

    clock.actions = {1: look, 2: look}
    driver._run()
    assert clock.waits == [0.2] * 3 and client.closed == len(client.made) == 3
    assert client.made == [("right.local", {"port": 1234, "timeout": 0.2, "retries": 0})] * 3
    assert seen[0] == "cannot connect"
    assert seen[1].startswith(f"cannot read 6 registers at {ANGLE_ACTUAL}")
    client.errors, clock.steps = set(), 5
    driver._run()
    assert ANGLE_SET not in dict(client.writes), "the target is from before the disconnection"
    assert driver.read()[3] == ""


def test_exceptions_of_modbus_are_a_fault(client, clock):
    def connect():
        raise ModbusException("no frame")

    driver, clock.steps, client.connect = hand(), 1, connect
    driver._run()
    assert "no frame" in driver.read()[3] and client.closed == 1


# Both hands -----------------------------------------------------------------------------------


def test_addresses_are_checked(client, clock):
    with pytest.raises(RuleSafeError, match="set hand_right_host"):
        hands(hand_right_host="")
    with pytest.raises(RuleSafeError, match=r"are both right\.local"):
        hands(hand_left_host="right.local")
    clock.thread.assert_not_called()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, False),
        ({"hand_identified": "left.local"}, True),
        ({"hand_identified": "left.local", "dry_run": True}, False),
        ({"dry_run": True}, False),
    ],
)
def test_the_right_hand_must_be_identified_before_it_is_written_to(client, changes, fault):
    driver = hands(**changes)
    for each in driver._hands:
        each._fault = ""
    text = driver.state(0).fault
    assert text.startswith("the right hand at right.local is not identified") == fault
    assert bool(text) == fault


def test_targets_of_both_hands(client):
    driver = hands()
    shares = np.arange(12) / 12
    driver.command(np.array(FTP.closed * 2) * (1 - shares), 0)
    for each, expected in zip(driver._hands, (shares[:6], shares[6:]), strict=True):
        np.testing.assert_allclose(each._target, expected)


def test_state_of_both_hands(client):
    driver = hands(hand_timeout=0.5)
    right, left = driver._hands
    right._positions, right._force, right._stamp, right._fault = np.arange(6), -np.arange(6), 9, ""
    left._positions, left._force, left._stamp = 10 + np.arange(6), 10 - np.arange(6), 7
    state = driver.state(9)
    assert state.positions.tolist() == [*range(6), *range(10, 16)]
    assert state.force.tolist() == [*range(0, -6, -1), *range(10, 4, -1)]
    assert state.stamp == 7
    assert state.fault == "left hand at left.local:6000: no response yet"


def test_a_hand_without_a_response_for_its_timeout_has_a_fault(client):
    driver = hands(hand_timeout=0.5)
    right, left = driver._hands
    right._fault, left._fault = "", "left hand: broken"
    right._stamp, left._stamp = SECOND, 4 * SECOND
    assert driver.state(3 * SECOND // 2).fault == "left hand: broken"
    assert driver.state(3 * SECOND // 2 + 1).fault == (
        "right hand: no response for 0.50 s; left hand: broken"
    )
    assert driver.state(5 * SECOND).fault == (
        "right hand: no response for 4.00 s; left hand: broken"
    )
    left._fault = ""
    assert driver.state(7 * SECOND // 4).fault == "right hand: no response for 0.75 s"
    assert driver.state(5 * SECOND).fault == (
        "right hand: no response for 4.00 s; left hand: no response for 1.00 s"
    )


def test_without_the_left_hand(client, clock):
    driver = hands(hand_left_host="")
    clock.thread.assert_called_once()
    (right, _) = driver._hands
    right._positions, right._force, right._stamp, right._fault = np.arange(6), np.ones(6), 5, ""
    driver.command(np.full(12, 0.1), 0)
    state = driver.state(5)
    assert (state.stamp, state.fault) == (5, "")
    assert np.isnan(state.positions[6:]).all() and np.isnan(state.force[6:]).all()
    assert len(state.positions) == len(state.force) == 12
    driver.close()
    clock.thread().join.assert_called_once_with(2.0)


# identify -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "moves"),
    [
        (700, [450, 700]),
        (501, [251, 501]),
        (500, [750, 500]),
        (0xFFFF, [250, 0]),
        (1100, [750, 1000]),
    ],
)
def test_identify_moves_the_index_finger_slowly_by_a_quarter(client, clock, measured, moves):
    client.registers[ANGLE_ACTUAL] = [1000, 900, 800, measured, 600, 500]
    identify("right.local", 1234, Registers())
    assert client.made == [("right.local", {"port": 1234, "timeout": 1.0, "retries": 0})]
    assert client.requests == [
        (ANGLE_ACTUAL, None),
        (SPEED_SET, [100] * 6),
        (FORCE_SET, [100] * 6),
        *((ANGLE_SET, [*[NO_CHANGE] * 3, move, *[NO_CHANGE] * 2]) for move in moves * 2),
    ]
    assert clock.waits == [1.0] * 4 and client.closed == 1


@pytest.mark.parametrize(
    ("connects", "errors", "message"),
    [
        ([False], set(), "cannot connect"),
        ([], {ANGLE_ACTUAL}, f"cannot read registers at {ANGLE_ACTUAL}"),
        ([], {FORCE_SET}, f"cannot write registers at {FORCE_SET}"),
    ],
)
def test_errors_of_identify(client, clock, connects, errors, message):
    client.connects, client.errors = connects, errors
    with pytest.raises(RuleSafeError, match=rf"hand at right\.local:1234: {message}"):
        identify("right.local", 1234, Registers())
    assert client.closed == 1 and clock.waits == []
