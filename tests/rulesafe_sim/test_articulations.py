"""Articulations: motors with constant limits, and a safe that sleeps while nothing moves it."""

from dataclasses import replace

import numpy as np
import pytest
import sapien

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_sim.articulations import DrivenRobot, gravity_torques
from rulesafe_sim.config import PhysicsConfig, SimulationConfig
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION, Simulation


@pytest.fixture
def simulation() -> Simulation:
    made = Simulation()
    made.reset("rule_001", "safe_01", 0)
    return made


@pytest.mark.parametrize(
    ("joint", "effort"), [("right_elbow_joint", 18.0), ("R_index_proximal_joint", 0.8)]
)
def test_motors_give_way_to_more_than_their_effort(simulation, joint, effort):
    """The effort limit holds for the whole motor: the drive lacks what gravity can take."""
    index = simulation._robot.index[joint]
    left = effort - gravity_torques(simulation._robot.body)[joint]

    def displaced(torque: float) -> float:
        simulation.reset("rule_001", "safe_01", 0)
        robot = simulation._robot

        def push(robot: DrivenRobot) -> None:
            qf = np.zeros(len(robot.names), np.float32)
            qf[index] = torque
            robot.articulation.set_qf(qf)

        before = robot.positions[index]
        for _ in range(30):
            simulation.advance(push)
        return robot.positions[index] - before

    # A drive that is strong enough stops at an error of torque / stiffness; a weaker one does not
    # stop.
    drive = simulation.config.physics.gains[joint]
    assert displaced(0.9 * left) < 1.05 * left / drive.stiffness
    assert displaced(1.2 * left) > 3 * left / drive.stiffness


def test_gravity_torques_are_bounds_in_all_postures():
    simulation = Simulation(SimulationConfig(PhysicsConfig(weightless=False)))
    simulation.reset("rule_001", "safe_01", 0)
    robot = simulation._robot
    bounds = gravity_torques(robot.body)
    limits = np.array([joint.limits[0] for joint in robot.joints.values()])
    random, largest = np.random.default_rng(0), np.zeros(len(robot.names))
    for _ in range(2000):
        robot.articulation.set_qpos(random.uniform(*limits.T).astype(np.float32))
        largest = np.maximum(largest, abs(robot.passive_torques()))
    bound = np.array([bounds[name] for name in robot.names])
    assert (largest <= bound + 1e-3).all()
    arm = [robot.index[name] for name in ARM_JOINTS]
    assert (bound[arm] < 1.6 * largest[arm]).all()


def test_a_motor_that_cannot_hold_its_links_is_refused(simulation):
    robot = simulation._robot
    gains = {name: replace(g, effort=4.0) for name, g in PhysicsConfig().gains.items()}
    with pytest.raises(RuleSafeError, match="right_shoulder_pitch_joint is 4 N m"):
        DrivenRobot(robot.articulation, robot.body, gains)


def asleep(simulation: Simulation) -> bool:
    return all(link.sleeping for link in simulation._safe.articulation.links)


def sleep(simulation: Simulation, seconds: float = 1.0) -> None:
    for _ in range(round(10 * seconds)):
        simulation.step(simulation.command)
    assert asleep(simulation)


def test_a_safe_at_rest_sleeps_and_a_torque_wakes_it(simulation):
    sleep(simulation)
    simulation.external_torques = {"knob": 0.5}
    simulation.control(HOME_ACTION)
    assert not asleep(simulation)
    simulation.step(HOME_ACTION)
    assert simulation.state().part_positions["knob"] > 0.1
    simulation.external_torques = {}
    sleep(simulation, 3.0)
    part = simulation.safe.knob
    assert min(abs(simulation.state().part_positions["knob"] - x) for x in (0, part.range)) < 1e-3


def test_a_slow_part_does_not_fall_asleep_on_its_way():
    """With much damping, the detent moves a part by less than the speed at which PhysX lets bodies
    sleep."""
    safe = load_safe("safe_01")
    slow = replace(safe, knob=replace(safe.knob, damping=2.0, detent=0.1))
    simulation = Simulation()
    simulation.reset("rule_001", slow, 0)
    start = 0.65 * slow.knob.range
    simulation._safe.set_positions({"knob_joint": start})
    before = start
    for _ in range(40):
        simulation.step(HOME_ACTION)
        position = simulation.state().part_positions["knob"]
        assert position > before + 1e-3 or position > 0.99 * slow.knob.range
        before = position


def test_a_released_stop_wakes_the_safe():
    """A spring presses the open handle against its stop; it closes as soon as it is released."""
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 0)
    safe = simulation._safe
    handle = simulation.safe.handle
    safe._part_models[list(safe._parts).index("handle")] = replace(handle, detent=0.0, spring=0.1)
    safe.set_positions({"handle_joint": handle.range})
    safe.set_stop("handle", True, True, handle.range)
    for _ in range(200):
        safe.update_torques({})
        simulation.scene.step()
    assert asleep(simulation) and safe.part_positions()["handle"] > 0.9 * handle.range
    safe.set_stop("handle", False, True, handle.range)
    for _ in range(200):
        safe.update_torques({})
        simulation.scene.step()
    assert safe.part_positions()["handle"] < 0.01


def test_contact_wakes_the_safe(simulation):
    sleep(simulation)
    outwards = simulation.pose_safe_in_pelvis[:3, 0]
    builder = simulation.scene.create_actor_builder()
    builder.add_sphere_collision(radius=0.02)
    ball = builder.build(name="ball")
    knob = simulation._safe.articulation.find_link_by_name("knob").entity_pose.p
    ball.set_pose(sapien.Pose(knob + 0.15 * outwards))
    thrown = ball.find_component_by_type(sapien.physx.PhysxRigidDynamicComponent)
    thrown.set_linear_velocity(-2.0 * outwards)
    slept = []
    for _ in range(20):
        simulation.control(HOME_ACTION)
        slept.append(asleep(simulation))
    assert slept[0] and not all(slept)
