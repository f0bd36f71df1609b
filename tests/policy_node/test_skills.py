"""Skills: which frames of which demonstration follow. Frames are at the corners of simple paths."""

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.batches import Batch
from policy_node.configs import SkillsConfig
from policy_node.skills import OPEN as PARTS
from policy_node.skills import PATIENCE, RELEASE, START, Skills, opened_before, typical
from policy_node.train_config import TrainConfig
from policy_node.training_data import ObservationWindows
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import SUBTASKS
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import MemoryShape, NoMemory

EXECUTE = 12
OPEN, CLOSE, DOOR = (list(SUBTASKS).index(name) for name in ("knob+", "knob-", "door+"))


def line(start, length, *, step=0.01):
    """Return a path (length, 13) on which the first joint moves by `step` per frame."""
    path = np.zeros((length, 13))
    path[:, 0] = start + step * np.arange(length)
    return path


@pytest.fixture
def make():
    """Return a function that makes skills of (subtask, path) on the first safe. The actions are
    the indices of the frames, so that a chunk contains those of the copied frames."""

    def skills(*demonstrations):
        paths = [path for _, path in demonstrations]
        counts = [len(path) for path in paths]
        found = Skills(SkillsConfig(stored=sum(counts)), MemoryShape())
        found.joints.copy_(torch.from_numpy(np.concatenate(paths)))
        found.actions.copy_(torch.arange(sum(counts))[:, None])
        found.demonstration.copy_(torch.repeat_interleave(torch.tensor(counts)))
        subtasks = torch.tensor([subtask for subtask, _ in demonstrations])
        found.pair.copy_(torch.repeat_interleave(subtasks, torch.tensor(counts)))
        return found

    return skills


def open_last(part, moves):
    """Return whether the last move of a part opened it."""
    return [move for move in moves if move[:-1] == part][-1:] == [part + "+"]


def chunk(skills, subtask, posture, before=None, safes=(1.0,)):
    """Return the frame numbers (50,) that the skills copy at a posture (13,), two frames after
    `before`; `safes`: probabilities of the first safes."""
    before = posture if before is None else before
    scene = torch.zeros(1, 1, skills.encoder.features)
    scene[..., 7 : 7 + len(safes)] = torch.tensor(safes)
    batch = Batch(
        joints=torch.tensor(np.stack([before, before, posture]), dtype=torch.float32)[None],
        scene_features=scene,
        subtask=None if subtask is None else torch.tensor([subtask]),
    )
    return skills.sample(batch)[0, :, 0].int().tolist()


def frames(begin, last):
    """Return 50 frame numbers from `begin` on that stay at `last`."""
    return np.minimum(np.arange(begin, begin + 50), last).tolist()


def test_a_new_episode_begins_at_the_nearest_frame_of_the_subtask(make):
    skills = make((OPEN, line(0.0, 100)), (CLOSE, line(0.0, 100)), (OPEN, line(3.0, 100)))
    path = line(0.0, 100)
    assert chunk(skills, OPEN, path[30], path[28]) == frames(30, 99)
    skills.reset()
    assert chunk(skills, CLOSE, path[30], path[28]) == frames(130, 199)
    skills.reset()
    assert chunk(skills, OPEN, line(3.0, 100)[60], line(3.0, 100)[58]) == frames(260, 299)


def test_the_change_of_the_posture_tells_opposite_motions_apart(make):
    skills = make((OPEN, line(0.0, 50)), (OPEN, line(0.5, 50, step=-0.01)))
    posture = line(0.0, 50)[25]
    faster, slower = posture - line(0.02, 1)[0], posture + line(0.02, 1)[0]
    assert chunk(skills, OPEN, posture, faster)[0] == 25
    skills.reset()
    assert chunk(skills, OPEN, posture, slower)[0] == 75


def test_skills_follow_one_demonstration_even_if_another_is_nearer(make):
    skills = make((OPEN, line(0.0, 100)), (OPEN, line(0.004, 100)))
    path = line(0.0, 100)
    assert chunk(skills, OPEN, path[0])[0] == 0
    beside = path[EXECUTE] + line(0.004, 1)[0]  # exactly on the other one
    assert chunk(skills, OPEN, beside, beside - line(0.02, 1)[0]) == frames(EXECUTE, 99)


def test_a_late_arm_continues_where_it_is(make):
    skills = make((OPEN, line(0.0, 100)))
    path = line(0.0, 100)
    chunk(skills, OPEN, path[20], path[18])
    assert chunk(skills, OPEN, path[24], path[22])[0] == 24
    assert chunk(skills, OPEN, path[60], path[58])[0] == 60, "more actions were executed"


def test_where_the_arm_rests_time_passes_at_the_usual_rate(make):
    skills = make((OPEN, np.zeros((80, 13))))
    starts = [chunk(skills, OPEN, np.zeros(13))[0] for _ in range(4)]
    assert np.diff(starts).tolist() == [EXECUTE] * 3


def test_a_demonstration_is_left_early_if_the_subtask_changes_twice_in_succession(make):
    skills = make((OPEN, line(0.0, 100)), (CLOSE, line(0.0, 100)))
    path = line(0.0, 100)
    chunk(skills, OPEN, path[1])
    for begin in (13, 25):  # the other subtask in every other inference
        assert chunk(skills, CLOSE, path[begin], path[begin - 2])[0] == begin
        assert chunk(skills, OPEN, path[begin + 6], path[begin + 4])[0] == begin + 6
    assert chunk(skills, CLOSE, path[41], path[39])[0] == 41
    assert chunk(skills, CLOSE, path[50], path[48]) == frames(150, 199)


def test_the_part_is_released_before_the_next_subtask(make):
    skills = make((OPEN, line(0.0, 100)), (CLOSE, line(0.5, 100)), (CLOSE, line(1.0, 100)))
    path = line(0.0, 100)
    begin = 100 - RELEASE + 10
    chunk(skills, OPEN, path[begin - EXECUTE], path[begin - EXECUTE - 2])
    rest = list(range(begin, 100))
    # The next demonstration is the one that begins where this one ends.
    found = chunk(skills, CLOSE, path[begin], path[begin - 2])
    assert found[: len(rest)] == rest
    assert 200 <= found[len(rest)] < 200 + START and set(np.diff(found[len(rest) :])) == {1}
    later = begin + EXECUTE
    assert chunk(skills, CLOSE, path[later], path[later - 2])[: 100 - later] == rest[EXECUTE:]
    following = line(1.0, 100)
    assert chunk(skills, CLOSE, following[5], following[3]) == frames(205, 299)


def test_the_door_is_pulled_as_demonstrated_with_the_same_open_parts(make):
    skills = make((OPEN, line(0.0, 60)), (DOOR, line(0.55, 60)), (DOOR, line(0.55, 60)))
    skills.phases[60:120], skills.phases[120:] = 2, 1  # with the handle and with the knob open
    path = line(0.0, 60)
    chunk(skills, OPEN, path[50], path[48])
    assert chunk(skills, DOOR, path[58], path[57])[2] in range(120, 120 + START)
    skills.reset()
    assert chunk(skills, DOOR, line(0.55, 60)[4], line(0.55, 60)[2])[0] == 64, "none open: any"


def test_open_parts_are_counted_from_the_subtasks_of_an_episode():
    knob, back, handle, door = (
        list(SUBTASKS).index(name) for name in ("knob+", "knob-", "handle+", "door+")
    )
    subtasks = np.array([knob, handle, back, door, handle, back, door])
    same = np.array([True, True, True, False, True, True])
    assert opened_before(subtasks, same).tolist() == [0, 1, 3, 2, 0, 2, 2]


def test_after_an_attempt_without_success_another_one_begins(make):
    skills = make((OPEN, line(0.0, 30)), (OPEN, line(0.9, 30)))
    path = line(0.0, 30)
    chunk(skills, OPEN, path[25], path[23])
    at_end = [chunk(skills, OPEN, path[29]) for _ in range(PATIENCE)]
    assert at_end[:-1] == [[29] * 50] * (PATIENCE - 1)
    assert 30 <= at_end[-1][0] < 30 + START, "the beginning of another demonstration"
    for _ in range(PATIENCE):
        again = chunk(skills, OPEN, line(0.9, 30)[29])
    assert 30 <= again[0] < 30 + START, "all have failed: the nearest one again"


def test_the_most_probable_safe_with_a_demonstration_counts(make):
    skills = make((OPEN, line(0.0, 60)), (OPEN, line(0.0, 60)), (OPEN, line(0.0, 60)))
    skills.pair[60:120] += 2 * len(SUBTASKS)
    skills.pair[120:] += 5 * len(SUBTASKS)
    starts = {}
    for name, probabilities in {"third": (0.1, 0, 0.2), "new": (0.1, 0.8, 0.05)}.items():
        skills.reset()
        starts[name] = chunk(skills, OPEN, np.zeros(13), safes=probabilities)[0]
    assert starts == {"third": 60, "new": 0}


def test_the_safe_is_recognised_from_the_whole_episode(make):
    skills = make((OPEN, line(0.0, 60)), (OPEN, line(0.0, 60)))
    skills.pair[60:] += len(SUBTASKS)
    chunk(skills, OPEN, line(0.0, 60)[10], safes=(0.9, 0.1))
    assert chunk(skills, OPEN, line(0.0, 60)[40], safes=(0.4, 0.6))[0] == 40


def test_single_stalls_are_no_failure_but_two_in_succession_are(make):
    skills = make((OPEN, line(0.0, 100)), (OPEN, line(2.0, 100)))
    path = line(0.0, 100)
    places = [0, 12, 12, 24, 36, 48, 48, 60]
    starts = [chunk(skills, OPEN, path[i], path[max(i - 2, 0)])[0] for i in places]
    assert starts == places
    assert chunk(skills, OPEN, path[60])[0] == 60
    assert 100 <= chunk(skills, OPEN, path[60])[0] < 100 + START, "the other demonstration"


def test_a_hand_that_cannot_release_the_part_begins_the_next_subtask_after_all(make):
    skills = make((OPEN, line(0.0, 100)), (CLOSE, line(1.0, 100)))
    path = line(0.0, 100)
    chunk(skills, OPEN, path[68], path[66])
    starts = [chunk(skills, CLOSE, path[80], path[78])[0] for _ in range(PATIENCE + 1)]
    assert starts[:PATIENCE] == [80] * PATIENCE
    assert 100 <= starts[PATIENCE] < 100 + START


def test_a_subtask_without_demonstration_is_named(make):
    with pytest.raises(RuleSafeError, match=r"no demonstration of door\+"):
        chunk(make((OPEN, line(0.0, 10))), DOOR, np.zeros(13))


def test_only_one_episode_at_a_time_and_only_a_given_subtask(make):
    skills = make((OPEN, line(0.0, 10)))
    with pytest.raises(RuleSafeError, match="execute a given subtask"):
        chunk(skills, None, np.zeros(13))
    with pytest.raises(ValueError, match="one episode at a time, got 2"):
        skills.sample(Batch(torch.zeros(2, 3, 13), subtask=torch.tensor([0, 0])))


@pytest.mark.parametrize("most", [1, 6])
def test_whole_demonstrations_of_each_subtask_after_each_other_one_are_stored(
    labelled, tmp_path, most
):
    store = EpisodeStore(labelled)
    config, absolute = SkillsConfig(demonstrations=most), TrainConfig(actions="absolute")
    skills = Skills(config, MemoryShape())
    windows = ObservationWindows(
        store, [0, 1, 2], config, NoMemory(), absolute, tmp_path, encoder=skills.encoder
    )
    skills.store_demonstrations(windows)
    labels = np.concatenate([store.episode(i)["subtask_index"] for i in range(3)])
    numbers = np.append(0, np.cumsum((np.diff(labels) != 0) | (np.diff(windows.first) != 0)))
    kept = np.unique(skills.demonstration.numpy())
    rows = np.isin(numbers, kept)
    assert len(skills.joints) == skills.config.stored == rows.sum(), "whole demonstrations"
    batch = windows.batch(np.flatnonzero(rows))
    assert torch.equal(skills.joints, batch.joints[:, -1].half())
    assert torch.equal(skills.actions, batch.actions[:, 0].half())
    assert torch.equal(skills.pair % len(SUBTASKS), batch.subtask)
    kinds = Counter()
    for number in kept:
        start = int(np.flatnonzero(numbers == number)[0])
        same = start > 0 and windows.first[start] == windows.first[start - 1]
        row = int(np.flatnonzero(skills.demonstration == number)[0])
        kinds[int(skills.pair[row]), int(labels[start - 1]) if same else -1] += 1
        before = windows.first[:start] == windows.first[start]
        opened = [list(SUBTASKS)[label] for label in labels[:start][before]]
        parts = [part for part in ("knob", "handle", "door") if open_last(part, opened)]
        assert int(skills.phases[row]) == sum(PARTS[part] for part in parts)
    assert max(kinds.values()) <= most, kinds
    again = Skills(skills.config, MemoryShape())
    again.load_state_dict(skills.state_dict())
    assert torch.equal(again.joints, skills.joints)


def test_the_stored_demonstrations_are_typical():
    """Of ten demonstrations of pair 3, five after pair 1 and five after no other, one of each
    begins elsewhere and one of each ends elsewhere; two demonstrations of pair 1."""
    pairs, before = np.array([3] * 10 + [1, 1]), np.array([1, -1] * 5 + [-1, 3])
    starts, ends = (np.zeros((12, 13)) for _ in range(2))
    starts[:10:2, 0] = 0.5  # where pair 1 ends
    starts[[0, 1], 0] += 2
    ends[[2, 3], 0] = 2
    starts[4:10, 1] = 0.01 * np.arange(6)
    chosen = typical(pairs, before, starts, ends, 3)
    assert set(chosen) == {4, 6, 8, 5, 7, 9, 10, 11}
    assert set(typical(pairs, before, starts, ends, 9)) == set(range(12))
