"""The action at each frame of an episode, from the messages of a bag."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, Chunk, load_executor
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTED, ACTION_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_ros.bag.episodes import BagEpisode

Actions = NDArray[np.float64]  # (n, 13) rad, of the frames 0 .. n - 1


def of_chunks(execution: str, episode: BagEpisode) -> Actions:
    """Return the targets that result from the chunks on /policy/action_chunk, up to their end.

    The action of a frame is the target at the next one; before the first chunk it is the position
    at the start.

    Raises:
        RuleSafeError: there is no chunk.
    """
    body = h1_2()
    lower = [body.joint(joint).lower for joint in ACTION_JOINTS]
    upper = [body.joint(joint).upper for joint in ACTION_JOINTS]
    executor = load_executor(execution)(lower, upper)
    executor.reset(episode.start)
    command = episode.positions[0, ACTED].astype(np.float64)
    waiting = sorted(episode.chunks, key=lambda pair: pair[0])
    running: Chunk | None = None
    rows: list[NDArray[np.float64]] = []
    last = 0  # frames up to the end of the last chunk
    for frame in range(episode.frames - 1):
        due = episode.stamp(frame + 1)
        while waiting and waiting[0][0] < due:
            now, chunk = waiting.pop(0)
            try:
                executor.accept(chunk, now, command)
            except RuleSafeError:
                continue  # as the robot or the simulation refused it
            running = chunk
        command = executor.target(due, command)
        if running is not None and due in running.times:
            command = executor.ahead[0]  # the step itself, not a sum that ends there
        rows.append(command)
        if running is not None and due <= running.end:
            last = frame + 1
    if not last:
        raise RuleSafeError("no chunk on /policy/action_chunk was followed: try --actions reached")
    return np.array(rows[:last])


def of_bridge(episode: BagEpisode) -> Actions:
    """Return what the bridge to a real robot commanded, within the robot's velocity limits.

    The action of a frame is the newest command on /bridge/state (10 Hz) at the next frame, up to
    the last command while the bridge was ACTIVE.

    Raises:
        RuleSafeError: there is no command by the second frame.
    """
    if not episode.commands or min(episode.commands) > episode.stamp(1):
        raise RuleSafeError("/bridge/state tells of no command at the episode's beginning")
    stamps = np.array(sorted(episode.commands))
    ends = min(episode.end, int(stamps[-1]) + PERIOD)
    dues = [due for f in range(episode.frames - 1) if (due := episode.stamp(f + 1)) <= ends]
    places = np.searchsorted(stamps, dues, side="right") - 1
    return np.array([episode.commands[int(stamps[place])] for place in places])


def of_positions(episode: BagEpisode) -> Actions:
    """Return the positions a frame later, for a robot that is guided by hand."""
    return episode.positions[1:, ACTED].astype(np.float64)


ACTIONS: Mapping[str, Callable[[BagEpisode], Actions]] = {
    "newest": partial(of_chunks, "newest"),
    "blended": partial(of_chunks, "blended"),
    "bridge": of_bridge,
    "reached": of_positions,
}
"""Sources of actions by name; the first two are the executors of `rulesafe_core.chunks`."""

GUIDED = ("reached",)
"""Sources for a robot that no chunk moves."""
