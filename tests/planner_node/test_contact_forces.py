"""The contact forces of a demonstration: which links touch, and with what force."""

import numpy as np
import pytest

from planner_node.episode import run_expert
from rulesafe_sim.simulation import Simulation

pytestmark = pytest.mark.episode

STRONGEST = 60.0  # N, more than two fingers of this hand can press


@pytest.fixture(scope="module")
def episode():
    """Each frame of a demonstration: event, operation, forces (N)."""
    simulation, frames = Simulation(), []
    simulation.reset("rule_001", "safe_03", 0)

    def note(simulation, action, activity):
        frames.append((activity.event, activity.operation, simulation.state().contact_forces))

    assert run_expert(simulation, subscribers=[note]).success
    return frames[1:]


@pytest.mark.parametrize("part", ["knob", "handle"])
def test_a_turning_pinch_presses_on_its_part_alone(episode, part):
    turning = [f for event, name, f in episode if (event, name) == (f"{part}+", "turn")]
    assert len(turning) > 5
    pressed = np.array([forces[part] for forces in turning])
    assert (pressed > 2.0).all() and (pressed < STRONGEST).all()
    assert all(forces["case"] == forces["stand"] == 0.0 for forces in turning)
    assert all(forces["handle" if part == "knob" else "knob"] == 0.0 for forces in turning)


def test_a_pull_holds_the_handle(episode):
    pulling = [forces["handle"] for _, name, forces in episode if name == "pull"]
    assert len(pulling) > 5
    assert 2.0 < np.median(pulling) < STRONGEST


def test_the_hand_that_travels_touches_nothing(episode):
    """Except in the first frames of a motion, in which the fingers may still leave the part."""
    first = [forces for event, name, forces in episode if (event, name) == ("knob+", "travel")]
    assert len(first) > 5
    assert all(set(forces.values()) == {0.0} for forces in first)
