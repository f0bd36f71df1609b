"""Policies of two levels: labels of subtasks, the frozen skills, and the choice."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.batches import Batch
from policy_node.checkpoints import read_policy
from policy_node.configs import EncoderConfig, TwoLevelConfig
from policy_node.families import find_config, make_network
from policy_node.history import ObservationHistory
from policy_node.memory_inputs import memory_input
from policy_node.network_policy import load_policy
from policy_node.open_loop import measure, report
from policy_node.policy import Observation
from policy_node.skills import Skills
from policy_node.train_config import TrainConfig
from policy_node.training import TrainingTask, train
from policy_node.training_data import OVERLAP, ObservationWindows
from policy_node.two_level import TwoLevel
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import sha256
from rulesafe_data.layout import image_key
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import MemoryShape
from vq_memory_node.rolling import readings_of

CAMERAS = tuple(map(image_key, DEFAULT_CAMERAS.names))

SKILLS = find_config("skills", "tiny")
FEW = TrainConfig(steps=2, batch=4, warm_up=1)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Return the cache folder for decoded data of `labelled`."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def skills(labelled, cache, memories, tmp_path_factory):
    """The folder of skills after two steps of training."""
    out = tmp_path_factory.mktemp("skills")
    task = TrainingTask("skills", "tiny", SKILLS, memories["none"], labelled, None, cache)
    return train(task, FEW, out)


def two_level(skills, data, cache, memory, out):
    config = TwoLevelConfig(skills=str(skills))
    return train(TrainingTask("two_level", "tiny", config, memory, data, None, cache), FEW, out)


def test_a_chunk_ends_with_its_subtask(labelled, cache, memories):
    store, absolute = EpisodeStore(labelled), TrainConfig(actions="absolute")
    windows = ObservationWindows(store, [1, 0], SKILLS, memories["none"], absolute, cache)
    plain = ObservationWindows(
        store, [1, 0], find_config("dp3", "tiny"), memories["none"], absolute, cache
    )
    subtasks = np.concatenate([store.episode(i)["subtask_index"] for i in (1, 0)])
    length = store.episodes[1].length
    indices = np.arange(len(subtasks))
    batch, uncut = windows.batch(indices), plain.batch(indices)
    assert uncut.subtask is None
    np.testing.assert_array_equal(batch.subtask, subtasks)
    past = find_config("dp3", "tiny").past
    for index in indices:
        end = index
        while (
            end + 1 < len(subtasks) and end + 1 != length and (subtasks[end + 1] == subtasks[index])
        ):
            end += 1
        left = min(end - index, 49)
        assert torch.equal(
            batch.actions[index, : left + 1], uncut.actions[index, past : past + left + 1]
        )
        rest = batch.actions[index, left:]
        assert torch.equal(rest, rest[:1].expand_as(rest)), "the last action is repeated"


def test_near_its_end_a_subtask_overlaps_with_the_next_one(labelled, cache, memories):
    store = EpisodeStore(labelled)
    windows = ObservationWindows(store, [0], SKILLS, memories["none"], TrainConfig(), cache)
    subtasks = store.episode(0)["subtask_index"]
    change = int(np.flatnonzero(np.diff(subtasks))[0]) + 1  # first frame of the second subtask
    rng = np.random.default_rng(0)
    for before, both in ((OVERLAP + 1, False), (OVERLAP, True), (1, True)):
        labels = windows.batch(np.full(200, change - before), rng).subtask.unique().tolist()
        expected = {int(subtasks[change - 1])} | ({int(subtasks[change])} if both else set())
        assert set(labels) == expected
    assert set(windows.batch(np.full(9, len(subtasks) - 1), rng).subtask.tolist()) == {subtasks[-1]}


def test_a_dataset_without_subtasks_is_refused(demos, memories, tmp_path):
    with pytest.raises(RuleSafeError, match="has no subtasks; `rulesafe demos render`"):
        ObservationWindows(
            EpisodeStore(demos), [0], SKILLS, memories["none"], TrainConfig(), tmp_path
        )


@pytest.mark.train
@pytest.mark.parametrize("memory", ["none", "raw", "vq", "actions", "grasps", "oracle"])
def test_only_the_choice_is_trained_and_the_checkpoint_is_complete(
    memory, skills, labelled, cache, memories, tmp_path
):
    out = two_level(skills, labelled, cache, memories[memory], tmp_path / "two")
    found, lower = read_policy(out), read_policy(skills)
    for name, value in lower.weights.items():
        assert torch.equal(found.weights[f"skills.{name}"], value)
    assert found.normaliser.as_json() == lower.normaliser.as_json()
    assert found.config.skills == lower.config, "the folder of the skills is not needed again"
    recorded = found.training["facts"]["policy"]["skills"]
    assert recorded == sha256(skills / "policy.safetensors"), "not their folder"
    policy = load_policy(out)
    assert policy.needs.instruction and policy.needs.memory == (memory != "none")
    episode = EpisodeStore(labelled).episode(0)
    joints = episode["observation.state"]
    history = ObservationHistory(policy.needs)
    for frame in (43, 44, 45):
        history.push(frame, joints[frame], episode["observation.points"][frame])
    inputs = memory_input(EpisodeStore(labelled), 0, policy.memory.input)
    reading = readings_of(inputs, policy.memory)[45] if memory != "none" else None

    def chunk():
        policy.reset()
        given = (reading,) if reading is not None else ()
        return policy.infer(history.observation(45, "turn the knob", *given))

    assert chunk().shape == (50, 13)
    np.testing.assert_array_equal(chunk(), chunk())
    found = measure(policy, EpisodeStore(labelled), [0], every=20)
    assert len(found.chosen) == 4 and (found.chosen >= 0).all()


def test_skills_alone_are_no_policy(skills):
    policy = load_policy(skills)
    observation = Observation(np.zeros((3, 13), np.float32), np.zeros((1, 256, 6), np.float32))
    with pytest.raises(RuleSafeError, match="execute a given subtask"):
        policy.infer(observation)


@pytest.mark.train
def test_with_camera_images_no_point_clouds_are_needed(labelled, memories, tmp_path):
    """A frame has the same scene features in training and at inference."""
    encoder, cache = EncoderConfig(("safe_01", "safe_02"), image_size=16), tmp_path / "cache"
    config = replace(find_config("skills", "images"), encoder=encoder)
    task = TrainingTask("skills", "images", config, memories["none"], labelled, None, cache)
    skills = train(task, FEW, tmp_path / "skills")
    config = replace(find_config("two_level", "images"), skills=str(skills))
    task = TrainingTask("two_level", "images", config, memories["vq"], labelled, None, cache)
    policy = load_policy(train(task, FEW, tmp_path / "two"))
    assert policy.needs.images and not policy.needs.points and not policy.needs.cloud_frames
    store, network = EpisodeStore(labelled), policy._network
    windows = ObservationWindows(
        *(store, [0, 1], config, memories["vq"], replace(FEW, safe_frame=False), cache),
        encoder=network.scene_encoder(),
    )
    assert not list(cache.glob("pictures_*")), "images are encoded, not stored"
    last = store.episode(0)
    batch = windows.batch(np.array([69, 70]), np.random.default_rng(0))
    assert batch.images is None and batch.scene_features.shape == (2, 1, 9)
    images = torch.from_numpy(np.stack([last[key][69] for key in CAMERAS]))[None]
    with torch.inference_mode():
        shown = replace(batch, images=images, scene_features=None)
        torch.testing.assert_close(shown.scene(network.scene_encoder()), batch.scene_features[:1])

    def chunk(images):
        policy.reset()
        history = ObservationHistory(policy.needs)
        joints = last["observation.state"]
        history.push(0, joints[0], images=images)
        return policy.infer(
            history.observation(0, "turn the knob", readings_of(joints, policy.memory)[0])
        )

    names = [key.rpartition(".")[2] for key in CAMERAS]
    seen = {name: last[key][0] for name, key in zip(names, CAMERAS, strict=True)}
    dark = {name: np.zeros_like(image) for name, image in seen.items()}
    assert np.array_equal(chunk(seen), chunk(seen)) and not np.array_equal(chunk(seen), chunk(dark))
    with pytest.raises(RuleSafeError, match="these skills require the size images"):
        TwoLevel(TwoLevelConfig(skills=str(skills)), MemoryShape())


@pytest.mark.train
def test_earlier_scenes_are_those_of_earlier_inferences(labelled, cache, memories):
    """In training they come from the dataset, at inference the network remembers them."""
    encoder = EncoderConfig(("safe_01", "safe_02"))
    skills = replace(SKILLS, encoder=encoder, stored=6)
    config = replace(find_config("two_level", "scenes"), skills=skills, earlier_scenes=(36, 12))
    torch.manual_seed(0)
    network = make_network("two_level", config, MemoryShape()).eval()
    network.skills.pair.copy_(torch.arange(6))
    store, plain = EpisodeStore(labelled), replace(FEW, safe_frame=False)
    windows = ObservationWindows(
        store, [1, 0], config, memories["none"], plain, cache, encoder=network.scene_encoder()
    )
    indices = store.episodes[1].length + np.array([0, 12, 24, 36, 48])  # of the second one
    batch = windows.batch(indices)
    assert batch.scene_features.shape == (5, 3, 9)
    now = batch.scene_features[:, -1]
    for row, rows in enumerate(([0, 0, 0], [0, 0, 1], [0, 1, 2], [0, 2, 3], [1, 3, 4])):
        assert torch.equal(batch.scene_features[row], now[rows])
    batch.language, batch.language_mask = torch.ones(5, 3, dtype=torch.int64), torch.ones(5, 3) > 0
    assert network.logits(batch).shape == (5, 6)
    seen = []
    network.logits = lambda given: seen.append(given.scene_features) or torch.zeros(1, 6)
    for _ in range(2):
        network.reset()
        seen.clear()
        for row in range(5):
            network.choose(Batch(batch.joints[row : row + 1], scene_features=now[row][None, None]))
        assert torch.equal(torch.cat(seen), batch.scene_features)
    warped = windows.batch(indices, np.random.default_rng(0)).scene_features
    assert not torch.equal(warped[4, :2], batch.scene_features[4, :2])


def test_an_encoder_of_images_receives_no_point_clouds():
    images = EncoderConfig(("safe_01",), image_size=16)
    for config in (replace(SKILLS, encoder=images), replace(SKILLS, images=True, points=0)):
        with pytest.raises(RuleSafeError, match=r"receives (images|point clouds), but the network"):
            Skills(config, MemoryShape())


def test_other_skills_are_refused(demos, memories, small, tmp_path):
    cache = tmp_path / "cache"
    task = TrainingTask("dp3", "tiny", small, memories["none"], demos, None, cache)
    other = train(task, replace(FEW, safe_frame=False), tmp_path / "other")
    with pytest.raises(RuleSafeError, match="is a policy dp3; valid: skills"):
        TwoLevel(TwoLevelConfig(skills=str(other)), MemoryShape())


def test_skills_with_a_safe_frame_require_one(skills, labelled, cache, memories, tmp_path):
    config = TwoLevelConfig(skills=str(skills))
    task = TrainingTask("two_level", "tiny", config, memories["none"], labelled, None, cache)
    with pytest.raises(
        RuleSafeError, match=r"\(skills\) has a safe frame; train with a safe frame"
    ):
        train(task, replace(FEW, safe_frame=False), tmp_path / "out")


@pytest.mark.train
def test_open_loop_reports_errors_by_subtask_and_the_share_of_correct_ones(
    skills, labelled, cache, memories, tmp_path
):
    store, lower = EpisodeStore(labelled), load_policy(skills)
    labels = store.episode(0)["subtask_index"]
    executed = []
    infer = lower.infer
    lower.infer = lambda observation: (executed.append(lower.wanted), infer(observation))[1]
    errors = measure(lower, store, [0], 12)
    np.testing.assert_array_equal(executed, labels[::12])
    np.testing.assert_array_equal(errors.subtasks, labels[::12])
    assert (errors.chosen == -1).all()
    text = report(errors)
    assert "| subtask | chunks |" in text and "Correct subtask" not in text
    policy = load_policy(two_level(skills, labelled, cache, memories["none"], tmp_path / "two"))
    errors = measure(policy, store, [0], 12)
    right = int((errors.chosen == labels[::12]).sum())
    assert (errors.chosen >= 0).all() and f"({right}/{len(errors.chosen)})" in report(errors)


@pytest.mark.train
def test_the_choice_learns_what_instruction_and_memory_require():
    """Two instructions with the same observation, and two memories, have different subtasks; the
    skills execute the chosen one."""
    torch.manual_seed(0)
    shape = MemoryShape("tokens", 6, 4)
    config = TwoLevelConfig(skills=replace(SKILLS, stored=5))
    network = make_network("two_level", config, shape)
    network.skills.pair.copy_(torch.tensor([0, 1, 2, 4, 5]))
    batch = Batch(
        joints=torch.zeros(4, 3, 13),
        scene_features=torch.zeros(4, 1, network.scene_encoder().features),
        language=torch.tensor([[0, 5, 6], [0, 5, 7], [3, 5, 6], [3, 5, 7]]),
        language_mask=torch.tensor([[False, True, True]] * 2 + [[True] * 3] * 2),
        memory=torch.tensor([[0, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 2]] * 2),
        memory_mask=torch.tensor([[False] + [True] * 5] * 4),
        subtask=torch.tensor([0, 1, 2, 4]),
    )
    trained = [value for value in network.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(trained, 3e-3)
    for _ in range(150):
        loss = network.loss(batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.05 and network.logits(batch).argmax(-1).tolist() == [0, 1, 2, 4]
    network.skills.sample = lambda batch, generator: batch.subtask
    network.skills.pair[1] = 0
    assert network.choose(batch).tolist() != [0, 1, 2, 4], "only what the skills can execute"
    assert 1 not in network.choose(batch)
    network.skills.pair[1] = 1
    assert network.sample(replace(batch, subtask=None)).tolist() == [0, 1, 2, 4]
