import json
import os
from dataclasses import replace

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.model_files import (
    ARRAY_FILE,
    JSON_FILE,
    Architecture,
    Layer,
    MemoryModel,
    check,
    load_model,
    save_model,
)
from vq_memory_node.tokenizers import load_tokenizer


@pytest.fixture
def folder(random_model, tmp_path):
    """A copy of a model, which tests may damage."""
    return random_model(tmp_path / "model", 5)


def change(folder, **values):
    """Overwrite values in model.json."""
    path = folder / JSON_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_what_was_saved_is_loaded(folder, tmp_path):
    model = load_model(folder)
    assert model.clusterings == (2, 4, 32, 256)
    same = MemoryModel(model.architecture, model.arrays, training={"seed": 3, "notes": ["a"]})
    save_model(same, tmp_path / "copy")
    again = load_model(tmp_path / "copy")
    assert again.training == {"seed": 3, "notes": ["a"]}
    assert again.architecture == model.architecture
    assert again.hash == model.hash
    for name, array in model.arrays.items():
        np.testing.assert_array_equal(array, again.arrays[name])


def test_the_hash_tells_models_apart(folder):
    model = load_model(folder)
    bias = model.arrays["encoder.out.bias"].copy()
    bias[0] = np.nextafter(bias[0], np.float32(9))
    changed = MemoryModel(model.architecture, {**model.arrays, "encoder.out.bias": bias})
    renamed = MemoryModel(model.architecture, model.arrays, joints=ACTION_JOINTS[::-1])
    assert len({model.hash, changed.hash, renamed.hash}) == 3


def test_a_model_for_other_joints_is_refused_by_name(folder, tmp_path):
    model = load_model(folder)
    joints = ("left_elbow_joint", *ACTION_JOINTS[1:])
    save_model(MemoryModel(model.architecture, model.arrays, joints=joints), tmp_path / "left")
    with pytest.raises(RuleSafeError, match=r"other joints: left_elbow_joint, .*; expected right_"):
        load_tokenizer(tmp_path / "left")
    assert load_tokenizer(tmp_path / "left", joints=joints).joints == joints


def test_a_model_for_other_windows_is_refused(folder):
    with pytest.raises(RuleSafeError, match="windows of 50 frames at 10 Hz; expected 30"):
        load_model(folder, window=30)
    change(folder, rate=20)
    with pytest.raises(RuleSafeError, match="at 20 Hz; expected 50 frames at 10 Hz"):
        load_model(folder)


def test_unknown_names_are_rejected(tmp_path):
    with pytest.raises(RuleSafeError, match="no model 'nobody'; valid: "):
        load_model("nobody")
    with pytest.raises(RuleSafeError, match="no model"):
        load_model(tmp_path)


def test_damaged_files_are_refused_with_the_reason(folder):
    arrays, about = folder / ARRAY_FILE, folder / JSON_FILE
    complete = arrays.read_bytes()
    arrays.write_bytes(complete[: len(complete) // 2])
    with pytest.raises(RuleSafeError, match=r"safetensors is damaged"):
        load_model(folder)
    flipped = bytearray(complete)
    flipped[-3] ^= 1
    arrays.write_bytes(bytes(flipped))
    with pytest.raises(RuleSafeError, match="do not match: hash of the model"):
        load_model(folder)
    arrays.unlink()
    with pytest.raises(RuleSafeError, match=r"model\.safetensors is missing"):
        load_model(folder)
    os.mkfifo(arrays)
    with pytest.raises(RuleSafeError, match=r"model\.safetensors is a named pipe"):
        load_model(folder)
    arrays.unlink()
    arrays.write_bytes(complete)
    load_model(folder)
    about.write_text("{")
    with pytest.raises(RuleSafeError, match="is not the description"):
        load_model(folder)
    about.write_text("[]")
    with pytest.raises(RuleSafeError, match="must be an object"):
        load_model(folder)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"format": "rulesafe memory model 9"}, "format 'rulesafe memory model 9'; valid"),
        ({"architecture": {"kind": "vq"}}, "invalid or incomplete: KeyError"),
        ({"window": "many"}, "invalid or incomplete: ValueError"),
        ({"joints": None}, "invalid or incomplete: TypeError"),
    ],
)
def test_invalid_descriptions_are_rejected(folder, values, reason):
    change(folder, **values)
    with pytest.raises(RuleSafeError, match=reason):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"layers": (Layer(8, 5, 0),)}, "stride of layer 0 is 0; valid: an integer of 1 or more"),
        ({"layers": (Layer(8, 5, "2"),)}, "stride of layer 0 is '2'"),
        ({"layers": ()}, "the encoder has no layers"),
        ({"dimensions": True}, "dimensions is True"),
    ],
)
def test_architectures_that_are_not_valid_are_refused(folder, changes, reason):
    model = load_model(folder)
    with pytest.raises(RuleSafeError, match=reason):
        check(replace(model, architecture=replace(model.architecture, **changes)), "here")


def test_a_number_of_clusters_that_is_none_is_refused(folder):
    model = load_model(folder)
    arrays = {**model.arrays, "clusters.many": model.arrays["clusters.4"]}
    with pytest.raises(RuleSafeError, match=r"clusters\.many must end in a number"):
        check(replace(model, arrays=arrays), "here")


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("codebook", lambda a: a[:100], r"codebook is float32 \(100, 32\), expected"),
        ("codebook", lambda a: a.astype(np.float64), r"codebook is float64"),
        ("normaliser.std", lambda a: 0 * a, "must be above 0"),
        ("encoder.out.bias", lambda a: a * np.nan, "encoder.out.bias contains NaN or infinity"),
        ("clusters.4", lambda a: a + 1, r"must lie in 0 \.\. 3"),
        ("usage", lambda a: None, "the array usage is missing"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(folder, tmp_path, name, make, reason):
    model = load_model(folder)
    arrays = {**model.arrays, name: make(model.arrays[name])}
    arrays = {key: array for key, array in arrays.items() if array is not None}
    with pytest.raises(RuleSafeError, match=reason):
        save_model(MemoryModel(model.architecture, arrays), tmp_path / "other")


def test_frames_after_each_layer():
    assert Architecture().frames(50) == [50, 23, 10, 4]
    assert Architecture(layers=(Layer(8, 50, 1),)).frames(50) == [50, 1]
