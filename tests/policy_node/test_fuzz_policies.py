"""Checkpoints with changed values in policy.json: they are read or refused with one line, without
a network of the claimed size."""

import copy
import json
import random
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import JSON_FILE, Checkpoint, read_policy, save_policy
from policy_node.configs import BcConfig, Dp3Config, EncoderConfig, SkillsConfig, TwoLevelConfig
from policy_node.configs_vla import ImageEncoderConfig, LanguageConfig, Pi0Config, RdtConfig
from policy_node.families import make_network
from policy_node.normaliser import Actions, Normaliser, Scaling
from policy_node.policy import CHUNK
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import NoMemory, RawMemory, VqMemory

VALUES = [
    *(None, True, False, -1, 0, 1, 7, 1.5, 10**6, 10**7, 10**12, 10**400),
    *(1e308, float("nan"), float("inf"), "", "x", "\ud800", "a:b", "x" * 5000, "../x"),
    *("dp3", "tiny", "os:system", [], [1], [-1], [10**6] * 3, ["x"], [[1]], [0] * 5000),
    *({}, {"a": 1}, {"kind": "vq"}, [{"sizes": {}}]),
]

ENCODER = EncoderConfig(("safe_01",), 16, (8, 8), 8)
ROTARY = {"vocab_size": 1024, "pad_token_id": 0, "hidden_size": 8, "intermediate_size": 8}
ROTARY |= {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8}
T5 = {"vocab_size": 1024, "pad_token_id": 0, "d_model": 8, "d_kv": 8, "d_ff": 8}
SKILLS = SkillsConfig(points=16, encoder=ENCODER, stored=4)
CONFIGS = {
    "dp3": Dp3Config(
        **{"points": 16, "encoder": ENCODER, "pointnet": (8,), "cloud_features": 8, "guess": 8},
        **{"state": (8,), "channels": (8, 8), "memory_embedding": 8, "memory_features": 8},
        **{"memory_channels": (8,), "step_features": 8},
    ),
    "bc": BcConfig(
        **{"points": 16, "encoder": ENCODER, "language": 8, "heads": 1, "width": 8, "blocks": 1},
        **{"memory_embedding": 8, "memory_features": 8, "memory_channels": (8,)},
    ),
    "two_level": TwoLevelConfig(skills=SKILLS, points=16, language=8, heads=1, hidden=8),
    "pi0": Pi0Config(
        LanguageConfig("gemma", ROTARY | {"num_hidden_layers": 1}), encoder=ENCODER, width=8
    ),
    "rdt": RdtConfig(
        LanguageConfig("t5", T5 | {"num_layers": 1, "num_heads": 1}),
        vision=ImageEncoderConfig(16, (8,)),
        width=8,
        depth=2,
        heads=1,
    ),
}
MEMORIES = {"dp3": VqMemory(length=3), "bc": VqMemory(length=3), "two_level": RawMemory(length=3)}


def save(family, folder):
    config, memory = CONFIGS[family], MEMORIES.get(family, NoMemory())
    shape = (config.past + CHUNK, 13)
    scaling = Scaling(np.zeros(shape, np.float32), np.ones(shape, np.float32))
    joints = Scaling(np.zeros(13, np.float32), np.ones(13, np.float32))
    normaliser = Normaliser(joints, Actions("relative", scaling))
    weights = make_network(family, config, memory.shape).state_dict()
    save_policy(Checkpoint(family, "tiny", config, memory, normaliser, weights), folder)


def changed(content, choices):
    """Return a copy with a value replaced or removed at a random place, not among the numbers of
    the normaliser."""
    content = copy.deepcopy(content)
    places, level = [], [content]
    for value in level:
        keys = list(value) if isinstance(value, dict) else range(min(len(value), 3))
        places += [(value, key) for key in keys]
        level += [value[key] for key in keys if isinstance(value[key], dict | list)]
    at, key = choices.choice(places)
    if isinstance(at, dict) and choices.random() < 0.1:
        del at[key]
    else:
        at[key] = choices.choice(VALUES)
    return content


@pytest.mark.parametrize("family", CONFIGS)
def test_an_unchanged_checkpoint_is_read(family, tmp_path):
    save(family, tmp_path)
    read = read_policy(tmp_path)
    assert read.config == CONFIGS[family]
    read.network()


@pytest.mark.train
@pytest.mark.parametrize("count", [50, pytest.param(2500, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("family", CONFIGS)
def test_a_changed_checkpoint_is_read_or_refused(family, count, tmp_path):
    save(family, tmp_path)
    path = tmp_path / JSON_FILE
    content, choices, refused = json.loads(path.read_text()), random.Random(count), 0
    for _ in range(count):
        path.write_text(json.dumps(changed(content, choices)))
        try:
            read_policy(tmp_path).network()
        except RuleSafeError as error:
            assert "Traceback" not in str(error)
            refused += 1
    assert refused > count / 3


def test_a_module_in_a_checkpoint_needs_consent(tmp_path, monkeypatch):
    save("two_level", tmp_path)
    path, marker = tmp_path / JSON_FILE, tmp_path / "ran"
    (tmp_path / "stranger.py").write_text(f"open({str(marker)!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    content = json.loads(path.read_text())
    for change in ({"family": "stranger:X"}, {"memory": {"kind": "stranger:X"}}):
        path.write_text(json.dumps(content | change))
        with pytest.raises(RuleSafeError, match="add --allow-module stranger if you trust it"):
            read_policy(tmp_path)
        assert not marker.exists()
    monkeypatch.setenv("RULESAFE_ALLOW_MODULES", "other,stranger")
    with pytest.raises(RuleSafeError, match="unknown attribute of stranger 'X'"):
        read_policy(tmp_path)
    assert marker.exists()


@pytest.mark.parametrize("change", [{"channels": (8, 16)}, {"points": 8, "blocks": 1_000_000}])
def test_a_network_of_another_size_is_not_made(change, tmp_path):
    save("dp3", tmp_path)
    checkpoint = read_policy(tmp_path)
    with pytest.raises(RuleSafeError, match=r"the weights do not fit|more than 10000 tensors"):
        replace(checkpoint, config=replace(checkpoint.config, **change)).network()
