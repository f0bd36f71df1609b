import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_demos.attempts import EVALUATION_SEEDS, settle
from rulesafe_eval.commands import evaluate
from rulesafe_eval.request import Setup, load_request, make_request
from rulesafe_sim.randomisation import SPLITS


def test_every_policy_has_the_same_episodes_and_no_demonstration_s_seed(request_for):
    one = request_for("expert", rules="rule_001,rule_020", episodes=5)
    other = request_for("phase-oracle", rules="rule_001,rule_020", episodes=5)
    episodes = list(one.all_episodes())
    assert episodes == list(other.all_episodes())
    assert len(set(episodes)) == 10
    assert {(e.rule, e.safe) for e in episodes} >= {
        ("rule_020", "safe_02"),
        ("rule_020", "safe_04"),
    }
    assert all(0 <= e.seed < EVALUATION_SEEDS for e in episodes)


@pytest.mark.parametrize("split", SPLITS)
def test_splits_have_the_names_of_the_simulation(request_for, split):
    request = request_for(split=split, safes="all")
    assert (request.split, request.safes) == (split, SPLITS[split].safes)


def test_invalid_arguments_are_reported_before_the_policy_is_loaded():
    with pytest.raises(RuleSafeError, match="unknown split 'normal'; valid: nominal, train"):
        evaluate("no_such_module:Policy", split="normal")
    with pytest.raises(RuleSafeError, match="unknown rule"):
        evaluate("no_such_module:Policy", rules="rule_099")


def test_a_safe_of_the_demonstrations_may_stand_at_shifted_places(request_for):
    assert request_for(split="shifted", safes="safe_02").safes == ("safe_02",)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"split": "normal"}, "nominal, train, shifted"),
        ({"episodes": 0}, "0 episodes"),
        ({"seed": 9999}, "9999"),
        ({"safes": "safe_77"}, "safe_01"),
    ],
)
def test_what_is_not_valid_is_refused_with_what_is(request_for, words, says):
    with pytest.raises(RuleSafeError, match=says):
        request_for(**words)


def test_the_time_limit_grows_with_the_shortest_plan():
    assert [Setup("expert").time_limit(rule) for rule in ("rule_001", "rule_020")] == [60, 160]
    assert Setup("expert", step_seconds=12).time_limit("rule_020") == 96


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_an_episode_takes_time(seconds):
    with pytest.raises(RuleSafeError, match="step_seconds must be more than 0 s"):
        make_request(Setup("expert", step_seconds=seconds), {}, "rule_001", "all", 1, "train", 0)


def test_a_directory_keeps_its_request_which_may_only_grow(request_for, tmp_path):
    settle(tmp_path, request_for(episodes=3), load_request)
    settle(tmp_path, request_for(episodes=5), load_request)
    assert load_request(tmp_path) == request_for(episodes=5)
    with pytest.raises(RuleSafeError, match="only grow"):
        settle(tmp_path, request_for(episodes=2), load_request)
    with pytest.raises(
        RuleSafeError, match="policy of the policy: expert in the directory, phase-oracle requested"
    ):
        settle(tmp_path, request_for("phase-oracle", episodes=5), load_request)
    assert load_request(tmp_path) == request_for(episodes=5)
