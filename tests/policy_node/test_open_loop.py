"""Open-loop errors of chunks at the frames of demonstrations."""

import numpy as np
import pytest

from policy_node.open_loop import Errors, evenly_spaced, measure, report
from policy_node.policy import CHUNK, Needs
from rulesafe_cli import cli
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import ACTION
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import RawMemory

LENGTH, EVERY = 60, 12


class Knowing:
    """Returns the demonstrated actions, with one joint changed by `off` rad."""

    needs = Needs(frames=2, points=8, images=True, instruction=True, memory=True)
    memory = RawMemory(length=5)

    def __init__(self, store, joint=0, off=0.0):
        self._store, self._off = store, np.zeros(13)
        self._off[joint] = off
        self.began, self.seen = 0, []

    def reset(self):
        self.began += 1
        self.seen.append([])

    def infer(self, observation):
        assert observation.points.shape == (2, 8, 6) and len(observation.images) == 2
        actions = self._store.episode(self.began - 1, [ACTION])[ACTION]
        ahead = len(self.seen[-1]) * EVERY + np.arange(CHUNK)
        self.seen[-1].append(observation)
        return actions[np.minimum(ahead, LENGTH - 1)] + self._off


@pytest.fixture
def store(small_demos):
    return EpisodeStore(small_demos)


def test_who_does_the_same_is_off_by_nothing(store):
    policy = Knowing(store)
    found = measure(policy, store, [0, 1], EVERY)
    assert found.hand.shape == found.fingers.shape == (2 * LENGTH / EVERY, CHUNK)
    assert np.nanmax(found.hand) < 1e-6 and np.nanmax(found.fingers) == 0
    there = np.isfinite(found.hand).sum(1)
    assert there.tolist() == 2 * [50, 48, 36, 24, 12], "no errors after the end"
    first, second = (episode[-1].joints for episode in policy.seen)
    assert policy.began == 2 and not np.array_equal(first, second)
    held = policy.seen[0][-1].memory
    assert held.mask.sum() == 3 and (held.values[-1] == first[-1]).all(), "past values only"
    assert [episode[0].instruction for episode in policy.seen] == [e.task for e in store.episodes]


def test_a_joint_that_is_off_shows_where_it_matters(store):
    finger = measure(Knowing(store, joint=12, off=-0.2), store, [0], EVERY)
    assert np.nanmax(finger.hand) < 1e-6
    np.testing.assert_allclose(finger.fingers[0], 0.2, atol=1e-6)
    elbow = measure(Knowing(store, joint=3, off=0.1), store, [0], EVERY)
    assert np.nanmax(elbow.fingers) == 0
    assert ((elbow.hand[0] > 0.02) & (elbow.hand[0] < 0.06)).all(), "0.1 rad at a forearm's length"
    text = report(elbow)
    assert text.startswith("| step of the chunk | hand error, mm | finger error, rad |")
    assert f"| 0 | {1000 * np.median(elbow.hand[:, 0]):.1f} (" in text
    assert "task step" not in text, "this dataset does not contain it"


def test_the_command_says_whose_chunks_and_on_what(store, tmp_path, capsys):
    pytest.importorskip("torch")
    out = tmp_path / "policy"
    words = ["--policy", "dp3", "--memory", "raw", "--steps", "2", "--batch", "2", "--out", out]
    assert cli.main(["policy", "train", str(store.root), *map(str, words)]) == 0
    capsys.readouterr()
    assert cli.main(["policy", "open-loop", str(out), str(store.root), "--rules", "rule_020"]) == 0
    head, _, table, *_ = capsys.readouterr().out.splitlines()
    assert head.startswith(f"{out}: 5 chunks in 1 of 1 episodes of {store.root}, its training data")
    assert table.startswith("| step of the chunk")
    assert cli.main(["policy", "open-loop", str(out), str(store.root), "--rules", "rule_002"]) == 2
    assert "has no demonstration of rule_002" in capsys.readouterr().err


def test_what_cannot_be_compared_is_said(store):
    assert evenly_spaced([4, 5, 6, 7, 8], 3) == [4, 6, 8] and evenly_spaced([4, 5], 9) == [4, 5]
    with pytest.raises(RuleSafeError, match="--episodes must be 1"):
        evenly_spaced([4], 0)
    with pytest.raises(RuleSafeError, match="--every must be 1"):
        measure(Knowing(store), store, [0], 0)
    policy = Knowing(store)
    policy.needs = Needs(points=257)
    with pytest.raises(RuleSafeError, match="n >= 257"):
        measure(policy, store, [0], EVERY)
    policy.infer = lambda observation: None
    policy.needs = Needs()
    with pytest.raises(RuleSafeError, match=r"must return an array \(50, 13\).* it returned None"):
        measure(policy, store, [0], EVERY)
    policy.infer = lambda observation: observation.pictures
    with pytest.raises(RuleSafeError, match="AttributeError") as raised:
        measure(policy, store, [0], EVERY)
    assert str(raised.value).count("File") == 1, "the policy's line, and none of this package"


def test_steps_after_the_end_of_all_episodes_are_not_reported():
    hand = np.full((2, CHUNK), 0.001)
    hand[:, 20:] = np.nan
    unknown = np.full(2, -1)
    text = report(Errors(hand, hand, np.zeros(2, np.int64), unknown, unknown))
    assert "| 11 | 1.0 (1.0) |" in text and "nan" not in text
