"""Files that are not videos are refused with an error that names them."""

import wave

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.video import Video, VideoEncoder


def test_a_file_without_images_or_with_a_missing_end_is_refused(tmp_path):
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(1600))
    with pytest.raises(RuleSafeError, match=r"sound\.wav has no video stream"):
        Video(tmp_path / "sound.wav")
    encoder = VideoEncoder(48, 64)
    for value in range(0, 200, 20):
        encoder.add(np.full((48, 64, 3), value, np.uint8))
    whole = bytes(encoder.finish())
    (tmp_path / "whole.mp4").write_bytes(whole)
    video = Video(tmp_path / "whole.mp4")
    assert len(list(video.frames())) == 10 and abs(int(video.frame(5).mean()) - 100) < 4
    with pytest.raises(RuleSafeError, match="has no frame 10"):
        video.frame(10)
    (tmp_path / "part.mp4").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RuleSafeError, match=r"cannot read the video .*part\.mp4"):
        Video(tmp_path / "part.mp4")
