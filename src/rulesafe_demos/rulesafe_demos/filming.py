"""Facts of a simulation in process, for films and results."""

from rulesafe_demos.film.summary import Snapshot
from rulesafe_sim.simulation import Simulation


def snapshot_of(simulation: Simulation) -> Snapshot:
    """The facts of the simulation's episode at this instant."""
    progress = simulation.progress
    return Snapshot(
        rule=simulation.rule.id,
        safe=simulation.safe.id,
        seed=simulation.seed,
        plan=tuple(progress.plan),
        steps_done=progress.steps_done,
        process_score=progress.process_score,
        order_free_score=progress.order_free_score,
        part_open=simulation.state().part_open,
        success=simulation.success,
        frame=simulation.frame,
        time=simulation.time,
        clipped_actions=simulation.clipped_actions,
        state_digest=simulation.digest,
    )
