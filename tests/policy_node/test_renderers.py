"""A policy that was trained on images or point clouds of another renderer is reported when it is
loaded, and results name the renderer."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import exchange_encoder, read_policy, save_policy
from policy_node.configs import NetworkConfig
from policy_node.loading import find_policy
from policy_node.renderers import other_renderer, renderers_of
from policy_node.scene_encoder import SceneEncoder, load_encoder, save_encoder
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.versions import EARLIER, PHYSICS, RENDERER, renderer_version
from rulesafe_eval.agents import facts_of, load_agent
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import EpisodeRunner
from rulesafe_sim.episodes import plan_episodes

HERE = {"physics": PHYSICS, "renderer": RENDERER}


@pytest.fixture
def trained_on(trained, tmp_path):
    """Return trained_on(versions): the folder of a policy whose dataset has these versions; None:
    it states none, as that of an earlier version."""

    def make(versions):
        checkpoint = read_policy(trained)
        data = {key: value for key, value in checkpoint.data.items() if key != "versions"}
        data |= {} if versions is None else {"versions": versions}
        save_policy(replace(checkpoint, data=data), tmp_path / "policy")
        return str(tmp_path / "policy")

    return make


def test_a_checkpoint_has_the_versions_of_its_dataset(trained):
    assert read_policy(trained).data["versions"] == HERE


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        (HERE, RENDERER),
        (HERE | {"renderer": "rulesafe_render 0"}, "rulesafe_render 0"),
        (None, EARLIER["renderer"]),
        ({}, ""),  # of cameras
    ],
)
def test_another_renderer_is_reported_once(trained_on, capsys, versions, found):
    folder, warnings = trained_on(versions), []
    other = bool(found) and found != RENDERER
    text = f"{folder}: trained on images or point clouds of {found}, and this software has "
    find_policy(folder, warn=warnings.append)
    assert [warning.startswith(text + RENDERER) for warning in warnings] == [True] * other
    assert facts_of(folder)["trained_on_renderer"] == found
    setup = Setup(folder)
    load_agent(setup)
    EpisodeRunner(setup).load_agent()  # in each worker
    assert capsys.readouterr().err.count(f"warning: {text}") == other


def test_a_policy_of_the_other_renderer_is_evaluated_with_it(trained, tmp_path):
    here, folder = renderer_version("sapien"), str(tmp_path / "policy")
    checkpoint = read_policy(trained)
    data = {**checkpoint.data, "versions": HERE | {"renderer": here}}
    cameras = replace(DEFAULT_CAMERAS, renderer="sapien")
    save_policy(replace(checkpoint, data=data, cameras=cameras), folder)
    stored = read_policy(folder)
    assert stored.cameras == cameras and other_renderer(stored) == ""
    assert here.startswith("sapien ") and here != EARLIER["renderer"]
    facts = facts_of(folder)
    request = make_request(Setup(folder), facts, plan_episodes("rule_001", episodes=1))
    assert request.versions["renderer"] == here == facts["trained_on_renderer"]
    save_policy(replace(checkpoint, cameras=cameras), folder)
    assert f"of {RENDERER}, and this software has {here}" in other_renderer(read_policy(folder))


def test_the_renderer_of_a_pretrained_encoder_counts(tmp_path):
    """It alone receives the point clouds, whatever dataset the rest was trained on."""
    encoder = load_encoder("ten_safes")
    for name in (RENDERER, "rulesafe_render 0"):
        other = SceneEncoder(replace(encoder.config, renderer=name))
        other.load_state_dict(encoder.state_dict())
        save_encoder(other, tmp_path / "encoder.safetensors")
        folder = tmp_path / name
        exchange_encoder("two_level_all_rules", str(tmp_path / "encoder.safetensors"), folder)
        assert renderers_of(read_policy(folder, weights=False)) == (name,)
        assert bool(other_renderer(read_policy(folder))) == (name != RENDERER)


def test_a_policy_that_was_trained_here_behind_an_encoder_of_another_renderer_is_not_reported():
    shipped = read_policy("two_level_all_rules", weights=False)
    assert renderers_of(shipped) == ("sapien",) and other_renderer(shipped) == ""


def test_joint_positions_have_no_renderer(trained):
    checkpoint = replace(read_policy(trained), config=NetworkConfig(), data={})
    assert renderers_of(checkpoint) == () and other_renderer(checkpoint) == ""
