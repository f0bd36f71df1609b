"""The expert in process with the simulation: the shortest way to an opened safe.

Example::

    simulation = Simulation()
    simulation.reset("rule_001", "safe_03", seed=0)
    result = run_expert(simulation)
"""

from dataclasses import dataclass

from planner_node.expert import Expert, ExpertConfig, Stuck
from planner_node.moves import Observation
from rulesafe_sim.simulation import Simulation


@dataclass(frozen=True)
class Result:
    """How an episode ended."""

    success: bool
    frames: int  # of 0.1 s
    retries: int
    steps: tuple[str, ...]  # what happened, a line each try
    failure: str  # empty on success
    digest: str  # hash of the trace of states


def observe(simulation: Simulation) -> Observation:
    """What the expert sees of a simulation, privileged facts included."""
    state = simulation.state()
    positions = state.action_positions
    return Observation(
        arm=positions[:7],
        hand=positions[7:],
        part_positions=state.part_positions,
        part_open=state.part_open,
        pose_safe_in_pelvis=state.pose_safe_in_pelvis,
        remaining=tuple(simulation.progress.remaining),
    )


def run_expert(
    simulation: Simulation, config: ExpertConfig = ExpertConfig(), time_limit: float = 300.0
) -> Result:
    """Lets the expert open the safe of a simulation that was just reset; `time_limit` in
    simulated s."""
    expert = Expert(simulation.safe, config=config)
    failure = ""
    try:
        chunk = expert.begin(observe(simulation))
        while chunk is not None and simulation.time < time_limit:
            for target in chunk:
                simulation.step(target)
            chunk = expert.next_chunk(observe(simulation))
        if not simulation.success:
            failure = f"time limit of {time_limit:g} s"
    except Stuck as error:
        failure = str(error)
    return Result(
        success=simulation.success,
        frames=simulation.frame,
        retries=expert.log.retries,
        steps=tuple(expert.log.steps),
        failure="" if simulation.success else failure,
        digest=simulation.digest,
    )
