"""Joint positions are bit-identical when loaded from recordings, a dataset or a .parquet file."""

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.attempt_recording import read
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_data.states import export_states
from rulesafe_data.store import EpisodeStore
from rulesafe_data.tables import read_columns
from rulesafe_demos.render import Rendering, render
from vq_memory_node.trajectories import Trajectories, load_trajectories


@pytest.fixture
def forms(copied):
    """The same episodes as recordings, dataset and states."""
    from_recordings = load_trajectories(copied)
    render(copied, Rendering(copied, observations="joints"))
    export_states(copied, copied / "states.parquet")
    return from_recordings, load_trajectories(copied), load_trajectories(copied / "states.parquet")


def test_three_forms_give_the_same_episodes(forms):
    assert len({found.digest for found in forms}) == 1
    for found in forms:
        assert len(found) == 8 and found.rules == ("rule_001", "rule_020") * 4
        for positions, expected in zip(found.positions, forms[0].positions, strict=True):
            assert positions.dtype == np.float32 and positions.flags.c_contiguous
            assert positions.shape == expected.shape == (len(expected), 13)
            assert positions.tobytes() == expected.tobytes()
    recorded, dataset, states = forms
    assert recorded.safes == dataset.safes and set(recorded.safes) == {"safe_02", "safe_04"}
    for steps, expected in zip(dataset.steps, recorded.steps, strict=True):
        assert steps.dtype == np.int64 and np.array_equal(steps, expected)
    assert states.steps is None and set(states.safes) == {""}


def test_positions_are_those_of_the_named_joints_before_each_action(recordings):
    found = load_trajectories(recordings)
    recording = read(DemoFolder(recordings).file("rule_020", 2, success=True))
    names = recording.facts["robot_joints"]
    assert found.rules[3] == "rule_020" and len(found.positions[3]) == recording.frames
    for place, joint in enumerate(ACTION_JOINTS):
        column = recording.columns["robot_positions"][:-1, names.index(joint)]
        assert np.array_equal(found.positions[3][:, place], column)
    assert np.array_equal(found.steps[3], recording.columns["steps_done"][:-1])


def test_failures_and_other_columns_stay_out(recordings):
    found = load_trajectories(recordings)
    failed = read(DemoFolder(recordings).file("rule_001", 1, success=False)).frames
    assert failed not in [len(positions) for positions in found.positions[::2]]


def test_a_dataset_without_steps_has_none(forms, copied):
    store = EpisodeStore(copied)
    path = copied / "privileged/chunk-000/file-000.parquet"
    columns = read_columns(path, ["frame_index"])
    assert len(columns["frame_index"]) == store.episodes[0].length
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["steps_done"]), path)
    assert load_trajectories(copied).steps is None


def test_episodes_are_chosen_by_number_and_by_rule(recordings):
    found = load_trajectories(recordings)
    chosen = found.take([5, 0])
    assert chosen.rules == ("rule_020", "rule_001") and chosen.frames == sum(
        len(found.positions[i]) for i in (5, 0)
    )
    assert chosen.digest != found.take([0, 5]).digest
    only = found.of_rules(["rule_020"])
    assert len(only) == 4 and set(only.rules) == {"rule_020"}
    assert only.steps is not None and only.steps[1] is found.steps[3]
    with pytest.raises(RuleSafeError, match=r"unknown rule 'rule_9'; valid: rule_001, rule_020"):
        found.of_rules(["rule_9"])
    with pytest.raises(RuleSafeError, match="no episode 8; valid: 0 to 7"):
        found.take([8])


def test_the_digest_is_that_of_positions_and_rules():
    positions = np.arange(26, dtype=np.float32).reshape(2, 13)
    one = Trajectories((positions,), ("rule_001",), ("",))
    assert one.digest == Trajectories((positions.copy(),), ("rule_001",), ("safe_01",)).digest
    assert one.digest != Trajectories((positions + 1,), ("rule_001",), ("",)).digest
    assert one.digest != Trajectories((positions,), ("rule_002",), ("",)).digest
    assert (
        one.digest != Trajectories((positions[:1], positions[1:]), one.rules * 2, ("",) * 2).digest
    )


def test_what_holds_no_demonstrations_is_refused(tmp_path, recordings):
    with pytest.raises(RuleSafeError, match=r"no demonstrations.*valid: a \.parquet file"):
        load_trajectories(tmp_path)
    with pytest.raises(RuleSafeError, match=r"the file of states .* does not exist"):
        load_trajectories(tmp_path / "states.parquet")
    with pytest.raises(RuleSafeError, match="has the format"):
        load_trajectories(DemoFolder(recordings).file("rule_001", 0, success=True))
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "generate.json").write_bytes((recordings / "generate.json").read_bytes())
    with pytest.raises(RuleSafeError, match="no episode yet"):
        load_trajectories(empty)
