"""Read datasets of RuleSafe with lerobot, with PyAV instead of torchvision or torchcodec.

lerobot 0.4.4 decodes videos with torchcodec or with `torchvision.io.VideoReader`, which current
versions of torchvision do not have.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lerobot.datasets import lerobot_dataset

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import FPS
from rulesafe_data.video import Video


def use_pyav() -> None:
    """Let lerobot's `LeRobotDataset` decode videos with `decode_video_frames`."""
    lerobot_dataset.decode_video_frames = decode_video_frames


def decode_video_frames(
    video_path: Path | str, timestamps: Sequence[float], tolerance_s: float, backend: object = None
) -> Any:
    """Return the frames at timestamps as lerobot's function of this name does.

    Args:
        video_path: an MP4 file of a dataset.
        timestamps: of the frames, s.
        tolerance_s: maximum distance of a timestamp to its frame, s.
        backend: ignored.

    Returns:
        torch.Tensor (T, 3, H, W), float32 in 0..1.

    Raises:
        RuleSafeError: a timestamp is not that of a frame.
    """
    indices = [round(timestamp * FPS) for timestamp in timestamps]
    for timestamp, index in zip(timestamps, indices, strict=True):
        if abs(timestamp - index / FPS) > tolerance_s:
            raise RuleSafeError(
                f"{video_path} has no frame within {tolerance_s:g} s of {timestamp:g} s; frames "
                f"are {1 / FPS:g} s apart"
            )
    with closing(Video(Path(video_path))) as video:
        frames = np.stack([video.frame(index) for index in indices])
    return torch.from_numpy(frames).permute(0, 3, 1, 2) / 255
