"""Another set of cameras from demonstrations to a policy in process and on the graph."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("torch", reason="the extra learn is not installed")

from test_policy_node import in_process, on_the_graph

from policy_node.checkpoints import read_policy
from rulesafe_cli.cli import main
from rulesafe_core.cameras import load_cameras
from rulesafe_data.store import EpisodeStore
from rulesafe_eval.results import read_results

pytestmark = [pytest.mark.ros, pytest.mark.train]

THREE = """
wrist: {link: R_hand_base_link, xyz_m: [0.0, -0.08, 0.1], rpy_rad: [0.0, 0.0, 1.5], fovy_rad: 1.3,
        width: 64, height: 48}
head: {fovy_rad: 1.4, width: 64, height: 48}
side: {xyz_m: [0.3, -0.9, 0.4], rpy_rad: [0.0, 0.2, 1.4], fovy_rad: 0.9, width: 64, height: 48}
"""
EPISODE = ("rule:=rule_020", "safe:=safe_01", "seed:=5")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two demonstrations that are rendered with three cameras, and a policy trained on them."""
    folder = tmp_path_factory.mktemp("cameras")
    file, demos, policy = folder / "three.yaml", folder / "demos", folder / "policy"
    file.write_text(THREE)

    def run(*words):
        assert main([*map(str, words)]) == 0, words

    generated = ("--rules", "rule_002", "--safes", "safe_01", "--episodes", 2, "--passes", "states")
    run("demos", "generate", "--out", folder / "states", *generated)
    rendered = ("--cameras", file, "--camera-rate", 1, "--out", demos)
    run("demos", "render", folder / "states", *rendered)
    network = ("--policy", "rdt", "--size", "images", "--memory", "none", "--out", policy)
    run("policy", "train", demos, *network, "--steps", 3, "--batch", 2)
    return SimpleNamespace(file=file, demos=demos, policy=policy, folder=folder)


def test_dataset_and_checkpoint_store_the_cameras(trained):
    cameras, store = load_cameras(trained.file), EpisodeStore(trained.demos)
    assert cameras.names == ("head", "wrist", "side")
    assert store.cameras == cameras == read_policy(trained.policy).cameras
    assert store.images == tuple(f"observation.images.{name}" for name in cameras.names)
    first, last = (store[0, frame] for frame in (0, store.episodes[0].length - 1))
    for key in store.images:
        assert first[key].shape == (48, 64, 3) and first[key].std() > 10, "not an empty image"
    assert np.abs(first[store.images[1]].astype(int) - last[store.images[1]]).mean() > 5


def test_evaluation_renders_the_policys_cameras(trained):
    out = trained.folder / "runs"
    words = ("--policy", trained.policy, "--rules", "rule_020", "--episodes", 1, "--films", 0)
    assert main(["eval", *map(str, words), "--step-seconds", "1", "--out", str(out)]) == 0
    (episode,) = read_results(out)["episodes"]
    assert episode["frames"] > 0 and episode["state_digest"]


def test_the_policy_node_subscribes_to_the_policys_cameras(trained, client, start):
    expected = in_process(str(trained.policy), 12, frames=30)
    sim = start("rulesafe_sim.node", *EPISODE, f"camera_file:={trained.file}", "execute_steps:=12")
    client.wait_for_turn()
    start("policy_node.node", f"policy:={trained.policy}", "execute_steps:=12")
    found = on_the_graph(client, 30)
    assert found == {frame: expected[frame] for frame in found} and len(found) > 25
    sim.stop_well()


def test_a_camera_that_nothing_publishes_is_named(trained, client, start, logs):
    start("rulesafe_sim.node", *EPISODE)
    client.wait_for_turn()
    start("policy_node.node", f"policy:={trained.policy}")
    missing = "waiting for a publisher on .*/camera/wrist/image_raw, /camera/side/image_raw"
    client.until(lambda: any(re.search(missing, log) for log in logs), "the missing topics")


def test_a_link_that_the_robot_does_not_have_is_named(trained, start, tmp_path):
    file = tmp_path / "tail.yaml"
    file.write_text(THREE.replace("R_hand_base_link", "tail"))
    code, output = start("rulesafe_sim.node", f"camera_file:={file}").wait()
    assert code == 2 and "wrist_camera_optical_frame: unknown link 'tail'; valid: " in output
