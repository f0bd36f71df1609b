"""The grasps of demonstrations: where the hand closes, and where it opens again."""

import numpy as np

from policy_node.grasps import grasp_poses
from policy_node.safe_frame import ArmChain

OPEN, CLOSED = np.zeros(6), np.ones(6)


def episode(*grasps, length=60):
    """Actions (N, 13) whose arm moves evenly; the hand is closed in frames of `grasps`, pairs."""
    arm = np.tile(np.arange(length)[:, None] * 0.01, (1, 7))
    fingers = np.tile(OPEN, (length, 1))
    for close, opened in grasps:
        fingers[close:opened] = CLOSED
    return np.hstack([arm, fingers]).astype(np.float32)


def frames_of(actions, ignored=None, first=None):
    """Return the frames at which the hand closes and opens again in each frame's grasp."""
    ignored = np.zeros(len(actions), bool) if ignored is None else ignored
    first = np.zeros(len(actions), int) if first is None else first
    found = grasp_poses(actions, first, ignored)
    bases = ArmChain().hand_pose(actions[:, :7].astype(float))[1]
    return [
        tuple(int(np.linalg.norm(bases - base, axis=1).argmin()) for base in (row[:3], row[12:15]))
        for row in found
    ]


def test_a_grasp_lasts_from_one_release_to_the_next():
    found = frames_of(episode((10, 20), (35, 50)))
    assert found == [(10, 20)] * 21 + [(35, 50)] * 39


def test_the_last_grasp_may_end_with_the_episode():
    assert frames_of(episode((10, 20), (35, 60))) == [(10, 20)] * 21 + [(35, 59)] * 39


def test_ignored_grasps_belong_to_the_grasp_after_them():
    """A miss, and the release of what the hand held at the end of a miss, do not count."""
    ignored = np.zeros(60, bool)
    ignored[15:25] = True
    assert set(frames_of(episode((18, 27), (35, 50)), ignored)) == {(35, 50)}
    ignored[:] = False
    ignored[:12] = True  # the hand was closed when the correction began
    assert set(frames_of(episode((8, 14), (35, 50)), ignored)) == {(35, 50)}


def test_episodes_do_not_share_grasps():
    actions = np.concatenate([episode((10, 20)), episode((30, 40), (45, 50))])
    found = frames_of(actions, first=np.repeat([0, 60], 60))
    assert found[:60] == [(10, 20)] * 60
    assert found[60:] == [(30, 40)] * 41 + [(45, 50)] * 19


def test_a_hand_that_never_closes_has_one_grasp():
    assert len(set(frames_of(episode()))) == 1
