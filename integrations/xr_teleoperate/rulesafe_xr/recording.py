"""Read recordings of Unitree's xr_teleoperate: joint vectors, images and texts of one episode.

A folder such as episode_0001 has `data.json` and the folders `colors` and `depths`. `data.json` has
`info` (with the rate), `text` and `data`, a list of frames: `idx`, `colors` (paths of the images by
camera), and `states` and `actions` with `qpos` of `left_arm`, `right_arm`, `left_ee`, `right_ee`
(`..._hand` until May 2025) and `body`. Frames have a number, but no time. Format version 1.0.0; the
source is `teleop/utils/episode_writer.py` of xr_teleoperate 1.1.
"""

import hashlib
import re
import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import cleaned, parse_json, read_bytes

FILE = "data.json"
MAX_BYTES = 256_000_000
"""Maximum size of data.json; a frame takes about 4 kB."""

MAX_OBJECTS = 32
"""Maximum number of objects of an incomplete frame at the end of data.json; a frame has 11."""

MAX_FRAMES = 50_000
"""Maximum number of frames, 14 minutes at 60 Hz; the largest valid `idx` as well."""

TEXTS = ("goal", "desc", "steps")
PARTS = {
    "left_arm": (("left_arm",), 7),
    "right_arm": (("right_arm",), 7),
    "left_ee": (("left_ee", "left_hand"), 6),
    "right_ee": (("right_ee", "right_hand"), 6),
}
"""Names of each part in the file, the current one first, and the number of its joints."""

BODY_MOTORS = 27
"""Smallest number of motors in `body`, which is empty unless the recorder controls the legs."""

MAX_ANGLE = 1e3
"""Largest absolute value of a joint position that is read, rad."""

Vectors = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class XrRecording:
    """One episode of n frames with complete joint vectors.

    Attributes:
        folder: folder of the recording.
        digest: SHA-256 of data.json.
        rate: frames per second by `info`; None if it is not given.
        numbers: `idx` of each frame (n,), increasing, 0 for the first.
        lost: number of frames that are missing or have no complete joint vectors.
        states, actions: positions by part (n, 7) in rad, (n, 6) from 0 (closed) to 1 (open), and of
            the `body` (n, 27) in rad. Arms and body in the order of the motors, hands in the order
            pinky, ring, middle, index, thumb bend, thumb rotation. Absent parts are not included.
        images: paths of the images by camera, None for a missing image.
        unreadable: why a hand is absent that has values, by part.
        texts: texts by their name in TEXTS.
        depth: whether the recording has depth images.
        stopped: whether the end of data.json is missing, because the recorder was killed.
    """

    folder: Path
    digest: str
    rate: float | None
    numbers: NDArray[np.int64]
    lost: int
    states: Vectors
    actions: Vectors
    unreadable: Mapping[str, str]
    images: Mapping[str, Sequence[Path | None]]
    texts: Mapping[str, str]
    depth: bool
    stopped: bool = False


def find_recordings(root: Path) -> list[Path]:
    """Return the folders with a data.json in `root`: itself, or up to two levels below it.

    Raises:
        RuleSafeError: there is none.
    """
    found = [root] if (root / FILE).exists() else []
    found += sorted(path.parent for path in root.glob(f"*/{FILE}"))
    found += sorted(path.parent for path in root.glob(f"*/*/{FILE}"))
    if not found:
        raise RuleSafeError(
            f"{root} has no recording of xr_teleoperate; expected episode_0001/{FILE} and so on, "
            "or folders of tasks with these"
        )
    return found


def read_recording(folder: Path) -> XrRecording:
    """Read a recording; nothing of it is changed.

    Raises:
        RuleSafeError: data.json is too large or invalid, or no frame has the required joint vectors
            (only the right arm is required).
    """
    content = _read(folder / FILE)
    stopped = False
    try:
        data = cleaned(parse_json(content))
    except ValueError as error:
        data, stopped = cleaned(_complete_frames(content)), True
        if data is None:
            raise RuleSafeError(f"{folder / FILE} is not valid JSON: {error}") from error
    frames = data.get("data") if isinstance(data, dict) else None
    places = (data, data.get("info"), *frames) if isinstance(frames, list) else ()
    if any(isinstance(place, dict) and place.get("success") is False for place in places):
        raise RuleSafeError(
            f"{folder / FILE} has success: false; remove this key to import a failed attempt"
        )
    if not isinstance(frames, list) or not frames:
        raise RuleSafeError(f"{folder / FILE} has no list of frames with the key 'data'")
    if len(frames) > MAX_FRAMES:
        raise RuleSafeError(f"{folder / FILE} has {len(frames)} frames; valid: up to {MAX_FRAMES}")
    frames = [frame if isinstance(frame, dict) else {} for frame in frames]
    numbers = _numbers(frames, folder)
    unreadable: dict[str, str] = {}
    states, state_valid = _vectors(frames, "states", folder, unreadable)
    actions, action_valid = _vectors(frames, "actions", folder, unreadable)
    kept = np.flatnonzero(state_valid & action_valid)
    if len(kept) < 2:
        raise RuleSafeError(f"{folder / FILE}: {len(kept)} of {len(frames)} frames are complete")
    text = data.get("text")
    text = text if isinstance(text, dict) else {}
    return XrRecording(
        folder=folder,
        digest=hashlib.sha256(content).hexdigest(),
        rate=_rate(data.get("info")),
        numbers=numbers[kept] - numbers[kept[0]],
        lost=int(numbers[kept[-1]] - numbers[kept[0]]) + 1 - len(kept),
        states={part: rows[kept] for part, rows in states.items()},
        actions={part: rows[kept] for part, rows in actions.items()},
        unreadable=unreadable,
        images=_images([frames[i].get("colors") for i in kept], folder),
        texts={name: text[name].strip() for name in TEXTS if isinstance(text.get(name), str)},
        depth=any(frame.get("depths") for frame in frames),
        stopped=stopped,
    )


def _complete_frames(content: bytes) -> Any:
    """Return the data up to the last complete frame of a data.json whose end is missing, because
    xr_teleoperate writes it when a recording is saved; None if it is another file."""
    end = len(content)
    for _ in range(MAX_OBJECTS):
        if (end := content.rfind(b"}", 0, end)) < 0:
            return None
        try:
            return parse_json(content[: end + 1] + b"]}")
        except ValueError:  # the end of an object in an incomplete frame
            continue
    return None


def _read(path: Path) -> bytes:
    """Return the content after checking the size, and the number of frames before it is parsed."""
    try:
        content = read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise RuleSafeError(f"cannot read {path}: {error.strerror}") from None
    if (count := len(re.findall(rb'"idx"', content))) > MAX_FRAMES:
        raise RuleSafeError(f"{path} has {count} frames; valid: up to {MAX_FRAMES}")
    return content


def _rate(info: Any) -> float | None:
    image = info.get("image") if isinstance(info, dict) else None
    rate = image.get("fps") if isinstance(image, dict) else None
    if isinstance(rate, bool) or not isinstance(rate, (int, float)):
        return None
    return float(rate) if 1 <= rate <= 1000 else None


def _numbers(frames: Sequence[dict[str, Any]], folder: Path) -> NDArray[np.int64]:
    """Return `idx` of each frame; raise RuleSafeError unless it increases."""
    last = -1
    for position, frame in enumerate(frames):
        number = frame.get("idx")
        if type(number) is not int or not last < number < 2 * MAX_FRAMES:
            raise RuleSafeError(
                f"{folder / FILE}: idx of frame {position} is {reprlib.repr(number)}; valid: an "
                f"integer above that of the frame before ({last}) and below {2 * MAX_FRAMES}"
            )
        last = number
    return np.array([frame["idx"] for frame in frames], np.int64)


def _vectors(
    frames: Sequence[dict[str, Any]], kind: str, folder: Path, unreadable: dict[str, str]
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_]]:
    """Return the joint vectors of the parts that the recording has, and which frames (n,) have
    those of all these parts. The reason why a hand cannot be used is added to `unreadable`.

    Raises:
        RuleSafeError: no frame has a vector of the right arm, or an arm has another number of
            joints in all frames.
    """
    found, valid = {}, np.ones(len(frames), bool)
    for part, (names, count) in PARTS.items():
        rows = [_numbers_of(frame.get(kind), names) for frame in frames]
        lengths = Counter(len(row) for row in rows)
        if lengths[count]:
            found[part] = np.array([row if len(row) == count else [0.0] * count for row in rows])
            valid &= np.array([len(row) == count for row in rows])
        elif set(lengths) != {0} or part == "right_arm":
            listed = " or ".join(str(length) for length in sorted(lengths)[:5])
            robot = "the arm of an H1-2" if part.endswith("arm") else "an Inspire hand"
            reason = f"{kind}.{names[0]}.qpos has {listed} values; {robot} has {count}"
            if part.endswith("arm"):
                raise RuleSafeError(f"{folder / FILE}: {reason}")
            unreadable[part] = reason
    bodies = [_numbers_of(frame.get(kind), ("body",)) for frame in frames]
    if all(len(row) >= BODY_MOTORS for row in bodies):
        found["body"] = np.array([row[:BODY_MOTORS] for row in bodies])
    return found, valid


def _numbers_of(parts: Any, names: Sequence[str]) -> list[float]:
    """Return `qpos` of a part; empty if it is absent or contains an invalid position."""
    part: Any = None
    if isinstance(parts, dict):
        part = next((parts[name] for name in names if parts.get(name)), None)
    values = part.get("qpos") if isinstance(part, dict) else None
    if not isinstance(values, list):
        return []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return []
        if not abs(value) <= MAX_ANGLE:  # false for NaN
            return []
    return values


def _images(colors: Sequence[Any], folder: Path) -> dict[str, list[Path | None]]:
    """Return the paths of the images by camera; those outside of the folder are left out."""
    frames = [frame if isinstance(frame, dict) else {} for frame in colors]
    cameras = sorted({camera for frame in frames for camera in frame if frame[camera]})
    return {
        camera: [_inside(folder, frame.get(camera)) for frame in frames] for camera in cameras[:16]
    }


def _inside(folder: Path, name: Any) -> Path | None:
    if not isinstance(name, str) or not 0 < len(name) < 200:
        return None
    path = Path(name)
    return None if path.is_absolute() or ".." in path.parts else folder / path
