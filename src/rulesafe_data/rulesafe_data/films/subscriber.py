"""The video of an episode in process: a subscriber that renders both cameras after each frame."""

from collections.abc import Callable
from pathlib import Path

from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD
from rulesafe_data.films.episode import EpisodeMonitor, VideoRecorder
from rulesafe_data.films.frames import SIDE
from rulesafe_data.films.strip import Tokens
from rulesafe_sim.episode import Activity
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import Simulation


class EpisodeVideo:
    """Subscriber that writes film.mp4 and sheet.png.

    Args:
        simulation: a simulation with rendering that has just been reset.
        folder: folder for both files.
        time_limit: simulated time, s, at which the recording ends, unless the door opens before:
            then it ends shortly after.
        tokens: called after each frame; returns the tokens of a memory to show, None: none.
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: Path,
        time_limit: float,
        tokens: Callable[[Simulation], Tokens | None] = lambda simulation: None,
    ):
        self._cameras = DEFAULT_CAMERAS.resized(SIDE)
        self._observer = Observer(simulation, self._cameras)
        self._recorder = VideoRecorder(folder, simulation.rule.description)
        self._monitor = EpisodeMonitor(time_limit, self._recorder)
        self._tokens = tokens

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        stamp = simulation.frame * PERIOD
        self._monitor.update(stamp, simulation.snapshot())
        if tokens := self._tokens(simulation):
            self._monitor.tokens(stamp, tokens)
        seen = self._observer.observe(camera.name for camera in self._cameras)
        for camera in self._cameras:
            self._monitor.add_image(camera.name, stamp, seen[camera.name])

    def close(self, reason: str) -> list[Path]:
        """Finish both files of an episode; `reason` is used if the door is not open."""
        self._monitor.give_up(reason)
        return self._recorder.close(self._monitor.result)
