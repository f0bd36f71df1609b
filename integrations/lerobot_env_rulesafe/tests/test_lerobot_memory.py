"""Memory tokens of LeRobot's pi0 and pi0.5: the same from a dataset and from the environment."""

import json
import shutil

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from policy_node.language import SHIPPED
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.frame import Frame
from rulesafe_data.states import load_states
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_demos.commands import export
from rulesafe_locks.rules import load_rule
from rulesafe_openpi import transforms
from vq_memory_node.memory import RawMemory, VqMemory
from vq_memory_node.rolling import readings_of

FRAMES = 100
MEMORY = VqMemory()
FIRST = transforms.VOCABULARY - MEMORY.vocabulary

PRETRAINED = """
import sys
from pathlib import Path
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.policies.factory import make_policy_config, make_pre_post_processors

for kind in ("pi0", "pi05"):
    folder = Path(sys.argv[1]) / kind
    config = make_policy_config(kind, device="cpu")
    for camera in ("base_0_rgb", "left_wrist_0_rgb", "right_wrist_0_rgb"):
        feature = PolicyFeature(FeatureType.VISUAL, (3, 224, 224))
        config.input_features[f"observation.images.{camera}"] = feature
    config.validate_features()
    for part in (config, *make_pre_post_processors(config)):
        part.save_pretrained(folder)
    (folder / "model.safetensors").write_text("weights")
"""

PREPARE = "import runpy\nrunpy.run_module('lerobot_env_rulesafe.prepare', run_name='__main__')"

PREPARE_MORE = """
import sys
from pathlib import Path
from lerobot_env_rulesafe.prepare import prepare

folder, export, empty = map(Path, sys.argv[1:])
base = folder / "base/pi0"
prepare(folder / "base/pi05", export, folder / "pi05")
prepare(folder / "pi0", export, folder / "without", memory=False)
prepare(folder / "without", export, folder / "with")
for arguments in (
    (empty, export, folder / "new"),
    (base, empty / "export.json", folder / "new"),
    (base, export, empty),
    (folder / "pi0", empty / "other.json", folder / "new"),
):
    try:
        prepare(*arguments)
    except Exception as error:
        print(error)
"""

ROLLOUT = """
import sys
import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.envs.factory import make_env, make_env_pre_post_processors
from lerobot.policies.factory import make_pre_post_processors
from lerobot.scripts.lerobot_eval import rollout
from lerobot_env_rulesafe.config import RuleSafeEnvConfig

class Replay(torch.nn.Module):
    def reset(self):
        self.seen = {"state": [], "language.tokens": [], "language.attention_mask": []}

    def select_action(self, observation):
        assert not any("memory" in key or "robot" in key for key in observation)
        for key, values in self.seen.items():
            values.append(observation["observation." + key][0].numpy())
        return actions[None, len(values) - 1]

folder, actions = sys.argv[1], torch.from_numpy(np.load(sys.argv[2]))
given = dict(task="rule_002", instruction="short", split="nominal", memory=folder)
config = RuleSafeEnvConfig(episode_length=len(actions), **given)
overrides = {
    "device_processor": {"device": "cpu"},
    "rename_observations_processor": {"rename_map": {}},
}
preprocessor, _ = make_pre_post_processors(
    PreTrainedConfig.from_pretrained(folder), folder, preprocessor_overrides=overrides
)
processors = make_env_pre_post_processors(config, None)
policy, env = Replay(), make_env(config)["rulesafe"][0]
rollout(env, policy, *processors, preprocessor, lambda action: action, seeds=[0])
np.savez(sys.argv[3], **policy.seen)
"""

CONVERT = """
import sys
from pathlib import Path
from lerobot.datasets.v30.convert_dataset_v21_to_v30 import convert_dataset

folder = Path(sys.argv[1])
convert_dataset(folder.name, root=folder.parent, push_to_hub=False)
"""

TRAIN = """
import sys
from pathlib import Path
import numpy as np
import torch
from lerobot.configs.policies import PreTrainedConfig
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import dataset_to_policy_features
from lerobot.policies.factory import make_pre_post_processors
from lerobot_env_rulesafe.videos import use_pyav

use_pyav()
policies, out, root = map(Path, sys.argv[1:])
dataset = LeRobotDataset("rulesafe/demos", root=root)
found = dataset_to_policy_features(dataset.meta.features)
assert "observation.memory_tokens" in found  # as a state
for kind in ("pi0", "pi05"):
    folder, saved = policies / kind, out / kind
    config = PreTrainedConfig.from_pretrained(folder)
    assert list(config.input_features) == [
        "observation.images.front", "observation.images.head", "observation.state"
    ]
    assert all(found[key] == feature for key, feature in config.input_features.items())
    # as lerobot-train
    features, norms = {"action": found["action"]}, config.normalization_mapping
    shared = {"stats": dataset.meta.stats, "norm_map": norms}
    made = make_pre_post_processors(
        config,
        folder,
        preprocessor_overrides={
            "device_processor": {"device": "cpu"},
            "normalizer_processor": {**shared, "features": {**config.input_features, **features}},
            "rename_observations_processor": {"rename_map": {}},
        },
        postprocessor_overrides={"unnormalizer_processor": {**shared, "features": features}},
    )
    for processor in made:
        processor.save_pretrained(saved)
    again, _ = make_pre_post_processors(config, saved)
    parts = {"language.tokens": [], "language.attention_mask": []}
    for batch in torch.utils.data.DataLoader(dataset, batch_size=16):
        raw, repeated = batch["observation.state"], again(dict(batch))
        batch = made[0](batch)
        assert not any("memory" in key for key in batch)
        assert not torch.equal(batch["observation.state"], raw)  # is normalised
        for key, value in batch.items():
            if isinstance(value, torch.Tensor):
                assert torch.equal(value, repeated[key]), key
        for key, values in parts.items():
            values.append(batch["observation." + key])
    np.savez(out / f"{kind}.npz", **{key: torch.cat(part).numpy() for key, part in parts.items()})
"""

ERRORS = """
import json
import sys
import torch
from lerobot_env_rulesafe.memory import MemoryTokensProcessorStep

def report(**changes):
    found = {
        "observation.language.tokens": torch.tensor([[5, 6, 0]] * 2),
        "observation.language.attention_mask": torch.tensor([[True, True, False]] * 2),
        "observation.memory_tokens": torch.tensor([[0, 3], [1, 2]]),
        "observation.memory_mask": torch.tensor([[False, True], [True, True]]),
    }
    found |= {"observation." + key.replace("__", "."): each for key, each in changes.items()}
    try:
        made = step.observation({key: each for key, each in found.items() if each is not None})
    except Exception as error:
        print(error)
    else:
        print(json.dumps([value.tolist() for value in made.values()]))

step = MemoryTokensProcessorStep({"clusters": 4, "length": 2})
report()
report(memory_mask=None)
report(memory_tokens=torch.tensor([[0, 4], [1, 2]]))
report(memory_tokens=torch.tensor([[0.0, 1.0], [1.0, 2.0]]))
report(language__attention_mask=torch.ones(2, 3, dtype=bool))
step = MemoryTokensProcessorStep({"clusters": 4, "length": 1})
report(memory_tokens=torch.tensor([3, 1]), memory_mask=torch.tensor([True, False]))
for count in (0, 1153):
    try:
        MemoryTokensProcessorStep({"clusters": count, "length": 1})
    except ValueError as error:
        print(error)
step = MemoryTokensProcessorStep({"clusters": 4, "length": 3})
report()
"""


@pytest.fixture(scope="module")
def run(lerobot, tmp_path_factory):
    """run(CODE, *arguments): the output of a program in which LeRobot finds a small tokenizer in
    place of PaliGemma's."""
    cache = tmp_path_factory.mktemp("huggingface")
    files = cache / "hub/models--google--paligemma-3b-pt-224"
    snapshot = files / "snapshots/0"
    snapshot.mkdir(parents=True)
    (files / "refs").mkdir()
    (files / "refs/main").write_text("0")
    shutil.copy(SHIPPED, snapshot / "tokenizer.json")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[padding]"}
    (snapshot / "tokenizer_config.json").write_text(json.dumps(settings))
    home = f"import os\nos.environ['HF_HOME'] = {str(cache)!r}\n"

    def check(code, *arguments):
        done = lerobot(home + code, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return check


@pytest.fixture(scope="module")
def prepared(run, small_demos, tmp_path_factory):
    """Policies without weights: base/pi0 and base/pi05; prepared for an export: pi0 and pi05."""
    folder, empty = tmp_path_factory.mktemp("policies"), tmp_path_factory.mktemp("empty")
    run(PRETRAINED, folder / "base")
    about = folder / "exported/meta/export.json"
    export(small_demos, folder / "exported", format="lerobot-v2.1", memory_model="all_rules")
    run(PREPARE, folder / "base/pi0", about, folder / "pi0")
    (empty / "config.json").write_text('{"type": "act"}')
    (empty / "policy_preprocessor.json").write_text('{"steps": []}')
    (empty / "export.json").write_text("{}")
    other = {"memory": MEMORY.describe() | {"length": 7}}
    (empty / "other.json").write_text(json.dumps(other))
    (folder / "errors").write_text(run(PREPARE_MORE, folder, about, empty))
    return folder


@pytest.fixture(scope="module")
def simulated(run, prepared, tmp_path_factory):
    """What pi0 receives in each frame of an episode that LeRobot's evaluation plays."""
    folder = tmp_path_factory.mktemp("simulated")
    _, actions = next(iter(load_states("datasets/rule_001_rule_020.parquet")))
    np.save(folder / "actions.npy", actions[:FRAMES])
    run(ROLLOUT, prepared / "pi0", folder / "actions.npy", folder / "seen.npz")
    return dict(np.load(folder / "seen.npz"))


@pytest.fixture(scope="module")
def dataset(run, simulated, tmp_path_factory):
    """This episode as a dataset with memory tokens, exported and converted by LeRobot."""
    writer = DatasetWriter(tmp_path_factory.mktemp("demos") / "demos")
    joints = np.zeros((FRAMES, len(ALL_JOINTS)), np.float32)
    joints[:, [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]] = simulated["state"]
    image, cloud = np.zeros((224, 224, 3), np.uint8), np.zeros((8, 6), np.float32)
    episode = EpisodeData(
        task=load_rule("rule_002").description,
        joint_positions=joints,
        joint_velocities=np.zeros_like(joints),
        actions=simulated["state"],
        frames=(Frame({"head": image, "front": image}, cloud) for _ in range(FRAMES)),
    )
    writer.write(0, episode)
    writer.finish()
    out = tmp_path_factory.mktemp("exported") / "v3"
    export(writer.root, out, format="lerobot-v2.1", memory_model="all_rules")
    run(CONVERT, out)
    return out


def preprocessor(folder):
    """The steps of a policy's preprocessor, and the names of those in LeRobot's registry."""
    steps = json.loads((folder / "policy_preprocessor.json").read_text())["steps"]
    return steps, [step.get("registry_name") for step in steps]


def test_a_policy_is_prepared(prepared):
    for kind, before, length in (("pi0", 48, 96), ("pi05", 200, 248)):
        steps, _ = preprocessor(prepared / kind)
        base, names = preprocessor(prepared / "base" / kind)
        after = names.index("tokenizer_processor") + 1
        added = steps.pop(after)
        assert added["class"] == "lerobot_env_rulesafe.memory.MemoryTokensProcessorStep"
        assert added["config"] == {"memory": MEMORY.describe()}
        assert base[after - 1]["config"].pop("max_length") == before
        assert steps[after - 1]["config"].pop("max_length") == length
        assert steps == base
        weights = prepared / kind / "model.safetensors"
        assert weights.is_symlink() and weights.read_text() == "weights"


def test_the_memory_is_removed_and_added_again(prepared):
    assert preprocessor(prepared / "without")[1] == preprocessor(prepared / "base/pi0")[1]
    assert preprocessor(prepared / "with") == preprocessor(prepared / "pi0")


def test_other_policies_and_exports_are_refused(prepared):
    lines = (prepared / "errors").read_text().splitlines()
    expected = (
        "has the policy 'act'; valid: pi0, pi05",
        "has no memory: export the dataset with --memory-model",
        "exists: give a new folder",
        "pi0 has the tokens of another memory than",
    )
    assert all(text in line for text, line in zip(expected, lines, strict=True))
    assert not (prepared / "new").exists()


def test_the_memory_follows_the_prompt_or_is_refused(run, prepared):
    lines = run(ERRORS).splitlines()
    ids, mask = json.loads(lines[0])
    last = transforms.VOCABULARY - 4
    assert ids == [[5, 6, 0, last, last + 3], [5, 6, 0, last + 1, last + 2]]
    assert mask == [[True, True, False, False, True], [True, True, False, True, True]]
    assert "requires observation.memory_mask: train it on a dataset" in lines[1]
    assert "integers 0..3, got torch.int64 0..4" in lines[2]
    assert "integers 0..3, got torch.float32 0.0..2.0" in lines[3]
    assert "a prompt fills all 3 positions" in lines[4]
    assert json.loads(lines[5])[0] == [[5, 6, 0, last + 3], [5, 6, 0, last + 1]]
    assert all("1 to 1152 different tokens" in line for line in lines[6:8])
    assert "must have 3 tokens, got (2, 2) for 2 prompts" in lines[8] and len(lines) == 9


def test_training_and_evaluation_receive_the_same_tokens(run, prepared, simulated, dataset):
    run(TRAIN, prepared, dataset, dataset)
    trained, pi05 = np.load(dataset / "pi0.npz"), np.load(dataset / "pi05.npz")
    tokens, mask = (trained[f"language.{key}"] for key in ("tokens", "attention_mask"))
    assert np.array_equal(tokens, simulated["language.tokens"])
    assert np.array_equal(mask, simulated["language.attention_mask"])
    assert tokens.shape == (FRAMES, 96 + MEMORY.length)
    readings = readings_of(simulated["state"], MEMORY)
    assert np.array_equal(tokens[:, 96:], FIRST + readings.values)
    assert np.array_equal(mask[:, 96:], readings.mask)
    assert len(np.unique(readings.values[-1][readings.mask[-1]])) > 1
    assert 0 < mask[0, :96].sum() < 48
    # pi0.5 normalises before it tokenises: not the memory
    assert np.array_equal(pi05["language.tokens"][:, 248:], tokens[:, 96:])
    assert np.array_equal(pi05["language.attention_mask"][:, 248:], readings.mask)


@pytest.fixture
def folder(tmp_path):
    """Folder of a policy with memory tokens, as far as the environment reads it."""
    steps = [{"registry_name": "other"}, {"config": {"memory": MEMORY.describe()}}]
    (tmp_path / "policy_preprocessor.json").write_text(json.dumps({"steps": steps}))
    return tmp_path


def test_the_environment_computes_the_memory(environment, folder):
    env = environment.RuleSafeLeRobotEnv("rule_002", memory=str(folder), split="nominal")
    with pytest.warns(UserWarning, match="symmetric and normalized"):
        check_env(env)
    _, actions = next(iter(load_states("datasets/rule_001_rule_020.parquet")))
    for _ in range(2):  # the second reset clears the memory
        frames = [env.reset(seed=0)[0], *(env.step(action)[0] for action in actions[:45])]
    readings = readings_of(np.stack([frame["agent_pos"] for frame in frames]), MEMORY)
    for frame, observation in enumerate(frames):
        assert np.array_equal(observation["robot_state"]["memory_tokens"], readings[frame].values)
        assert np.array_equal(observation["robot_state"]["memory_mask"], readings[frame].mask)


def test_a_memory_that_has_changed_is_refused(environment, folder):
    file = folder / "policy_preprocessor.json"
    text = file.read_text()
    file.write_text(text.replace(MEMORY.hash, "0" * 64))
    with pytest.raises(RuleSafeError, match="has changed since the training"):
        environment.RuleSafeLeRobotEnv(memory=str(folder))
    raw = {"steps": [{"config": {"memory": RawMemory(6).describe()}}]}
    file.write_text(json.dumps(raw))
    with pytest.raises(RuleSafeError, match="has no tokens of joint positions"):
        environment.RuleSafeLeRobotEnv(memory=str(folder))
    file.write_text('{"steps": [{"registry_name": "other"}]}')
    with pytest.raises(RuleSafeError, match="has no memory tokens; evaluate it without"):
        environment.RuleSafeLeRobotEnv(memory=str(folder))
