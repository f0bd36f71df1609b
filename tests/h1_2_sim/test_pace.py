"""Simulated time follows real time."""

from h1_2_sim.pace import BEHIND, StepClock
from rulesafe_core.chunks import PERIOD, SECOND

TICK = SECOND // 500
CLOCK, WALL = 7 * SECOND + 3, 1_700_000_000 * SECOND + 12_345_678


def steps_until(pace: StepClock, clock: int) -> int:
    """Take all steps that are due at `clock` and return their number."""
    count = 0
    while not pace.wait(clock):
        pace.step(clock)
        count += 1
    return count


def test_a_second_has_500_steps_and_ten_frames():
    pace, frames = StepClock(TICK, CLOCK, WALL), 0
    for millisecond in range(1, 1001):
        clock = CLOCK + millisecond * SECOND // 1000
        while not pace.wait(clock):
            pace.step(clock)
            frames += pace.frame
    assert frames == 10
    assert pace.stamp % PERIOD == 0
    assert 0 <= pace.stamp - SECOND - WALL < PERIOD


def test_what_came_late_is_made_up_for():
    pace = StepClock(TICK, CLOCK, WALL)
    first = pace.stamp
    assert steps_until(pace, CLOCK + BEHIND) == BEHIND // TICK
    assert pace.stamp - first == BEHIND
    assert pace.lost == 0


def test_what_is_too_far_behind_is_lost_in_whole_frames():
    pace = StepClock(TICK, CLOCK, WALL)
    steps_until(pace, CLOCK + BEHIND)
    stamp = pace.stamp
    taken = steps_until(pace, CLOCK + BEHIND + 3 * SECOND)
    assert pace.lost % PERIOD == 0
    assert pace.lost > 2 * SECOND
    assert taken * TICK + pace.lost == 3 * SECOND
    assert pace.stamp == stamp + 3 * SECOND, "stamps stay with the world's clock"


def test_the_wait_is_until_the_next_step():
    pace = StepClock(TICK, CLOCK, WALL)
    assert pace.wait(CLOCK) == TICK
    assert pace.wait(CLOCK + TICK // 2) == TICK // 2
    assert pace.behind(CLOCK + TICK // 2) == 0
    assert pace.behind(CLOCK + 3 * TICK) == 2 * TICK
