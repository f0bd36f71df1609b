import json

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.versions import EARLIER, PHYSICS, RENDERER
from rulesafe_eval.commands import evaluate
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.request import ResultsFolder, load_request
from rulesafe_sim.episodes import EVALUATION_SEEDS, plan_episodes
from rulesafe_sim.randomisation import SPLITS


def test_every_policy_has_the_same_episodes_and_no_demonstration_s_seed(request_for):
    one = request_for("expert", rules="rule_001,rule_020", episodes=5)
    other = request_for("phase-oracle", rules="rule_001,rule_020", episodes=5)
    episodes = list(one)
    assert episodes == list(other)
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
    with pytest.raises(RuleSafeError, match="unknown split 'normal'; valid: nominal, varied"):
        evaluate("no_such_module:Policy", conditions=Conditions(split="normal"))
    with pytest.raises(RuleSafeError, match="unknown rule"):
        evaluate("no_such_module:Policy", conditions=Conditions(rules="rule_099"))


def test_a_safe_of_the_demonstrations_may_stand_at_shifted_places(request_for):
    assert request_for(split="shifted", safes="safe_02").safes == ("safe_02",)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"split": "normal"}, "nominal, varied, shifted"),
        ({"episodes": 0}, "0 episodes"),
        ({"seed": 9999}, "9999"),
        ({"safes": "safe_77"}, "safe_01"),
    ],
)
def test_what_is_not_valid_is_refused_with_what_is(request_for, words, says):
    with pytest.raises(RuleSafeError, match=says):
        request_for(**words)


def test_the_time_limit_grows_with_the_shortest_plan(request_for):
    request = request_for(rules="rule_001,rule_020", episodes=1)
    assert [episode.time_limit for episode in request] == [60, 160]
    request = request_for(rules="rule_020", episodes=1, step_seconds=12)
    assert [episode.time_limit for episode in request] == [96]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_an_episode_takes_time(seconds):
    with pytest.raises(RuleSafeError, match="step_seconds must be more than 0 s"):
        plan_episodes("rule_001", step_seconds=seconds)


def test_a_request_of_an_earlier_version_is_read(request_for, tmp_path):
    """With flags of the studies, which are names now."""
    folder, request = ResultsFolder(tmp_path), request_for()
    folder.settle(request)
    content = json.loads((tmp_path / "eval.json").read_text())
    setup = content["setup"]
    del setup["variant"], setup["disturbances"]
    flags = {"control": "none", "turn_back": False, "interference": False}
    (tmp_path / "eval.json").write_text(json.dumps(content | {"setup": setup | flags}))
    assert load_request(tmp_path) == request
    folder.settle(request)
    flags = {"control": "shuffled", "turn_back": True, "interference": True}
    (tmp_path / "eval.json").write_text(json.dumps(content | {"setup": setup | flags}))
    found = load_request(tmp_path).setup
    assert (found.variant, found.disturbances) == ("shuffled memory", "turned back, interference")


def test_a_run_of_other_versions_is_not_continued(request_for, tmp_path):
    """A request of an earlier version states neither physics nor renderer."""
    folder, request = ResultsFolder(tmp_path), request_for(episodes=3)
    folder.settle(request)
    folder.add({"rule": "rule_001", "number": 0})
    path = tmp_path / "eval.json"
    content = json.loads(path.read_text())
    versions = content["versions"]
    assert versions["physics"] == PHYSICS and versions["renderer"] == RENDERER
    for name, here in {"physics": PHYSICS, "renderer": RENDERER}.items():
        changed = {key: value for key, value in versions.items() if key != name}
        path.write_text(json.dumps(content | {"versions": changed}))
        assert load_request(tmp_path).versions == versions | {name: EARLIER[name]}
        text = f"version of {name}: {EARLIER[name]} in the directory, {here} requested"
        with pytest.raises(RuleSafeError, match=text):
            folder.settle(request_for(episodes=5))


def test_a_directory_keeps_its_request_which_may_only_grow(request_for, tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.settle(request_for("phase-oracle", episodes=9))
    folder.settle(request_for(episodes=3))  # no episode of the other request is finished
    folder.add({"rule": "rule_001", "number": 0})
    folder.settle(request_for(episodes=5))
    assert load_request(tmp_path) == request_for(episodes=5)
    with pytest.raises(RuleSafeError, match="only grow"):
        folder.settle(request_for(episodes=2))
    with pytest.raises(
        RuleSafeError, match="policy of the policy: expert in the directory, phase-oracle requested"
    ):
        folder.settle(request_for("phase-oracle", episodes=5))
    assert load_request(tmp_path) == request_for(episodes=5)
