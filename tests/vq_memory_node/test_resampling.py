"""Resampling of regular and irregular joint states to frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from vq_memory_node.resampling import (
    FOREIGN,
    KEPT,
    OUT_OF_ORDER,
    JointStream,
    ResamplingCounts,
)

TICK = SECOND // 100


def curve(stamp: int) -> np.ndarray:
    """Return nonlinear joint positions (13,) at an instant (ns), rad."""
    return np.sin(stamp / SECOND * np.arange(1, 14) / 7)


def feed(stream, stamps, names=ACTION_JOINTS, at=curve) -> list:
    """Return all frames of samples at these stamps."""
    return [frame for stamp in stamps for frame in stream.push(stamp, names, at(stamp))]


def ticks(first: float, last: float, hz: int = 100) -> range:
    """Return stamps (ns) from `first` to `last` (s), both included."""
    return range(round(first * SECOND), round(last * SECOND) + 1, SECOND // hz)


def same(left, right) -> bool:
    return [f.stamp for f in left] == [f.stamp for f in right] and all(
        np.array_equal(a.position, b.position) for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("hz", [10, 100, 250, 500])
def test_frames_are_the_samples_at_their_instants(hz):
    frames = feed(JointStream(), ticks(0.1, 3.0, hz))
    assert [frame.stamp for frame in frames] == list(range(PERIOD, 3 * SECOND + 1, PERIOD))
    for frame in frames:
        assert frame.position.dtype == np.float32
        assert np.array_equal(frame.position, curve(frame.stamp).astype(np.float32))
    assert [bool(frame.begins) for frame in frames] == [True] + 29 * [False]


@given(st.permutations(range(len(ALL_JOINTS))), st.permutations(range(len(ALL_JOINTS))))
def test_names_in_any_order_and_among_others_change_nothing(first, second):
    """The order may also change between samples."""

    def shuffled(stamp, order):
        values = dict.fromkeys(ALL_JOINTS, 9.0) | dict(
            zip(ACTION_JOINTS, curve(stamp), strict=True)
        )
        names = [ALL_JOINTS[i] for i in order]
        return stream.push(stamp, names, [values[name] for name in names])

    stream = JointStream()
    frames = []
    for stamp in ticks(0, 1, 50):
        frames += shuffled(stamp, first if stamp < SECOND // 2 else second)
    assert same(frames, feed(JointStream(), ticks(0, 1, 50)))


@given(st.lists(st.integers(1, 300), min_size=2, max_size=60))
def test_irregular_stamps_give_every_frame_once(gaps):
    stamps = [int(stamp) for stamp in np.cumsum(gaps) * 1_000_000]
    frames = feed(JointStream(), stamps)
    first, last = -(-stamps[0] // PERIOD), stamps[-1] // PERIOD
    assert [frame.stamp // PERIOD for frame in frames] == list(range(first, last + 1))
    for frame in frames:  # between its neighbours, or equal to one of them
        before = max((s for s in stamps if s <= frame.stamp), default=stamps[0])
        after = min(s for s in stamps if s >= frame.stamp)
        low, high = np.sort([curve(before), curve(after)], axis=0)
        assert (frame.position >= low - 1e-6).all() and (frame.position <= high + 1e-6).all()


def test_a_missing_joint_is_named_and_the_stream_continues():
    stream = JointStream()
    frames = feed(stream, ticks(0, 0.5))
    with pytest.raises(RuleSafeError, match="lack right_elbow_joint, R_index_proximal_joint;"):
        names = [n for n in ALL_JOINTS if n not in ("right_elbow_joint", "R_index_proximal_joint")]
        stream.push(SECOND, names, np.zeros(len(names)))
    with pytest.raises(RuleSafeError, match="13 names but 12 values"):
        stream.push(SECOND, ACTION_JOINTS, np.zeros(12))
    with pytest.raises(RuleSafeError, match="contain right_elbow_joint more than once"):
        stream.push(SECOND, (*ACTION_JOINTS, "right_elbow_joint"), np.zeros(14))
    frames += feed(stream, ticks(0.51, 1))
    assert same(frames, feed(JointStream(), ticks(0, 1)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_not_finite_are_ignored(bad):
    stream = JointStream()
    frames = feed(stream, ticks(0, 0.25))
    invalid = curve(0)
    invalid[3] = bad
    with pytest.raises(RuleSafeError, match="not finite"):
        stream.push(ticks(0.26, 0.26)[0], ACTION_JOINTS, invalid)
    frames += feed(stream, ticks(0.27, 1))
    assert stream.counts.not_finite == 1
    assert same(frames, feed(JointStream(), ticks(0, 1)))
    other = [*ACTION_JOINTS, "left_elbow_joint"]
    assert stream.push(11 * PERIOD, other, [*curve(11 * PERIOD), bad])


def test_a_gap_begins_a_new_episode_and_a_short_one_does_not():
    short = feed(JointStream(), [*ticks(0, 1), *ticks(1.5, 2)])
    assert [f.stamp for f in short if f.begins] == [0] and len(short) == 21
    long = feed(JointStream(), [*ticks(0, 1), *ticks(1.53, 2)])
    assert [(f.stamp, f.begins) for f in long if f.begins][1:] == [
        (16 * PERIOD, "no joint states for 0.53 s")
    ]
    assert len(long) == 11 + 5
    patient = JointStream(max_gap=2 * SECOND)
    assert sum(bool(f.begins) for f in feed(patient, [0, 2 * SECOND, 5 * SECOND])) == 2
    with pytest.raises(RuleSafeError, match="max_gap must be above 0 ns, got 0"):
        JointStream(max_gap=0)
    assert JointStream(max_gap=1).max_gap == 1


def test_a_clock_that_jumps_back_begins_a_new_episode():
    stream = JointStream()
    once = feed(stream, ticks(0.1, 4))
    again = feed(stream, ticks(0.1, 4))
    assert same(once, again)
    assert [f.begins for f in again if f.begins] == ["the clock jumped back by 3.90 s"]


@pytest.mark.parametrize("advanced", [0.0, 0.05, 0.1])
def test_a_simulation_restarted_before_its_clock_has_advanced_begins_a_new_episode(advanced):
    """Its first stamps equal the last ones; only the message on /episode/started shows it."""
    stream, start = JointStream(), SECOND // 10
    stream.start(start)
    feed(stream, ticks(0.1, 0.1 + advanced))
    assert not stream.start(start)
    frames = feed(stream, ticks(0.1, 1))
    assert [(f.stamp, f.begins) for f in frames if f.begins] == [
        (start, "the simulation was restarted")
    ]
    assert stream.clock_resets == 1


def test_a_start_that_is_delivered_again_later_changes_nothing():
    """DDS delivers a latched message again after a connection was lost and found."""
    stream, start = JointStream(), SECOND // 10
    stream.start(start)
    frames = feed(stream, ticks(0.1, 0.5))
    assert not stream.start(start)
    frames += feed(stream, ticks(0.51, 1))
    assert [f.stamp for f in frames if f.begins] == [start]
    assert stream.clock_resets == 0


def test_restart_discards_earlier_samples():
    stream = JointStream()
    feed(stream, ticks(0, 0.99))
    stream.restart("requested")
    frames = feed(stream, ticks(1, 2))
    assert frames[0].stamp == SECOND and frames[0].begins == "requested"
    assert same(frames, feed(JointStream(), ticks(1, 2)))


# An episode's start is received on another topic: before or after its joint states ------------


@pytest.mark.parametrize("received", [0.0, 0.9, 1.5, 2.0, 2.05, 2.1, 2.75, 3.0])
def test_the_start_of_an_episode_may_be_received_early_or_late(received):
    """Samples begin at 1 s, an episode at 2 s; its start is received at `received` (s)."""
    stream, frames, start = JointStream(), [], 2 * SECOND
    if received < 1:
        frames += stream.start(start)
    for stamp in ticks(1, 4):
        frames += feed(stream, [stamp])
        if stamp == round(received * SECOND):
            frames += stream.start(start)
    last = max(i for i, frame in enumerate(frames) if frame.begins)
    assert frames[last].begins == "a new episode"
    assert same(frames[last:], feed(JointStream(), ticks(2, 4)))
    assert stream.start(start) == []  # received again


def test_queued_samples_of_the_past_episode_are_ignored():
    stream = JointStream()
    feed(stream, ticks(0, 1))
    assert stream.start(5 * SECOND) == []
    assert feed(stream, ticks(1.01, 4.99)) == []
    assert stream.counts.of_the_past_episode == 399
    frames = feed(stream, ticks(5, 6))
    assert frames[0].begins == "a new episode"
    assert same(frames, feed(JointStream(), ticks(5, 6)))


def test_a_restarted_simulation_begins_a_new_episode():
    stream = JointStream()
    stream.start(PERIOD)
    feed(stream, ticks(0.1, 7))
    for late in (0, 0.1, 0.2, 0.3):  # its start is received before or after its samples
        frames = [] if late else stream.start(PERIOD)
        frames += feed(stream, ticks(0.1, late)) if late else []
        frames += stream.start(PERIOD) if late else []
        frames += feed(stream, ticks(late + 0.01 if late else 0.1, 7))
        assert [i for i, frame in enumerate(frames) if frame.begins] == [0], late
        assert same(frames, feed(JointStream(), ticks(0.1, 7)))


def test_after_a_jump_of_the_clock_nothing_of_the_old_clock_counts():
    stream = JointStream()
    stream.start(SECOND)
    feed(stream, ticks(1, 4))
    again = feed(stream, ticks(0, 0.8))  # also samples before the start on the old clock
    assert [frame.stamp for frame in again] == list(range(0, 8 * PERIOD + 1, PERIOD))
    assert again[0].begins == "the clock jumped back by 4.00 s"
    feed(stream, ticks(0, 0.2))
    assert stream.start(5 * PERIOD) == []  # samples from 0.5 s to 0.8 s were of the old clock
    frames = feed(stream, ticks(0.21, 1))
    assert same(frames, feed(JointStream(), ticks(0.5, 1)))
    feed(stream, ticks(1.01, 100.5))
    assert stream.start(PERIOD) == []  # a new simulation, before its joint states
    assert feed(stream, ticks(0.1, 0.1))[0].begins.startswith("the clock jumped back")


# Thresholds: at the limit, and just beyond it ---------------------------------------------------


def test_a_sample_up_to_a_tenth_of_a_second_late_is_ignored_and_an_older_one_is_a_new_clock():
    assert OUT_OF_ORDER == PERIOD
    for back, resets in ((PERIOD - 1, 0), (PERIOD, 0), (PERIOD + 1, 1)):
        stream = JointStream()
        feed(stream, ticks(0, 1))
        feed(stream, [SECOND - back])
        assert stream.clock_resets == resets
        assert stream.counts.out_of_order == 1 - resets


def test_a_start_up_to_ten_seconds_ahead_is_waited_for_and_a_later_one_is_of_another_clock():
    assert FOREIGN == 10 * SECOND
    for ahead, frames in ((FOREIGN - 1, 0), (FOREIGN, 0), (FOREIGN + 1, 1)):
        stream = JointStream()
        stream.start(ahead + PERIOD)
        assert len(feed(stream, [PERIOD])) == frames
        assert stream.counts.of_the_past_episode == 1 - frames
        assert (stream.started is None) == bool(frames)


def test_samples_of_the_last_second_are_stored_for_a_start_that_is_received_late():
    assert KEPT == SECOND
    stream = JointStream()
    feed(stream, ticks(0, 3.2))
    frames = stream.start(2 * SECOND)
    assert [frame.stamp for frame in frames] == list(range(22 * PERIOD, 32 * PERIOD + 1, PERIOD))
    assert frames[0].begins == "a new episode" and stream.missed == 2 * PERIOD


def test_every_sample_and_frame_is_counted_once():
    stream = JointStream()
    assert stream.start(PERIOD) == stream.start(PERIOD) == []
    assert stream.counts == ResamplingCounts(0, 0, 0, 0, 0, 0)
    feed(stream, [0, PERIOD, PERIOD, 3 * PERIOD, 3 * PERIOD - TICK])
    with pytest.raises(RuleSafeError):
        stream.push(4 * PERIOD, ACTION_JOINTS, np.full(13, np.nan))
    expected = {"samples": 6, "frames": 3, "not_finite": 1, "duplicates": 1, "out_of_order": 1}
    assert stream.counts == ResamplingCounts(**expected, of_the_past_episode=1)


def test_a_sample_at_the_time_of_a_frame_is_not_rounded():
    """Interpolation would give 0.10000002 here."""
    stream = JointStream()
    feed(stream, [PERIOD], at=lambda _: np.full(13, 1e9))
    (frame,) = feed(stream, [2 * PERIOD], at=lambda _: np.full(13, 0.1))
    assert (frame.position == np.float32(0.1)).all()
    assert (1e9 + 1.0 * (0.1 - 1e9)) != 0.1


def test_duplicates_and_late_samples_do_not_change_an_interpolated_frame():
    def line(stamp):
        return np.arange(13) + stamp / SECOND

    stream, wrong, frames = JointStream(), np.full(13, 7.0), []
    for stamp in (4 * TICK, 13 * TICK, 31 * TICK):
        frames += feed(stream, [stamp], at=line)
        for past in (stamp, stamp - 4 * TICK):
            assert stream.push(past, ACTION_JOINTS, wrong) == []
    assert [frame.stamp for frame in frames] == [PERIOD, 2 * PERIOD, 3 * PERIOD]
    for frame in frames:
        assert np.allclose(frame.position, line(frame.stamp), atol=1e-6)
    assert (stream.counts.duplicates, stream.counts.out_of_order) == (3, 3)


def test_a_start_received_before_a_restart_is_that_of_the_new_episode():
    stream = JointStream()
    stream.start(PERIOD)
    feed(stream, ticks(0.1, 7))
    assert stream.start(PERIOD) == []
    frames = feed(stream, ticks(0.1, 0.5))
    assert stream.started == PERIOD and stream.start(PERIOD) == []
    frames += feed(stream, ticks(0.51, 1))
    assert [frame.stamp for frame in frames if frame.begins] == [PERIOD]


@pytest.mark.parametrize("late", [0, PERIOD, PERIOD + 1, 5 * SECOND])
def test_frames_are_incomplete_if_the_first_sample_is_later_than_the_start(late):
    """In that episode only."""
    stream = JointStream()
    stream.start(PERIOD)
    assert stream.incomplete == ""
    feed(stream, [PERIOD + late, 2 * PERIOD + late])
    assert stream.missed == late
    assert bool(stream.incomplete) == (late > PERIOD)
    assert late < SECOND or "first 5.00 s of this episode" in stream.incomplete
    stream.start(20 * SECOND)
    assert stream.missed == 0 and stream.incomplete == ""
    feed(stream, [20 * SECOND])
    assert stream.missed == 0 and stream.incomplete == ""


@pytest.mark.parametrize("started_first", [True, False])
def test_a_stream_that_is_created_during_an_episode_continues_it(started_first):
    """Also if time is stopped, so that the same sample is repeated."""
    stream = JointStream()
    frames = stream.start(PERIOD) if started_first else []
    frames += feed(stream, [5 * SECOND])
    assert [frame.stamp for frame in frames] == [5 * SECOND] and not stream.pending
    assert started_first or stream.start(PERIOD) == []
    assert stream.missed == 5 * SECOND - PERIOD and not stream.pending
    assert feed(stream, [5 * SECOND]) == []
    (frame,) = feed(stream, [5 * SECOND + PERIOD])
    assert frame.begins == ""


def test_a_start_of_another_clock_takes_no_samples_and_continues_no_episode():
    """For example, a simulation that is restarted in its second episode."""
    stream = JointStream()
    stream.start(5 * SECOND)
    feed(stream, ticks(5, 5.5))
    assert stream.start(PERIOD) == [] and stream.pending
    assert [frame.stamp for frame in feed(stream, ticks(0.1, 0.2))] == [PERIOD, 2 * PERIOD]
    stream.start(3 * PERIOD)
    feed(stream, [3 * PERIOD])
    assert stream.start(2 * PERIOD) == [] and stream.pending
    (frame,) = feed(stream, [2 * PERIOD])
    assert frame.begins == "the simulation was restarted"


@pytest.mark.parametrize("how", ["clock", "request", "late start"])
def test_frames_are_complete_after_a_reset_and_after_a_start_that_is_received_late(how):
    stream = JointStream()
    stream.start(PERIOD)
    feed(stream, [5 * SECOND] if how != "late start" else ticks(0, 6))
    if how == "clock":
        feed(stream, [PERIOD])
    elif how == "request":
        stream.restart("requested")
        feed(stream, [6 * SECOND])
    else:
        stream.start(6 * SECOND - 5 * PERIOD)
    assert stream.missed == 0 and stream.incomplete == ""
