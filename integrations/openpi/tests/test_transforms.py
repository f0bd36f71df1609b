"""Data transforms for openpi: the same inputs from an exported dataset and from our client."""

import json
from threading import Thread

import numpy as np
import pytest
from websockets.sync.server import serve

from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS, ARM_JOINTS
from rulesafe_data.frame import Frame
from rulesafe_data.states import load_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.tables import read_columns
from rulesafe_data.video import Video
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_openpi import wire
from rulesafe_openpi.client import OpenpiPolicy
from rulesafe_openpi.dataset import export, exported_memory
from rulesafe_openpi.transforms import (
    ARM,
    HAND,
    MEMORY,
    MEMORY_MASK,
    REPACK,
    REPACK_MEMORY,
    TEXT,
    VOCABULARY,
    AppendMemoryTokens,
    RuleSafeInputs,
    RuleSafeOutputs,
    memory_ids,
)

FAST = VOCABULARY - 1 - 128
"""The highest id of an action token of pi0-FAST: openpi, `FASTTokenizer`."""


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """A dataset of two episodes with joint positions of demonstrations and synthetic images."""
    writer = DatasetWriter(tmp_path_factory.mktemp("demos") / "demos")
    columns = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
    y, x = np.mgrid[0:224, 0:224].astype(np.uint8)  # the size of the cameras' images
    image, cloud = np.stack([x, y, x // 2 + y // 2], -1), np.zeros((8, 6), np.float32)
    for index, (positions, actions) in enumerate(load_states("datasets/rule_001_rule_020.parquet")):
        if index == 2:
            break
        joints = np.zeros((120, len(ALL_JOINTS)), np.float32)
        joints[:, columns] = positions[:120]
        episode = EpisodeData(
            task=("Open the knob.", "Open the handle.")[index],
            joint_positions=joints,
            joint_velocities=np.zeros_like(joints),
            actions=actions[:120],
            frames=(
                Frame({"head": image, "front": np.roll(image, t, 0)}, cloud) for t in range(120)
            ),
        )
        writer.write(index, episode)
    writer.finish()
    return writer.root


@pytest.fixture(scope="module")
def exported(demos, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported") / "v2"
    export(demos, out, memory=exported_memory("all_rules_hand"))
    return out


def frame_of(exported, episode, frame):
    """A frame as lerobot returns it, after openpi's repacking: images (3, H, W) float32 in 0..1."""
    columns = read_columns(exported / f"data/chunk-000/episode_{episode:06d}.parquet")
    data = {}
    for key, column in (REPACK | REPACK_MEMORY).items():
        if "images" in column:
            path = exported / f"videos/chunk-000/{column}/episode_{episode:06d}.mp4"
            image = Video(path).frame(frame)
            data[key] = np.moveaxis(image, -1, 0).astype(np.float32) / 255
        elif column == "action":
            data[key] = columns[column][frame : frame + 50]
        elif column == "prompt":
            tasks = (exported / "meta/tasks.jsonl").read_text().splitlines()
            data[key] = json.loads(tasks[columns["task_index"][frame]])["task"]
        else:
            data[key] = columns[column][frame]
    return data


def test_the_client_sends_what_the_dataset_contains(demos, exported):
    from policy_node import open_loop

    request, received = json.loads((exported / "meta/export.json").read_text()), []
    memory, length = request["memory"], request["instruction"]
    needs = {"images": True, "instruction": True, "instruction_length": length, "memory": True}

    def handle(connection):
        connection.send(wire.encode({"rulesafe": {"needs": needs, "memory": memory}}))
        for message in connection:
            received.append(wire.decode(message))
            connection.send(wire.encode({"actions": np.zeros((50, 13))}))

    server = serve(handle, "127.0.0.1", 0, compression=None)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        policy = OpenpiPolicy(f"openpi://127.0.0.1:{server.socket.getsockname()[1]}")
        assert policy.memory.describe() == memory
        open_loop.measure(policy, EpisodeStore(demos), [0, 1], every=17)
        policy.close()
    finally:
        server.shutdown()
    frames = [(episode, frame) for episode in (0, 1) for frame in range(0, 120, 17)]
    assert len(received) == len(frames)
    inputs, seen = RuleSafeInputs(memory=True), set()
    for place, message in zip(frames, received, strict=True):
        stored = inputs(frame_of(exported, *place))
        sent = inputs(message)
        assert stored.pop("actions").shape[1] == 13 and stored["prompt"] == sent["prompt"]
        for key in ("state", "memory_tokens", "memory_mask"):
            assert np.array_equal(stored[key], sent[key]) and stored[key].dtype == sent[key].dtype
        for camera, image in stored["image"].items():
            assert image.dtype == np.uint8 and np.array_equal(image, sent["image"][camera])
        seen.add(tuple(sent["memory_tokens"][sent["memory_mask"]]))
        assert sent["memory_mask"].sum() == place[1] // 20 + 1
    assert len(seen) > 5


def test_images_take_their_places():
    ramp = np.arange(256, dtype=np.uint8)
    front = np.stack([np.tile(ramp, (2, 1))] * 3, -1)
    data = {"observation/image": front, "observation/wrist_image": front[:, ::-1]}
    data["observation/state"] = np.zeros(13)
    found = RuleSafeInputs()(data)
    assert np.array_equal(found["image"]["base_0_rgb"], front)
    assert np.array_equal(found["image"]["left_wrist_0_rgb"], front[:, ::-1])
    assert not found["image"]["right_wrist_0_rgb"].any()
    masks = {"base_0_rgb": True, "left_wrist_0_rgb": True, "right_wrist_0_rgb": False}
    assert found["image_mask"] == masks and found["image"].keys() == masks.keys()
    assert found["state"].dtype == np.float32
    assert found.keys() == {"state", "image", "image_mask"}  # no actions in inference
    # lerobot's floats give each of the 256 levels back
    data["observation/image"] = np.moveaxis(front, -1, 0).astype(np.float32) / 255
    assert np.array_equal(RuleSafeInputs()(data)["image"]["base_0_rgb"], front)


def test_actions_are_a_copy(exported):
    data = frame_of(exported, 0, 0)
    before = data["actions"].copy()
    found = RuleSafeInputs()(data)
    found["actions"] -= 1  # as openpi's DeltaActions, in place
    assert np.array_equal(data["actions"], before)
    assert "memory_tokens" not in found  # not a policy with memory


def test_a_policy_with_memory_requires_it(exported):
    data = frame_of(exported, 0, 0)
    del data[MEMORY_MASK]
    with pytest.raises(ValueError, match=r"lacks observation/memory_mask; a policy with memory"):
        RuleSafeInputs(memory=True)(data)
    data[MEMORY], data[MEMORY_MASK] = np.int64(3), np.True_  # M = 1, as lerobot returns it
    found = RuleSafeInputs(memory=True)(data)
    assert found["memory_tokens"].tolist() == [3] and found["memory_mask"].tolist() == [True]


def test_relative_actions_are_those_of_the_same_joints(exported):
    """The arm's actions relative to the state are small, the hand's keep the statistics of the
    export, and both are restored."""
    assert ACTION_JOINTS[:ARM] == ARM_JOINTS and len(ACTION_JOINTS) == ARM + HAND
    columns = read_columns(exported / "data/chunk-000/episode_000001.parquet")
    state, action = columns["observation.state"], columns["action"]
    lines = (exported / "meta/episodes_stats.jsonl").read_text().splitlines()
    statistics = json.loads(lines[1])["stats"]["action"]
    mask = np.arange(13) < ARM
    relative = action - np.where(mask, state, 0)
    assert np.abs(relative[:, :ARM]).max() < 0.3 < np.ptp(action[:, :ARM], axis=0).max()
    np.testing.assert_allclose(relative[:, ARM:].mean(0), statistics["mean"][ARM:], atol=1e-5)
    np.testing.assert_allclose(relative[:, ARM:].min(0), statistics["min"][ARM:], atol=1e-6)
    padded = np.pad(relative + np.where(mask, state, 0), ((0, 0), (0, 32 - 13)))
    restored = RuleSafeOutputs()({"actions": padded, "state": state})
    np.testing.assert_allclose(restored["actions"], action, atol=1e-6)


def prompt(count, length=8):
    """A tokenised prompt of `count` tokens."""
    mask = np.arange(length) < count
    data = {"tokenized_prompt": np.where(mask, 10 + np.arange(length), 0)}
    return data | {"tokenized_prompt_mask": mask}


def memory(tokens, observed):
    mask = np.arange(len(tokens)) >= len(tokens) - observed
    return {"memory_tokens": np.array(tokens), "memory_mask": mask, "state": np.zeros(13)}


def test_memory_follows_the_prompt():
    data = prompt(3) | memory([0, 2, 1, 3], 3)
    found = AppendMemoryTokens(4)(data)
    last = VOCABULARY - 4
    assert found["tokenized_prompt"].tolist() == [10, 11, 12, last + 2, last + 1, last + 3, 0, 0]
    assert found["tokenized_prompt_mask"].tolist() == [True] * 6 + [False] * 2
    assert found.keys() == {"state", "tokenized_prompt", "tokenized_prompt_mask"}
    assert data["tokenized_prompt"].tolist() == [10, 11, 12, 0, 0, 0, 0, 0]  # unchanged
    assert not data["tokenized_prompt_mask"][3:].any()


def test_the_memory_fits_exactly_or_not_at_all():
    full = AppendMemoryTokens(4)(prompt(4) | memory([0, 1, 2, 3], 4))
    assert full["tokenized_prompt_mask"].all()
    assert full["tokenized_prompt"][-1] == VOCABULARY - 1
    for observed in (4, 0):
        with pytest.raises(ValueError, match=r"5 tokens .* memory of 4 exceed max_token_len 8"):
            AppendMemoryTokens(4)(prompt(5) | memory([0, 1, 2, 3], observed))
    with pytest.raises(ValueError, match="exceed max_token_len 8"):  # openpi truncates to 8
        AppendMemoryTokens(4)(prompt(8) | memory([0], 1))


def test_tokens_of_another_memory_are_refused():
    for token in (4, -1):
        with pytest.raises(ValueError, match=r"memory tokens must be 0\.\.3"):
            AppendMemoryTokens(4)(prompt(2) | memory([token], 1))


def test_ids_are_the_last_ones_and_not_those_of_text_or_actions():
    assert memory_ids(np.arange(4), 4).tolist() == [257148, 257149, 257150, 257151]
    assert memory_ids(np.zeros(0), 4).tolist() == []
    assert memory_ids(np.arange(128), 128).min() == FAST + 1
    most = VOCABULARY - TEXT
    assert memory_ids(np.arange(most), most).min() == TEXT
    for vocabulary in (0, most + 1):
        with pytest.raises(ValueError, match="1 to 1152 different tokens"):
            AppendMemoryTokens(vocabulary)


def test_ids_are_those_of_our_own_pi0():
    torch = pytest.importorskip("torch")
    from policy_node import language

    tokens = torch.arange(4)
    expected = language.memory_ids(tokens, VOCABULARY, 4)
    assert memory_ids(tokens.numpy(), 4).tolist() == expected.tolist()
