"""Synchronisation of messages to the frames of an episode."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_node.history import ObservationHistory
from policy_node.policy import Needs
from policy_node.synchroniser import MAX_DELAY, MEMORY, POINTS, Synchroniser, newest_values
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.grids import Sliding
from vq_memory_node.memory import RawMemory, Reading
from vq_memory_node.rolling import RollingMemory

CAMERAS = DEFAULT_CAMERAS.names

ALL = Needs(frames=3, points=8, images=True, instruction=True, memory=True)
BEGIN = 40 * SECOND


def row(frame):
    return np.random.default_rng(frame).uniform(-1, 1, 13)


def cloud(frame):
    return np.random.default_rng(frame).uniform(0, 1, (8, 6))


def picture(frame):
    return np.full((2, 2, 3), frame % 256, np.uint8)


def reading(frame):
    return Reading(np.arange(4) + frame, np.ones(4, bool))


def parts(frames, begin=BEGIN):
    """Return all inputs: method, stamp and arguments."""
    calls = []
    for frame in frames:
        stamp = begin + frame * PERIOD
        calls.append((frame, "joints", (stamp, ACTION_JOINTS, row(frame))))
        calls.append((frame, "camera_data", (POINTS, stamp, cloud(frame))))
        calls += [(frame, "camera_data", (c, stamp, picture(frame))) for c in CAMERAS]
        calls.append((frame, "reading", (stamp, reading(frame))))
    return calls


def feed(sync, calls):
    for _, name, arguments in calls:
        getattr(sync, name)(*arguments)


def expected(frame, needs=ALL):
    """Return the observation as evaluation in process assembles it."""
    history = ObservationHistory(needs)
    for f in range(frame + 1):
        history.push(f, row(f), cloud(f), {c: picture(f) for c in CAMERAS})
    return history.observation(frame, "open it", reading(frame))


def assert_same(found, frame, needs=ALL):
    stamp, seen = found
    wanted = expected(frame, needs)
    assert stamp == BEGIN + frame * PERIOD
    np.testing.assert_array_equal(seen.joints, wanted.joints)
    np.testing.assert_array_equal(seen.points, wanted.points)
    for camera in CAMERAS:
        np.testing.assert_array_equal(seen.images[camera], wanted.images[camera])
    np.testing.assert_array_equal(seen.memory.values, wanted.memory.values)
    assert seen.instruction == "open it"


@given(seed=st.integers(0, 10**6), frames=st.integers(1, 8))
@settings(max_examples=30)
def test_an_observation_does_not_depend_on_the_order_of_topics(seed, frames):
    """Each topic is in order; one may be some frames ahead of another."""
    calls, rng = parts(range(frames)), np.random.default_rng(seed)
    lead = {key: rng.uniform(0, 3) for key in ("joints", POINTS, *CAMERAS, "reading")}

    def when(call):
        frame, name, arguments = call
        return frame + lead[arguments[0] if name == "camera_data" else name]

    sync = Synchroniser(ALL)
    sync.instruction = "open it"
    feed(sync, sorted(calls, key=when))
    assert_same(sync.complete(0), frames - 1)
    assert sync.counts.filled == 0


@pytest.mark.parametrize("kind", [POINTS, *CAMERAS, "reading", "instruction"])
def test_nothing_is_complete_before_its_last_part_has_come(kind):
    sync = Synchroniser(ALL)
    calls = parts(range(5))
    last = [c for c in calls if c[0] == 4 and kind in (c[1], c[2][0])]
    feed(sync, [call for call in calls if call not in last])
    sync.instruction = None if kind == "instruction" else "open it"
    assert sync.complete(BEGIN + 4 * PERIOD) is None
    if kind != "instruction":
        lacking = MEMORY if kind == "reading" else kind
        assert sync.missing(BEGIN + 4 * PERIOD) == (lacking,)
        assert_same(sync.complete(BEGIN), 3)
    sync.instruction = "open it"
    feed(sync, last)
    assert_same(sync.complete(BEGIN + 4 * PERIOD), 4)


def test_a_picture_belongs_to_the_nearest_frame_within_the_tolerance():
    needs, tolerance = Needs(points=8), PERIOD // 5
    sync = Synchroniser(needs, tolerance)
    for frame in range(3):
        sync.joints(BEGIN + frame * PERIOD, ACTION_JOINTS, row(frame))
    now = BEGIN + 2 * PERIOD
    sync.camera_data(POINTS, now - tolerance - 1, cloud(1))
    assert sync.complete(now) is None and sync.counts.out_of_tolerance == 1
    for offset, number in ((tolerance, 2), (-1, 3), (tolerance // 2, 4)):
        sync.camera_data(POINTS, now + offset, cloud(number))
    np.testing.assert_array_equal(sync.complete(now)[1].points[0], np.float32(cloud(3)))


def test_a_lost_cloud_is_filled_from_its_neighbour_where_that_is_asked_for():
    sync = Synchroniser(Needs(frames=3, points=8))
    for frame in range(6):
        sync.joints(BEGIN + frame * PERIOD, ACTION_JOINTS, row(frame))
        if frame != 4:
            sync.camera_data(POINTS, BEGIN + frame * PERIOD, cloud(frame))
    due = BEGIN + 5 * PERIOD
    assert sync.complete(due) is None
    stamp, seen = sync.complete(due, fill=True)
    assert stamp == due and sync.counts.filled == 1
    np.testing.assert_array_equal(seen.points[2], np.float32(cloud(5)))
    assert any((seen.points[1] == np.float32(cloud(f))).all() for f in (3, 5))
    sync.camera_data(POINTS, BEGIN + 4 * PERIOD, cloud(4))
    np.testing.assert_array_equal(sync.complete(due)[1].points[1], np.float32(cloud(4)))


def test_a_part_fills_at_most_some_frames():
    """If a camera stops, its last image is not used for the rest of the episode."""
    sync = Synchroniser(Needs(images=True))
    feed(sync, [call for call in parts([0]) if call[2][0] in CAMERAS])
    for frame in range(MAX_DELAY + 2):
        now = BEGIN + frame * PERIOD
        sync.joints(now, ACTION_JOINTS, row(frame))
        found = sync.complete(now, fill=True)
        assert (found and found[0]) == (now if frame <= MAX_DELAY else None)


def test_observations_lie_at_most_some_frames_back():
    sync = Synchroniser(Needs(points=8))
    sync.camera_data(POINTS, BEGIN, cloud(0))
    for frame in range(MAX_DELAY + 1):
        sync.joints(BEGIN + frame * PERIOD, ACTION_JOINTS, row(frame))
        assert sync.complete(0)[0] == BEGIN
    sync.joints(BEGIN + (MAX_DELAY + 1) * PERIOD, ACTION_JOINTS, row(0))
    assert sync.complete(0) is None


def test_a_new_episode_shows_nothing_of_the_last():
    sync = Synchroniser(ALL)
    sync.instruction = "open it"
    feed(sync, parts(range(10), BEGIN - 30 * PERIOD))
    assert sync.episode == 1
    new = parts(range(3))
    early = [call for call in new if call[1] == "camera_data"]  # before the start is received
    feed(sync, early)
    sync.start(BEGIN)
    feed(sync, [call for call in new if call not in early])
    sync.start(BEGIN)
    assert sync.episode == 2 and sync.first == BEGIN
    assert_same(sync.complete(0), 2)


def test_an_episode_that_is_told_of_late_is_the_one_that_was_joined():
    sync = Synchroniser(Needs(frames=2), memory=RollingMemory(RawMemory(3)))
    for frame in range(3):
        sync.joints(BEGIN + frame * PERIOD, ACTION_JOINTS, row(frame))
    before = sync.complete(0)
    sync.start(BEGIN)
    assert sync.episode == 1
    np.testing.assert_array_equal(sync.complete(0)[1].joints, before[1].joints)


def test_a_clock_that_jumps_back_begins_an_episode():
    sync = Synchroniser(ALL)
    sync.instruction = "open it"
    feed(sync, parts(range(5), 2 * BEGIN))
    feed(sync, parts(range(4)))
    assert sync.episode == 2
    assert_same(sync.complete(0), 3)


@pytest.mark.parametrize("started_first", [True, False])
@pytest.mark.parametrize("frames", [1, 2, 9])
def test_a_restarted_simulation_begins_an_episode_at_the_same_stamp(started_first, frames):
    """Parts of the old clock have the same stamps, but do not appear in observations."""
    sync = Synchroniser(ALL)
    sync.instruction = "open it"
    sync.start(BEGIN)
    old = parts(range(100, 100 + frames), BEGIN - 100 * PERIOD)
    feed(sync, old)
    assert sync.complete(0)[0] == BEGIN + (frames - 1) * PERIOD
    joints, *others = parts([0])
    if started_first:
        sync.start(BEGIN)
        feed(sync, [joints])
    else:
        feed(sync, [joints])
        sync.start(BEGIN)
        feed(sync, [joints])  # repeated while simulated time is stopped
    assert sync.episode >= 2 and sync.first == BEGIN
    assert sync.complete(0) is None
    feed(sync, others)
    assert_same(sync.complete(0), 0)


def test_a_memory_of_its_own_is_fed_every_frame():
    grid = Sliding(length=4, stride=2)
    sync = Synchroniser(Needs(memory=True), memory=RollingMemory(RawMemory(), grid))
    twin = RollingMemory(RawMemory(), grid)
    for frame in range(12):
        for tick in range(10):  # as a simulation publishes them, ten for each frame
            stamp = BEGIN + frame * PERIOD + tick * PERIOD // 10
            sync.joints(stamp, ACTION_JOINTS, row(frame) + tick)
        twin.push(np.float32(row(frame)))
        reading = sync.complete(0)[1].memory
        np.testing.assert_array_equal(reading.values, twin.read().values)
        np.testing.assert_array_equal(reading.mask, twin.read().mask)


def test_a_memory_of_its_own_is_incomplete_if_the_start_was_missed():
    for memory, incomplete in ((RollingMemory(RawMemory()), True), (None, False)):
        sync = Synchroniser(Needs(memory=True), memory=memory)
        sync.start(BEGIN - 3 * SECOND)
        sync.joints(BEGIN, ACTION_JOINTS, row(0))
        assert ("first 3.00 s" in sync.incomplete) == incomplete


def test_the_newest_values_of_a_longer_memory_are_those_of_a_shorter():
    long, short = RollingMemory(RawMemory(7)), RollingMemory(RawMemory(3))
    for frame in range(50):
        for memory in (long, short):
            memory.push(row(frame))
        cut = newest_values(long.read(), 3)
        np.testing.assert_array_equal(cut.values, short.read().values)
        np.testing.assert_array_equal(cut.mask, short.read().mask)
    with pytest.raises(RuleSafeError, match="has 3 values; the policy was trained with 7"):
        newest_values(short.read(), 7)


def test_nonsense_is_refused():
    with pytest.raises(RuleSafeError, match="tolerance"):
        Synchroniser(ALL, PERIOD)
    with pytest.raises(RuleSafeError, match="points"):
        Synchroniser(Needs(points=8)).camera_data("head", BEGIN, picture(0))
