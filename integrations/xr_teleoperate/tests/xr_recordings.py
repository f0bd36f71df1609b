"""Recordings in the layout of xr_teleoperate's episode writer, version 1.0.0."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

RATE = 30
OPEN = [1.0] * 6
CLOSED = [0.2, 0.3, 0.4, 0.5, 0.6, 0.0]


def arm_at(number: float) -> list[float]:
    """Positions of an arm (7,), rad, of a frame of RATE Hz: each joint at another constant speed,
    within the limits of the H1-2 for three seconds."""
    return [-0.3 + 0.05 * (joint + 1) * number / RATE for joint in range(7)]


def parts(number: int, lead: int = 0, fingers=OPEN, left=OPEN) -> dict:
    """`states` of a frame; with a lead, `actions`: the arms ahead by this number of frames."""
    return {
        "left_arm": {"qpos": arm_at(number + lead), "qvel": [], "torque": []},
        "right_arm": {"qpos": arm_at(number + lead), "qvel": [], "torque": []},
        "left_ee": {"qpos": list(left), "qvel": [], "torque": []},
        "right_ee": {"qpos": list(fingers), "qvel": [], "torque": []},
        "body": {"qpos": []},
    }


def colour_of(camera: int, number: int) -> tuple[int, int, int]:
    return (50 + 80 * camera, number % 200, 90)


def frame_of(number: int, cameras: int = 2) -> dict:
    return {
        "idx": number,
        "colors": {f"color_{c}": f"colors/{number:06}_color_{c}.jpg" for c in range(cameras)},
        "depths": {},
        "states": parts(number, fingers=CLOSED),
        "actions": parts(number, lead=2, fingers=CLOSED),
        "tactiles": None,
        "audios": None,
        "sim_state": None,
    }


def recording_of(frames: list[dict], rate: float | None = RATE) -> dict:
    image = {"width": 640, "height": 480} | ({} if rate is None else {"fps": rate})
    text = {"goal": "Open the safe.", "desc": "Turn the knob.", "steps": "step1: knob."}
    return {"info": {"version": "1.0.0", "image": image}, "text": text, "data": frames}


def write(folder: Path, data: dict, side: tuple[int, int] = (64, 48)) -> Path:
    """Write a recording and the images that it names, each of one colour."""
    (folder / "colors").mkdir(parents=True)
    for frame in data["data"]:
        for camera, path in (frame.get("colors") or {}).items():
            image = Image.new("RGB", side, colour_of(int(camera[-1]), frame["idx"]))
            image.save(folder / path, quality=95)
    (folder / "data.json").write_text(json.dumps(data, indent=4))
    return folder


def contents(root: Path) -> dict[str, bytes]:
    """Return the content of all files, to see whether something has changed."""
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def expected_arm(times: np.ndarray) -> np.ndarray:
    """Arm positions (n, 7) at times in s."""
    return np.array([arm_at(RATE * time) for time in times])
