"""A policy with another scene encoder: the same policy if the encoder is the same."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import exchange_encoder, find, read_policy
from policy_node.network_policy import load_policy
from policy_node.policy import Observation
from policy_node.scene_encoder import QUANTITIES, find_encoder, load_encoder, save_encoder
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.agents import facts_of

POLICY, IMAGES = "two_level_all_rules", "ten_safes_images"
INSTRUCTION = "Open the knob."


def observation(seed=0):
    rng = np.random.default_rng(seed)
    images = {name: rng.integers(0, 255, (224, 224, 3), np.uint8) for name in ("head", "front")}
    joints = np.zeros((3, 13), np.float32)
    return Observation(joints, rng.random((1, 256, 6), np.float32), images, INSTRUCTION)


def chunk(policy, seed=0):
    from vq_memory_node.rolling import readings_of

    policy.reset()
    given = observation(seed)
    reading = readings_of(given.joints, policy.memory)[0]
    return policy.infer(Observation(given.joints, given.points, given.images, INSTRUCTION, reading))


def test_an_encoder_has_the_same_estimates_with_another_normalisation():
    encoder, points = load_encoder("ten_safes"), torch.rand(4, 256, 6)
    other = load_encoder("ten_safes")
    middle, spread = torch.linspace(-1, 1, len(QUANTITIES)), torch.linspace(1, 3, len(QUANTITIES))
    other.load_state_dict(encoder.normalised_as(middle, spread))
    assert not torch.allclose(other(points)[:, :7], encoder(points)[:, :7], atol=0.1)
    torch.testing.assert_close(other.estimate(points), encoder.estimate(points))
    torch.testing.assert_close(other(points)[:, 7:], encoder(points)[:, 7:])


def test_with_the_same_encoder_it_is_the_same_policy(tmp_path):
    exchange_encoder(POLICY, "ten_safes", tmp_path / "same")
    assert [path.name for path in (tmp_path / "same").iterdir()] == ["policy.json"]
    same, first = load_policy(tmp_path / "same"), load_policy(POLICY)
    assert same.needs == first.needs
    np.testing.assert_allclose(chunk(same), chunk(first), atol=1e-5)
    with pytest.raises(RuleSafeError, match="contains a policy; give another folder"):
        exchange_encoder(POLICY, IMAGES, tmp_path / "same")


def test_with_an_encoder_of_images_it_needs_images_instead_of_points():
    policy = load_policy("two_level_all_rules_images")
    assert policy.needs.images and not policy.needs.points and policy.needs.memory
    assert not np.array_equal(chunk(policy, 0), chunk(policy, 1))
    base = read_policy(POLICY).weights
    for name, value in read_policy("two_level_all_rules_images").weights.items():
        assert name.startswith("skills.encoder.") or torch.equal(value, base[name])
    facts = facts_of("two_level_all_rules_images")
    assert facts["size"] == "images" and facts["memory"]["kind"] == "vq"
    assert facts["training"]["encoder"] == IMAGES


def test_a_changed_policy_or_encoder_is_refused(tmp_path):
    shutil.copytree(find(POLICY), tmp_path / "base")
    encoder = tmp_path / "mine.safetensors"
    shutil.copy(find_encoder(IMAGES), encoder)
    exchange_encoder(tmp_path / "base", str(encoder), tmp_path / "new")
    made = json.loads((tmp_path / "new/policy.json").read_text())
    assert made["base"]["policy"] == str(tmp_path / "base")
    load_policy(tmp_path / "new")
    with pytest.raises(RuleSafeError, match="has an exchanged encoder; use "):
        exchange_encoder(tmp_path / "new", IMAGES, tmp_path / "third")
    other = load_encoder(IMAGES)
    with torch.no_grad():
        other.middle += 1
    save_encoder(other, encoder)
    with pytest.raises(RuleSafeError, match=r"mine.safetensors has changed: SHA-256"):
        load_policy(tmp_path / "new")
    encoder.unlink()
    with pytest.raises(RuleSafeError, match=r"mine.safetensors cannot be read"):
        load_policy(tmp_path / "new")
    shutil.copy(find_encoder(IMAGES), encoder)
    shutil.copy(find("dp3_rule_001") / "policy.safetensors", tmp_path / "base")
    with pytest.raises(RuleSafeError, match="do not match"):
        load_policy(tmp_path / "new")


def test_other_families_and_encoders_of_other_safes_are_refused(tmp_path):
    with pytest.raises(
        RuleSafeError, match="only policies of the families bc, skills and two_level"
    ):
        exchange_encoder("dp3_rule_001", IMAGES, tmp_path)
    other = load_encoder(IMAGES)
    other.config = type(other.config)(("safe_11", *other.config.safes[1:]), image_size=112)
    save_encoder(other, tmp_path / "other.safetensors")
    with pytest.raises(RuleSafeError, match="classifies other safes than that of"):
        exchange_encoder(POLICY, str(tmp_path / "other.safetensors"), tmp_path)
