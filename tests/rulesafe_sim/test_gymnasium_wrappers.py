"""RuleSafe-v1 with the wrappers of Gymnasium and the checker of Stable-Baselines3."""

import json
import subprocess
import sys

import av
import gymnasium
import numpy as np
import pytest

import rulesafe_sim.env  # noqa: F401  (registers the environment)

MOVIEPY = ("moviepy==2.2.1", "proglog", "imageio", "imageio-ffmpeg", "decorator", "python-dotenv")

RECORD = """
import json
import sys
import gymnasium
from gymnasium.wrappers import vector

envs = gymnasium.make_vec(
    "rulesafe_sim.env:RuleSafe-v1",
    num_envs=2,
    vectorization_mode=sys.argv[1],
    vector_kwargs=json.loads(sys.argv[3]),
    render_mode="rgb_array",
    observations=("joint_positions",),
    rule="rule_002",
    step_seconds=0.25,
)
envs = vector.RecordVideo(vector.RecordEpisodeStatistics(envs), sys.argv[2], video_length=4)
home = envs.reset(seed=0)[0]["joint_positions"]
ends = [envs.step(home) for _ in range(5)]
envs.close()
print(ends[-1][4]["episode"]["l"].tolist(), ends[-1][4]["is_success"].tolist())
"""

CHECK = """
import json
import sys
import warnings
import gymnasium
from stable_baselines3.common.env_checker import check_env

arguments = json.loads(sys.argv[1])
env = gymnasium.make("rulesafe_sim.env:RuleSafe-v1", render_mode=None, **arguments)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    check_env(env)
print(json.dumps([str(each.message) for each in caught]))
"""


def printed(settings, code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_gymnasium_records_a_single_environment(peers, tmp_path):
    code = """
import sys
import gymnasium
env = gymnasium.make("rulesafe_sim.env:RuleSafe-v1", render_mode="rgb_array", max_episode_steps=3)
env = gymnasium.wrappers.RecordVideo(env, sys.argv[1])
env.reset(seed=0)
while not env.step(env.unwrapped.home_action)[3]:
    pass
env.close()
print()
"""
    printed(peers("moviepy", *MOVIEPY), code, tmp_path)
    (path,) = tmp_path.glob("*.mp4")
    with av.open(str(path)) as video:
        assert [frame.width for frame in video.decode(video=0)] == [448] * 4
        assert video.streams.video[0].average_rate == 10


@pytest.mark.parametrize(("mode", "settings"), [("sync", {}), ("async", {"context": "spawn"})])
def test_gymnasium_records_vector_environments(peers, tmp_path, mode, settings):
    found = printed(peers("moviepy", *MOVIEPY), RECORD, mode, tmp_path, json.dumps(settings))
    assert found == "[5, 5] [False, False]"
    (path,) = tmp_path.glob("*.mp4")
    with av.open(str(path)) as video:
        frames = [(frame.width, frame.height) for frame in video.decode(video=0)]
    assert frames == [(896, 224)] * 5  # Gymnasium adds the images of the reset


def test_statistics_of_an_episode():
    env = gymnasium.make(
        "RuleSafe-v1", observations=("joint_positions",), rule="rule_002", step_seconds=0.25
    )
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    env.reset(seed=0)
    results = [env.step(env.unwrapped.home_action) for _ in range(5)]
    assert results[-1][3] and results[-1][4]["episode"]["l"] == 5
    assert np.isclose(results[-1][4]["episode"]["r"], 0)


@pytest.fixture(scope="module")
def stable_baselines3(peers):
    pytest.importorskip("torch", reason="the extra learn is not installed")
    return peers("stable_baselines3", "stable-baselines3==2.9.2")


NORMALISED = "symmetric and normalized"
"""Recommended for actions; ours are joint angles, as on the robot."""


def test_stable_baselines3s_checker_passes_without_rendering(stable_baselines3):
    given = {"observations": ["joint_positions", "all_joint_positions"]}
    (warned,) = json.loads(printed(stable_baselines3, CHECK, json.dumps(given)))
    assert NORMALISED in warned


def test_stable_baselines3s_checker_passes_with_everything(stable_baselines3):
    """It also recommends to flatten what is neither image nor vector."""
    cloud, actions = json.loads(printed(stable_baselines3, CHECK, "{}"))
    assert "points has an unconventional shape" in cloud and NORMALISED in actions
