from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.augmentation import warp_time
from policy_node.memory_inputs import memory_input
from policy_node.train_config import TrainConfig
from policy_node.training_data import ObservationWindows, pad, select_episodes
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData
from vq_memory_node.grids import Sliding, ends_of
from vq_memory_node.rolling import readings_of
from vq_memory_node.windows import STRIDE

ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
EPISODES = [2, 0]  # in another order than in the dataset
FRAMES = [0, 1, 40, 69]  # frames of the second of these, which has 70


@pytest.fixture(scope="module")
def store(demos):
    return EpisodeStore(demos)


@pytest.fixture(scope="module")
def make(store, small, memories, cache):
    """Return make(memory, actions) -> the windows of EPISODES."""

    def build(memory="none", config=small, **settings):
        train = TrainConfig(**settings)
        return ObservationWindows(store, EPISODES, config, memories[memory], train, cache)

    return build


def places(store):
    """Return the window indices of FRAMES of the second episode."""
    return np.array(FRAMES) + store.episodes[EPISODES[0]].length


def test_there_is_a_window_for_every_frame(make, store):
    assert len(make()) == sum(store.episodes[index].length for index in EPISODES)


def test_windows_before_the_hand_opens_or_closes_are_drawn_more_often(make, store):
    windows = make()
    second = store.episodes[EPISODES[0]].length
    windows._actions[:, 7:] = 0.0
    windows._actions[second:, 7:] = 0.5  # between two episodes nothing moves
    windows._actions[second + 40 :, 10] = 1.0
    near = list(range(second + 26, second + 41))
    drawn = windows.draw(np.random.default_rng(0), 20 * len(windows), grasps=1.0)
    assert sorted(set(drawn)) == near
    some = windows.draw(np.random.default_rng(0), 20 * len(windows), grasps=0.5)
    assert abs(np.isin(some, near).mean() - (0.5 + 0.5 * 15 / len(windows))) < 0.05
    assert len(set(some)) == len(windows)
    plain = windows.draw(np.random.default_rng(3), 50)
    np.testing.assert_array_equal(plain, np.random.default_rng(3).integers(len(windows), size=50))


def test_deliberate_misses_are_not_imitated(tmp_path, missing, small, memories):
    store = EpisodeStore(missing)

    def load(config):
        return ObservationWindows(store, [0, 1], config, memories["none"], TrainConfig(), tmp_path)

    windows = load(small)
    second = store.episodes[0].length
    drawn = windows.draw(np.random.default_rng(0), 50 * len(windows), grasps=0.5)
    missed = {begin + frame for begin in (0, second) for frame in range(10, 15)}
    assert set(range(len(windows))) - set(drawn) == missed

    class Labelled(type(small)):
        subtasks = True

    with pytest.raises(RuleSafeError, match="deliberate misses, which skills cannot replay"):
        load(Labelled(**vars(small)))


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_row_i_of_a_chunk_is_what_was_commanded_i_frames_later(kind, make, store, small):
    windows = make(actions=kind)
    batch = windows.batch(places(store))
    episode = store.episode(EPISODES[1])
    actions, joints = episode["action"], episode["observation.state"]
    values = batch.actions.numpy()[:, small.past :]
    found = windows.normaliser.actions.decode(values, joints[FRAMES])
    for row, frame in enumerate(FRAMES):
        for i in range(50):
            wanted = actions[min(frame + i, len(actions) - 1)]
            np.testing.assert_allclose(found[row, i], wanted, atol=2e-6)
    if kind == "absolute":
        before = windows.normaliser.actions.scaling.decode(batch.actions.numpy()[:, : small.past])
        np.testing.assert_allclose(before[2], actions[38:40], atol=2e-6)
        np.testing.assert_allclose(before[0], actions[[0, 0]], atol=2e-6)


def test_observations_are_those_of_the_frame_and_before(make, store, small):
    windows = make()
    batch = windows.batch(places(store))
    episode = store.episode(EPISODES[1])
    seen = np.maximum(np.array(FRAMES)[:, None] + [-2, -1, 0], 0)
    expected = episode["observation.state"]
    joints = windows.normaliser.joints.decode(batch.joints.numpy())
    np.testing.assert_allclose(joints, expected[seen], atol=2e-6)
    clouds = episode["observation.points"][seen[:, -small.cloud_frames :], : small.points]
    np.testing.assert_array_equal(batch.points.numpy(), clouds)


def test_training_sees_other_points_of_a_cloud_each_time(make, store, small):
    windows, cloud = make(), store.episode(EPISODES[1])["observation.points"][FRAMES[2]]
    seen = []
    for seed in range(2):
        points = windows.batch(places(store), np.random.default_rng(seed)).points.numpy()[2, -1]
        at = (points[:, None] == cloud).all(axis=2)
        assert at.any(axis=1).all() and len(points) == small.points
        seen.append(set(at.argmax(axis=1).tolist()))
    assert seen[0] != seen[1] and max(seen[0] | seen[1]) >= small.points


@pytest.mark.parametrize("memory", ["raw", "vq", "actions", "grasps", "oracle"])
def test_memory_is_what_the_memory_reads_at_that_frame(memory, make, store, memories):
    windows = make(memory)
    batch = windows.batch(places(store))
    inputs = memory_input(store, EPISODES[1], memories[memory].input)
    readings = readings_of(inputs, memories[memory])
    np.testing.assert_array_equal(batch.memory_mask.numpy(), readings.mask[FRAMES])
    values = readings.values[FRAMES]
    if not memories[memory].vocabulary:
        values = windows.normaliser.joints.encode(values)
        values[~readings.mask[FRAMES]] = 0
    np.testing.assert_array_equal(batch.memory.numpy(), values)
    assert readings.mask[FRAMES].sum() > len(FRAMES)
    assert len(np.unique(batch.memory_mask.numpy(), axis=0)) > 1


def test_the_inputs_of_memories_are_those_of_the_dataset(store):
    episode, columns = store.episode(1), store.privileged.frames(1)
    joints, actions = episode["observation.state"], episode["action"]
    assert np.array_equal(memory_input(store, 1, "positions"), joints)
    assert np.array_equal(memory_input(store, 1, "actions")[1:], actions[:-1])
    assert np.array_equal(memory_input(store, 1, "actions")[0], joints[0])
    assert np.array_equal(memory_input(store, 1, "phases"), columns["part_open"])
    assert columns["part_open"].any(0).tolist() == [True, True, False]


def test_a_dataset_without_phases_has_none_for_an_oracle(demos, tmp_path):
    writer = DatasetWriter(tmp_path / "bag")
    joints = np.zeros((4, len(ALL_JOINTS)))
    writer.write(0, EpisodeData("open it", joints, joints, np.zeros((4, 13))))
    writer.finish()
    with pytest.raises(RuleSafeError, match="bag has no part_open in the folder privileged"):
        memory_input(EpisodeStore(tmp_path / "bag"), 0, "phases")


def test_with_every_memory_the_same_windows_are_drawn(make, memories):
    """Policies with different memories are trained on the same windows with the same noise."""
    batches = [make(kind).batch(np.arange(5), np.random.default_rng(3)) for kind in memories]
    for batch in batches[1:]:
        assert torch.equal(batch.joints, batches[0].joints)
        assert torch.equal(batch.points, batches[0].points)
        assert torch.equal(batch.actions, batches[0].actions)


def test_no_memory_is_no_tensor(make):
    batch = make("none").batch(np.array([3]))
    assert set(batch.tensors()) == {"joints", "points", "actions"}


def test_noise_moves_the_arm_and_not_where_it_is_to_go(make, store):
    windows = make(jitter=0.01, actions="absolute")
    still = windows.batch(places(store))
    moved = windows.batch(places(store), np.random.default_rng(0))
    off = (moved.joints - still.joints).numpy() * windows.normaliser.joints.scale
    assert 0.005 < off.std() < 0.015
    np.testing.assert_allclose(off, off[:, :1].repeat(3, axis=1), atol=1e-5)
    assert torch.equal(moved.actions, still.actions)
    again = windows.batch(places(store), np.random.default_rng(0))
    assert torch.equal(again.joints, moved.joints)


@pytest.mark.parametrize("memory", ["raw", "actions"])
def test_the_newest_value_of_a_memory_has_the_noise_of_the_posture(memory, make, store):
    """A raw memory ends with the posture, and the newest past action almost equals it."""
    windows = make(memory, jitter=0.01, memory_warp=0.0)
    still = windows.batch(places(store))
    moved = windows.batch(places(store), np.random.default_rng(0))
    noise = moved.joints[:, -1] - still.joints[:, -1]
    torch.testing.assert_close(moved.memory[:, -1] - still.memory[:, -1], noise)
    assert noise.abs().max() > 0.001
    assert torch.equal(moved.memory[:, :-1], still.memory[:, :-1])
    if memory == "raw":
        assert torch.equal(still.memory[:, -1], still.joints[:, -1])
        torch.testing.assert_close(moved.memory[:, -1], moved.joints[:, -1])


@pytest.mark.parametrize("memory", ["grasps", "oracle"])
def test_keyframes_are_neither_warped_nor_noisy(memory, make, store):
    """They are no instants before the present one."""
    windows = make(memory, jitter=0.01, memory_warp=0.5)
    still = windows.batch(places(store))
    moved = windows.batch(places(store), np.random.default_rng(0))
    assert not torch.equal(moved.joints, still.joints)
    assert torch.equal(moved.memory, still.memory)
    assert torch.equal(moved.memory_mask, still.memory_mask)


def test_a_warped_past_goes_at_another_pace():
    ends = ends_of(np.full(400, 700), Sliding())
    found = warp_time(ends, 0.2, np.random.default_rng(0))
    gaps = np.diff(found, axis=1)
    np.testing.assert_array_equal(found[:, -1], 700)
    assert (gaps > 0).all()
    assert abs(gaps.mean() - STRIDE) < 0.5
    assert 0.15 < gaps.std() / STRIDE < 0.3
    assert 0.05 < gaps.mean(axis=1).std() / STRIDE < 0.15  # shared by all gaps of a window
    np.testing.assert_array_equal(warp_time(ends, 0.2, np.random.default_rng(0)), found)


@pytest.mark.parametrize("memory", ["raw", "vq"])
def test_in_training_the_past_is_warped_and_the_present_is_not(memory, make, store):
    """Values before the start of the episode are masked with warping too."""
    windows = make(memory, jitter=0.0, hand_jitter=0.0, memory_warp=0.5)
    frames = np.full(20, places(store)[-1])
    still, moved = windows.batch(frames), windows.batch(frames, np.random.default_rng(0))
    assert torch.equal(moved.memory[:, -1], still.memory[:, -1])
    assert torch.equal(moved.joints, still.joints)
    assert not torch.equal(moved.memory_mask, still.memory_mask)
    assert (moved.memory[~moved.memory_mask] == 0).all()


def test_with_relative_actions_noise_is_made_good(make, store):
    """Targets are unchanged in rad, but relative to the noisy posture."""
    windows = make(actions="relative", jitter=0.01)
    moved = windows.batch(places(store), np.random.default_rng(0))
    now = windows.normaliser.joints.decode(moved.joints.numpy()[:, -1])
    found = windows.normaliser.actions.decode(moved.actions.numpy()[:, 2:], now)
    actions = store.episode(EPISODES[1])["action"]
    np.testing.assert_allclose(found[2, :29], actions[40:69], atol=5e-6)


def test_far_from_the_demonstration_targets_return_slowly(make, store):
    windows = make(actions="relative", jitter=0.1, hand_jitter=0.0, far=1.0)
    still = windows.batch(places(store))
    moved = windows.batch(places(store), np.random.default_rng(0))
    joints = windows.normaliser.joints
    before, now = (joints.decode(batch.joints.numpy()[:, -1]) for batch in (still, moved))
    found = windows.normaliser.actions.decode(moved.actions.numpy()[:, 2:], now)
    actions = windows.normaliser.actions.decode(still.actions.numpy()[:, 2:], before)
    offset = (now - before)[:, None]
    assert 0.2 < np.abs(offset).max() < 3 and not offset[..., 7:].any()
    steps = 0.1 * np.arange(1, 51)[:, None]
    left = np.sign(offset) * np.maximum(np.abs(offset) - steps, 0)
    assert left[:, 0].any() and not left[:, -1].any()
    np.testing.assert_allclose(found - actions, left, atol=1e-5)


def test_episodes_are_chosen_by_instruction(store):
    assert select_episodes(store, None) == [0, 1, 2]
    assert select_episodes(store, ["turn the knob"]) == [0, 2]
    with pytest.raises(RuleSafeError, match="no demonstration of: open the window"):
        select_episodes(store, ["turn the knob", "open the window"])


def test_more_points_than_the_clouds_have_are_refused(make, small):
    with pytest.raises(RuleSafeError, match="clouds of 256 points; 300 are needed"):
        make(config=replace(small, points=300))


def test_ids_are_padded_in_front():
    ids, mask = pad([[5, 6], [7]])
    assert ids.tolist() == [[5, 6], [0, 7]]
    assert mask.tolist() == [[True, True], [False, True]]
