"""Observations assembled from the parts of frames."""

import numpy as np
import pytest

from policy_node.history import KEPT, ObservationHistory
from policy_node.policy import NO_READING, Needs
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import Reading

CAMERAS = DEFAULT_CAMERAS.names

ALL = Needs(frames=3, points=8, images=True, instruction=True, memory=True)


def joints(frame):
    return np.full(13, frame / 10)


def cloud(frame):
    return np.random.default_rng(frame).uniform(0, 1, (20, 6))


def pictures(frame):
    return {
        camera: np.full((4, 5, 3), 10 * i + frame, np.uint8) for i, camera in enumerate(CAMERAS)
    }


def test_an_observation_shows_the_last_frames_oldest_first():
    history = ObservationHistory(ALL)
    for frame in range(6):
        history.push(frame, joints(frame), cloud(frame), pictures(frame))
    reading = Reading(np.arange(3), np.ones(3, bool))
    seen = history.observation(5, "open it", reading)
    assert seen.joints.dtype == seen.points.dtype == np.float32
    np.testing.assert_array_equal(seen.joints, np.float32([joints(f) for f in (3, 4, 5)]))
    np.testing.assert_array_equal(seen.points, np.float32([cloud(f)[:8] for f in (3, 4, 5)]))
    assert {c: seen.images[c].max() for c in CAMERAS} == {"head": 5, "front": 15}
    assert (seen.instruction, seen.memory) == ("open it", reading)
    earlier = history.observation(4, "open it", reading)
    np.testing.assert_array_equal(earlier.joints[1:], seen.joints[:2])


def test_images_have_the_size_of_their_cameras():
    history = ObservationHistory(Needs(images=True))
    head, front = (np.zeros((*size, 3), np.uint8) for size in ((480, 640), (224, 224)))
    head[:, 80:560] = 200
    history.push(0, joints(0), images={"head": head, "front": front})
    images = history.observation(0).images
    assert images["head"].shape == images["front"].shape == (224, 224, 3)
    assert (images["head"] == 200).all(), "the central square"


@pytest.mark.parametrize("first", [0, 7])
def test_the_first_frame_is_repeated_before_the_episode(first):
    history = ObservationHistory(ALL)
    history.push(100, joints(100))
    history.reset(first)
    for frame in (first, first + 1):
        history.push(frame, joints(frame), cloud(frame), pictures(frame))
        seen = history.observation(frame)
        np.testing.assert_array_equal(seen.joints[:2], np.float32([joints(first)] * 2))
        np.testing.assert_array_equal(seen.points[0], np.float32(cloud(first)[:8]))


def test_parts_may_come_in_any_order_and_only_where_they_are_shown():
    whole, parted = ObservationHistory(ALL), ObservationHistory(ALL)
    for frame in range(10):
        whole.push(frame, joints(frame), cloud(frame), pictures(frame))
        parted.push(frame, joints(frame))
    assert parted.missing(9) == ("points", *CAMERAS)
    parted.push(9, images=pictures(9))
    for frame in (9, 7, 8):
        assert "points" in parted.missing(9)
        parted.push(frame, points=cloud(frame))
    assert parted.missing(9) == ()
    np.testing.assert_array_equal(parted.observation(9).points, whole.observation(9).points)


def test_clouds_of_the_last_frames_alone():
    history = ObservationHistory(Needs(frames=3, points=8, clouds=1))
    for frame in range(3):
        history.push(frame, joints(frame))
    assert history.missing(2) == ("points",)
    history.push(2, points=cloud(2))
    seen = history.observation(2)
    assert seen.joints.shape == (3, 13) and np.allclose(seen.points, cloud(2)[None, :8])


def test_what_is_not_needed_is_not_asked_for_and_not_shown():
    history = ObservationHistory(Needs(frames=2))
    history.push(0, joints(0), cloud(0), pictures(0))
    seen = history.observation(0, "open it", Reading(np.arange(3), np.ones(3, bool)))
    assert seen.points is None and not seen.images
    assert (seen.instruction, seen.memory) == ("", NO_READING)


def test_old_frames_are_forgotten_and_given_arrays_may_change():
    history, row = ObservationHistory(Needs(frames=2)), joints(0)
    for frame in range(100):
        row[:] = frame
        history.push(frame, row)
    assert history.observation(99).joints[:, 0].tolist() == [98, 99]
    assert history.missing(99 - KEPT) == ()
    assert history.missing(50) == ("joints",)
    with pytest.raises(RuleSafeError, match="at frame 50 lacks: joints"):
        history.observation(50)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"points": np.zeros((7, 6))}, "n >= 8"),
        ({"points": np.zeros((9, 3))}, r"\(9, 3\)"),
        ({"points": np.full((9, 6), np.inf)}, "finite"),
        ({"images": {"rear": np.zeros((4, 5, 3), np.uint8)}}, "head, front"),
        ({"images": {"head": np.zeros((4, 5, 3))}}, "uint8"),
    ],
)
def test_nonsense_is_refused_and_nothing_of_it_taken(parts, reason):
    history = ObservationHistory(ALL)
    with pytest.raises(RuleSafeError, match=reason):
        history.push(0, **({"joints": joints(0)} | parts))
    assert history.missing(0) == ("joints", "points", *CAMERAS)


def test_a_policy_sees_at_least_one_frame():
    with pytest.raises(RuleSafeError, match=r"Needs\.frames must be at least 1, got 0"):
        ObservationHistory(Needs(frames=0))
    with pytest.raises(RuleSafeError, match=r"Needs.clouds must be 0\.\.2 \(Needs.frames\), got 3"):
        ObservationHistory(Needs(frames=2, points=8, clouds=3))


def test_no_part_survives_a_reset():
    history = ObservationHistory(ALL)
    for frame in range(4):
        history.push(frame, joints(frame), cloud(frame), pictures(frame))
    assert history.missing(3) == ()
    history.reset()
    for frame in range(4):
        assert history.missing(frame) == ("joints", "points", *CAMERAS)
