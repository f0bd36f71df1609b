"""RuleSafe-v1 behind Gymnasium's interface."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import rulesafe_sim.env  # noqa: F401  (registers the environment)
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.automata import automaton_of, smallest
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_locks.rules import load_rule
from rulesafe_sim.contacts import CONTACT_NAMES
from rulesafe_sim.episode import time_limit
from rulesafe_sim.runtime import Playback, Runtime
from rulesafe_sim.simulation import HOME_ACTION, UPPER, Simulation

JOINTS = ("joint_positions", "all_joint_positions")


def make(**kwargs):
    kwargs = {"observations": JOINTS} | kwargs
    return gymnasium.make("RuleSafe-v1", **kwargs)


def check(env, **skip: bool) -> list[str]:
    """Runs Gymnasium's checker; what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env.unwrapped, **skip)
    return [str(warning.message) for warning in caught]


def test_gymnasiums_checker_passes_without_rendering():
    """Its one warning recommends actions in -1..1; ours are joint angles, as on the robot."""
    found = check(make(), skip_render_check=True)
    assert len(found) == 1 and "symmetric and normalized" in found[0], found


def test_gymnasiums_checker_passes_with_everything():
    found = check(make(observations=None))
    assert len(found) == 1 and "symmetric and normalized" in found[0], found


def test_the_name_with_its_module_needs_no_import():
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('rulesafe_sim.env:RuleSafe-v1', observations=('joint_positions',))\n"
        "print(env.reset()[0]['joint_positions'].shape)"
    )
    no_driver = dict.fromkeys(("VK_DRIVER_FILES", "VK_ICD_FILENAMES"), "/nonexistent")
    environment = {**os.environ, **no_driver}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.stdout.strip() == "(13,)", done.stderr


def test_seeds_follow_gymnasiums_rules():
    env = make(seed=7)
    first = env.reset()[1]
    assert first["seed"] == 7
    second, third = env.reset()[1], env.reset()[1]
    assert len({first["seed"], second["seed"], third["seed"]}) == 3
    again = env.reset(seed=7)[1]
    assert data_equivalence(first, again, exact=True)
    assert env.reset()[1]["seed"] == second["seed"]


def test_a_seed_given_to_the_first_reset_decides_all_that_follow():
    def after(seed):
        env = make(seed=7)
        env.reset(seed=seed)
        return env.reset()[1]["seed"]

    assert len({after(3), after(4), 7}) == 3
    assert after(3) == after(3)


def test_options_switch_rule_and_safe_for_good():
    env = make(rule="rule_001", safe="safe_01")
    env.reset()
    info = env.reset(options={"rule": "rule_003", "safe": "safe_02"})[1]
    assert (info["rule"], info["safe"]) == ("rule_003", "safe_02")
    assert info["plan"] == ["handle+", "door+"]
    assert env.reset()[1]["rule"] == "rule_003"
    with pytest.raises(RuleSafeError, match="safe_10"):
        env.reset(options={"rule": "rule_002", "safe": "safe_11"})
    assert env.reset()[1]["rule"] == "rule_003"  # refused options change nothing


def test_the_instruction_is_long_or_short():
    for length in ("long", "short"):
        env = make(rule="rule_020", safe="safe_01", instruction=length)
        assert env.unwrapped.instruction == load_rule("rule_020").instruction(length)
    assert make(rule="rule_020").unwrapped.instruction == load_rule("rule_020").description
    with pytest.raises(RuleSafeError, match="unknown instruction 'tiny'"):
        make(instruction="tiny")


def test_a_lock_s_own_file_is_a_rule_like_any_other(tmp_path):
    automaton = smallest(automaton_of(load_rule("rule_003")))
    path = tmp_path / "my_lock.json"
    path.write_text(dump_lock(LockFile("my_lock", "Open the handle.", automaton)), encoding="utf-8")
    env = make(rule=str(path), safe="safe_01")
    assert env.reset()[1]["rule"] == "my_lock"
    assert env.unwrapped.instruction == "Open the handle."
    assert env.reset(options={"safe": "safe_02"})[1]["plan"] == ["handle+", "door+"]
    env.reset(options={"rule": "rule_001"})
    assert env.reset(options={"rule": str(path)})[1]["rule"] == "my_lock"


@pytest.mark.parametrize(
    ("kwargs", "valid"),
    [
        ({"rule": "rule_021"}, "rule_020"),
        ({"safe": "safe_11"}, "safe_10"),
        ({"observations": ("depth",)}, "head"),
        ({"render_mode": "human"}, "rgb_array"),
        ({"sampler": "random"}, "uniform, farthest"),
    ],
)
def test_unknown_names_list_the_valid_ones(kwargs, valid):
    from rulesafe_sim.env import RuleSafeEnv

    with pytest.raises(RuleSafeError, match=valid):
        RuleSafeEnv(**{"observations": JOINTS, **kwargs})


def test_unknown_options_are_refused():
    env = make()
    with pytest.raises(RuleSafeError, match="rule, safe"):
        env.reset(options={"lock": "rule_001"})


def test_observations_hold_what_was_asked_and_nothing_else():
    env = make(observations=("joint_positions",))
    observation, _ = env.reset()
    assert set(observation) == {"joint_positions"}
    np.testing.assert_allclose(observation["joint_positions"], env.unwrapped.home_action, atol=1e-6)


def test_staying_at_home_changes_nothing():
    env = make()
    env.reset()
    for _ in range(3):
        observation, reward, terminated, truncated, _ = env.step(env.unwrapped.home_action)
    np.testing.assert_allclose(
        observation["joint_positions"], env.unwrapped.home_action, atol=0.005
    )
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_return_is_the_process_score():
    env = make(rule="rule_003")
    _, info = env.reset()
    simulation = env.unwrapped.simulation
    assert info["process_score"] == 0
    rewards, terminated = [], False
    for part in ("handle", "door"):
        data = simulation.safe.parts[part]
        qpos = simulation._safe.articulation.qpos
        qpos[simulation._safe.index[f"{part}_joint"]] = data.range
        simulation._safe.articulation.set_qpos(qpos)
        _, reward, terminated, _, info = env.step(env.unwrapped.home_action)
        rewards.append(reward)
    assert rewards == [0.5, 0.5] and terminated and info["success"]
    assert info["process_score"] == info["order_free_score"] == 1.0
    assert info["steps_done"] == len(info["plan"]) == 2


def test_actions_out_of_the_limits_are_clipped_and_counted():
    env = make()
    env.reset()
    info = env.step(UPPER + 1)[4]
    assert info["clipped_actions"] == 1
    for corner in (env.action_space.low, env.action_space.high):
        assert env.step(corner)[4]["clipped_actions"] == 1


def test_an_action_that_is_no_number_raises():
    env = make().unwrapped
    env.reset()
    with pytest.raises(RuleSafeError, match="not finite"):
        env.step(np.full(13, np.nan))


def test_a_step_before_the_first_reset_raises():
    with pytest.raises(RuleSafeError, match="reset"):
        make().unwrapped.step(np.zeros(13))


def test_the_episode_is_truncated_at_the_time_limit():
    env = gymnasium.make("RuleSafe-v1", observations=("joint_positions",), max_episode_steps=3)
    env.reset()
    assert [env.step(env.unwrapped.home_action)[3] for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("rule", ["rule_001", "rule_020"])
def test_the_time_limit_is_that_of_an_evaluation(rule):
    """The limit follows the rule of each episode, and ends it at the same frame."""
    env = make(step_seconds=0.25)
    info = env.reset(options={"rule": rule})[1]
    assert info["time_limit"] == time_limit(load_rule(rule), step_seconds=0.25)
    simulation = Simulation()
    simulation.reset(rule, "safe_01", seed=0)
    frames = Runtime(simulation, info["time_limit"]).run(Playback([HOME_ACTION] * 100)).frame
    truncated = [env.step(env.unwrapped.home_action)[3] for _ in range(frames)]
    assert truncated == [False] * (frames - 1) + [True]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_time_limit_is_positive(seconds):
    with pytest.raises(RuleSafeError, match="step_seconds must be more than 0 s"):
        make(step_seconds=seconds)


def test_privileged_facts_stay_out_of_the_observation():
    env = make()
    observation, info = env.reset()
    assert {"phases", "locked", "part_positions", "success", "placement"} <= set(info)
    assert tuple(info["contact_forces"]) == CONTACT_NAMES
    assert not set(info) & set(observation)


def test_render_gives_both_cameras_side_by_side():
    env = make(render_mode="rgb_array", observations=DEFAULT_CAMERAS.keys)
    observation, _ = env.reset()
    picture = env.render()
    assert picture.shape == (224, 448, 3) and picture.dtype == np.uint8
    np.testing.assert_array_equal(picture[:, :224], observation["front"])
    np.testing.assert_array_equal(picture[:, 224:], observation["head"])


def test_the_cloud_is_thinned_as_asked():
    clouds = [
        make(observations=("points",), sampler=sampler).reset()[0]["points"]
        for sampler in ("uniform", "farthest")
    ]
    gaps = [np.linalg.norm(c[:, None, :3] - c[None, :, :3], axis=2) for c in clouds]
    nearest = [np.median(np.sort(gap, axis=1)[:, 1]) for gap in gaps]
    assert nearest[1] > 1.5 * nearest[0]  # the farthest points keep apart


def test_two_environments_side_by_side_do_not_mix():
    first, second = (make(observations=None, safe=safe) for safe in ("safe_01", "safe_02"))
    alone = first.reset(seed=1)[0]
    second.reset(seed=2)
    action = first.unwrapped.home_action + 0.1
    first.step(action)
    second.step(action)
    again = first.reset(seed=1)[0]
    assert data_equivalence(alone, again, exact=True)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's memory from /proc")
def test_resets_do_not_pile_up_memory():
    env = make()
    for _ in range(10):
        env.reset()
    before = _resident()
    for _ in range(50):
        env.reset()
    assert _resident() - before < 20e6


def _resident() -> int:
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


FORKED = """
import gymnasium
import numpy as np
import rulesafe_sim.env

options = {"observations": ("head", "front", "points")}
env = gymnasium.make("RuleSafe-v1", **options)
env.reset(seed=7)
action = env.unwrapped.home_action + np.float32(0.05)
own = env.step(action)[0]
envs = gymnasium.make_vec(
    "RuleSafe-v1", 2, "async", vector_kwargs={"context": "fork", "daemon": True}, **options
)
try:
    envs.reset(seed=[7, 7])
    forked = envs.step(np.array([action, action]))[0]
    for key, value in own.items():
        assert np.array_equal(forked[key], [value, value]), key
finally:
    envs.close(terminate=True)
"""


def test_environments_with_cameras_can_be_forked():
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_environments_with_cameras_run_in_threads():
    def run(seed: int) -> list[dict]:
        env = make(observations=(*DEFAULT_CAMERAS.keys, *JOINTS))
        found = [env.reset(seed=seed)[0]]
        for number in range(1, 6):
            found.append(env.step(env.unwrapped.home_action + 0.02 * number)[0])
        return found

    one_by_one = [run(seed) for seed in (3, 4)]
    with ThreadPoolExecutor(2) as threads:
        assert data_equivalence(one_by_one, list(threads.map(run, (3, 4))), exact=True)


@pytest.mark.parametrize(("mode", "settings"), [("sync", {}), ("async", {"context": "spawn"})])
def test_vector_environments_restart_by_themselves_and_report_success(mode, settings):
    envs = gymnasium.make_vec(
        "rulesafe_sim.env:RuleSafe-v1",
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs=settings,
        observations=("joint_positions",),
        rule="rule_002",
        step_seconds=0.25,  # 5 frames for its two steps
    )
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    try:
        observation, info = envs.reset(seed=3)
        assert info["is_success"].tolist() == [False, False] and info["seed"].tolist() == [3, 4]
        home, ends = observation["joint_positions"], []
        for frame in range(12):
            _, _, terminated, truncated, info = envs.step(home)
            ends.append(truncated.tolist())
            assert not terminated.any() and not info["is_success"].any()
            if frame == 4:
                assert info["episode"]["l"].tolist() == [5, 5]
        assert ends == [[frame in (4, 10)] * 2 for frame in range(12)]
    finally:
        envs.close()
