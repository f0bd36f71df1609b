"""Interference: before an episode, the robot moves parts, which the policy's memory then contains.

A policy should not be disturbed by past motions that have nothing to do with the task.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from planner_node.episode import ExpertAgent
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.locks import Phases, Rule
from rulesafe_locks.scores import Progress
from rulesafe_sim.episode import Activity
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import Simulation, start_action
from rulesafe_sim.variation import Variation

FREE = Rule("free", "", unlocked=lambda memory, phases: phases.knob and phases.handle)
"""The lock's rule meanwhile: knob and handle are free, the door is locked unless both are open."""

RETURN = 30
"""Number of frames in which the arm returns to the start posture."""


def interfere(
    simulation: Simulation, rule: Rule, safe: str, seed: int, variation: Variation
) -> NDArray[np.float32]:
    """Reset a simulation, open and close knob and handle once, in an order that the seed selects,
    return to the start posture, and restart the episode.

    If the arm moves a part on its way back, the other order is tried, then each part alone.

    Args:
        simulation: the simulation.
        rule, safe, seed, variation: as for `Simulation.reset`.

    Returns:
        The joint positions of each frame (N, 13), rad.

    Raises:
        RuleSafeError: a part is open in the end.
    """
    first = np.random.default_rng(seed).permutation(["knob", "handle"]).tolist()
    for parts in (first, first[::-1], first[:1], first[1:]):
        simulation.reset(rule, safe, seed, variation)
        positions = _play(simulation, [f"{part}{phase}" for part in parts for phase in "+-"])
        if simulation.progress.state.phases == Phases():
            simulation.restart()
            return positions
    raise RuleSafeError(f"the interference on {safe} with seed {seed} leaves a part open")


def _play(simulation: Simulation, events: Sequence[str]) -> NDArray[np.float32]:
    """Carry out events, return to the start posture; return the joint positions (N, 13), rad."""
    positions: list[NDArray[np.float32]] = []

    def observe(simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        positions.append(simulation.state().action_positions.astype(np.float32))

    simulation.progress = Progress(FREE)
    runtime = Runtime(simulation, subscribers=[observe])
    runtime.run(ExpertAgent(lambda: _in_turn(events)), stop=False)
    here, start = simulation.command, start_action(simulation.variation)
    for step in range(1, RETURN + 1):
        runtime.step(here + (start - here) * (step / RETURN), Activity())
    return np.array(positions)


def _in_turn(events: Sequence[str]) -> Callable[[Simulation], Sequence[str]]:
    """Return a chooser of events in a given order."""
    left = list(events)

    def choose(simulation: Simulation) -> Sequence[str]:
        now = simulation.state().part_open
        while left and now[left[0][:-1]] is (left[0][-1] == "+"):
            left.pop(0)
        return left[:1]

    return choose
