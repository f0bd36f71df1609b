"""Each reason is logged once per interval, whatever else is logged."""

from rulesafe_core.throttle import Throttle


def test_a_different_reason_passes_at_once_and_numbers_are_no_reason():
    throttle = Throttle(5.0)
    assert throttle.passes("the chunk is stale: its observation is 2.10 s old", 0.0)
    assert not throttle.passes("the chunk is stale: its observation is 2.35 s old", 1.0)
    assert throttle.passes("the chunk jumps: right_elbow_joint by 0.62 rad", 1.0)
    assert not throttle.passes("the chunk jumps: right_elbow_joint by -1e-3 rad", 5.9)
    assert throttle.passes("the chunk is stale: its observation is 9 s old", 5.0)
    assert throttle.passes("the chunk jumps: right_elbow_joint by 0.7 rad", 6.0)


def test_the_number_of_reasons_is_bounded():
    throttle = Throttle(5.0, most=3)
    assert [throttle.passes(f"unknown {name}", 0.1) for name in "abcd"] == [True] * 3 + [False]
    assert throttle.passes("unknown d", 5.2)
