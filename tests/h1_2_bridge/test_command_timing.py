"""Times for which commands are computed: never more than has passed since the last command."""

import numpy as np
import pytest
from supervised import SupervisedWorld
from virtual import MS, World, assert_safe, usual

from h1_2_bridge.command_timing import DELAY_CHANGE, PUBLICATION, SHORTEST_WAIT, CommandTiming
from h1_2_bridge.config import BridgeConfig
from h1_2_bridge.states import ControlState

PERIOD = 4 * MS
START = 10**10


class Bridge:
    """A bridge that computes and publishes for given times; all in ns."""

    def __init__(self) -> None:
        self.timing = CommandTiming(BridgeConfig(rate=250))
        self.now = START
        self.times: list[float] = []  # for which the commands were computed, s
        self.sent: list[tuple[int, int]] = []  # begin and end of each publication

    def step(self, delay: int, publication: int = 0) -> int:
        """Run one period and return how long the command waited."""
        timing, tick = self.timing, self.now
        self.times.append(timing.elapsed(tick))
        timing.computed(tick)
        early = timing.early(tick + delay)
        begin = tick + delay + early
        assert timing.in_time(begin)
        timing.sent(begin + publication)
        self.sent.append((begin, begin + publication))
        self.now = max(tick + PERIOD, begin + publication)
        return early

    def excess(self) -> list[float]:
        """Return by how much (ns) each command was computed for more than the shortest time between
        it and the one before, as the robot may have received them."""
        shortest = [
            after - before_end
            for (_, before_end), (after, _) in zip(self.sent, self.sent[1:], strict=False)
        ]
        return [time * 1e9 - passed for time, passed in zip(self.times[1:], shortest, strict=True)]


def test_constants():
    assert (DELAY_CHANGE, SHORTEST_WAIT, PUBLICATION) == (20_000, 50_000, 200_000)


def test_the_first_command_is_computed_for_a_period():
    bridge = Bridge()
    bridge.step(0)
    assert bridge.times == [0.004]
    bridge.timing.restart()
    bridge.now += 100 * MS
    bridge.step(0)
    assert bridge.times == [0.004, 0.004]


@pytest.mark.parametrize("delay", [MS // 10, MS, 2 * MS, 3 * MS])
def test_with_a_constant_delay_no_time_is_lost_up_to_half_a_period(delay):
    bridge = Bridge()
    for _ in range(200):
        assert bridge.step(delay) == 0
    lost = 0.004 - bridge.times[-1]
    assert lost == pytest.approx(max(0, delay - 2 * MS) / 1e9, abs=1e-9)
    before = sum(0.004 - time for time in bridge.times[1:])
    assert before <= delay * 150 / 1e9, "until the usual delay is known"


def test_after_a_delay_a_command_waits_for_as_long_as_was_usual():
    bridge = Bridge()
    for _ in range(200):
        bridge.step(MS)
    waits = [bridge.step(0) for _ in range(60)]
    usual = [MS - i * DELAY_CHANGE for i in range(60)]
    assert waits == [wait if wait >= SHORTEST_WAIT else 0 for wait in np.maximum(usual, 0)]


@pytest.mark.parametrize("seed", range(20))
def test_no_command_is_computed_for_more_than_has_passed(seed):
    rng = np.random.default_rng(seed)
    bridge = Bridge()
    for _ in range(30):
        low, high = np.sort(rng.integers(0, 6 * MS, 2))
        for _ in range(int(rng.integers(1, 100))):
            bridge.step(int(rng.integers(low, high + 1)), int(rng.integers(0, 3 * PUBLICATION)))
    assert max(bridge.excess()) <= SHORTEST_WAIT + PUBLICATION


def test_a_long_publication_counts_until_its_end():
    for publication, end in ((PUBLICATION - 1, 0), (PUBLICATION, PUBLICATION)):
        bridge = Bridge()
        bridge.step(0, publication)
        assert bridge.timing.elapsed(bridge.now) == pytest.approx((PERIOD - end) / 1e9)


@pytest.mark.parametrize("delay", usual([3], 1, 8))
def test_when_a_delay_ends_the_robot_receives_no_faster_command(delay):
    world = World(speed=1.0, gap_timeout=1.0).engaged()
    world.keep_moving()
    world.send_delay = delay
    world.run(3.0)
    world.send_delay = 0
    world.run(0.5)
    assert_safe(world)


def test_a_release_with_varying_delays_takes_a_third_longer_at_most():
    world = SupervisedWorld(ramp=2.0).engaged()
    rng = np.random.default_rng(0)
    begin = world.now
    world.core.disengage(begin)
    while world.state is not ControlState.IDLE:
        world.send_delay = int(rng.integers(0, 4))
        world.step()
    world.assert_no_jump()
    assert (world.now - begin) / 1e9 < 2.0 * 4 / 3 + 0.3


def test_silence_ends_the_time_by_which_a_command_must_be_sent():
    """A bridge that is engaged again within gap_timeout has no command before."""
    timing, gap = CommandTiming(BridgeConfig(gap_timeout=0.1)), 100 * MS
    timing.elapsed(START)
    timing.computed(START)
    assert timing.in_time(START)
    timing.silent()
    later = START + gap * 9 // 10
    assert timing.gap(later) == 0
    timing.computed(later)
    assert timing.in_time(later + gap) and not timing.in_time(later + gap + 1)
