"""Properties of chunk execution: what the simulation and the robot both rely on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesafe_core.chunks import (
    AHEAD,
    EXECUTORS,
    MAX_STEPS,
    PERIOD,
    SECOND,
    BlendingExecutor,
    ChunkExecutor,
    load_executor,
    make_chunk,
)
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS

TICK = SECOND // 100
START = np.linspace(-0.3, 0.3, 13)


ONE_NAN = np.zeros((3, 13))
ONE_NAN[1, ACTION_JOINTS.index("right_elbow_joint")] = np.nan


def rows_of(seed: int, count: int) -> np.ndarray:
    """Return steps (count, 13), in single precision as those of policies."""
    steps = np.random.default_rng(seed).uniform(-1, 1, (count, 13))
    return steps.astype(np.float32).astype(np.float64)


def follow(executor: ChunkExecutor, now: int, command: np.ndarray, until: int) -> np.ndarray:
    """Targets of every tick up to `until`, for drives that reach each target at once."""
    trace = []
    while now < until:
        now += TICK
        command = executor.target(now, command)
        trace.append(command)
    return np.array(trace)


@given(seed=st.integers(0, 1000), count=st.integers(1, 12), start=st.integers(0, 10**6))
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
    assert (shuffled.steps == rows).all()


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
    np.testing.assert_allclose(trace[4], (old[1] + new[0]) / 2, atol=1e-7)


def test_points_may_lie_at_other_times_than_every_tenth_of_a_second():
    chunk = make_chunk(ACTION_JOINTS, np.zeros((2, 13)), 5, [TICK, 50 * TICK])
    assert chunk.end == 5 + 50 * TICK
    earliest = make_chunk(ACTION_JOINTS, np.zeros((2, 13)), 5, [0, 1])
    assert earliest.times.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"joints": ACTION_JOINTS[:-1]}, "; missing R_thumb_proximal_yaw_joint$"),
        ({"joints": (*ACTION_JOINTS[:-1], "tail_joint")}, "yaw_joint; unknown tail_joint$"),
        ({"joints": (*ACTION_JOINTS[:-1], ACTION_JOINTS[0])}, "; missing R_thumb_prox[a-z_]*$"),
        ({"joints": (*ACTION_JOINTS, ACTION_JOINTS[0])}, "duplicate names"),
        ({"steps": np.zeros((2, 12))}, r"shape \(n, 13\)"),
        ({"steps": np.zeros((0, 13))}, r"shape \(n, 13\)"),
        (
            {"steps": np.full((2, 13), np.nan)},
            "step 0 .* not finite for right_shoulder_pitch_joint",
        ),
        ({"steps": np.full((2, 13), np.inf)}, "not finite"),
        ({"steps": ONE_NAN}, "step 1 .* not finite for right_elbow_joint: nan"),
        ({"steps": np.zeros(13)}, r"shape \(n, 13\)"),
        ({"steps": np.zeros((2, 13, 1))}, r"shape \(n, 13\)"),
        ({"offsets": [PERIOD]}, "2 steps needs 2 times, got 1"),
        ({"offsets": [PERIOD, PERIOD]}, "must increase"),
        ({"offsets": [-1, PERIOD]}, "must not be negative"),
    ],
)
def test_a_malformed_chunk_is_refused_with_the_reason(arguments, reason):
    good = {"joints": ACTION_JOINTS, "steps": np.zeros((2, 13)), "stamp": 0}
    with pytest.raises(RuleSafeError, match=reason):
        make_chunk(**(good | arguments))


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        (5 * PERIOD, "before the episode began"),
        (14 * PERIOD, "older than that of the running chunk"),
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
    with pytest.raises(RuleSafeError, match="no step is left"):
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


# Receding horizon, velocity limits and blending ---------------------------------------------


@pytest.mark.parametrize("kind", EXECUTORS.values())
@pytest.mark.parametrize(("execute", "rows"), [(3, 3), (0, 5), (9, 5)])
def test_a_chunk_is_done_after_the_rows_to_execute(kind, execute, rows):
    executor = kind(execute=execute)
    executor.accept(make_chunk(ACTION_JOINTS, rows_of(8, 5), PERIOD), PERIOD, START)
    assert not executor.done(PERIOD + rows * PERIOD - 1)
    assert executor.done(PERIOD + rows * PERIOD)


def test_where_no_newer_chunk_comes_the_other_rows_are_followed():
    executor, twin = ChunkExecutor(execute=2), ChunkExecutor()
    for each in (executor, twin):
        each.accept(make_chunk(ACTION_JOINTS, rows_of(9, 5), 0), 0, START)
    assert (follow(executor, 0, START, SECOND) == follow(twin, 0, START, SECOND)).all()


@given(seed=st.integers(0, 1000), speed=st.floats(0.05, 20.0))
def test_no_target_is_further_than_the_velocity_limit_allows(seed, speed):
    limits = speed * np.linspace(0.5, 1.5, 13)
    executor = ChunkExecutor(velocity=limits)
    executor.accept(make_chunk(ACTION_JOINTS, rows_of(seed, 6), 0), 0, START)
    trace = np.vstack([START, follow(executor, 0, START, 6 * PERIOD)])
    steps = np.abs(np.diff(trace, axis=0))
    assert (steps <= limits * (TICK / SECOND) + 1e-12).all()
    free = ChunkExecutor()
    free.accept(make_chunk(ACTION_JOINTS, rows_of(seed, 6), 0), 0, START)
    wanted = np.vstack([START, follow(free, 0, START, 6 * PERIOD)])
    if (np.abs(np.diff(wanted, axis=0)) < limits * (TICK / SECOND)).all():
        assert (trace == wanted).all()  # nothing is touched that is slow enough, to the bit


def test_a_target_for_the_instant_of_the_chunk_is_the_command():
    for executor in (ChunkExecutor(), ChunkExecutor(velocity=1.0)):
        executor.accept(make_chunk(ACTION_JOINTS, rows_of(1, 2), 0), 0, START)
        assert (executor.target(0, START) == START).all()


def test_overlapping_chunks_are_blended_by_their_age():
    executor = BlendingExecutor(execute=3)
    first, second, third = (rows_of(seed, 10) for seed in (10, 11, 12))
    executor.accept(make_chunk(ACTION_JOINTS, first, 0), 0, START)
    command = follow(executor, 0, START, 3 * PERIOD)[-1]
    np.testing.assert_allclose(command, first[2], atol=1e-12)
    now = 3 * PERIOD
    executor.accept(make_chunk(ACTION_JOINTS, second, now), now, command)
    trace = follow(executor, now, command, 13 * PERIOD)
    old = np.exp(-0.3)
    np.testing.assert_allclose(
        trace[9:69:10], (second[:6] + old * first[3:9]) / (1 + old), rtol=1e-6
    )
    np.testing.assert_allclose(trace[79::10], second[7:], rtol=1e-6)

    again = BlendingExecutor(execute=3)
    again.accept(make_chunk(ACTION_JOINTS, first, 0), 0, START)
    again.accept(make_chunk(ACTION_JOINTS, second, now), now, command)
    now = 6 * PERIOD
    again.accept(make_chunk(ACTION_JOINTS, third, now), now, command)
    row = follow(again, now, command, 7 * PERIOD)[-1]
    older, oldest = np.exp(-0.3), np.exp(-0.6)
    expected = (third[0] + older * second[3] + oldest * first[6]) / (1 + older + oldest)
    np.testing.assert_allclose(row, expected, rtol=1e-6)


def test_a_blended_chunk_that_comes_twice_counts_once_and_a_reset_forgets():
    rows = [rows_of(seed, 10) for seed in (13, 14)]
    traces = []
    for times in (1, 2):
        executor = BlendingExecutor(execute=3)
        executor.accept(make_chunk(ACTION_JOINTS, rows[0], 0), 0, START)
        for _ in range(times):
            chunk = make_chunk(ACTION_JOINTS, rows[1], 3 * PERIOD)
            executor.accept(chunk, 3 * PERIOD, START)
        traces.append(follow(executor, 3 * PERIOD, START, 13 * PERIOD))
    assert (traces[0] == traces[1]).all()
    executor.reset(3 * PERIOD)
    executor.accept(make_chunk(ACTION_JOINTS, rows[1], 3 * PERIOD), 3 * PERIOD, START)
    alone = follow(executor, 3 * PERIOD, START, 4 * PERIOD)
    np.testing.assert_allclose(alone[-1], rows[1][0], atol=1e-12)


def test_chunks_of_the_same_intention_blend_to_it_even_between_rows():
    """Two chunks of one straight motion, the second half a row later: the motion goes on."""
    speed = np.linspace(-0.5, 0.5, 13)  # rad/s

    def motion(stamp: int) -> np.ndarray:
        return (stamp / SECOND + np.arange(1, 11)[:, None] / 10) * speed

    executor, half = BlendingExecutor(), PERIOD // 2
    executor.accept(make_chunk(ACTION_JOINTS, motion(0), 0), 0, np.zeros(13))
    executor.accept(make_chunk(ACTION_JOINTS, motion(half), half), half, half / SECOND * speed)
    trace = follow(executor, half, half / SECOND * speed, half + 5 * PERIOD)
    times = half / SECOND + np.arange(1, 51)[:, None] / 100
    np.testing.assert_allclose(trace, times * speed, atol=1e-12)


def test_the_number_of_blended_chunks_is_bounded():
    """Long chunks at 50 Hz: only the newest ones are stored, and the result is their mean."""
    executor, every = BlendingExecutor(), SECOND // 50
    for number in range(40):
        chunk = make_chunk(ACTION_JOINTS, np.full((500, 13), number), number * every)
        executor.accept(chunk, number * every, START)
        assert len(executor._past) == min(number + 1, BlendingExecutor.BLENDED)
    weights = np.exp(-np.arange(10) * every / SECOND)
    mean = (39 - np.arange(10)) @ weights / weights.sum()
    assert executor.ahead[0] == pytest.approx([mean] * 13)


@pytest.mark.parametrize("every", [12, 5])
def test_chunks_of_policies_are_all_blended(every, monkeypatch):
    """50 steps, inference every 12 steps (the default) or every 5: the bound changes nothing."""
    ahead = []
    for bound in (BlendingExecutor.BLENDED, 1000):
        monkeypatch.setattr(BlendingExecutor, "BLENDED", bound)
        executor = BlendingExecutor(execute=every)
        for number in range(20):
            now = number * every * PERIOD
            executor.accept(make_chunk(ACTION_JOINTS, rows_of(number, 50), now), now, START)
        ahead.append(executor.ahead)
    assert (ahead[0] == ahead[1]).all()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: ChunkExecutor(execute=-1), "0 or more steps"),
        (lambda: ChunkExecutor(velocity=np.zeros(13)), "above 0 rad/s"),
        (lambda: ChunkExecutor(velocity=np.arange(13)), "above 0 rad/s"),
        (lambda: load_executor("oldest"), "newest, blended"),
    ],
)
def test_nonsense_is_refused(make, reason):
    with pytest.raises(RuleSafeError, match=reason):
        make()


def test_the_path_is_that_of_the_targets_ahead_and_ends_at_the_last_step():
    executor, start = ChunkExecutor(), np.zeros(13)
    rows = np.arange(1, 16)[:, None] * np.linspace(0.1, 0.2, 13)
    assert [part.shape for part in executor.path(0, start)] == [(1,), (1, 13)]
    executor.accept(make_chunk(ACTION_JOINTS, rows, 0), 0, start)
    for now in (0, 40_000_000, 100_000_000, 730_000_000, 1_500_000_000, 9_000_000_000):
        times, targets = executor.path(now, start)
        assert times[0] == 0 and (np.diff(times) > 0).all()
        expected = np.interp(now / SECOND, np.arange(16) / 10, np.r_[0, rows[:, 0]])
        assert targets[0, 0] == pytest.approx(expected)
        assert times[-1] >= min(1.0, max(0.0, 1.5 - now / SECOND))
        assert times[-1] < 1.1, "one step after the horizon"
        assert np.allclose(targets[1:, 0], 0.1 * np.rint(10 * (now / SECOND + times[1:])))


def test_a_clock_that_steps_back_finds_the_begin_of_the_path():
    executor, start = ChunkExecutor(), np.zeros(13)
    executor.accept(make_chunk(ACTION_JOINTS, np.full((5, 13), 0.3), 0), 250_000_000, start)
    begin = executor.path(250_000_000, start)
    for back in (1, 1_000_000, 90_000_000, 10 * SECOND):
        for part, expected in zip(executor.path(250_000_000 - back, start), begin, strict=True):
            assert (part == expected).all()


def test_the_path_does_not_depend_on_a_command_that_lags():
    executor = ChunkExecutor()
    executor.accept(make_chunk(ACTION_JOINTS, np.full((5, 13), 0.3), 0), 0, np.zeros(13))
    for now in (0, 250_000_000):
        path = executor.path(now, np.full(13, 0.1))
        assert path[1][-1] == pytest.approx(0.3)
        assert path[1][0] == pytest.approx(3e-9 * min(now, 1e8))


def test_a_stamp_may_be_ahead_of_the_clock_by_half_a_second_but_no_more():
    executor, now = ChunkExecutor(), 7 * SECOND
    assert AHEAD == SECOND // 2
    with pytest.raises(RuleSafeError, match="use_sim_time"):
        executor.accept(make_chunk(ACTION_JOINTS, rows_of(1, 5), now + AHEAD + 1), now, START)
    assert executor.accept(make_chunk(ACTION_JOINTS, rows_of(1, 5), now + AHEAD), now, START) == 5


def test_only_remaining_steps_count_as_clipped_and_counts_add_up():
    executor = ChunkExecutor(np.full(13, -0.5), np.full(13, 0.5))
    rows = np.full((6, 13), 0.7)
    executor.accept(make_chunk(ACTION_JOINTS, rows, 0), 4 * PERIOD, START)
    assert executor.clipped == 2, "the time of the first four steps has passed"
    executor.accept(make_chunk(ACTION_JOINTS, rows + 0.1, 0), 5 * PERIOD, START)
    assert executor.clipped == 3


def test_the_path_begins_where_the_chunk_was_accepted():
    executor, start = ChunkExecutor(), np.full(13, 0.1)
    executor.accept(make_chunk(ACTION_JOINTS, np.full((5, 13), 0.3), 0), 230_000_000, start)
    times, path = executor.path(260_000_000, start)
    assert times == pytest.approx([0, 0.04, 0.14, 0.24])
    assert path[:, 0] == pytest.approx([0.1 + 0.2 * 3 / 7, 0.3, 0.3, 0.3])


def test_a_limited_target_moves_towards_the_step_at_the_limit():
    for goal in (1.0, -1.0):
        executor, start = ChunkExecutor(velocity=2.0), np.full(13, -0.5 * goal)
        executor.accept(make_chunk(ACTION_JOINTS, np.full((3, 13), goal), 0), 0, start)
        trace = follow(executor, 0, start, 3 * PERIOD)
        assert trace[:, 0] == pytest.approx(goal * (np.arange(1, 31) * 0.02 - 0.5))


def test_the_steps_ahead_are_those_that_have_not_passed():
    executor, rows = ChunkExecutor(execute=1), rows_of(1, 4)
    assert executor.ahead.shape == (0, 13)
    executor.accept(make_chunk(ACTION_JOINTS, rows, 0), 0, START)
    follow(executor, 0, START, 2 * PERIOD + TICK)
    ahead = executor.ahead
    assert (ahead == rows[2:]).all()
    ahead[:] = 9.0
    assert (executor.ahead == rows[2:]).all()


@pytest.mark.parametrize("kind", EXECUTORS.values())
def test_an_executor_keeps_no_array_of_its_caller(kind):
    executor, twin, command = kind(), kind(), START.copy()
    chunk = make_chunk(ACTION_JOINTS, rows_of(2, 4), 0)
    assert executor.target(0, command) is not command
    executor.accept(chunk, 0, command)
    twin.accept(chunk, 0, START)
    for now in range(TICK, 4 * PERIOD, 3 * TICK):
        command[:] = 5.0
        command = START.copy()
        assert (executor.target(now, command) == twin.target(now, START)).all()
        assert (executor.path(now, START)[1] == twin.path(now, START)[1]).all()


@pytest.mark.parametrize("kind", EXECUTORS.values())
def test_a_reset_drops_the_chunk_and_older_observations(kind):
    executor = kind(np.full(13, -0.1), np.full(13, 0.1))
    executor.accept(make_chunk(ACTION_JOINTS, np.ones((3, 13)), PERIOD), PERIOD, START)
    assert executor.clipped == 3
    executor.reset(2 * PERIOD)
    assert executor.clipped == 0 and executor.done(2 * PERIOD)
    with pytest.raises(RuleSafeError, match="before the episode began"):
        executor.accept(make_chunk(ACTION_JOINTS, np.ones((3, 13)), 2 * PERIOD - 1), 0, START)
    assert executor.accept(make_chunk(ACTION_JOINTS, np.ones((3, 13)), 2 * PERIOD), 0, START) == 3


def test_chunks_that_begin_and_end_at_the_same_times_are_blended_at_each_step():
    times = np.array([3, 4, 5]) * PERIOD
    executor, steps = BlendingExecutor(), (np.zeros((3, 13)), np.ones((3, 13)))
    for stamp, rows in zip((0, PERIOD), steps, strict=True):
        executor.accept(make_chunk(ACTION_JOINTS, rows, stamp, times - stamp), PERIOD, START)
    assert executor.ahead[:, 0] == pytest.approx([1 / (1 + np.exp(-0.1))] * 3)


def test_a_chunk_that_ends_at_the_next_observation_does_not_overlap():
    executor = BlendingExecutor()
    executor.accept(make_chunk(ACTION_JOINTS, np.zeros((1, 13)), 0), 0, START)
    ones = make_chunk(ACTION_JOINTS, np.ones((2, 13)), PERIOD, [0, PERIOD])
    executor.accept(ones, PERIOD // 2, START)
    assert (executor.ahead == 1).all()


@pytest.mark.parametrize("name", EXECUTORS)
def test_an_executor_is_found_by_its_name_and_executes_all_steps_by_default(name):
    executor = load_executor(name)()
    assert type(executor) is EXECUTORS[name]
    executor.accept(make_chunk(ACTION_JOINTS, rows_of(1, 3), 0), 0, START)
    assert not executor.done(3 * PERIOD - 1) and executor.done(3 * PERIOD)


def test_periods_and_lengths_of_the_chunks_of_this_project():
    assert (PERIOD, MAX_STEPS) == (SECOND // 10, 50)


@pytest.mark.parametrize("kind", [ChunkExecutor, BlendingExecutor])
def test_a_chunk_that_is_sent_again_changes_nothing(kind):
    traces = []
    for again in (False, True):
        executor, command, trace = kind(), START, []
        chunk = make_chunk(ACTION_JOINTS, rows_of(1, 5) * 3, 0)
        executor.accept(chunk, 0, command)
        for now in range(TICK, 5 * PERIOD, TICK):
            if again and now == 17 * TICK:
                repeated = make_chunk(ACTION_JOINTS, rows_of(1, 5) * 3, 0)
                assert executor.accept(repeated, now, command) == 4
            command = executor.target(now, command)
            trace.append(command)
        traces.append((np.array(trace), executor.clipped))
    assert (traces[0][0] == traces[1][0]).all() and traces[0][1] == traces[1][1]
