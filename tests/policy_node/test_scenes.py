"""Random scenes, and the accuracy of the shipped encoder on them."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from policy_node.scene_encoder import QUANTITIES, errors, load_encoder
from policy_node.scenes import POSTURES, make_scenes, recordings
from rulesafe_core.errors import RuleSafeError
from rulesafe_demos.attempts import make_request
from rulesafe_demos.perform import perform
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import Simulation


@pytest.fixture(scope="module")
def postures(tmp_path_factory):
    try:
        Simulation().reset("rule_001", "safe_01", 0)
    except RuleSafeError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("demos")
    request = make_request("rule_002", 1, None, "safe_02", "varied", 0, "habitual")
    perform(folder, request, replace(request.episode("rule_002", 0), seed=20000))
    return recordings([folder])


def test_a_scene_shows_what_it_tells(postures):
    scenes = make_scenes(postures, ("safe_02", "safe_07"), places=2)
    assert scenes.inputs.shape == (4 * POSTURES, 1024, 6) and scenes.seen.shape == (
        12,
        len(QUANTITIES),
    )
    assert scenes.safe.tolist() == [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3
    for number in range(0, 12, POSTURES):
        places = scenes.seen[number : number + POSTURES, :4]
        assert np.all(places == places[0])
        safe = load_safe(scenes.safes[scenes.safe[number]])
        limit = [safe.parts[part].range for part in ("knob", "handle", "door")]
        parts = scenes.seen[number : number + POSTURES, 4:]
        assert np.all((parts >= 0) & (parts <= np.float32(limit)))
    assert len(np.unique(scenes.seen[:, 0])) == 4


def test_the_same_seed_gives_the_same_scenes(postures):
    first, again = (make_scenes(postures, ("safe_03",), places=1, seed=5) for _ in range(2))
    assert np.array_equal(first.inputs, again.inputs) and np.array_equal(first.seen, again.seen)
    other = make_scenes(postures, ("safe_03",), places=1, seed=6)
    assert not np.array_equal(first.seen, other.seen)


def test_the_packaged_encoder_sees_where_safes_stand(postures):
    """Errors are below a tenth of the ranges, and safes are identified."""
    scenes = make_scenes(postures, SAFES, places=2, seed=77)
    off, known = errors(load_encoder("ten_safes"), scenes)
    assert np.median(off[:, :3]) < 0.005 and np.median(off[:, 3]) < 0.02
    assert known > 0.9


def test_the_packaged_encoder_of_images_sees_where_safes_stand(postures):
    """At the poses of `nominal`, for which it was trained."""
    scenes = make_scenes(postures, SAFES, places=2, split="nominal", seed=77, images=True)
    assert scenes.inputs.shape == (60, 2, 112, 112, 3) and scenes.image_size == 112
    off, known = errors(load_encoder("ten_safes_images"), scenes)
    assert np.median(off[:, :3]) < 0.003 and np.median(off[:, 3]) < 0.015
    assert known > 0.95


def test_without_recordings_there_are_no_scenes(tmp_path):
    with pytest.raises(RuleSafeError, match="no recordings in"):
        recordings([tmp_path])
