"""Write the videos and point clouds of an episode."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_data import layout
from rulesafe_data.frame import Frame
from rulesafe_data.statistics import ImageStatistics
from rulesafe_data.video import VideoEncoder

if TYPE_CHECKING:
    from rulesafe_data.clouds import CloudWriter


class FrameWriter:
    """Encodes the frames of an episode; `finish` adds the files to the dataset.

    Until then, videos are kept in memory (about 10 MB) and point clouds in a temporary directory of
    the dataset.
    """

    def __init__(self, root: Path, index: int, length: int, cameras: CameraSet):
        self._root, self._index, self._length = root, index, length
        self._cameras = cameras
        self._encoders: dict[str, VideoEncoder] = {}
        self._statistics: dict[str, ImageStatistics] = {}
        self._clouds: CloudWriter | None = None
        self._shape: tuple[int, ...] = ()
        self._points: int | None = None
        self._count = 0

    def add(self, frame: Frame) -> None:
        """Append a frame; raise RuleSafeError if it is one too many or has another shape."""
        if self._count == 0:
            self._begin(frame)
        if self._count == self._length:
            raise RuleSafeError(f"more frames than the {self._length} actions of the episode")
        for camera in dict.fromkeys((*self._cameras.names, *frame.images)):
            self._add_image(layout.image_key(camera), frame.images.get(camera))
        self._add_cloud(frame.points)
        self._count += 1

    def _begin(self, frame: Frame) -> None:
        if frame.images:
            shape = self._shape = next(iter(frame.images.values())).shape
            if len(shape) != 3 or shape[2] != 3 or shape[0] % 2 or shape[1] % 2:
                raise RuleSafeError(
                    f"an image must have shape (H, W, 3) with even H and W; got {shape}"
                )
            for key in map(layout.image_key, self._cameras.names):
                self._encoders[key] = VideoEncoder(*shape[:2])
                self._statistics[key] = ImageStatistics()
        elif frame.points is None:
            raise RuleSafeError("a frame needs images, points or both; this one has neither")
        if frame.points is not None:
            from rulesafe_data.clouds import CloudWriter

            self._points = len(frame.points)
            self._clouds = CloudWriter(self._root, self._index, self._length, self._points)

    def _add_image(self, key: str, image: NDArray[np.uint8] | None) -> None:
        expected = (self._shape, np.dtype(np.uint8)) if key in self._encoders else None
        given = None if image is None else (image.shape, image.dtype)
        if given != expected:
            raise RuleSafeError(f"{key} of frame {self._count} must be {expected}, got {given}")
        if image is not None:
            self._encoders[key].add(image)
            self._statistics[key].add(image)

    def _add_cloud(self, points: NDArray[np.float32] | None) -> None:
        expected = None if self._points is None else (self._points, 6)
        given = None if points is None else points.shape
        if given != expected:
            raise RuleSafeError(f"points of frame {self._count} must be {expected}, got {given}")
        if self._clouds is not None and points is not None:
            self._clouds.add(points)

    def finish(self, digest: Any) -> dict[str, Any]:
        """Add the files to the dataset and return their metadata for the table.

        Args:
            digest: a hash object, which is updated with the content.
        """
        if self._count != self._length:
            raise RuleSafeError(f"{self._count} frames but {self._length} actions in the episode")
        for key, encoder in self._encoders.items():
            content = encoder.finish()
            digest.update(content)
            write_atomically(layout.video_file(self._root, key, self._index), content)
        if self._clouds is not None:
            digest.update(self._clouds.finish())
        return {
            "image_shape": list(self._shape) or None,
            "points": self._points,
            "pictures": {key: value.result() for key, value in self._statistics.items()},
        }

    def close(self) -> None:
        """Discard unfinished files."""
        if self._clouds is not None:
            self._clouds.discard()
