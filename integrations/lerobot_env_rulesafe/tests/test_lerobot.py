"""The plugin lerobot_env_rulesafe: its environment, and LeRobot's own programs with it."""

import json
from functools import partial

import av
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.rules import load_rule

EVAL = "from lerobot.scripts.lerobot_eval import main\nmain()"

POLICY = """
import sys
from lerobot.configs.types import FeatureType
from lerobot.envs.utils import env_to_policy_features
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors
from lerobot_env_rulesafe.config import RuleSafeEnvConfig

features = env_to_policy_features(RuleSafeEnvConfig())
action = features.pop("action")
assert action.type is FeatureType.ACTION and action.shape == (13,)
assert {key: each.shape for key, each in features.items()} == {
    "observation.state": (13,),
    "observation.images.head": (3, 224, 224),
    "observation.images.front": (3, 224, 224),
}
try:
    RuleSafeEnvConfig(fps=30)
except Exception as error:
    print(error)
sizes = dict(dim_model=32, n_heads=2, dim_feedforward=32, n_encoder_layers=1)
sizes |= dict(n_vae_encoder_layers=1, chunk_size=4, n_action_steps=4)
config = ACTConfig(device="cpu", pretrained_backbone_weights=None, **sizes)
config.input_features, config.output_features = features, {"action": action}
for part in (ACTPolicy(config), *make_pre_post_processors(config)):
    part.save_pretrained(sys.argv[1])
"""

ROLLOUT = """
import json
import sys
import numpy as np
import torch
from lerobot.envs.factory import make_env, make_env_pre_post_processors
from lerobot.scripts.lerobot_eval import rollout
from lerobot_env_rulesafe.config import RuleSafeEnvConfig

class Replay(torch.nn.Module):
    def reset(self):
        self.step, self.tasks = 0, set()

    def select_action(self, observation):
        self.tasks |= set(observation["task"])
        self.step += 1
        return actions[:, self.step - 1]

actions = torch.from_numpy(np.load(sys.argv[1]))[None]
config = RuleSafeEnvConfig(task="rule_002", **json.loads(sys.argv[2]))
envs = make_env(config)
policy, processors = Replay(), make_env_pre_post_processors(config, None)
same = lambda x: x
found = rollout(envs["rulesafe"][0], policy, *processors, same, same, seeds=[0])
print(json.dumps({
    "success": found["success"][0].tolist(),
    "return": found["reward"].sum().item(),
    "tasks": sorted(policy.tasks),
}))
"""


SAME_ACTIONS = """
import os
import sys
from pathlib import Path
import numpy as np
from lerobot.configs.policies import PreTrainedConfig
from lerobot.envs.factory import make_env, make_env_pre_post_processors
from lerobot.policies.factory import make_policy, make_pre_post_processors
from lerobot.scripts.lerobot_eval import rollout
from lerobot_env_rulesafe.config import RuleSafeEnvConfig
from rulesafe_eval.agents import load_agent
from rulesafe_eval.request import Setup
from rulesafe_eval.runner import EpisodeRunner, actions_file
from rulesafe_sim.episodes import plan_episodes
from rulesafe_sim.simulation import LOWER, UPPER

path, out = sys.argv[1], Path(sys.argv[2])
environment = RuleSafeEnvConfig(task="rule_002", safes="safe_02", split="nominal", episode_length=6)
config = PreTrainedConfig.from_pretrained(path)
config.pretrained_path = path
policy = make_policy(config, env_cfg=environment).eval()
processors = make_env_pre_post_processors(environment, config)
processors += make_pre_post_processors(config, path)
found = rollout(make_env(environment)["rulesafe"][0], policy, *processors, seeds=[0])
expected = np.clip(found["action"][0].numpy(), LOWER, UPPER)

os.environ["LEROBOT_POLICY"] = path
setup = Setup("lerobot_env_rulesafe.policy:LeRobotPolicy", step_seconds=0.3)
plan = plan_episodes("rule_002", "safe_02", "nominal", episodes=1, step_seconds=0.3)
EpisodeRunner(setup).play(load_agent(setup)[0], out, plan.episode("rule_002", 0))
actions = np.load(actions_file(out, "rule_002", 0))
assert expected.shape == (6, 13) and np.ptp(expected, axis=0).max() > 0.001
np.testing.assert_allclose(actions, expected, atol=1e-5)
"""


def test_gymnasiums_checker_passes(environment):
    with pytest.warns(UserWarning, match="symmetric and normalized"):
        check_env(environment.RuleSafeLeRobotEnv("rule_002"))


def test_vector_environments_have_what_lerobot_reads(environment, conditions):
    make = partial(environment.RuleSafeLeRobotEnv, "rule_002", episode_length=2, **conditions)
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    envs = gymnasium.vector.SyncVectorEnv([make] * 2, autoreset_mode=mode)
    observation, info = envs.reset(seed=[0, 1], options={"lerobot_new_rollout": True})
    images = observation["pixels"]
    assert set(images) == {"head", "front"}
    assert {(image.shape, image.dtype.name) for image in images.values()} == {
        ((2, 224, 224, 3), "uint8")
    }
    home = observation["agent_pos"]
    assert home.shape == (2, 13)
    assert info["safe"].tolist() == ["safe_02", "safe_04"] and info["seed"].tolist() == [0, 1]
    assert info["is_success"].tolist() == [False, False]
    assert envs.call("task") == ("rule_002",) * 2
    assert envs.call("task_description") == (load_rule("rule_002").description,) * 2
    assert envs.call("_max_episode_steps") == (2, 2)
    assert np.shape(envs.call("render")) == (2, 224, 448, 3)
    assert not envs.step(home)[3].any()
    _, _, terminated, truncated, info = envs.step(home)
    assert not terminated.any() and truncated.all()
    assert info["final_info"]["is_success"].tolist() == [False, False]
    assert info["time"].tolist() == [0, 0]  # a new episode has begun
    assert envs.reset(seed=[1, 0])[1]["safe"].tolist() == ["safe_04", "safe_02"]
    envs.close()


def test_an_episode_is_as_long_as_in_an_evaluation(environment):
    make = environment.RuleSafeLeRobotEnv
    assert make("rule_020")._max_episode_steps == 1600
    assert make("rule_020", episode_length=2000)._max_episode_steps == 1600


def test_the_instruction_has_the_selected_length(environment):
    for length in ("short", "long"):
        env = environment.RuleSafeLeRobotEnv("rule_020", instruction=length)
        assert env.task_description == load_rule("rule_020").instruction(length)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "rule_021"}, "rule_020"),
        ({"instruction": "tiny"}, "short, long"),
        ({"task": "rule_001,rule_002"}, "run lerobot-eval once for each rule"),
        ({"safes": "safe_11"}, "safe_10"),
        ({"split": "test"}, "shifted"),
        ({"episode_length": 0}, "at least 1 step, got 0"),
    ],
)
def test_invalid_arguments_are_refused(environment, arguments, message):
    with pytest.raises(RuleSafeError, match=message):
        environment.RuleSafeLeRobotEnv(**arguments)


def test_seeds_of_demonstrations_are_refused(environment):
    with pytest.raises(RuleSafeError, match=r"0\.\.9999"):
        environment.RuleSafeLeRobotEnv().reset(seed=10_000)


@pytest.mark.episode
def test_lerobot_eval_evaluates_a_policy(lerobot, tmp_path):
    policy, out = tmp_path / "act", tmp_path / "out"
    made = lerobot(POLICY, policy)
    assert made.returncode == 0, made.stderr
    assert "has 10 actions per second, got fps 30" in made.stdout
    options = {
        "policy.path": policy,
        "policy.device": "cpu",
        "env.type": "rulesafe",
        "env.discover_packages_path": "lerobot_env_rulesafe",
        "env.task": "rule_001",
        "env.episode_length": 5,
        "eval.n_episodes": 1,
        "eval.batch_size": 1,
        "output_dir": out,
    }
    done = lerobot(EVAL, *(f"--{name}={value}" for name, value in options.items()))
    assert done.returncode == 0, done.stderr
    assert "'pc_success': 0.0, 'n_episodes': 1" in done.stdout
    assert "does not have 'task_description'" not in done.stderr
    found = json.loads((out / "eval_info.json").read_text())
    assert found["per_task"][0]["task_group"] == "rulesafe"
    assert found["overall"]["n_episodes"] == 1 and found["overall"]["avg_sum_reward"] == 0
    with av.open(str(out / "videos/rulesafe_0/eval_episode_0.mp4")) as video:
        assert len(list(video.decode(video=0))) == 5
        assert video.streams.video[0].average_rate == 10


@pytest.mark.episode
def test_the_policy_class_acts_as_in_lerobot_eval(lerobot, tmp_path):
    """lerobot_env_rulesafe/policy.py, by which `rulesafe eval` evaluates a checkpoint."""
    made = lerobot(POLICY, tmp_path / "act")
    assert made.returncode == 0, made.stderr
    done = lerobot(SAME_ACTIONS, tmp_path / "act", tmp_path / "out")
    assert done.returncode == 0, done.stderr


def test_lerobot_reports_the_success_of_the_experts_actions(lerobot, opened, steps, conditions):
    done = lerobot(ROLLOUT, opened, json.dumps(conditions))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["success"] == [False] * (steps - 1) + [True]
    assert found["return"] == pytest.approx(1)
    assert found["tasks"] == [load_rule("rule_002").description]
