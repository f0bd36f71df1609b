"""The simulated robot executes motor commands exactly."""

import numpy as np
import pytest

from h1_2_bridge.messages import SLOTS
from h1_2_bridge.motors import MOTOR_JOINTS, RIGHT_ARM, WEIGHT_SLOT
from h1_2_bridge.wire import (
    LowCmd,
    MotorCmds,
    decode_low_state,
    encode_low_cmd,
    encode_low_state,
    encode_motor_cmds,
)
from h1_2_sim.controllers import MODE_MACHINE, ArmSdkController
from h1_2_sim.hands import ENTRIES, from_radians
from h1_2_sim.robot import RATE, RobotSide
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_sim.randomisation import SPLITS, sample_variation

ARM = list(RIGHT_ARM)
EFFORT = np.array([h1_2().joint(name).effort for name in MOTOR_JOINTS])


@pytest.fixture
def robot() -> RobotSide:
    side = RobotSide(ArmSdkController())
    side.reset("rule_001", "safe_03", 0)
    return side


def run(robot: RobotSide, seconds: float):
    for _ in range(round(seconds * RATE)):
        robot.step()
    return robot.low_state(stamp=123_000_000)


def tell(robot: RobotSide, q: np.ndarray, kp: float, kd: float, tau: np.ndarray) -> None:
    """Command the right arm; all other motors hold HOME."""
    slots = np.zeros((3, SLOTS), np.float32)
    slots[0, : len(MOTOR_JOINTS)] = [HOME[name] for name in MOTOR_JOINTS]
    slots[0, ARM], slots[2, ARM] = q, tau
    slots[0, WEIGHT_SLOT] = 1.0
    gains = {"kp": np.full(SLOTS, kp, np.float32), "kd": np.full(SLOTS, kd, np.float32)}
    command = LowCmd(
        mode_machine=MODE_MACHINE,
        mode=np.ones(SLOTS, np.uint8),
        q=slots[0],
        dq=slots[1],
        tau=slots[2],
        **gains,
    )
    robot.controller.receive(encode_low_cmd(command))


def home() -> np.ndarray:
    return np.array([HOME[name] for name in ARM_JOINTS])


def test_it_stands_by_itself(robot):
    state = run(robot, 1.0)
    expected = [HOME[name] for name in MOTOR_JOINTS]
    np.testing.assert_allclose(state.q[: len(MOTOR_JOINTS)], expected, atol=1e-3)
    assert abs(state.dq).max() < 1e-2
    assert not state.q[len(MOTOR_JOINTS) :].any()


def test_its_states_go_over_the_wire(robot):
    state = run(robot, 0.1)
    decoded = decode_low_state(encode_low_state(state))
    assert decoded.valid
    assert (decoded.mode_machine, decoded.tick) == (MODE_MACHINE, 123)
    np.testing.assert_array_equal(decoded.q, state.q)
    assert decoded.temperature[: len(MOTOR_JOINTS)].min() > 0


def test_each_motor_moves_its_own_joint(robot):
    """Commands and states use the motor index, the simulation the joint name."""
    still = run(robot, 0.5)
    gravity = still.tau[ARM].astype(float)
    for index, name in zip(ARM, ARM_JOINTS, strict=True):
        goal = home()
        goal[index - ARM[0]] += 0.1
        tell(robot, goal, kp=300.0, kd=20.0, tau=gravity)
        moved = run(robot, 1.5).q - still.q
        assert moved[index] == pytest.approx(0.1, abs=0.02), name
        others = np.delete(np.arange(SLOTS), index)
        assert abs(moved[others]).max() < 0.03
        assert MOTOR_JOINTS[index] == name


def test_a_motor_is_a_spring_a_damper_and_a_torque(robot):
    """Without feed-forward torque the arm sags to a spring equilibrium; with it, it does not."""
    gravity = run(robot, 0.5).tau[ARM].astype(float)
    assert abs(gravity).max() > 2.0
    tell(robot, home(), kp=200.0, kd=20.0, tau=gravity)
    held = run(robot, 2.0)
    np.testing.assert_allclose(held.q[ARM], home(), atol=2e-3)
    tell(robot, home(), kp=200.0, kd=20.0, tau=np.zeros(7))
    sagged = run(robot, 3.0)
    springs = 200.0 * (home() - sagged.q[ARM])
    assert abs(springs).max() > 2.0
    np.testing.assert_allclose(springs, sagged.tau[ARM], atol=0.05)
    # The torque that holds the arm where it has come to rest, near its initial posture.
    np.testing.assert_allclose(springs, gravity, atol=0.5)


def test_damping_alone_lets_it_down_slowly(robot):
    start = run(robot, 0.2).q[ARM]
    tell(robot, home(), kp=0.0, kd=8.0, tau=np.zeros(7))
    early, late = run(robot, 0.2), run(robot, 3.0)
    assert abs(early.dq[ARM]).max() < 3.0
    assert abs(late.q[ARM] - start).max() > 0.2


def test_torques_stay_within_the_motors_effort(robot):
    tell(robot, home() + 0.6, kp=1000.0, kd=0.0, tau=np.full(7, 500.0))
    for _ in range(50):
        robot.step()
        assert (abs(robot.low_state(0).tau[: len(EFFORT)]) <= EFFORT + 1e-3).all()


def test_each_entry_moves_its_own_finger(robot):
    run(robot, 0.1)
    for entry in range(6):
        positions, _ = robot.hand_state()
        q = from_radians(positions)
        goal = q.copy()
        goal[entry] += 0.1 if q[entry] < 0.5 else -0.1
        zeros = np.zeros(ENTRIES, np.float32)
        sent = MotorCmds(np.ones(ENTRIES, np.uint8), goal.astype(np.float32), *[zeros] * 4)
        robot.hands.receive(encode_motor_cmds(sent))
        run(robot, 1.0)
        moved = from_radians(robot.hand_state()[0]) - q
        assert moved[entry] == pytest.approx(goal[entry] - q[entry], abs=0.02)
        assert abs(np.delete(moved, entry)).max() < 0.02


def test_an_episode_may_have_a_given_variation(robot):
    variation = sample_variation(SPLITS["shifted"].randomisation, "safe_03", 7)
    robot.reset("rule_001", "safe_03", 0, variation)
    assert robot.simulation.variation == variation


def test_a_reset_puts_everything_back(robot):
    before = run(robot, 0.2)
    tell(robot, home() + 0.2, kp=200.0, kd=10.0, tau=np.zeros(7))
    run(robot, 0.5)
    robot.controller.receive(encode_low_cmd(LowCmd(mode_machine=MODE_MACHINE)))
    robot.reset("rule_001", "safe_03", 0)
    np.testing.assert_allclose(run(robot, 0.2).q, before.q, atol=1e-4)


def test_a_failed_reset_keeps_the_running_episode(robot):
    run(robot, 0.1)
    before = robot.simulation.digest

    def fail(simulation):
        assert simulation.safe.id == "safe_01"
        raise RuleSafeError("no images")

    with pytest.raises(RuleSafeError, match="no images"):
        robot.reset("rule_002", "safe_01", 1, prepare=fail)
    assert (robot.simulation.safe.id, robot.simulation.digest) == ("safe_03", before)
    run(robot, 0.1)
