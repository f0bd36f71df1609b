"""The expert in process with the simulation: the shortest way to an opened safe.

Example::

    simulation = Simulation()
    simulation.reset("rule_001", "safe_03", seed=0)
    result = run_expert(simulation)
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy.typing import NDArray

from planner_node.expert import Expert, ExpertConfig, Stuck, paced
from planner_node.moves import Observation
from planner_node.primitives import Activity
from rulesafe_sim.simulation import Simulation

Watch = Callable[[Simulation, NDArray, Activity], None]
"""Called after each frame with the simulation, the action (13,) that led there, and its aim."""


@dataclass(frozen=True)
class Result:
    """How an episode ended."""

    success: bool
    frames: int  # of 0.1 s
    retries: int
    steps: tuple[str, ...]  # what happened, a line each try
    failure: str  # empty on success
    digest: str  # hash of the trace of states
    events: tuple[str, ...]  # brought about, such as "knob+"
    planning_seconds: float = field(compare=False)  # wall time


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
        contact_forces=state.contact_forces,
    )


def run_expert(
    simulation: Simulation,
    config: ExpertConfig = ExpertConfig(),
    time_limit: float = 300.0,
    watch: Watch | None = None,
) -> Result:
    """Lets the expert open the safe of a simulation that was just reset; `time_limit` in
    simulated s."""
    expert = Expert(simulation.safe, config=paced(config, simulation.variation.speed))
    failure = ""
    try:
        chunk = expert.begin(observe(simulation))
        while chunk is not None and simulation.time < time_limit:
            for target in chunk:
                simulation.step(target)
                if watch:
                    watch(simulation, target, expert.activity)
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
        events=tuple(expert.log.events),
        planning_seconds=expert.planning_seconds,
    )
