"""The controls: who must open which lock, by the locks' proofs and in the physics."""

import pytest

from rulesafe_eval.oracles import ORACLES, best_table, outcome_of
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule


@pytest.mark.parametrize("rule", RULES)
def test_the_best_table_opens_just_the_locks_that_need_no_memory(rule):
    proof = prove(load_rule(rule))
    order_free, process = outcome_of(load_rule(rule), best_table(load_rule(rule)))
    assert (order_free == process == 1) == proof.memoryless
    assert order_free > 0


# A lock that a table opens, one that needs memory, and one with dead ends, which does too.
@pytest.mark.parametrize("rule", ["rule_002", "rule_005", "rule_017"])
@pytest.mark.episode
def test_in_the_physics_memory_is_what_separates_the_oracles(rule, request_for, tmp_path):
    request = request_for(rules=rule)
    episode = request.episode(rule, 0)
    without = EpisodeRunner(request.setup).play(ORACLES["memoryless-oracle"], tmp_path, episode)
    outcome = EpisodeRunner(request.setup).play(ORACLES["phase-oracle"], tmp_path, episode)
    expected = outcome_of(load_rule(rule), best_table(load_rule(rule)))
    assert without["opened"] == prove(load_rule(rule)).memoryless
    assert (without["order_free_score"], without["process_score"]) == expected
    assert outcome["opened"] and outcome["process_score"] == outcome["order_free_score"] == 1
    assert not outcome["cause"] and not outcome["reason"]
    assert bool(without["cause"]) != without["opened"]


@pytest.mark.episode
def test_told_the_true_step_it_does_what_the_expert_does(opened, tmp_path):
    request, line, _ = opened
    outcome = EpisodeRunner(request.setup).play(
        ORACLES["phase-oracle"], tmp_path, request.episode("rule_002", 0)
    )
    assert outcome["state_digest"] == line["state_digest"]
    assert line["opened"] and line["events"][-1]["event"] == "door+"
    assert line["touched_last"] in ("handle", "door") and line["peak_force"] > 1
