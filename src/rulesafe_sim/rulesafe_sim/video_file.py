"""Writer of H.264 videos (MP4)."""

import contextlib
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from rulesafe_core.files import disk_full_errors, temporary_path

FPS = 10
"""Frames per second of a video: one frame of the simulation each."""


class VideoFile:
    """An H.264 video at 10 frames per second, written frame by frame; a context manager. The file
    has a temporary name until it is closed, and is removed if the `with` block raises."""

    def __init__(self, path: Path):
        self.path, self.frames = path, 0
        self._draft = temporary_path(path)
        self._container: av.container.OutputContainer | None = None

    def add(self, image: NDArray[np.uint8]) -> None:
        """Append a frame (H, W, 3); all have the same size, even in both directions."""
        frame = av.VideoFrame.from_ndarray(image, format="rgb24")
        frame.pts, self.frames = self.frames, self.frames + 1
        with disk_full_errors(self.path):
            container = self._container or self._begin(*image.shape[:2])
            container.mux(self._stream.encode(frame))

    def _begin(self, height: int, width: int) -> av.container.OutputContainer:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._container = av.open(
            str(self._draft), "w", format="mp4", options={"movflags": "faststart"}
        )
        self._stream = self._container.add_stream("libx264", rate=FPS)
        self._stream.height, self._stream.width = height, width
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "20", "preset": "veryfast"}
        return self._container

    def hold(self, image: NDArray[np.uint8], seconds: float) -> None:
        """Append an image for a duration."""
        for _ in range(round(seconds * FPS)):
            self.add(image)

    def close(self) -> None:
        """Finish the file; without any frame no file is written."""
        if self._container is not None:
            container, self._container = self._container, None
            try:
                with disk_full_errors(self.path):
                    container.mux(self._stream.encode(None))
                    container.close()
                    self._draft.replace(self.path)
            finally:
                self._draft.unlink(missing_ok=True)

    def __enter__(self) -> "VideoFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is None:
            self.close()
        elif self._container is not None:
            with contextlib.suppress(OSError):  # a full disk
                self._container.close()
            self._draft.unlink(missing_ok=True)
