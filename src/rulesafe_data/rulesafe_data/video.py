"""Images as H.264 video for random access: every second frame is a key frame.

Settings of LeRobot's format (g=2, crf 23, yuv420p): a random access decodes at most two frames. The
encoder uses one thread, since the output of x264 depends on the number of threads and several
processes write episodes anyway.
"""

import io
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import check_regular
from rulesafe_data.layout import FPS

OPTIONS = {
    "g": "2",
    "crf": "23",
    "bf": "0",
    "preset": "medium",
    # mbtree has no benefit with key frames this close, and about one video in a thousand was not
    # reproducible with it.
    "x264-params": "mbtree=0",
}


class VideoEncoder:
    """Encodes images (H, W, 3) uint8 with even H and W to an MP4 in memory."""

    def __init__(self, height: int, width: int):
        self._buffer = io.BytesIO()
        self._container = av.open(self._buffer, "w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=FPS, options=OPTIONS)
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, FPS)
        self._stream.codec_context.thread_count = 1
        self._frames = 0

    def add(self, image: NDArray[np.uint8]) -> None:
        """Append an image; its timestamp is its index / 10 s."""
        frame = VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        frame.pts, frame.time_base = self._frames, Fraction(1, FPS)
        self._frames += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> memoryview:
        """Finish the video and return its bytes."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._buffer.getbuffer()


class Video:
    """Random and sequential access to the frames of an MP4.

    Raises:
        RuleSafeError: the file is not a video or damaged, or a frame does not exist.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            check_regular(path)
            self._container: InputContainer = av.open(str(path))
        except (OSError, ValueError) as error:  # base classes of PyAV's errors
            raise RuleSafeError(f"cannot read the video {path}: {error}") from error
        if not self._container.streams.video:
            self._container.close()
            raise RuleSafeError(f"{path} has no video stream")
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_count = 1
        base = self._stream.time_base
        assert base is not None
        self._ticks = round(Fraction(1, FPS) / base)

    def frame(self, index: int) -> NDArray[np.uint8]:
        """Decode the image at `index`, (H, W, 3)."""
        target = index * self._ticks
        for frame in self._decode(target):
            if frame.pts == target:
                return _to_image(frame)
            if frame.pts is None or frame.pts > target:
                break
        raise RuleSafeError(f"{self.path} has no frame {index}")

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Decode all images in order."""
        yield from map(_to_image, self._decode(0))

    def _decode(self, start: int) -> Iterator[VideoFrame]:
        try:
            self._container.seek(start, stream=self._stream)
            yield from self._container.decode(self._stream)
        except (OSError, ValueError) as error:
            raise RuleSafeError(f"cannot decode the video {self.path}: {error}") from error

    def close(self) -> None:
        self._container.close()


def _to_image(frame: VideoFrame) -> NDArray[np.uint8]:
    return np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
