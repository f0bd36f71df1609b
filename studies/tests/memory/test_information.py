"""The share of information on data with known results."""

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.memory.information import information_share


@pytest.fixture
def steps():
    """Twelve episodes of 300 frames; the step grows by one at four random frames."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(12):
        changes = np.sort(rng.choice(np.arange(20, 280), 4, replace=False))
        found.append(np.searchsorted(changes, np.arange(300), side="right"))
    return found


RULES = ["rule_001", "rule_020"] * 6


def test_a_token_that_is_the_step_tells_everything(steps):
    renamed = np.array([3, 0, 4, 1, 2])
    share = information_share([renamed[column] for column in steps], steps, RULES)
    assert share.share == pytest.approx(1) and share.low == pytest.approx(1)
    assert share.high == pytest.approx(1)
    assert share.baseline < 0.5


def test_an_independent_token_tells_nothing(steps):
    rng = np.random.default_rng(1)
    tokens = [rng.integers(0, 4, len(column)) for column in steps]
    share = information_share(tokens, steps, RULES)
    assert 0 <= share.share < 0.01
    assert share.baseline == pytest.approx(share.share, abs=0.005)


def test_a_constant_token_tells_exactly_nothing(steps):
    share = information_share([np.zeros(len(column), int) for column in steps], steps, RULES)
    assert (share.share, share.baseline) == pytest.approx((0, 0), abs=1e-12)


def test_a_step_of_one_rule_is_no_step_of_another(steps):
    """Tokens that depend only on the rule carry no information; rules may share a code."""
    rule_only = [np.full(len(column), i % 2) for i, column in enumerate(steps)]
    assert information_share(rule_only, steps, RULES).share == pytest.approx(0, abs=1e-12)
    crossed = [column if i % 2 else 4 - column for i, column in enumerate(steps)]
    assert information_share(crossed, steps, RULES).share == pytest.approx(1)
    assert information_share(crossed, steps, ["one"] * 12).share < 0.8


def test_a_coarser_token_tells_no_more(steps):
    fine = information_share(steps, steps, RULES).share
    coarse = information_share([column // 2 for column in steps], steps, RULES).share
    assert 0 < coarse < fine


def test_many_tokens_raise_the_baseline(steps):
    """The bias of counting is in the value and in the baseline."""
    rng = np.random.default_rng(2)
    many = [rng.integers(0, 256, len(column)) for column in steps]
    share = information_share(many, steps, RULES)
    assert share.share > 0.15 and share.baseline == pytest.approx(share.share, abs=0.05)
    assert share.low < share.share < share.high


def test_the_interval_depends_on_the_seed_alone(steps):
    tokens = [(np.arange(len(column)) // 60) for column in steps]
    first, again, other = (information_share(tokens, steps, RULES, seed=seed) for seed in (3, 3, 4))
    assert first == again != other
    assert first.share == other.share and first.low < first.share < first.high


def test_steps_that_never_change_are_refused():
    with pytest.raises(RuleSafeError, match="never changes"):
        information_share([np.arange(9)], [np.zeros(9, int)], ["rule_001"])
