"""Observations: what was asked, of the present instant, and nothing rendered for nothing."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.cloud import Workspace
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.transforms import apply, inverse
from rulesafe_render.renderer import CameraRig
from rulesafe_sim.observer import JOINT_KEYS, Observer
from rulesafe_sim.simulation import HOME_ACTION, Simulation

JOINTS = ("joint_positions", "all_joint_positions")
RAISED = HOME_ACTION + np.where(np.arange(13) == 3, -0.6, 0.0)
"""The elbow bent, which lifts the hand into the middle of both pictures."""


def make(*, seed: int = 0, safe: str = "safe_01") -> SimpleNamespace:
    simulation = Simulation()
    simulation.reset("rule_001", safe, seed)
    return SimpleNamespace(simulation=simulation, observer=Observer(simulation))


@pytest.fixture
def rendered() -> SimpleNamespace:
    return make()


@pytest.fixture
def pictures_taken(monkeypatch) -> Counter:
    """Counts the pictures by camera."""
    counts: Counter = Counter()
    take = CameraRig.take

    def counted(rig, poses, *names):
        counts.update(names or rig.names)
        take(rig, poses, *names)

    monkeypatch.setattr(CameraRig, "take", counted)
    return counts


def test_joint_positions_are_those_of_the_state():
    made = make()
    made.simulation.step(HOME_ACTION + 0.1)
    seen, state = made.observer.observe(JOINTS), made.simulation.state()
    np.testing.assert_array_equal(
        seen["all_joint_positions"], state.joint_positions.astype(np.float32)
    )
    for index, name in enumerate(ACTION_JOINTS):
        assert seen["joint_positions"][index] == seen["all_joint_positions"][ALL_JOINTS.index(name)]


def test_unknown_keys_are_refused_with_the_valid_ones():
    with pytest.raises(RuleSafeError, match="front"):
        make().observer.observe(("depth",))


def test_an_observer_needs_a_scene():
    with pytest.raises(RuleSafeError, match="reset"):
        Observer(Simulation())


def test_an_observer_of_an_old_scene_says_so():
    made = make()
    made.simulation.reset("rule_001", "safe_01", 1)
    with pytest.raises(RuleSafeError, match="new Observer"):
        made.observer.observe(JOINTS)


def test_shapes_and_types(rendered):
    seen = rendered.observer.observe()
    assert tuple(seen) == ("head", "front", "points", *JOINT_KEYS)
    found = {key: (value.shape, value.dtype) for key, value in seen.items()}
    assert found == {
        "head": ((224, 224, 3), np.uint8),
        "front": ((224, 224, 3), np.uint8),
        "points": ((1024, 6), np.float32),
        "joint_positions": ((13,), np.float32),
        "all_joint_positions": ((39,), np.float32),
    }


def test_each_camera_takes_one_picture_and_only_when_asked(rendered, pictures_taken):
    rendered.observer.observe(JOINTS)
    rendered.simulation.step(HOME_ACTION)
    assert not pictures_taken
    rendered.observer.observe(("front",))
    assert pictures_taken == {"front": 1}
    rendered.observer.observe(("head", "points"))
    assert pictures_taken == {"front": 1, "head": 1}
    rendered.observer.observe()
    assert pictures_taken == {"front": 2, "head": 2}


def test_the_same_instant_looks_the_same_in_another_scene():
    first, second = (make(seed=3) for _ in range(2))
    for made in (first, second):
        made.simulation.step(RAISED)
    second.observer.observe()  # looking once more changes nothing
    one, other = first.observer.observe(), second.observer.observe()
    for key in (*DEFAULT_CAMERAS.keys, *JOINT_KEYS):
        np.testing.assert_array_equal(one[key], other[key])


def test_pictures_follow_the_arm(rendered):
    before = rendered.observer.observe()
    for _ in range(10):
        rendered.simulation.step(RAISED)
    after = rendered.observer.observe()
    for key in ("head", "front"):
        changed = np.abs(after[key].astype(int) - before[key]).max(-1) > 40
        assert changed.mean() > 0.01, key
    height = [np.sort(seen["points"][_near_hand(seen), 2])[-10] for seen in (before, after)]
    assert height[1] > height[0] + 0.05


def _near_hand(seen) -> np.ndarray:
    """Points clearly in front of the safe: the hand's and the arm's."""
    return (seen["points"][:, 0] < 0.45) & (seen["points"][:, 3:].max(1) > 0)


@pytest.mark.parametrize("safe", ["safe_01", "safe_02"])
def test_the_cloud_lies_on_the_safe_where_it_stands(safe):
    made = make(seed=5, safe=safe)
    points = made.observer.observe(("points",))["points"]
    assert Workspace().contains(points[:, :3]).all()
    assert (points[:, 3:] >= 0).all() and (points[:, 3:] <= 1).all()
    in_safe = apply(inverse(made.simulation.pose_safe_in_pelvis), points[:, :3])
    case = made.simulation.safe.case
    half = np.array([case.width, case.height]) / 2
    face = (np.abs(in_safe[:, 0]) < 0.003) & (np.abs(in_safe[:, 1:]) < half).all(1)
    assert face.sum() > 150
    on_face = in_safe[face, 1:] / half
    assert (on_face.max(0) > 0.85).all() and (on_face.min(0) < -0.85).all()


def test_observations_do_not_share_memory(rendered):
    first = rendered.observer.observe()
    kept = {key: value.copy() for key, value in first.items()}
    rendered.simulation.step(RAISED)
    second = rendered.observer.observe()
    for key in (*DEFAULT_CAMERAS.keys, *JOINT_KEYS):
        assert not np.shares_memory(first[key], second[key])
        np.testing.assert_array_equal(first[key], kept[key])


@pytest.mark.parametrize("key", DEFAULT_CAMERAS.keys)
def test_each_rendered_observation_works_alone(rendered, key):
    assert rendered.observer.observe((key,))[key].std() > 0.05
