"""A policy that is corrected by the expert where it no longer makes progress (compare Kelly et al.,
"HG-DAgger: interactive imitation learning with human experts", 2019).

    export RULESAFE_CORRECTED=policies/network RULESAFE_ALLOW_MODULES=rulesafe_studies
    rulesafe demos generate --by rulesafe_studies.corrections:CorrectedPolicy --out corrected

Training imitates the corrections, which begin where the policy fails, and the steps that the policy
completed quickly: with the corrections alone, it would learn that its own motions always fail, and
repeat those that succeeded. The other frames of the policy have the subtask "miss the part".
"""

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from planner_node.episode import observe
from planner_node.expert import Expert
from planner_node.habits import style_config
from planner_node.hand import PRE_PINCH
from planner_node.primitives import Primitives
from policy_node.loading import find_policy, memory_of_policy
from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import EXECUTION
from rulesafe_sim.episode import POLICY as BY_POLICY
from rulesafe_sim.episode import Activity, AgentLog
from rulesafe_sim.runtime import Agent
from rulesafe_sim.simulation import Simulation
from vq_memory_node.memory import WIDTHS

POLICY = "RULESAFE_CORRECTED"
"""Environment variable: name or folder of the policy."""

EXECUTED = 6
"""Number of actions of a chunk that are executed."""

PATIENCE = (8.0, 16.0)
"""Smallest and largest time without progress before a correction, s."""

WRONG = 2.0
"""Largest time between a wrong move and its correction, s."""

OPEN = 0.05
"""Largest distance of a finger to its open position, rad, at which the hand counts as open."""


class CorrectedPolicy(Agent):
    """Executes the policy; after PATIENCE without progress the expert opens the hand and makes the
    next move. Then the policy continues."""

    def __init__(self) -> None:
        name = os.environ.get(POLICY, "")
        if not name:
            raise RuleSafeError(f"set {POLICY} to the name or folder of the policy")
        policy = find_policy(name, warn=lambda text: None)
        memory = memory_of_policy(policy, WIDTHS)
        self._policy = PolicyAgent(policy, memory, EXECUTED, EXECUTION)

    def reset(self, simulation: Simulation) -> None:
        self.log = self._policy.log = AgentLog()
        self._policy.reset(simulation)
        self._rng = np.random.default_rng(simulation.seed)
        self._correction: Iterator[NDArray] | None = None
        self._number = 0
        self._left = len(simulation.progress.remaining)
        self._until = self._deadline(simulation, *PATIENCE)

    def act(self, simulation: Simulation) -> NDArray | None:
        remaining = simulation.progress.remaining
        if self._correction is not None:
            action = next(self._correction, None)
            if action is not None:
                self._policy.watch(simulation, action)
                return action
            self._correction = None
            self._left, self._until = len(remaining), self._deadline(simulation, *PATIENCE)
        if not remaining:
            return None
        if len(remaining) < self._left:
            self._left, self._until = len(remaining), self._deadline(simulation, *PATIENCE)
        elif len(remaining) > self._left:
            self._left = len(remaining)
            self._until = min(self._until, self._deadline(simulation, 0.0, WRONG))
        if simulation.time >= self._until:
            self._number += 1
            self._correction = self._correct(simulation, remaining[0])
            return self.act(simulation)
        self.activity = Activity(self._number, remaining[0], 1, BY_POLICY)
        return self._policy.act(simulation)

    def _deadline(self, simulation: Simulation, low: float, high: float) -> float:
        return simulation.time + float(self._rng.uniform(low, high))

    def _correct(self, simulation: Simulation, event: str) -> Iterator[NDArray]:
        """Yield the actions that open the hand and make the event happen."""
        config = style_config("strict")
        command = np.asarray(simulation.command, float)
        if np.abs(command[7:] - PRE_PINCH).max() > OPEN:
            self.activity = Activity(self._number, event, 1, "release")
            run = Primitives(config.pace).release(command[:7], command[7:])
            targets = next(run)
            while True:
                yield from targets
                try:
                    targets = run.send(observe(simulation))
                except StopIteration:
                    break
        expert = Expert(simulation.safe, [event], config, misses_seed=simulation.seed)
        chunk = expert.begin(observe(simulation))
        while chunk is not None:
            self.activity = expert.activity
            yield from chunk
            chunk = expert.next_chunk(observe(simulation))
        self.log.retries += 1
        self.log.steps += expert.log.steps
