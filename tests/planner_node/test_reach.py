"""Places out of the arm's reach are found before an episode begins, and counted."""

from dataclasses import replace

import pytest

from planner_node.moves import MovePlanner
from planner_node.reach import out_of_reach
from rulesafe_locks.rules import load_rule
from rulesafe_sim.config import Placement
from rulesafe_sim.episodes import Episode, OutOfReach, place, reachable_variation
from rulesafe_sim.randomisation import SPLITS, sample_variation
from rulesafe_sim.safes import load_safe
from rulesafe_sim.variation import Variation

NOMINAL = SPLITS["nominal"].randomisation
RULE_003 = load_rule("rule_003")


def test_a_place_within_reach_is_kept():
    placed = place(Episode("rule_001", "safe_02", 3), out_of_reach)
    assert placed.resampled == 0
    assert placed.variation == sample_variation(NOMINAL, "safe_02", 3)
    assert place(placed, lambda *_: "not checked again") is placed


@pytest.mark.episode
def test_places_out_of_reach_are_passed_over_and_counted():
    wide = replace(NOMINAL, placement=replace(NOMINAL.placement, xyz=(0.5, 0.05, 0.05)))
    safe = load_safe("safe_02")
    counts = []
    for seed in (0, 6):
        variation, passed_over = reachable_variation(safe, RULE_003, wide, seed, out_of_reach)
        counts.append(passed_over)
        assert variation == sample_variation(wide, safe, seed, passed_over)
        assert out_of_reach(safe, "rule_003", variation) == ""
        for draw in range(passed_over):
            assert out_of_reach(safe, "rule_003", sample_variation(wide, safe, seed, draw))
    assert sum(counts) > 0


@pytest.mark.parametrize("x", [0.8, 1.6])  # just too far; farther than the arm is long
def test_the_event_that_fails_is_named(x):
    far = Variation(Placement((x, -0.24, 0.28), 0.0))
    assert out_of_reach(load_safe("safe_02"), "rule_003", far) == "handle+"


def test_a_place_farther_than_the_arm_is_long_is_not_searched(monkeypatch):
    monkeypatch.setattr(MovePlanner, "operations", lambda *_: pytest.fail("searched"))
    far = Variation(Placement((1.2, -0.24, 0.28), 0.0))
    assert out_of_reach(load_safe("safe_02"), "rule_003", far) == "handle+"


def test_when_no_place_serves_it_is_an_error():
    middle = Placement((1.6, -0.3, 0.28), 0.0)
    away = replace(NOMINAL, placement=replace(NOMINAL.placement, right_hinge=middle))
    with pytest.raises(OutOfReach, match=r"safe_02, seed 1: .* at all 20 sampled poses"):
        reachable_variation(load_safe("safe_02"), RULE_003, away, 1, out_of_reach)
