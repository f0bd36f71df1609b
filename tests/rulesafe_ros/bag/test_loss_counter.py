"""Tests of the count of lost messages by sequence numbers."""

import random

from hypothesis import given
from hypothesis import strategies as st

from rulesafe_ros.bag.loss_counter import LossCounter


def counted(numbers, publishers=1, every=10**9, **fields) -> LossCounter:
    """Return a counter after these numbers, settled after each `every` of them and at the end."""
    losses = LossCounter(**fields)
    for i, number in enumerate(numbers, 1):
        losses.received(number)
        if i % every == 0:
            losses.settle(publishers)
    losses.settle(publishers)
    return losses


@given(st.sets(st.integers(1, 200), min_size=1), st.integers(1, 50))
def test_gaps_of_one_publisher_are_counted_exactly(received, every):
    numbers = sorted(received)
    expected = numbers[-1] - numbers[0] + 1 - len(numbers)
    assert counted(numbers, every=every).total == expected


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(1, 40)), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_publishers_without_losses_have_no_losses(publishers, rng: random.Random):
    """Publishers start at any number; their messages arrive in any order."""
    queues = [list(range(first, first + count)) for first, count in publishers]
    numbers = []
    while any(queues):
        numbers.append(rng.choice([queue for queue in queues if queue]).pop(0))
    assert counted(numbers, len(publishers)).total == 0


def test_losses_of_one_of_two_publishers():
    assert counted((500, 20, 501, 21, 505, 22, 506, 25), 2).total == 3 + 2
    assert counted((500, 20, 501, 21, 505, 22, 506, 25), 2, every=1).total == 3 + 2


def test_a_restarted_publisher_counts_as_a_new_one():
    losses = counted((7, 8, 9, 1, 2, 3, 5), every=2)
    assert (losses.total, losses.early) == (1, 0)
    losses = counted((7, 70, 8, 71, 1, 72, 2, 73, 4, 74), 2, every=1)  # 8 is a publisher's last
    assert losses.total == 1


def test_messages_before_discovery_are_early_and_not_lost():
    losses = counted((4, 5, 7, 3, 4), fresh=True)  # it loses 6 and is restarted
    assert (losses.early, losses.missed) == (3 + 2, 1)


def test_losses_of_the_middleware_and_the_disk_are_counted():
    losses = counted((None, None))
    losses.events, losses.overruns = 4, 2
    assert losses.total == 6
    losses.missed = 5  # these may be the same messages as those of the events
    assert losses.total == 7
