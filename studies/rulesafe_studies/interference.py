"""Memories of motions that are not part of the episode.

Interference: before an episode, the robot moves parts, which the policy's memory then contains. A
policy should not be disturbed by past motions that have nothing to do with the task. As a control
experiment, the memory of another episode replaces that of the present one: a policy that uses the
contents of its memory then succeeds less often.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from planner_node.episode import ExpertAgent
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.memory_inputs import observed_input
from rulesafe_locks.locks import Phases, Rule, events_between
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_locks.scores import Progress
from rulesafe_sim.episode import Activity
from rulesafe_sim.runtime import Runtime, Subscriber
from rulesafe_sim.simulation import Simulation, start_action
from rulesafe_sim.variation import Variation
from vq_memory_node.memory import WIDTHS, Input

FREE_RULE = Rule("free", "", unlocked=lambda memory, phases: phases.knob and phases.handle)
"""Rule of the lock during the interference: knob and handle are free, the door is locked unless
both are open."""

RETURN_FRAMES = 30
"""Number of frames in which the arm returns to the start posture."""


def interfere(
    simulation: Simulation,
    rule: Rule,
    safe: str,
    seed: int,
    variation: Variation,
    kind: Input = "positions",
) -> tuple[NDArray[np.float32], list[str]]:
    """Reset a simulation, open and close knob and handle once, in an order that the seed selects,
    return to the start posture, and restart the episode.

    If the expert does not carry out exactly these events, for example because the arm moves a part
    on its way back, it tries the other order, then each part alone, then nothing.

    Args:
        simulation: the simulation.
        rule, safe, seed, variation: as for `Simulation.reset`.
        kind: input of the memory to return.

    Returns:
        The input of each frame, by default joint positions (N, 13), rad, and the events.
    """
    first = np.random.default_rng(seed).permutation(["knob", "handle"]).tolist()
    for parts in (first, first[::-1], first[:1], first[1:]):
        simulation.reset(rule, safe, seed, variation)
        events = [f"{part}{phase}" for part in parts for phase in "+-"]
        inputs, done = _play(simulation, events, kind)
        if done == events:
            simulation.restart()
            return inputs, events
    simulation.reset(rule, safe, seed, variation)
    return np.zeros((0, WIDTHS[kind]), np.float32), []


def another_episode(
    simulation: Simulation,
    rule: Rule,
    safe: str,
    seed: int,
    variation: Variation,
    kind: Input = "positions",
) -> NDArray[np.float32]:
    """Reset a simulation and let the expert open the safe under another of the twenty rules, which
    the seed selects; return the input of a memory at each frame, by default joint positions
    (N, 13), rad.

    Args:
        simulation: the simulation; it must be reset again before an episode.
        rule, safe, seed, variation: as for `Simulation.reset`.
        kind: the input of the memory.

    Raises:
        RuleSafeError: the expert opens the safe under no other rule with another shortest plan.
    """
    plan = tuple(shortest_plan(rule))
    others = [each for each in RULES if tuple(shortest_plan(load_rule(each))) != plan]
    for other in np.random.default_rng(seed).permutation(others).tolist():
        simulation.reset(other, safe, seed, variation)
        inputs: list[NDArray[np.float32]] = []
        if Runtime(simulation, subscribers=[_recorder(inputs, kind)]).run(ExpertAgent()).success:
            return np.array(inputs)
    raise RuleSafeError(f"the expert does not open {safe}, seed {seed}, under any other rule")


def _recorder(inputs: list[NDArray[np.float32]], kind: Input) -> Subscriber:
    """Return a subscriber that appends the input of a memory at each frame to a list."""
    return lambda simulation, action, activity: inputs.append(
        observed_input(simulation, kind, action)
    )


def _play(
    simulation: Simulation, events: Sequence[str], kind: Input
) -> tuple[NDArray[np.float32], list[str]]:
    """Carry out events and return to the start posture; return the input of a memory at each frame
    and the events that happened."""
    inputs: list[NDArray[np.float32]] = []
    done: list[str] = []
    phases = Phases()

    def observe(simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        nonlocal phases
        now = simulation.progress.state.phases
        done.extend(events_between(phases, now))
        phases = now

    simulation.progress = Progress(FREE_RULE)
    runtime = Runtime(simulation, subscribers=[observe, _recorder(inputs, kind)])
    runtime.run(ExpertAgent(lambda: _in_turn(events)), stop=False)
    here, start = simulation.command, start_action(simulation.variation)
    for step in range(1, RETURN_FRAMES + 1):
        runtime.step(here + (start - here) * (step / RETURN_FRAMES), Activity())
    return np.array(inputs), done


def _in_turn(events: Sequence[str]) -> Callable[[Simulation], Sequence[str]]:
    """Return a chooser of events in a given order."""
    left = list(events)

    def choose(simulation: Simulation) -> Sequence[str]:
        now = simulation.state().part_open
        while left and now[left[0][:-1]] is (left[0][-1] == "+"):
            left.pop(0)
        return left[:1]

    return choose
