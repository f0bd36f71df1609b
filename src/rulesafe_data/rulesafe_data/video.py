"""Pictures as H.264, made for random access: every second frame is a key frame.

Settings of LeRobot's format (g=2, crf 23, yuv420p): a random frame costs at most two decoded
ones. One encoder thread, since x264's bytes depend on their number and episodes are written by
several processes anyhow.
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
from rulesafe_data.layout import FPS

OPTIONS = {
    "g": "2",
    "crf": "23",
    "bf": "0",
    "preset": "medium",
    # Looks ahead further than two frames, in vain, and one video in a thousand came out with
    # other bytes when it was on.
    "x264-params": "mbtree=0",
}


class VideoEncoder:
    """Encodes pictures (H, W, 3) uint8 into an MP4 in memory, H and W even."""

    def __init__(self, height: int, width: int):
        self._buffer = io.BytesIO()
        self._container = av.open(self._buffer, "w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=FPS, options=OPTIONS)
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, FPS)
        self._stream.codec_context.thread_count = 1
        self._frames = 0

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Append a picture; its time is its number / 10 s."""
        frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        frame.pts, frame.time_base = self._frames, Fraction(1, FPS)
        self._frames += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> memoryview:
        """End the video and give its bytes."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._buffer.getbuffer()


class Video:
    """Random and sequential access to an MP4's frames.

    Errors: RuleSafeError for a file that is no video and for a frame that is not in it.
    """

    def __init__(self, path: Path):
        self.path = path
        try:
            self._container: InputContainer = av.open(str(path))
        except (OSError, ValueError) as error:  # PyAV's errors are one of the two
            raise RuleSafeError(f"cannot read the video {path}: {error}") from error
        self._stream = self._container.streams.video[0]
        self._stream.codec_context.thread_count = 1
        base = self._stream.time_base
        assert base is not None
        self._ticks = round(Fraction(1, FPS) / base)

    def frame(self, index: int) -> NDArray[np.uint8]:
        """Picture number `index`, (H, W, 3)."""
        target = index * self._ticks
        self._container.seek(target, stream=self._stream)
        for frame in self._container.decode(self._stream):
            if frame.pts == target:
                return _picture(frame)
            if frame.pts is None or frame.pts > target:
                break
        raise RuleSafeError(f"{self.path} has no frame {index}")

    def frames(self) -> Iterator[NDArray[np.uint8]]:
        """Every picture in order."""
        self._container.seek(0, stream=self._stream)
        for frame in self._container.decode(self._stream):
            yield _picture(frame)

    def close(self) -> None:
        """Give the file back."""
        self._container.close()


def _picture(frame: VideoFrame) -> NDArray[np.uint8]:
    return np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
