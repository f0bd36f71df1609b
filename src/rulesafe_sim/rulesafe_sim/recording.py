"""Wrapper that records episodes of the Gymnasium environment as MP4 files.

Example::

    import gymnasium

    import rulesafe_sim.env  # registers RuleSafe-v1
    from rulesafe_sim.recording import RecordVideo

    env = gymnasium.make("RuleSafe-v1", render_mode="rgb_array")
    env = RecordVideo(env, "videos")
    env.reset()
    env.step(env.unwrapped.home_action)
    env.close()  # completes videos/episode-0.mp4
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.video_file import VideoFile


class RecordVideo(gymnasium.Wrapper):
    """Record episodes as MP4 files.

    Replaces `gymnasium.wrappers.RecordVideo`, which needs MoviePy and keeps all frames of an
    episode in memory (450 MB for 1500 frames). A file is complete after the next `reset()` or
    `close()`; an existing file is overwritten.

    Args:
        env: an environment whose `render()` returns images (render_mode "rgb_array").
        video_folder: output folder, which is created if necessary.
        episode_trigger: maps the index of an episode (0 for the first) to whether it is recorded;
            None: every episode.
        name_prefix: the files are PREFIX-INDEX.mp4. Environments that share a folder, such as those
            of a vector environment, need different prefixes.

    Raises:
        RuleSafeError: the render mode of `env` is not "rgb_array".
    """

    def __init__(
        self,
        env: gymnasium.Env,
        video_folder: str | Path,
        episode_trigger: Callable[[int], bool] | None = None,
        name_prefix: str = "episode",
    ):
        if env.render_mode != "rgb_array":
            raise RuleSafeError(
                f"RecordVideo cannot record the render_mode {env.render_mode!r}; create the "
                'environment with gymnasium.make(..., render_mode="rgb_array")'
            )
        super().__init__(env)
        self._folder, self._prefix = Path(video_folder), name_prefix
        self._trigger = episode_trigger or (lambda episode: True)
        self._episode = -1
        self._film: VideoFile | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Finish the video of the previous episode, and start an episode."""
        self._finish()
        result = self.env.reset(seed=seed, options=options)
        self._episode += 1
        if self._trigger(self._episode):
            self._film = VideoFile(self._folder / f"{self._prefix}-{self._episode}.mp4")
            self._add()
        return result

    def step(self, action: ArrayLike) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment, and append its image to the video."""
        result = self.env.step(action)
        self._add()
        return result

    def close(self) -> None:
        """Finish the video, and close the environment."""
        self._finish()
        super().close()

    def _add(self) -> None:
        if self._film is not None:
            self._film.add(np.asarray(self.env.render(), np.uint8))

    def _finish(self) -> None:
        if self._film is not None:
            self._film.close()
            self._film = None
