"""RuleSafe-Moves-v1: one lock behind Gymnasium's interface, and many in one vector environment."""

import json
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import rulesafe_studies.moves.env  # noqa: F401  (registers the environment)
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import EVENTS, PARTS
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import load_rule
from rulesafe_locks.scores import progress_after
from rulesafe_studies.moves.episodes import KEYS

CHECK = """
import gymnasium, json, warnings
from stable_baselines3.common.env_checker import check_env

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for keys in (("phases",), ("phases", "last_move", "plan", "instruction")):
        env = gymnasium.make(
            "rulesafe_studies.moves.env:RuleSafe-Moves-v1", rules="sampled_test", observations=keys
        )
        check_env(env)
print(json.dumps([str(each.message) for each in caught]))
"""


def make(**kwargs):
    return gymnasium.make("RuleSafe-Moves-v1", **kwargs).unwrapped


def make_vec(count, **kwargs):
    return gymnasium.make_vec("RuleSafe-Moves-v1", num_envs=count, **kwargs)


def moves(plan):
    return [PARTS.index(event[:-1]) for event in plan]


@pytest.mark.parametrize("keys", [("phases",), KEYS])
def test_gymnasiums_checker_passes_without_a_warning(keys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(rules="twenty", observations=keys), skip_render_check=True)


def test_stable_baselines3s_checker_passes_without_a_warning(peers):
    pytest.importorskip("torch", reason="the extra learn is not installed")
    settings = peers("stable_baselines3", "stable-baselines3==2.9.2")
    command = [sys.executable, "-c", CHECK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_it_imports_neither_sapien_nor_torch():
    code = (
        "import gymnasium, sys\n"
        "envs = gymnasium.make_vec('rulesafe_studies.moves.env:RuleSafe-Moves-v1', num_envs=2)\n"
        "envs.reset(seed=0), envs.step([0, 1])\n"
        "print(type(envs).__name__, {'sapien', 'torch', 'rclpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "RuleSafeMovesVectorEnv set()\n", done.stderr


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_copies_move_like_gymnasiums_vector_of_single_environments(mode):
    """Same observations, rewards, ends and infos, whenever episodes end and are reset."""
    arguments = {"rules": "rule_019", "observations": KEYS, "attempts": 2}
    ours = make_vec(6, autoreset_mode=mode, **arguments)
    theirs = make_vec(
        6, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **arguments
    )
    assert ours.metadata["autoreset_mode"] == mode
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    ours.reset(seed=0), theirs.reset(seed=0)
    rng, plan = np.random.default_rng(0), moves(prove(load_rule("rule_019")).plan)
    counted = np.zeros(6, int)
    ends = np.zeros(2, int)
    for _ in range(300):
        actions = np.where(np.arange(6) < 4, np.take(plan, counted % 6), rng.integers(3, size=6))
        found, expected = ours.step(actions), theirs.step(actions)
        assert data_equivalence(found[:4], expected[:4], exact=True)
        for key in ("success", "remaining", "attempt", "rejected", "process_score", "bits"):
            np.testing.assert_array_equal(found[4][key], expected[4][key])
        ended = found[2] | found[3]
        ends += found[2].sum(), found[3].sum()
        counted += rng.random(6) < 0.95  # some plans are interrupted
        if mode == AutoresetMode.SAME_STEP and ended.any():
            np.testing.assert_array_equal(found[4]["_final_obs"], expected[4]["_final_obs"])
            for key in KEYS:
                last = np.stack([each[key] for each in expected[4]["final_obs"][ended]])
                np.testing.assert_array_equal(found[4]["final_obs"][key][ended], last)
            np.testing.assert_array_equal(
                found[4]["final_info"]["success"][ended],
                expected[4]["final_info"]["success"][ended],
            )
        if mode == AutoresetMode.DISABLED and ended.any():
            for envs in (ours, theirs):
                reset, _ = envs.reset(options={"reset_mask": ended})
                assert not reset["phases"][ended].any()
    assert ends.min() > 5


def test_the_shortest_plan_of_each_lock_has_the_certified_return_and_length():
    rules = expand_rules("twenty,sampled")
    envs = make_vec(len(rules), rules="twenty,sampled", autoreset_mode="Disabled")
    _, info = envs.reset(seed=0, options={"locks": np.arange(len(rules))})
    assert envs.rules == tuple(rules)
    proofs = [prove(rule) for rule in rules.values()]
    for key in ("bits", "bits_blind", "memoryless"):
        assert info[key].tolist() == [getattr(proof, key) for proof in proofs]
    assert info["optimal_length"].tolist() == info["remaining"].tolist()
    for number, (rule, proof) in enumerate(zip(rules.values(), proofs, strict=True)):
        env = make(rules=rule)
        env.reset()
        results = [env.step(action) for action in moves(proof.plan)]
        assert np.isclose(sum(reward for _, reward, *_ in results), info["optimal_return"][number])
        assert [terminated for _, _, terminated, *_ in results].index(True) == len(results) - 1
        assert len(results) == info["optimal_length"][number]


def test_the_return_is_the_process_score_of_the_events():
    env, rng = make(rules="sampled_081", moves=5), np.random.default_rng(1)
    for _ in range(20):
        env.reset()
        events, total, ended = [], 0.0, False
        while not ended:
            action = int(rng.integers(3))
            was_open = env.unwrapped._episodes.batch.phases[0, action]
            _, reward, terminated, truncated, info = env.step(action)
            if not info["rejected"]:
                events.append(PARTS[action] + ("-" if was_open else "+"))
            total, ended = total + reward, terminated or truncated
        progress = progress_after(load_rule("sampled_081"), events)
        assert np.isclose(total, progress.process_score)
        assert info["process_score"] == progress.process_score
        assert info["order_free_score"] == progress.order_free_score


def test_moves_of_locked_parts_are_rejected_and_change_nothing():
    env = make(rules="rule_004", observations=("phases", "last_move"))
    observation, _ = env.reset()
    assert observation["last_move"] == 0
    for action, last, phases in ((0, 4, "000"), (2, 6, "000"), (1, 2, "010"), (0, 1, "110")):
        observation, _, terminated, _, info = env.step(action)
        assert observation["last_move"] == last and info["rejected"] == (last > 3)
        assert "".join(map(str, observation["phases"])) == phases and not terminated
    observation, reward, terminated, truncated, info = env.step(2)
    assert observation["phases"].tolist() == [1, 1, 1] and terminated and not truncated
    assert info["success"] and info["is_success"] and np.isclose(reward, 1 / 3)


def test_an_episode_is_truncated_after_moves_for_each_event():
    env = make(rules="rule_001", moves=3)
    env.reset()
    assert [env.step(2)[3] for _ in range(9)] == [False] * 8 + [True]


def test_attempts_repeat_the_same_lock_and_their_returns_add_up():
    keys = ("phases", "last_move")
    env = make(rules="twenty", observations=keys, attempts=3, moves=1)
    _, info = env.reset(seed=0, options={"locks": 4})
    assert (info["rule"], info["optimal_return"], info["optimal_length"]) == ("rule_005", 3.0, 12)
    plan, total = moves(info["plan"]), 0.0
    for number, actions in enumerate((plan, [2] * 4, plan)):
        for action in actions:
            assert info["attempt"] == number
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
        assert info["success"] == (number != 1) and info["rule"] == "rule_005"
        if number < 2:
            assert observation["last_move"] == 0 and not observation["phases"].any()
            assert not terminated and not truncated
    assert terminated and np.isclose(total, 2) and info["opened_attempts"] == 2


def test_hidden_phases_are_zeros():
    env = make(rules="rule_002", visible=False)
    env.reset()
    assert not env.step(0)[0]["phases"].any()
    observation, _, terminated, *_ = env.step(2)
    assert terminated and not observation["phases"].any()


@pytest.mark.parametrize("length", ["long", "short"])
def test_plan_and_instruction_can_be_read(length):
    env = make(rules="sampled", observations=("plan", "instruction"), instruction=length)
    for lock in (0, 120):
        observation, info = env.reset(options={"locks": lock})
        text = bytes(observation["instruction"]).rstrip(b"\0").decode()
        assert text == env.instruction == load_rule(info["rule"]).instruction(length)
        assert [EVENTS[code - 1] for code in observation["plan"] if code] == info["plan"]


def test_a_seed_decides_the_locks_that_are_drawn():
    envs = make_vec(50, rules="sampled_train")
    first = envs.reset(seed=5)[1]["lock"]
    second = envs.reset()[1]["lock"]
    assert (first != second).any() and len(set(first)) > 20
    np.testing.assert_array_equal(envs.reset(seed=5)[1]["lock"], first)
    np.testing.assert_array_equal(envs.reset()[1]["lock"], second)
    single = make(rules="sampled_train")
    drawn = [single.reset(seed=5)[1]["rule"], single.reset()[1]["rule"]]
    assert drawn == [single.reset(seed=5)[1]["rule"], single.reset()[1]["rule"]]


def test_options_change_the_rules_for_good_and_invalid_ones_change_nothing(tmp_path):
    path = tmp_path / "my_lock.json"
    automaton = smallest(automaton_of(load_rule("rule_003")))
    path.write_text(dump_lock(LockFile("my_lock", "Open the handle.", automaton)), encoding="utf-8")
    env = make(rules="twenty")
    env.reset(seed=0)
    info = env.reset(options={"rules": str(path)})[1]
    assert (info["rule"], info["plan"]) == ("my_lock", ["handle+", "door+"])
    for wrong, message in (
        ({"rules": "rule_021"}, "unknown rule or set"),
        ({"rules": "twenty", "locks": 20}, "0 to 19"),
        ({"locks": [0, 0]}, "one index or 1"),
        ({"rule": "rule_001"}, "unknown reset option 'rule'"),
    ):
        with pytest.raises(RuleSafeError, match=message):
            env.reset(options=wrong)
    assert env.reset()[1]["rule"] == "my_lock" and env.instruction == "Open the handle."


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"rules": "rule_021"}, "rule_020"),
        ({"observations": ("sound",)}, "last_move"),
        ({"observations": ()}, "observations is empty"),
        ({"instruction": "tiny"}, "unknown instruction"),
        ({"moves": 0}, "moves is 0"),
        ({"attempts": 1.5}, "attempts is 1.5"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
    ],
)
def test_invalid_arguments_are_refused(kwargs, message):
    with pytest.raises(RuleSafeError, match=message):
        make(**kwargs)
    with pytest.raises(RuleSafeError, match=message):
        make_vec(2, **kwargs)


def test_a_lock_with_a_long_instruction_needs_no_observation_of_it():
    rule = load_rule("rule_001")
    talkative = type(rule)("talkative", 300 * "word ", rule.unlocked)
    make(rules=talkative).reset()
    with pytest.raises(RuleSafeError, match="talkative: the instruction has 1500 bytes"):
        make(rules=talkative, observations=("phases", "instruction"))


@pytest.mark.parametrize("actions", [[0, 3], [0, -1], [0.0, 1.0], [0], [[0, 1]]])
def test_invalid_actions_are_refused(actions):
    envs = make_vec(2)
    with pytest.raises(RuleSafeError, match="call reset"):
        envs.step([0, 1])
    envs.reset(seed=0)
    with pytest.raises(RuleSafeError, match="valid: integers of shape"):
        envs.step(actions)


def test_invalid_resets_of_a_vector_are_refused():
    with pytest.raises(RuleSafeError, match="NextStep"):
        make_vec(2, autoreset_mode="Sometimes")
    envs = make_vec(2, autoreset_mode="Disabled", rules="rule_002")
    with pytest.raises(RuleSafeError, match="the first reset"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    for options in ({"reset_mask": np.array([False, False])}, {"reset_mask": [1, 0]}):
        with pytest.raises(RuleSafeError, match="reset_mask is"):
            envs.reset(options=options)
    with pytest.raises(RuleSafeError, match="rules cannot be changed"):
        envs.reset(options={"rules": "twenty", "reset_mask": np.array([True, False])})
    envs.step([0, 1]), envs.step([2, 1])
    with pytest.raises(RuleSafeError, match=r"episodes of \[0\] have ended"):
        envs.step([0, 0])


def test_gymnasiums_vector_statistics_report_return_and_length():
    envs = RecordEpisodeStatistics(make_vec(3, rules="rule_002"))
    envs.reset(seed=0)
    envs.step([0, 0, 2])
    *_, terminated, _, info = envs.step([2, 1, 2])
    assert terminated.tolist() == [True, False, False]
    assert info["episode"]["r"][0] == 1 and info["episode"]["l"][0] == 2
