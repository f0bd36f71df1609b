"""The contact sensor: weights, pushes by known torques, and nothing where nothing touches."""

import numpy as np
import pytest
import sapien

from rulesafe_core.body import Shape
from rulesafe_core.transforms import from_parts
from rulesafe_sim import physics
from rulesafe_sim.config import PhysicsConfig
from rulesafe_sim.contacts import CONTACT_NAMES, ContactSensor
from rulesafe_sim.simulation import HOME_ACTION, Simulation

GRAVITY = 9.81
SIDE = 0.1


def box(scene, name: str, height: float):
    """A cube of 2 kg at a height (m) that may fall; SAPIEN's mass comes from the density."""
    builder = scene.create_actor_builder()
    builder.add_box_collision(half_size=[SIDE / 2] * 3, density=2.0 / SIDE**3)
    builder.set_initial_pose(sapien.Pose([0, 0, height]))
    entity = builder.build(name=name)
    return entity.find_component_by_type(sapien.physx.PhysxRigidDynamicComponent)


@pytest.fixture
def pile():
    """Two cubes of 2 kg on a plate, one on the other: scene, plate, lower and upper cube."""
    scene = physics.make_scene(PhysicsConfig())
    top = Shape("box", (1.0, 1.0, 0.1), from_parts(np.eye(3), (0, 0, -0.05)))
    plate = physics.build_static(scene, "plate", [top], 1.0, (1, 1, 0, 0))
    lower, upper = box(scene, "lower", SIDE / 2), box(scene, "upper", 1.5 * SIDE)
    return scene, plate, lower, upper


def settle(scene, steps: int = 150):
    for _ in range(steps):
        scene.step()


def test_a_body_at_rest_reads_its_weight(pile):
    scene, plate, lower, upper = pile
    sensor = ContactSensor(scene, [lower, upper], {"plate": [plate], "each other": [lower, upper]})
    assert sensor.forces() == {"plate": 0.0, "each other": 0.0}  # before the first step
    settle(scene)
    forces = sensor.forces()
    assert forces["plate"] == pytest.approx(4.0 * GRAVITY, rel=0.01)
    assert forces["each other"] == pytest.approx(2.0 * GRAVITY, rel=0.01)


def test_only_the_toucher_counts(pile):
    scene, plate, lower, upper = pile
    settle(scene)
    assert ContactSensor(scene, [upper], {"plate": [plate]}).forces() == {"plate": 0.0}
    ends = ContactSensor(scene, [lower], {"below": [plate], "above": [upper]}).forces()
    assert ends["below"] - ends["above"] == pytest.approx(2.0 * GRAVITY, rel=0.02)


def test_a_robot_far_from_everything_feels_nothing():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 0)
    assert tuple(simulation.state().contact_forces) == CONTACT_NAMES
    for _ in range(5):
        assert set(simulation.state().contact_forces.values()) == {0.0}
        simulation.step(HOME_ACTION)


def press_arm_on_body(simulation: Simulation, look: bool = False) -> str:
    """The shoulder rolls inwards until the forearm lies on the torso; the trace's digest."""
    simulation.reset("rule_001", "safe_01", 0)
    across = HOME_ACTION.copy()
    across[:4] = (0.4, 0.3, 0.9, 0.2)  # shoulder pitch, roll, yaw and elbow
    for _ in range(30):
        simulation.step(across)
        if look:
            simulation.state()
    return simulation.digest


def test_an_arm_that_is_pressed_against_the_body_feels_itself():
    simulation = Simulation()
    press_arm_on_body(simulation)
    forces = simulation.state().contact_forces
    assert forces["self"] > 5.0
    assert all(force == 0.0 for name, force in forces.items() if name != "self")


def test_looking_does_not_change_the_physics():
    assert press_arm_on_body(Simulation()) == press_arm_on_body(Simulation(), look=True)
