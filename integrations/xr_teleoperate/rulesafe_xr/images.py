"""Images of a recording of xr_teleoperate, for the frames of a dataset."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_image
from rulesafe_core.text_files import read_bytes
from rulesafe_data.frame import Frame
from rulesafe_xr.recording import XrRecording

MAX_IMAGE_BYTES = 20_000_000


class RecordedImages:
    """Iterates over the camera frames of an episode: for each, the nearest image of each camera.

    Args:
        recording: the recording.
        cameras: names of the head and the front camera in the recording; they may be equal.
        at: positions of the frames (m,), in numbers of recorded frames.
        reach: largest distance of an image from its frame, in numbers of recorded frames.

    Attributes:
        filled: number of images so far that were missing or damaged and replaced by that of another
            recorded frame.

    Raises:
        RuleSafeError: the recording has no such camera; while iterating: no image is within reach.
    """

    def __init__(
        self,
        recording: XrRecording,
        cameras: Sequence[str],
        at: NDArray[np.float64],
        reach: float,
    ):
        self.filled = 0
        self._recording, self._cameras, self._at, self._reach = recording, cameras, at, reach
        for camera in cameras:
            if camera not in recording.images:
                known = ", ".join(recording.images) or "none"
                raise RuleSafeError(
                    f"the recording has no images of {camera!r}; its cameras: {known}. Choose them "
                    "with --head and --front, which may be equal, or use --observations joints"
                )

    def __iter__(self) -> Iterator[Frame]:
        for at in self._at:
            images = {camera: self._image(camera, at) for camera in dict.fromkeys(self._cameras)}
            named = zip(DEFAULT_CAMERAS.names, self._cameras, strict=True)
            yield Frame({name: images[camera] for name, camera in named})

    def _image(self, camera: str, at: float) -> NDArray[np.uint8]:
        distances = np.abs(self._recording.numbers - at)
        nearest = np.argsort(distances, kind="stable")
        reason = "data.json has no path"
        for index in nearest[distances[nearest] <= self._reach]:
            path = self._recording.images[camera][index]
            try:
                image = read_image(path) if path else None
            except RuleSafeError as error:
                image, reason = None, str(error)
            if image is not None:
                self.filled += int(index != nearest[0])
                return image
        raise RuleSafeError(
            f"no image of {camera} near frame {round(at)}: {reason}; increase --max-gap to use a "
            "more distant one"
        )


def read_image(path: Path) -> NDArray[np.uint8]:
    """Return an image file in the size of the default cameras, (224, 224, 3), RGB.

    Raises:
        RuleSafeError: the file is missing, too large or no image.
    """
    try:
        data = read_bytes(path, MAX_IMAGE_BYTES)
    except (OSError, ValueError) as error:
        raise RuleSafeError(f"cannot read {path}: {error}") from None
    message: Any = SimpleNamespace(format=path.suffix, data=data)
    try:
        return DEFAULT_CAMERAS.depth.fit(decode_image(message))
    except RuleSafeError as error:
        raise RuleSafeError(f"{path}: {error}") from None
