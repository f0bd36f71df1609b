"""What a robot was told to do at each frame of an episode, from what a bag has. No ROS here."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, Chunk, load_executor
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTED, ACTION_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_ros.bag.episodes import Episode

Actions = NDArray[np.float64]  # (n, 13) rad, of the frames 0 .. n - 1


def of_chunks(execution: str, episode: Episode) -> Actions:
    """The targets that the chunks on /policy/action_chunk led to, up to the end of the last one.

    The action of a frame is the target at the next one; the arm is told to stay until there is a
    chunk. Errors: RuleSafeError where there is no chunk.
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
                continue  # as who executed it refused it
            running = chunk
        command = executor.target(due, command)
        if running is not None and due in running.times:
            command = executor.ahead[0]  # the row itself, not a sum that ends there
        rows.append(command)
        if running is not None and due <= running.end:
            last = frame + 1
    if not last:
        raise RuleSafeError("no chunk on /policy/action_chunk was followed: try --actions reached")
    return np.array(rows[:last])


def of_bridge(episode: Episode) -> Actions:
    """What the bridge to a real robot commanded, as /bridge/state told ten times a second: within
    the robot's limits of speed. The newest that was told by the next frame; they end with the last
    that it told while it was ACTIVE.

    Errors: RuleSafeError where nothing was told by the second frame.
    """
    if not episode.commands or min(episode.commands) > episode.stamp(1):
        raise RuleSafeError("/bridge/state tells of no command at the episode's beginning")
    stamps = np.array(sorted(episode.commands))
    ends = min(episode.end, int(stamps[-1]) + PERIOD)
    dues = [due for f in range(episode.frames - 1) if (due := episode.stamp(f + 1)) <= ends]
    places = np.searchsorted(stamps, dues, side="right") - 1
    return np.array([episode.commands[int(stamps[place])] for place in places])


def of_positions(episode: Episode) -> Actions:
    """The positions that were reached a frame later: for a robot that somebody guides by hand."""
    return episode.positions[1:, ACTED].astype(np.float64)


ACTIONS: Mapping[str, Callable[[Episode], Actions]] = {
    "newest": partial(of_chunks, "newest"),
    "blended": partial(of_chunks, "blended"),
    "bridge": of_bridge,
    "reached": of_positions,
}
"""Where actions come from, by name; the first two are those of `rulesafe_core.chunks`."""

GUIDED = ("reached",)
"""Those of a robot that no chunks move."""
