"""The video of an episode in process: a subscriber that renders both cameras after each frame."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD
from rulesafe_demos.video.episode import EpisodeMonitor, VideoRecorder
from rulesafe_demos.video.strip import tokens_of
from rulesafe_sim.cameras import FRONT, HEAD
from rulesafe_sim.episode import Activity
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import Simulation
from vq_memory_node.rolling import RollingMemory


class EpisodeVideo:
    """Subscriber that writes film.mp4 and sheet.png.

    Args:
        simulation: a simulation with rendering that has just been reset.
        folder: folder for both files.
        time_limit: simulated time, s, at which the recording ends, unless the door opens before:
            then it ends shortly after.
        side: width and height of each rendered image, pixels.
        memory: updated with the joint positions; its tokens are shown, if it has any.
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: Path,
        time_limit: float,
        side: int,
        memory: RollingMemory | None = None,
    ):
        cameras = [replace(camera, width=side, height=side) for camera in (HEAD, FRONT)]
        self._observer = Observer(simulation, cameras)
        self._recorder = VideoRecorder(folder, simulation.rule.description)
        self._monitor = EpisodeMonitor(time_limit, self._recorder)
        self._memory = memory
        if memory:
            memory.reset()

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        stamp = simulation.frame * PERIOD
        self._monitor.update(stamp, simulation.snapshot())
        if self._memory:
            self._memory.push(simulation.state().action_positions.astype(np.float32))
        if tokens := tokens_of(self._memory):
            self._monitor.tokens(stamp, tokens)
        seen = self._observer.observe(("head_rgb", "front_rgb"))
        for camera in ("head", "front"):
            self._monitor.add_image(camera, stamp, seen[f"{camera}_rgb"])

    def close(self, reason: str) -> list[Path]:
        """Finish both files of an episode; `reason` is used if the door is not open."""
        self._monitor.give_up(reason)
        return self._recorder.close(self._monitor.result)
