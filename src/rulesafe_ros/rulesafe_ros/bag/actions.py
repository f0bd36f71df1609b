"""Compute the action at each frame of an episode from the messages of a bag."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, Chunk, load_executor
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_INDICES, ACTION_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_ros.bag.episodes import BagEpisode

Actions = NDArray[np.float64]  # (n, 13), rad; of the frames 0 to n - 1


def of_chunks(execution: str, episode: BagEpisode) -> Actions:
    """Return the targets that result from executing the chunks on /policy/action_chunk.

    The action of a frame is the target at the next frame; before the first chunk it is the position
    at the start. The actions end with the last chunk.

    Args:
        execution: the executor, see `rulesafe_core.chunks.load_executor`.
        episode: the episode.

    Raises:
        RuleSafeError: there is no chunk.
    """
    body = h1_2()
    lower = [body.joint(joint).lower for joint in ACTION_JOINTS]
    upper = [body.joint(joint).upper for joint in ACTION_JOINTS]
    executor = load_executor(execution)(lower, upper)
    executor.reset(episode.start)
    command = episode.positions[0, ACTION_INDICES].astype(np.float64)
    pending = sorted(episode.chunks, key=lambda pair: pair[0])
    current: Chunk | None = None
    actions: list[NDArray[np.float64]] = []
    last = 0  # frames up to the end of the last chunk
    for frame in range(episode.frames - 1):
        due = episode.stamp(frame + 1)
        while pending and pending[0][0] < due:
            now, chunk = pending.pop(0)
            try:
                executor.accept(chunk, now, command)
            except RuleSafeError:
                continue  # the robot or the simulation rejected it, too
            current = chunk
        command = executor.target(due, command)
        if current is not None and due in current.times:
            command = executor.ahead[0]  # the exact step, not a sum of increments
        actions.append(command)
        if current is not None and due <= current.end:
            last = frame + 1
    if not last:
        raise RuleSafeError("no chunk on /policy/action_chunk was executed: use --actions reached")
    return np.array(actions[:last])


def of_executed(episode: BagEpisode) -> Actions:
    """Return the actions that were executed: those on /episode/status in a simulation, the commands
    of the bridge (`of_bridge`) with a robot.

    Raises:
        RuleSafeError: the bag has neither.
    """
    statuses = [episode.statuses.get(episode.stamp(frame)) for frame in range(1, episode.frames)]
    found = [status.action for status in statuses if status is not None]
    idle = sum(not len(action) for action in found)  # frames before the first chunk
    if idle < len(found) == len(statuses) and all(map(len, found[idle:])):
        start = episode.positions[0, ACTION_INDICES]
        return np.array([start] * idle + found[idle:], np.float64)
    if episode.commands:
        return of_bridge(episode)
    raise RuleSafeError(
        "the bag does not have the executed actions, neither on /episode/status for each frame nor "
        "on /bridge/state: use --actions newest or blended, as chunks were executed, or reached"
    )


def of_bridge(episode: BagEpisode) -> Actions:
    """Return the commands of the bridge to a real robot, which keep the robot's velocity limits.

    The action of a frame is the newest command on /bridge/state (10 Hz) at the next frame. The
    actions end with the last command in the bridge's state ACTIVE.

    Raises:
        RuleSafeError: there is no command by the second frame.
    """
    if not episode.commands or min(episode.commands) > episode.stamp(1):
        raise RuleSafeError(
            "no command on /bridge/state before the second frame of the episode: engage the bridge "
            "and start the recording before the episode, or use --actions reached"
        )
    stamps = np.array(sorted(episode.commands))
    ends = min(episode.end, int(stamps[-1]) + PERIOD)
    dues = [due for f in range(episode.frames - 1) if (due := episode.stamp(f + 1)) <= ends]
    indices = np.searchsorted(stamps, dues, side="right") - 1
    return np.array([episode.commands[int(stamps[index])] for index in indices])


def of_positions(episode: BagEpisode) -> Actions:
    """Return the positions one frame later, for a robot that is guided manually."""
    return episode.positions[1:, ACTION_INDICES].astype(np.float64)


ACTIONS: Mapping[str, Callable[[BagEpisode], Actions]] = {
    "executed": of_executed,
    "newest": partial(of_chunks, "newest"),
    "blended": partial(of_chunks, "blended"),
    "bridge": of_bridge,
    "reached": of_positions,
}
"""Sources of actions by name; newest and blended are executors of `rulesafe_core.chunks`."""

GUIDED = ("reached",)
"""Names of functions that do not need chunks, for a robot that is guided manually."""
