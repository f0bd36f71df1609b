"""Properties of chunk execution: what the simulation and the robot both rely on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulesafe_sim.chunks import PERIOD, SECOND, ChunkExecutor, make_chunk
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.joints import ACTION_JOINTS

TICK = SECOND // 100
START = np.linspace(-0.3, 0.3, 13)


def rows_of(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (count, 13))


def follow(executor: ChunkExecutor, now: int, command: np.ndarray, until: int) -> np.ndarray:
    """Targets of every tick up to `until`, for drives that reach each target at once."""
    trace = []
    while now < until:
        now += TICK
        command = executor.target(now, command)
        trace.append(command)
    return np.array(trace)


@given(seed=st.integers(0, 1000), count=st.integers(1, 12), start=st.integers(0, 10**6))
@settings(deadline=None)
def test_targets_are_straight_lines_through_the_rows(seed, count, start):
    rows, stamp = rows_of(seed, count), start * TICK
    executor = ChunkExecutor()
    assert executor.accept(make_chunk(ACTION_JOINTS, rows, stamp), stamp, START) == count
    trace = follow(executor, stamp, START, stamp + count * PERIOD)
    knots = np.vstack([START, rows])
    expected = np.stack(
        [np.interp(np.arange(1, 10 * count + 1) / 10, range(count + 1), k) for k in knots.T], axis=1
    )
    np.testing.assert_allclose(trace, expected, atol=1e-12)
    assert executor.done(stamp + count * PERIOD)
    assert not executor.done(stamp + count * PERIOD - 1)


@given(seed=st.integers(0, 1000), start=st.integers(1, 10**6))
@settings(deadline=None)
def test_the_trace_does_not_depend_on_when_it_began(seed, start):
    traces = []
    for stamp in (PERIOD, start * TICK):
        executor = ChunkExecutor()
        executor.accept(make_chunk(ACTION_JOINTS, rows_of(seed, 5), stamp), stamp, START)
        traces.append(follow(executor, stamp, START, stamp + 5 * PERIOD))
    assert (traces[0] == traces[1]).all()


def test_a_lagging_command_starts_the_next_line():
    """As in Simulation.step: the line to a row begins where the drives are, not at the last row."""
    executor = ChunkExecutor()
    executor.accept(make_chunk(ACTION_JOINTS, np.ones((2, 13)), 0), 0, np.zeros(13))
    assert executor.target(PERIOD, np.full(13, 0.2)) == pytest.approx(1.0)
    lagging = np.full(13, 0.5)
    assert executor.target(PERIOD + PERIOD // 2, lagging) == pytest.approx(0.75)
    assert executor.target(2 * PERIOD, lagging) == pytest.approx(1.0)


def test_without_a_chunk_and_after_it_the_command_stays():
    executor = ChunkExecutor()
    assert executor.done(0)
    assert (executor.target(7, START) == START).all()
    rows = rows_of(1, 2)
    executor.accept(make_chunk(ACTION_JOINTS, rows, 0), 0, START)
    trace = follow(executor, 0, START, SECOND)
    np.testing.assert_allclose(trace[20:], np.tile(rows[-1], (80, 1)), atol=1e-12)


def test_joints_in_any_order_are_reordered_by_name():
    order = np.random.default_rng(0).permutation(13)
    rows = rows_of(2, 3)
    shuffled = make_chunk([ACTION_JOINTS[i] for i in order], rows[:, order], 0)
    assert (shuffled.rows == rows).all()


def test_rows_whose_time_has_passed_are_dropped():
    executor = ChunkExecutor()
    rows = rows_of(3, 5)
    now = 2 * PERIOD + TICK
    assert executor.accept(make_chunk(ACTION_JOINTS, rows, 0), now, START) == 3
    np.testing.assert_allclose(
        executor.target(now + TICK, START), START + (rows[2] - START) / 9, atol=1e-12
    )


def test_a_newer_chunk_replaces_the_rest_of_the_older():
    executor = ChunkExecutor()
    old, new = rows_of(4, 5), rows_of(5, 5)
    executor.accept(make_chunk(ACTION_JOINTS, old, 0), 0, START)
    command = follow(executor, 0, START, 2 * PERIOD)[-1]
    executor.accept(make_chunk(ACTION_JOINTS, new, 2 * PERIOD), 2 * PERIOD, command)
    trace = follow(executor, 2 * PERIOD, command, 3 * PERIOD)
    np.testing.assert_allclose(trace[-1], new[0], atol=1e-12)
    np.testing.assert_allclose(trace[4], (old[1] + new[0]) / 2, atol=1e-12)


def test_points_may_lie_at_other_times_than_every_tenth_of_a_second():
    chunk = make_chunk(ACTION_JOINTS, np.zeros((2, 13)), 5, [TICK, 50 * TICK])
    assert chunk.end == 5 + 50 * TICK


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"joints": ACTION_JOINTS[:-1]}, "missing R_thumb_proximal_yaw_joint"),
        ({"joints": (*ACTION_JOINTS[:-1], "tail_joint")}, "not among them tail_joint"),
        ({"joints": (*ACTION_JOINTS, ACTION_JOINTS[0])}, "named twice"),
        ({"rows": np.zeros((2, 12))}, r"shape \(n, 13\)"),
        ({"rows": np.zeros((0, 13))}, r"shape \(n, 13\)"),
        ({"rows": np.full((2, 13), np.nan)}, "not finite for right_shoulder_pitch_joint"),
        ({"rows": np.full((2, 13), np.inf)}, "not finite"),
        ({"offsets": [PERIOD]}, "2 rows need as many times"),
        ({"offsets": [PERIOD, PERIOD]}, "must increase"),
        ({"offsets": [-1, PERIOD]}, "must not be negative"),
    ],
)
def test_a_malformed_chunk_is_refused_with_the_reason(arguments, reason):
    good = {"joints": ACTION_JOINTS, "rows": np.zeros((2, 13)), "stamp": 0}
    with pytest.raises(RuleSafeError, match=reason):
        make_chunk(**(good | arguments))


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        (5 * PERIOD, "before the episode began"),
        (14 * PERIOD, "older than the running one"),
        (90 * PERIOD, "use_sim_time"),
    ],
)
def test_a_chunk_for_another_time_is_refused_and_the_running_one_goes_on(stamp, reason):
    rows = rows_of(6, 20)
    executor, twin = ChunkExecutor(), ChunkExecutor()
    for each in (executor, twin):
        each.reset(10 * PERIOD)
        each.accept(make_chunk(ACTION_JOINTS, rows, 15 * PERIOD), 15 * PERIOD, START)
    with pytest.raises(RuleSafeError, match=reason):
        executor.accept(make_chunk(ACTION_JOINTS, -rows, stamp), 16 * PERIOD, START)
    args = (15 * PERIOD, START, 36 * PERIOD)
    assert (follow(executor, *args) == follow(twin, *args)).all()


def test_a_chunk_that_came_too_late_is_refused():
    with pytest.raises(RuleSafeError, match="no row left"):
        ChunkExecutor().accept(make_chunk(ACTION_JOINTS, rows_of(7, 3), 0), 3 * PERIOD, START)


def test_rows_are_clipped_to_the_limits_and_counted():
    executor = ChunkExecutor(np.full(13, -0.5), np.full(13, 0.5))
    rows = np.zeros((4, 13))
    rows[1, 3], rows[2, 5] = 0.7, -0.9
    executor.accept(make_chunk(ACTION_JOINTS, rows, 0), 0, START)
    trace = follow(executor, 0, START, 4 * PERIOD)
    assert executor.clipped == 2
    np.testing.assert_allclose([trace[19][3], trace[29][5]], [0.5, -0.5])
    executor.reset(5 * PERIOD)
    assert executor.clipped == 0
