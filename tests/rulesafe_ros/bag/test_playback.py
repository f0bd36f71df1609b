"""Tests of the playback time."""

import math

import pytest

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.bag.playback import RATES, PlaybackClock


def test_rate_and_pause():
    playback = PlaybackClock(100 * SECOND, 5.0, rate=2.0)
    assert playback.now(6.5) == 103 * SECOND
    assert playback.wait(107 * SECOND, 6.5) == 2.0
    assert playback.wait(101 * SECOND, 6.5) == 0.0
    assert playback.lag(101 * SECOND, 6.5) == 1.0
    playback.toggle(6.5)
    assert playback.now(60.0) == 103 * SECOND
    assert playback.wait(107 * SECOND, 60.0) == math.inf
    playback.toggle(60.0)
    assert playback.now(61.0) == 105 * SECOND
    playback.scale(0.5, 61.0)
    assert playback.now(61.0) == 105 * SECOND
    assert playback.now(62.0) == 106 * SECOND


def test_a_step_plays_the_next_message_and_no_more():
    playback = PlaybackClock(0, 0.0, paused=True)
    playback.jump(3 * SECOND, 9.0)
    assert playback.wait(3 * SECOND, 9.0) == 0.0
    assert playback.wait(3 * SECOND + 1, 99.0) == math.inf


def test_rates_have_limits():
    with pytest.raises(RuleSafeError, match=r"rate is 0; valid: 0\.01 to 100"):
        PlaybackClock(0, 0.0, rate=0.0)
    playback = PlaybackClock(0, 0.0)
    playback.scale(1e9, 1.0)
    assert playback.rate == RATES[1]
