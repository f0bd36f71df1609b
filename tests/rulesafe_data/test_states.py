"""The small form of many episodes."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.states import export_states, load_states
from rulesafe_data.store import EpisodeStore


def test_states_come_back(states_only, tmp_path):
    file = tmp_path / "states.parquet"
    export_states(states_only, file)
    states, store = load_states(file), EpisodeStore(states_only)
    assert len(states) == len(store) == 5
    assert states.rules == tuple(f"rule_{index + 1:03d}" for index in range(5))
    for index, (positions, actions) in enumerate(states):
        whole = store.episode(index)
        assert np.array_equal(positions, whole["observation.state"])
        assert np.array_equal(actions, whole["action"])
    with pytest.raises(RuleSafeError, match="no episode 5; valid: 0 to 4"):
        states[5]


def test_one_file_readable_by_others_and_always_the_same(states_only, tmp_path):
    export_states(states_only, tmp_path / "one.parquet")
    export_states(states_only, tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    table = pq.read_table(tmp_path / "one.parquet")
    assert table.num_rows == 135
    assert set(table.column_names) == {"episode", "frame", "rule"} | {
        f"{kind}.{joint}" for kind in ("position", "action") for joint in ACTION_JOINTS
    }
    assert {str(table.schema.field(f"action.{j}").type) for j in ACTION_JOINTS} == {"float"}


def test_other_files_are_refused(tmp_path, root):
    with pytest.raises(RuleSafeError, match=r"the file of states .* does not exist"):
        load_states(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("text")
    with pytest.raises(RuleSafeError, match="damaged or no table"):
        load_states(tmp_path / "text.parquet")
    with pytest.raises(RuleSafeError, match="has the format None; expected 'rulesafe states 1'"):
        load_states(root / "data/chunk-000/file-000.parquet")
