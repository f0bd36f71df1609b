"""What never arrived, told by the numbers of what did."""

import random

from hypothesis import given
from hypothesis import strategies as st

from rulesafe_ros.bag.loss_counter import LossCounter


def told(numbers, writers=1, every=10**9, **fields) -> LossCounter:
    """What is known after these numbers; settled after each `every` of them, and at the end."""
    losses = LossCounter(**fields)
    for i, number in enumerate(numbers, 1):
        losses.received(number)
        if i % every == 0:
            losses.settle(writers)
    losses.settle(writers)
    return losses


@given(st.sets(st.integers(1, 200), min_size=1), st.integers(1, 50))
def test_gaps_of_one_writer_are_counted_exactly(heard, every):
    numbers = sorted(heard)
    expected = numbers[-1] - numbers[0] + 1 - len(numbers)
    assert told(numbers, every=every).total == expected


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(1, 40)), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_writers_that_lose_nothing_lose_nothing(writers, rng: random.Random):
    """Each began somewhere; messages mix in any order, and the graph knows of all at the end."""
    queues = [list(range(first, first + count)) for first, count in writers]
    numbers = []
    while any(queues):
        numbers.append(rng.choice([queue for queue in queues if queue]).pop(0))
    assert told(numbers, len(writers)).total == 0


def test_one_of_two_writers_loses():
    assert told((500, 20, 501, 21, 505, 22, 506, 25), 2).total == 3 + 2
    assert told((500, 20, 501, 21, 505, 22, 506, 25), 2, every=1).total == 3 + 2


def test_a_writer_that_starts_anew_is_another_one():
    losses = told((7, 8, 9, 1, 2, 3, 5), every=2)
    assert (losses.total, losses.early) == (1, 0)
    losses = told((7, 70, 8, 71, 1, 72, 2, 73, 4, 74), 2, every=1)  # 8 is the last of its writer
    assert losses.total == 1


def test_what_came_before_discovery_is_early_and_not_lost():
    losses = told((4, 5, 7, 3, 4), fresh=True)  # it loses 6 and is started anew
    assert (losses.early, losses.missed) == (3 + 2, 1)


def test_the_middleware_and_the_disk_tell_too():
    losses = told((None, None))
    losses.events, losses.overruns = 4, 2
    assert losses.total == 6
    losses.missed = 5  # these may be the same as the events'
    assert losses.total == 7
