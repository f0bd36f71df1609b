import json

import numpy as np
import pytest

from policy_node.normaliser import (
    FLOOR,
    Normaliser,
    fit_absolute,
    fit_relative,
    min_max,
    normaliser_from,
)
from policy_node.policy import CHUNK
from rulesafe_core.errors import RuleSafeError

PAST = 2


@pytest.fixture(scope="module")
def paths():
    """Return joints and actions of three episodes."""
    rng = np.random.default_rng(0)
    walks = [np.cumsum(rng.normal(0, 0.05, (n, 13)), 0).astype(np.float32) for n in (80, 60, 9)]
    for walk in walks:
        walk[:, 12] = 1.174  # a joint that does not move
    return [walk[:-1] for walk in walks], [walk[1:] for walk in walks]


def fitted(kind, paths):
    joints, actions = paths
    if kind == "absolute":
        return fit_absolute(actions)
    return fit_relative(joints, actions, PAST)


def windows(paths):
    """Return the targets (F, P + 50, 13) and postures (F, 13) of all windows."""
    targets, now = [], []
    for joints, actions in zip(*paths, strict=True):
        for t in range(len(joints)):
            rows = np.clip(t + np.arange(-PAST, CHUNK), 0, len(actions) - 1)
            targets.append(actions[rows])
            now.append(joints[t])
    return np.stack(targets), np.stack(now)


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_a_chunk_comes_back_and_lies_within_one(kind, paths):
    actions = fitted(kind, paths)
    targets, now = windows(paths)
    values = actions.encode(targets, now)
    assert values.dtype == np.float32
    assert np.abs(values).max() <= 1 + 1e-5
    np.testing.assert_allclose(actions.decode(values[:, PAST:], now), targets[:, PAST:], atol=1e-5)


def test_relative_actions_do_not_change_where_the_arm_is_elsewhere(paths):
    actions = fitted("relative", paths)
    targets, now = windows(paths)
    moved = actions.encode(targets + np.float32(0.3), now + np.float32(0.3))
    np.testing.assert_allclose(moved, actions.encode(targets, now), atol=1e-4)


def test_a_joint_that_stands_still_is_not_blown_up(paths):
    assert fit_absolute(paths[1]).scaling.scale[12] == pytest.approx(FLOOR)


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_it_comes_back_from_json_to_the_bit(kind, paths):
    rows = np.concatenate(paths[0])
    normaliser = Normaliser(min_max(rows.min(0), rows.max(0)), fitted(kind, paths))
    again = normaliser_from(json.loads(json.dumps(normaliser.as_json())), PAST)
    assert again.actions.kind == kind
    for was, now in (
        (normaliser.joints, again.joints),
        (normaliser.actions.scaling, again.actions.scaling),
    ):
        np.testing.assert_array_equal(was.offset, now.offset)
        np.testing.assert_array_equal(was.scale, now.scale)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda about: about.pop("joints"), "not valid"),
        (lambda about: about["joints"]["scale"].pop(), "expected"),
        (lambda about: about["joints"]["scale"].__setitem__(0, 0.0), "above 0"),
        (lambda about: about["actions"].update(kind="torque"), "valid: absolute, relative"),
    ],
)
def test_a_damaged_one_is_refused(change, words, paths):
    rows = np.concatenate(paths[0])
    about = Normaliser(min_max(rows.min(0), rows.max(0)), fitted("absolute", paths)).as_json()
    change(about)
    with pytest.raises(RuleSafeError, match=words):
        normaliser_from(about, PAST)


@pytest.mark.parametrize("margin", [0.25, np.linspace(0.1, 0.4, 13, dtype=np.float32)])
def test_the_margin_extends_the_range_of_each_joint_on_both_sides(margin, paths):
    plain = fit_relative(*paths, PAST).scaling
    wider = fit_relative(*paths, PAST, margin).scaling
    np.testing.assert_allclose(wider.offset, plain.offset, atol=1e-6)
    moves = plain.scale > FLOOR
    np.testing.assert_allclose(
        wider.scale[moves], (plain.scale + np.broadcast_to(margin, 13))[moves], rtol=1e-5
    )
    assert moves[:, :12].all()
    targets, now = windows(paths)
    noisy = now + np.float32(0.09)  # within the margin
    values = fit_relative(*paths, PAST, margin).encode(targets, noisy)
    assert np.abs(values).max() <= 1 + 1e-5
