"""Datasets in LeRobot's own reader: format v3.0 as it is, format v2.1 exported."""

import re
from pathlib import Path

import numpy as np

from rulesafe_data.layout import ACTION, MEMORY, MEMORY_MASK, STATE, image_key
from rulesafe_data.store import EpisodeStore
from rulesafe_demos.commands import export
from rulesafe_locks.rules import load_rule
from vq_memory_node.memory import VqMemory
from vq_memory_node.rolling import readings_of

READ = """
import sys
import numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot_env_rulesafe.videos import use_pyav

use_pyav()
steps = {"action": [k / 10 for k in range(50)]}
dataset = LeRobotDataset("rulesafe/demos", root=sys.argv[1], delta_timestamps=steps)
found = dataset[int(sys.argv[3])]
np.savez(sys.argv[2], **{key: np.asarray(value) for key, value in found.items()})
"""


BETWEEN = """
import sys
from lerobot_env_rulesafe.videos import decode_video_frames

try:
    decode_video_frames(sys.argv[1], [0.15], 1e-4)
except Exception as error:
    print(error)
"""

PAGE = (Path(__file__).parents[3] / "docs/dataset.md").read_text("utf-8")


def test_the_program_of_the_documentation_runs(lerobot, small_demos, tmp_path):
    (program,) = re.findall(r"```python\n([^`]*use_pyav.*?)```", PAGE, re.DOTALL)
    (tmp_path / "demos").symlink_to(small_demos)
    done = lerobot(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load_rule("rule_001").description in done.stdout


def test_a_timestamp_between_two_frames_is_refused(lerobot, small_demos):
    key = image_key("head")
    done = lerobot(BETWEEN, small_demos / f"videos/{key}/chunk-000/file-001.mp4")
    assert "no frame within 0.0001 s of 0.15 s" in done.stdout


def test_a_frame_is_that_of_the_dataset(lerobot, small_demos, tmp_path):
    out, file = tmp_path / "exported", tmp_path / "frame.npz"
    export(small_demos, out, format="lerobot-v2.1", memory_model="all_rules")
    episode, frame = 1, 45
    store = EpisodeStore(small_demos)
    index = store.episodes[0].length + frame
    done = lerobot(READ, out, file, index, version="0.3.3")
    assert done.returncode == 0, done.stderr
    found = np.load(file)
    stored = store.episode(episode, [STATE, ACTION])
    reading = readings_of(stored[STATE], VqMemory())[frame]
    assert np.array_equal(found[STATE], stored[STATE][frame])
    rows = np.minimum(frame + np.arange(50), len(stored[ACTION]) - 1)
    assert np.array_equal(found[ACTION], stored[ACTION][rows])
    assert np.array_equal(found[MEMORY], reading.values)
    assert np.array_equal(found[MEMORY_MASK], reading.mask)
    assert str(found["task"]) == load_rule("rule_020").instruction("short")
    for camera in store.images:
        image = np.rint(255 * np.moveaxis(found[camera], 0, -1))
        assert np.array_equal(image, store[episode, frame][camera])
