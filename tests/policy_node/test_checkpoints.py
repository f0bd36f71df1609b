import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import ARRAY_FILE, FORMAT, JSON_FILE, read_policy, save_policy
from policy_node.history import ObservationHistory
from policy_node.network_policy import NetworkPolicy, load_policy
from policy_node.policy import Observation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import Reading
from vq_memory_node.rolling import RollingMemory, readings_of

ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]


@pytest.fixture
def copy(trained, tmp_path):
    """Return a copy of the trained policy that tests may damage."""
    return shutil.copytree(trained, tmp_path / "copy")


def change(folder, **values):
    path = folder / JSON_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def refused(folder):
    with pytest.raises(RuleSafeError) as caught:
        load_policy(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


def test_a_truncated_file_is_refused(copy):
    whole = (copy / ARRAY_FILE).read_bytes()
    for size in (0, 100, len(whole) - 4):
        (copy / ARRAY_FILE).write_bytes(whole[:size])
        assert f"{ARRAY_FILE} is damaged" in refused(copy)
    (copy / JSON_FILE).write_text((copy / JSON_FILE).read_text()[:-100])
    assert "is not the description of a policy" in refused(copy)


def test_a_missing_file_is_refused(copy):
    (copy / ARRAY_FILE).unlink()
    assert f"{ARRAY_FILE} is missing" in refused(copy)
    os.mkfifo(copy / ARRAY_FILE)
    assert f"{ARRAY_FILE} is a named pipe" in refused(copy)
    (copy / JSON_FILE).unlink()
    assert "no policy" in refused(copy)


def test_weights_that_were_changed_are_refused(copy):
    content = bytearray((copy / ARRAY_FILE).read_bytes())
    content[-1] ^= 1
    (copy / ARRAY_FILE).write_bytes(content)
    assert f"{JSON_FILE} and {ARRAY_FILE} do not match: SHA-256" in refused(copy)


def test_another_memory_model_is_refused(copy):
    described = read_policy(copy).memory.describe()
    change(copy, memory=described | {"model": "all_rules_hand"})
    message = refused(copy)
    assert "the memory model all_rules_hand has changed since the training: hash" in message
    assert described["hash"][:12] in message


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"format": "rulesafe policy 0"}, f"valid: '{FORMAT}'"),
        ({"joints": ["left_elbow_joint", *ACTION_JOINTS[1:]]}, "other joints: left_elbow_joint"),
        ({"chunk": 20}, "chunks of 20 steps at 10 Hz; expected 50"),
        ({"family": "act"}, "unknown policy 'act'; valid: dp3"),
        ({"size": "huge"}, "valid: tiny, base"),
        ({"config": {"depth": 3}}, "invalid content"),
        ({"normaliser": {}}, "normaliser"),
    ],
)
def test_a_description_that_makes_no_sense_is_refused(values, words, copy):
    change(copy, **values)
    assert words in refused(copy)


def test_weights_of_another_network_are_refused(copy):
    found = read_policy(copy)
    save_policy(replace(found, config=replace(found.config, channels=(16, 32, 48))), copy)
    assert "do not fit the configuration" in refused(copy)


def test_it_comes_back_as_it_was(trained, tmp_path):
    was = read_policy(trained)
    save_policy(was, tmp_path)
    now = read_policy(tmp_path)
    assert (now.config, now.memory, now.data) == (was.config, was.memory, was.data)
    assert (tmp_path / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()


# The policy of a checkpoint -------------------------------------------------------------------


@pytest.fixture(scope="module")
def observe(demos, trained):
    """Return observe(frame) -> the observation at this frame of the first episode."""
    policy = load_policy(trained)
    episode = EpisodeStore(demos).episode(0)
    joints = episode["observation.state"]
    readings = readings_of(joints, policy.checkpoint.memory)
    history = ObservationHistory(policy.needs)
    for frame, row in enumerate(joints[:20]):
        history.push(frame, row, episode["observation.points"][frame])
    return lambda frame: history.observation(frame, memory=readings[frame])


def test_another_episode_has_other_noise(trained, observe, monkeypatch):
    """Otherwise the result of an evaluation would depend on one noise sample."""
    policy, drawn = load_policy(trained), []
    noise = policy._network.noise
    monkeypatch.setattr(
        policy._network,
        "noise",
        lambda batch, generator: drawn.append(generator.initial_seed()) or noise(batch, generator),
    )
    first = observe(0)
    other = replace(first, joints=first.joints + np.float32(0.01))
    for observation in (first, other, first):
        policy.reset()
        policy.infer(observation)
    assert drawn[0] == drawn[2] != drawn[1]


def test_an_episode_played_again_gives_the_same_chunks(trained, observe):
    policy = load_policy(trained)
    assert (policy.needs.frames, policy.needs.points, policy.needs.memory) == (3, 32, True)
    chunks = [policy.infer(observe(frame)) for frame in (0, 5, 5)]
    assert chunks[0].shape == (50, 13) and chunks[0].dtype == np.float32
    assert not np.array_equal(chunks[1], chunks[2])  # the generator advances
    torch.manual_seed(1)
    policy.reset()
    for frame, chunk in zip((0, 5, 5), chunks, strict=True):
        np.testing.assert_array_equal(policy.infer(observe(frame)), chunk)
    other = NetworkPolicy(policy.checkpoint, seed=1)
    assert not np.array_equal(other.infer(observe(0)), chunks[0])


@pytest.mark.parametrize("memory", ["raw", "vq"])
@pytest.mark.parametrize("frame", [0, 1, 7, 60])
def test_it_is_asked_with_what_it_was_trained_on(memory, frame, quick, trained):
    """The batch of an observation equals the training batch of the same frame."""
    from policy_node.families import make_network
    from policy_node.training_data import ObservationWindows

    run = quick(memory)
    task = run.task
    store = EpisodeStore(task.data)
    windows = ObservationWindows(store, [0, 1, 2], task.config, task.memory, run.config, task.cache)
    learned = windows.batch(np.array([frame]))
    weights = make_network("dp3", task.config, task.memory.shape).state_dict()
    policy = NetworkPolicy(
        replace(
            read_policy(trained),
            memory=task.memory,
            weights=weights,
            normaliser=windows.normaliser,
        )
    )
    episode = store.episode(0)
    joints, history = (
        episode["observation.state"],
        ObservationHistory(policy.needs),
    )
    remembers = RollingMemory(policy.memory)
    for number in range(frame + 1):
        history.push(number, joints[number], episode["observation.points"][number])
        remembers.push(joints[number])
    seen, _ = policy._batch(history.observation(frame, memory=remembers.read()))
    assert torch.equal(seen.joints, learned.joints)
    assert torch.equal(seen.points[:, -1:], learned.points)
    assert torch.equal(seen.memory, learned.memory)
    assert torch.equal(seen.memory_mask, learned.memory_mask)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"joints": np.zeros((2, 13), np.float32)}, r"needs joints of shape \(3, 13\)"),
        ({"points": None}, r"needs points of shape \(1, 32, 6\), got None"),
        ({"memory": Reading(np.zeros(0, np.int64), np.zeros(0, bool))}, "needs memory of shape"),
        ({"memory": Reading(np.full(6, 4), np.ones(6, bool))}, r"not in 0 \.\. 3"),
        ({"memory": Reading(np.zeros(6, np.int64), np.ones(5, bool))}, "needs the memory's mask"),
    ],
)
def test_an_observation_that_lacks_something_is_refused(changes, words, trained, observe):
    observation: Observation = replace(observe(5), **changes)
    with pytest.raises(RuleSafeError, match=words):
        load_policy(trained).infer(observation)
