"""Demonstrations and evaluations at other speeds of the arm."""

import numpy as np
import pytest

from policy_node.policy import CHUNK, Needs, Observation
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import INDEX_KEYS
from rulesafe_data.store import EpisodeStore
from rulesafe_data.writer import DatasetWriter, EpisodeData, Frame
from rulesafe_eval.conditions import Conditions
from rulesafe_eval.request import Setup
from rulesafe_sim.episodes import Episode
from rulesafe_studies.evaluation import StudyAgent, StudyRunner, evaluate
from rulesafe_studies.speeds import Paced, interpolated, join, random_speeds
from vq_memory_node.memory import NoMemory

LENGTH = 60


class Ramp:
    """Moves all joints by `step` rad per frame of its clock from the present posture."""

    needs = Needs(frames=3)

    def __init__(self, step=0.01):
        self.step, self.seen = step, []

    def reset(self):
        self.seen.append([])

    def infer(self, observation):
        self.seen[-1].append(observation.joints)
        ahead = np.arange(1, CHUNK + 1)[:, None] * self.step
        return (observation.joints[-1] + ahead).astype(np.float32)


@pytest.mark.parametrize("speed", [0.5, 0.7, 1.0, 1.4])
def test_joints_and_chunks_are_those_of_another_clock(speed):
    policy = Ramp()
    policy.reset()
    paced = Paced(policy)
    paced.speed = speed
    frames = paced.needs.frames
    joints = np.tile(np.arange(frames, dtype=np.float32)[:, None], (1, 13))  # 1 rad per frame
    chunk = paced.infer(Observation(joints))
    seen = policy.seen[-1][-1]
    assert seen.shape == (3, 13) and seen.dtype == np.float32
    np.testing.assert_allclose(np.diff(seen, axis=0), 1 / speed, rtol=1e-6)
    np.testing.assert_allclose(np.diff(chunk, axis=0), 0.01 * speed, atol=1e-6)
    np.testing.assert_allclose(chunk[0] - joints[-1], 0.01 * speed, atol=1e-6)
    assert len(chunk) == min(CHUNK, int(CHUNK / speed))
    if speed == 1:
        assert np.array_equal(chunk, policy.infer(Observation(joints)))
        assert np.array_equal(seen, joints[-3:])


def test_needs_and_attributes_are_those_of_the_policy():
    class Clouds(Ramp):
        needs = Needs(frames=3, points=8, clouds=1)
        subtask = 4

    paced = Paced(Clouds())
    assert paced.needs == Needs(frames=5, points=8, clouds=1) and paced.subtask == 4
    assert Paced(Ramp()).needs.cloud_frames == 0


@pytest.fixture
def data(tmp_path):
    """A dataset of two episodes whose joints move by 0.01 rad per frame."""
    writer = DatasetWriter(tmp_path / "data")
    for index in range(2):
        path = np.tile(np.arange(LENGTH + 1)[:, None] * 0.01, (1, 39))
        clouds = [np.full((4, 6), frame, np.float32) for frame in range(LENGTH)]
        writer.write(
            index,
            EpisodeData(
                *("open it", path[:-1], np.full((LENGTH, 39), 0.1), path[1:, :13]),
                frames=iter([Frame(points=cloud) for cloud in clouds]),
                privileged={"step": np.arange(LENGTH) // 10},
                facts={"seed": index},
                subtasks=np.arange(LENGTH) // 20,
            ),
        )
    writer.finish()
    return tmp_path / "data"


def test_stretched_demonstrations_are_the_same_motion_at_another_speed(data, tmp_path):
    join((data,), tmp_path / "out", 0.7, 1.4)
    join((data,), tmp_path / "out", 0.7, 1.4)  # resumed: nothing is left to do
    with pytest.raises(RuleSafeError, match="begun with other arguments; use another folder"):
        join((data,), tmp_path / "out", 0.7, 1.4, seed=1)
    before, after = EpisodeStore(data), EpisodeStore(tmp_path / "out")
    wanted = random_speeds(2, 0.7, 1.4, 0)
    assert len(set(wanted)) == 2 and all(0.7 <= speed <= 1.4 for speed in wanted)
    for index, speed in enumerate(wanted):
        episode, frames = after.episode(index), np.arange(0, LENGTH - max(speed, 1), speed)
        assert after.privileged.facts(index) == {"seed": index, "speed": speed}
        assert after.episodes[index].length == len(frames)
        np.testing.assert_allclose(
            episode["observation.all_joint_positions"][:, 0], 0.01 * frames, atol=1e-6
        )
        np.testing.assert_allclose(episode["observation.velocity"], 0.1 * speed, rtol=1e-6)
        moved = episode["action"][1:-1, 0] - 0.01 * frames[2:]
        np.testing.assert_allclose(moved, 0, atol=1e-6, err_msg="the next frame's position")
        rows = frames.astype(int)
        np.testing.assert_array_equal(episode["observation.points"][:, 0, 0], rows)
        np.testing.assert_array_equal(episode["subtask_index"], rows // 20)
        np.testing.assert_array_equal(after.privileged.frames(index)["step"], rows // 10)
    assert before.versions == after.versions


def test_joined_datasets_keep_all_frames_of_their_episodes(data, tmp_path):
    join((data, data), tmp_path / "out")
    before, after = EpisodeStore(data), EpisodeStore(tmp_path / "out")
    assert [episode.length for episode in after.episodes] == [LENGTH] * 4
    for index in range(4):
        assert after.privileged.facts(index)["seed"] == index % 2
        for key, wanted in before.episode(index % 2).items():
            if key not in INDEX_KEYS:
                np.testing.assert_array_equal(after.episode(index)[key], wanted, err_msg=key)


def test_datasets_that_do_not_belong_together_are_refused(data, tmp_path):
    writer = DatasetWriter(tmp_path / "other", versions={"physics": "1", "renderer": "1"})
    path = np.zeros((LENGTH, 39))
    cloud = np.zeros((4, 6), np.float32)
    frames = iter([Frame(points=cloud)] * LENGTH)
    writer.write(0, EpisodeData("open it", path, path, path[:, :13], frames=frames))
    writer.finish()
    with pytest.raises(RuleSafeError, match="are of other versions"):
        join((data, tmp_path / "other"), tmp_path / "out")
    with pytest.raises(RuleSafeError, match="at least one is needed"):
        join((), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_interpolation_ends_with_the_last_row():
    rows = np.array([[0.0], [2.0]])
    found = interpolated(rows, np.array([0, 0.25, 1, 3]))
    np.testing.assert_array_equal(found, np.float32([[0], [0.5], [2], [2]]))


def test_invalid_speeds_are_refused(data, tmp_path):
    with pytest.raises(RuleSafeError, match="valid: 0 < low <= high"):
        join((data,), tmp_path / "out", 1.4, 0.7)
    for low, high in ((0.4, 1.0), (1.4, 0.7)):
        with pytest.raises(RuleSafeError, match=r"valid: from 0\.5, ascending"):
            evaluate("two_level_all_rules", tmp_path / "eval", Conditions(), speeds=(low, high))


@pytest.mark.episode
def test_each_episode_has_its_speed(tmp_path):
    """The arm moves as fast as the results say."""
    found = {}
    for seed in (0, 1):
        policy = Ramp(0.002)
        agent = StudyAgent(policy, NoMemory(), 10)
        runner = StudyRunner(Setup("ramp"), speeds=(0.7, 1.4))
        line = runner.play(agent, tmp_path, Episode("rule_002", "safe_02", seed, time_limit=4.0))
        (speed,) = random_speeds(1, 0.7, 1.4, seed)
        assert line["speed"] == speed
        elbow = [joints[-1, 3] for joints in policy.seen[-1]]
        found[speed] = elbow[-1] - elbow[1]
    slow, fast = sorted(found)
    assert found[fast] / found[slow] == pytest.approx(fast / slow, rel=0.1)
