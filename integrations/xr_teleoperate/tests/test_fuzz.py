"""Random and hostile content of recordings."""

import json
from pathlib import Path

import numpy as np
from fuzzing import Target, attack
from PIL import Image

from rulesafe_xr.conversion import ImportOptions, convert
from rulesafe_xr.images import RecordedImages, read_image
from rulesafe_xr.recording import read_recording


def xr_recording(folder: Path) -> Target:
    """A recording of xr_teleoperate: joint vectors and the paths of the images."""
    arm, hand = {"qpos": [0.1] * 7}, {"qpos": [0.5] * 6}
    parts = {"left_arm": arm, "right_arm": arm, "left_ee": hand, "right_ee": hand}
    parts["body"] = {"qpos": [0.0] * 27}
    frames = [
        {"idx": i, "colors": {"color_0": f"colors/{i}.jpg"}, "states": parts, "actions": parts}
        for i in range(8)
    ]
    text = {"goal": "Open the safe.", "desc": "", "steps": ""}
    path = folder / "data.json"
    path.write_text(json.dumps({"info": {"image": {"fps": 30}}, "text": text, "data": frames}))
    (folder / "colors").mkdir()
    Image.new("RGB", (8, 8)).save(folder / "colors/0.jpg")

    def read() -> None:
        recording = read_recording(folder)
        convert(recording, ImportOptions())
        list(RecordedImages(recording, ("color_0", "color_0"), np.arange(3.0), 8.0))

    return Target(path, read)


def xr_image(folder: Path) -> Target:
    path = folder / "image.png"
    Image.new("RGB", (8, 8)).save(path)
    return Target(path, lambda: read_image(path))


def test_a_recording_is_read_or_refused(tmp_path_factory, work):
    attack(xr_recording(tmp_path_factory.mktemp("fuzz")), work)


def test_an_image_is_read_or_refused(tmp_path_factory, work):
    attack(xr_image(tmp_path_factory.mktemp("fuzz")), work)
