"""The format groot of `rulesafe demos export`."""

import json

from rulesafe_cli.cli import main
from rulesafe_core.joints import ACTION_JOINTS


def test_modality_json_describes_state_action_and_cameras(small_demos, tmp_path):
    out = tmp_path / "out"
    assert main(["demos", "export", str(small_demos), "--format", "groot", "--out", str(out)]) == 0
    modality = json.loads((out / "meta/modality.json").read_text())
    arm, hand = {"start": 0, "end": 7}, {"start": 7, "end": 13}
    assert modality["state"] == modality["action"] == {"right_arm": arm, "right_hand": hand}
    assert all(name.startswith("R_") == (place >= 7) for place, name in enumerate(ACTION_JOINTS))
    assert modality["video"]["head"] == {"original_key": "observation.images.head"}
    assert modality["annotation"] == {"human.task_description": {"original_key": "task_index"}}
    assert json.loads((out / "meta/info.json").read_text())["codebase_version"] == "v2.1"
