"""The physics: reproducible, locked by stops, and true to the robot's kinematics."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest
import sapien

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS
from rulesafe_core.transforms import apply, inverse
from rulesafe_locks.rules import PARTS, Rule
from rulesafe_sim.bodies import ROBOT, placement_pose
from rulesafe_sim.config import Placement
from rulesafe_sim.observer import Observer
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.simulation import (
    HOME_ACTION,
    LOWER,
    UPPER,
    VELOCITY,
    Simulation,
)
from rulesafe_sim.stand import FLOOR_Z, stand_shapes
from rulesafe_sim.variation import Variation

SAFES_TO_TRY = ("safe_01", "safe_04", "safe_09")


def trace(seed: int, looks: bool = False) -> str:
    """Digest of a short episode that moves all joints."""
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", seed)
    observer = Observer(simulation)
    for frame in range(6):
        simulation.step(HOME_ACTION + 0.2 * np.sin(frame + np.arange(13)))
        if looks:
            observer.observe()
    return simulation.digest


@pytest.fixture
def trace_elsewhere(fresh_process) -> Callable[..., str]:
    """The same in a fresh process, with environment variables."""

    def run(seed: int, **environment: str) -> str:
        code = (
            "import numpy as np\n"
            "from rulesafe_sim.observer import Observer\n"
            "from rulesafe_sim.simulation import HOME_ACTION, Simulation\n"
            f"{inspect.getsource(trace)}\n"
            f"print(trace({seed}))"
        )
        return fresh_process(code, **environment)

    return run


@pytest.fixture
def simulation() -> Simulation:
    made = Simulation()
    made.reset("rule_001", "safe_01", 0)
    return made


def push(simulation: Simulation, part: str, torque: float, seconds: float = 1.0) -> list[bool]:
    """The part's phase after each control step while a torque (N m, positive opens) acts on it
    beside those of its detent and spring."""
    simulation.external_torques = {part: torque}
    phases = []
    for _ in range(round(seconds * simulation.config.physics.control_hz)):
        simulation.control(HOME_ACTION)
        phases.append(simulation.state().part_open[part])
    simulation.external_torques = {}
    return phases


def test_same_seed_and_actions_give_the_same_trace():
    assert trace(3) == trace(3)
    assert trace(3) != trace(4)


def test_a_fresh_process_gives_the_same_trace(trace_elsewhere):
    assert trace_elsewhere(3) == trace(3)


def test_one_simulation_after_another_leaves_no_trace(simulation):
    simulation.step(UPPER)
    simulation.reset("rule_002", "safe_02", 5)
    simulation.step(LOWER)
    simulation.reset("rule_001", "safe_01", 3)
    for frame in range(6):
        simulation.step(HOME_ACTION + 0.2 * np.sin(frame + np.arange(13)))
    assert simulation.digest == trace(3)


def test_cameras_do_not_change_the_physics():
    assert trace(3, looks=True) == trace(3)


def test_seeds_place_the_safe_within_the_range():
    simulation, poses = Simulation(), []
    ranges = simulation.split.randomisation.placement
    for seed in range(5):
        simulation.reset("rule_001", "safe_01", seed)
        nominal = ranges.around(simulation.safe.hinge)
        offset = np.abs(np.subtract(simulation.placement.xyz, nominal.xyz))
        assert (offset <= np.array(ranges.xyz) + 1e-12).all()
        assert abs(simulation.placement.yaw - nominal.yaw) <= ranges.yaw + 1e-12
        poses.append(placement_pose(simulation.placement))
    assert len({pose.tobytes() for pose in poses}) == 5


@pytest.mark.parametrize("safe", SAFES_TO_TRY)
@pytest.mark.parametrize("part", PARTS)
def test_a_locked_part_does_not_leave_its_phase(safe, part):
    simulation = Simulation()
    simulation.reset(holding(part, is_open=False), safe, 0)
    simulation.control(HOME_ACTION)
    phases = push(simulation, part, 20.0)
    assert not any(phases)
    position = simulation.state().part_positions[part]
    assert abs(position) < simulation.config.physics.lock_play + 0.01


@pytest.mark.parametrize("safe", SAFES_TO_TRY)
@pytest.mark.parametrize("part", ["knob", "handle"])
def test_a_part_locked_open_stays_open(safe, part):
    simulation = Simulation()
    simulation.reset(holding(part, is_open=True), safe, 0)
    assert push(simulation, part, 1.0)[-1]
    simulation.control(HOME_ACTION)
    assert all(push(simulation, part, -20.0))


@pytest.mark.parametrize("safe", SAFES_TO_TRY)
def test_a_free_part_moves_through_its_range(safe):
    simulation = Simulation()
    simulation.reset("rule_001", safe, 0)
    for part in ("knob", "handle"):
        phases = push(simulation, part, 1.0)
        assert phases[-1] and phases.count(True) + phases.index(True) == len(phases)
    assert simulation.progress.process_score == pytest.approx(2 / 3)
    assert push(simulation, "door", 3.0, seconds=3.0)[-1]
    assert simulation.success and simulation.progress.process_score == 1.0


def test_the_door_is_held_until_the_rule_is_met(simulation):
    assert not any(push(simulation, "door", 50.0))
    assert push(simulation, "knob", 1.0)[-1]
    assert not any(push(simulation, "door", 50.0))
    assert not simulation.success


def test_a_rule_holds_the_knob_by_the_stop():
    """rule_004 holds the knob until the handle is open."""
    simulation = Simulation()
    simulation.reset("rule_004", "safe_01", 0)
    assert not any(push(simulation, "knob", 20.0))
    assert push(simulation, "handle", 1.0)[-1]
    assert push(simulation, "knob", 1.0)[-1]


@pytest.mark.parametrize("part", ["knob", "handle"])
def test_phases_have_hysteresis(simulation, part):
    data = simulation.safe.parts[part]
    above, below = data.open_above * data.range, data.closed_below * data.range
    joint = simulation._safe.index[f"{part}_joint"]

    def put(position: float) -> bool:
        qpos = simulation._safe.articulation.qpos
        qpos[joint] = position
        simulation._safe.articulation.set_qpos(qpos)
        simulation._update_lock()
        return simulation.state().part_open[part]

    closed = [put(0.0), put(below + 0.01), put(above - 0.01)]
    opened = [put(above + 0.01), put(above - 0.01), put(below + 0.01)]
    again = [put(below - 0.01), put(above - 0.01)]
    assert not any(closed) and all(opened) and not any(again)


def test_links_stand_where_the_kinematics_say(simulation):
    rng = np.random.default_rng(0)
    for _ in range(5):
        targets = dict(zip(ACTION_JOINTS, rng.uniform(LOWER, UPPER).tolist(), strict=True))
        simulation._robot.place(targets)
        expected = ROBOT.link_poses({**FIXED_POSITIONS, **targets})
        for link in simulation._robot.articulation.links:
            pose = link.entity_pose.to_transformation_matrix()
            np.testing.assert_allclose(pose, expected[link.name], atol=1e-5)


def test_the_safes_links_stand_where_they_should_from_the_start(simulation):
    """Before the first step, too: the first observation shows them."""
    expected = safe_body(simulation.safe).link_poses({})
    for link in simulation._safe.articulation.links:
        pose = link.entity_pose.to_transformation_matrix()
        stated = simulation.pose_safe_in_pelvis @ expected[link.name]
        np.testing.assert_allclose(pose, stated, atol=1e-5)


def test_the_arm_goes_where_it_is_told(simulation):
    goal = HOME_ACTION.copy()
    goal[3] += 0.3
    for _ in range(15):
        simulation.step(goal)
    np.testing.assert_allclose(simulation.state().action_positions, goal, atol=0.01)


def test_the_robot_does_not_sag_under_gravity(simulation):
    for _ in range(10):
        simulation.step(HOME_ACTION)
    np.testing.assert_allclose(simulation.state().action_positions, HOME_ACTION, atol=1e-3)


def test_the_forearm_stops_at_the_robots_own_body():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", 0, Variation(Placement((1.8, -0.24, 0.28), 0.0)))
    assert not simulation.scene.get_contacts()
    across = HOME_ACTION.copy()
    across[1:4] = 0.1, 1.6, -0.5  # the forearm across the belly
    for _ in range(15):
        simulation.step(across)
    pairs = [
        {body.entity.name for body in contact.bodies}
        for contact in simulation.scene.get_contacts()
        if any(np.linalg.norm(point.impulse) > 0 for point in contact.points)
    ]
    assert any("pelvis" in pair for pair in pairs), pairs  # torso and pelvis are one held link
    assert abs(simulation.state().action_positions - across)[1:3].max() > 0.1


def test_commands_keep_the_velocity_limits(simulation):
    far = np.where(HOME_ACTION > (LOWER + UPPER) / 2, LOWER, UPPER)
    before = simulation.command
    simulation.control(far)
    assert (np.abs(simulation.command - before) <= VELOCITY / 100 + 1e-12).all()


def test_targets_out_of_the_limits_are_clipped_and_counted(simulation):
    simulation.step(HOME_ACTION)
    assert simulation.clipped_actions == 0
    simulation.step(UPPER + 1.0)
    assert simulation.clipped_actions == 1
    assert (simulation.command <= UPPER).all()


def test_a_replay_of_stored_actions_is_bit_identical(simulation):
    random = np.random.default_rng(0)
    actions = random.uniform(LOWER - 0.1, UPPER + 0.1, (5, 13))
    actions[0, 0] = 1e300  # infinity in single precision
    digests = set()
    for kind in (np.float64, np.float32):
        simulation.reset("rule_001", "safe_01", 0)
        with np.errstate(over="ignore"):
            stored = np.minimum(actions.astype(kind), 1e30)
        for action in stored:
            simulation.step(action)
        digests.add((simulation.digest, simulation.clipped_actions))
    assert len(digests) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_target_that_is_no_number_is_refused_and_changes_nothing(simulation, bad):
    action = HOME_ACTION.copy()
    action[4] = bad
    before = simulation.digest
    with pytest.raises(RuleSafeError, match=ACTION_JOINTS[4]):
        simulation.step(action)
    assert simulation.digest == before and simulation.frame == 0


def test_a_wrong_shape_is_refused(simulation):
    with pytest.raises(RuleSafeError, match=r"\(13,\).*\(7,\)"):
        simulation.step(np.zeros(7))


def test_unknown_names_are_refused_with_the_valid_ones(simulation):
    with pytest.raises(RuleSafeError, match="rule_020"):
        simulation.reset("rule_021", "safe_01", 0)
    with pytest.raises(RuleSafeError, match="safe_10"):
        simulation.reset("rule_001", "safe_11", 0)


@pytest.mark.parametrize("safe", SAFES_TO_TRY)
def test_the_stand_reaches_from_the_floor_to_the_safe_and_no_further(safe):
    simulation = Simulation()
    simulation.reset("rule_001", safe, 2)
    pose = simulation.pose_safe_in_pelvis
    shapes = stand_shapes(safe_body(simulation.safe), pose)
    corners = np.concatenate([_corners(shape) for shape in shapes])
    assert corners[:, 2].min() == pytest.approx(FLOOR_Z)
    in_safe = apply(inverse(pose), corners)
    assert in_safe[:, 0].max() < -0.04  # behind the door's face
    (stand,) = (actor for actor in simulation.scene.get_all_actors() if actor.name == "stand")
    solid = stand.find_component_by_type(sapien.physx.PhysxRigidStaticComponent)
    sizes = [tuple(2 * shape.half_size) for shape in solid.collision_shapes]
    np.testing.assert_allclose(sizes, [shape.size for shape in shapes], atol=1e-6)


def _corners(shape) -> np.ndarray:
    signs = np.array(np.meshgrid(*[(-0.5, 0.5)] * 3)).T.reshape(-1, 3)
    return apply(shape.pose, signs * shape.size)


def holding(part: str, is_open: bool) -> Rule:
    """A rule that locks one part while it is open, or while it is closed, and frees the others."""
    return Rule(
        "holding",
        "",
        unlocked=lambda memory, phases: part != "door" or phases.knob,
        locked_parts=lambda memory, phases: frozenset(
            {part} if part != "door" and getattr(phases, part) == is_open else ()
        ),
    )
