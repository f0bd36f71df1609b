"""The action server FollowJointTrajectory, with the simulation and with faults."""

import itertools
import math
import signal
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rulesafe_core import convert
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import decode_chunk, to_ns
from rulesafe_core.robot import HOME
from rulesafe_core.ros import UNNAMED
from rulesafe_eval.recorder_ros import DISCOVERY_DELAY
from rulesafe_moveit.trajectories import ErrorCode

pytestmark = pytest.mark.ros

SIM, NODE = "rulesafe_sim.node", "rulesafe_moveit.trajectory_node"
HOME_ROW = np.array([HOME[name] for name in ACTION_JOINTS])
ELBOW = ACTION_JOINTS.index("right_elbow_joint")
TOPIC = "/policy/action_chunk"


def moved(**changes) -> list[float]:
    """Return HOME with changes by joint, rad."""
    return [HOME[name] + changes.get(name, 0.0) for name in ACTION_JOINTS]


def goal_of(times, rows, joints=ACTION_JOINTS, **tolerances) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal(**tolerances)
    goal.trajectory.joint_names = list(joints)
    for seconds, row in zip(times, rows, strict=True):
        point = JointTrajectoryPoint(positions=[float(value) for value in row])
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(
            round(seconds * SECOND), SECOND
        )
        goal.trajectory.points.append(point)
    return goal


@dataclass
class Arm:
    """A client of the action and a simulation."""

    client: object
    feedback: list = field(default_factory=list)
    chunks: list = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client.destroy_publisher(self.client._chunks)
        self.client.create_subscription(
            JointTrajectory, TOPIC, self.chunks.append, convert.STATE_QOS
        )
        self.action = ActionClient(
            self.client, FollowJointTrajectory, "/trajectory_node/follow_joint_trajectory"
        )

    def meet(self) -> None:
        self.client.until(self.action.server_is_ready, "the action server")
        self.client.settle(DISCOVERY_DELAY)  # or else its first response may be lost
        while self.execute(FollowJointTrajectory.Goal())[1].error_code != ErrorCode.INVALID_JOINTS:
            self.client.settle()  # until the node receives joint states

    def wait(self, future):
        self.client.until(future.done, "a reply of the action server")
        return future.result()

    def send(self, goal):
        """Send a goal and return its handle."""
        future = self.action.send_goal_async(goal, lambda m: self.feedback.append(m.feedback))
        return self.wait(future)

    def result(self, handle) -> tuple[int, FollowJointTrajectory.Result]:
        response = self.wait(handle.get_result_async())
        return response.status, response.result

    def execute(self, goal) -> tuple[int, FollowJointTrajectory.Result]:
        return self.result(self.send(goal))

    def assert_reached(self, goal) -> None:
        status, result = self.execute(goal)
        assert status == GoalStatus.STATUS_SUCCEEDED, result

    def assert_refused(self, goal, code: ErrorCode, text: str) -> None:
        status, result = self.execute(goal)
        assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, code), result
        assert text in result.error_string

    def start(self, goal):
        """Send a goal and return its handle after it has been executed for half a second."""
        self.feedback.clear()
        handle = self.send(goal)
        ended = handle.get_result_async()
        self.client.until(lambda: len(self.feedback) > 5 or ended.done(), "feedback")
        assert not ended.done(), ended.result()
        return handle

    def positions(self) -> np.ndarray:
        """Return the newest measured positions (13,), rad."""
        self.client.joint_states.clear()
        state = self.client.joints
        return np.array([state.position[state.name.index(name)] for name in ACTION_JOINTS])

    def at(self, row) -> bool:
        """Return whether the newest received positions are those of a row, rad."""
        return np.allclose(self.positions(), row, atol=0.03)

    def until_at(self, row) -> None:
        self.client.until(lambda: self.at(row), f"the arm at {row}")

    def assert_held(self) -> None:
        """Check that the last chunk holds a posture and that the arm comes to rest there."""

        def holds() -> bool:
            # The chunk after the end of a path is constant, too, but cannot always be reached.
            steps = decode_chunk(self.chunks[-1]).steps if self.chunks else np.eye(2)
            return not np.ptp(steps, 0).any() and self.at(steps[0])

        self.client.until(holds, "the arm at the posture that the last chunk holds")
        count = len(self.chunks)
        self.client.settle()
        assert len(self.chunks) == count, "nothing is published after the goal"


@pytest.fixture
def arm(client, start):
    """arm(*parameters of the node, sim=parameters of the simulation) -> Arm."""

    def begin(*parameters, sim=("wait_for_action:=false", "real_time_factor:=1.0")) -> Arm:
        found = Arm(client)
        found.simulation = start(SIM, "cameras:=false", "safe:=safe_02", *sim)
        found.node = start(NODE, "state_timeout:=5.0", *parameters)  # busy machines
        found.meet()
        return found

    return begin


ELBOW_UP = goal_of([20.0], [moved(right_elbow_joint=0.8)])
"""A motion of 20 s, in which a busy machine can act."""


def test_a_goal_of_any_times_is_executed_in_lock_step(arm):
    """And it can be repeated: nothing of the first goal is left."""
    found = arm(sim=())
    changes = {"right_elbow_joint": 0.4, "right_wrist_yaw_joint": -0.3, ACTION_JOINTS[8]: 0.5}
    for goal_row in (moved(**changes), list(HOME_ROW)):
        found.client.until(found.client.time_stops, "the end of earlier chunks")
        rows = [found.positions(), found.positions() * 0.5 + np.array(goal_row) * 0.5, goal_row]
        found.feedback.clear()
        found.chunks.clear()
        status, result = found.execute(goal_of([0.37, 1.52, 3.05], rows))
        assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0), result
        found.until_at(goal_row)
        chunks = list(map(decode_chunk, found.chunks))
        assert len(chunks) >= 3 and all(len(chunk.steps) <= 50 for chunk in chunks)
        begin = chunks[0].stamp
        knots = begin + np.array([0, 370, 1520, 3050]) * (SECOND // 1000)
        path = np.array([chunks[0].steps[0] * 0 + rows[0], *rows])
        for chunk in chunks:
            expected = [np.interp(chunk.times, knots, column) for column in path.T]
            assert np.allclose(chunk.steps.T, expected, atol=0.01)
        assert len(found.feedback) >= len(chunks)  # on a busy machine some are lost
        for feedback in found.feedback:
            assert tuple(feedback.joint_names) == ACTION_JOINTS
            error = np.subtract(feedback.desired.positions, feedback.actual.positions)
            assert np.allclose(feedback.error.positions, error)
        stamps = [to_ns(feedback.header.stamp) for feedback in found.feedback]
        assert (np.diff(stamps) >= PERIOD).all()


def test_invalid_goals_are_aborted_with_their_code_and_nothing_moves(arm):
    found = arm()
    row = moved(right_elbow_joint=0.8)
    found.assert_refused(goal_of([2.0], [row[:12]], ACTION_JOINTS[:12]), -2, "missing R_thumb")
    found.assert_refused(goal_of([2.0], [row], (*ACTION_JOINTS[:12], "knee")), -2, "unknown knee")
    found.assert_refused(goal_of([2.0], [[math.nan] * 13]), -1, "not finite")
    found.assert_refused(goal_of([2.0, 1.0], [row, row]), -1, "must increase")
    found.assert_refused(goal_of([], []), -1, "no points")
    old = goal_of([0.001], [row])
    old.trajectory.header.stamp.nanosec = 1
    found.assert_refused(old, ErrorCode.OLD_HEADER_TIMESTAMP, "ended")
    unknown = [JointTolerance(name="knee", position=0.1)]
    found.assert_refused(goal_of([2.0], [row], path_tolerance=unknown), -2, "'knee'")
    several = goal_of([2.0], [row])
    several.multi_dof_trajectory.joint_names = ["base"]
    found.assert_refused(several, -2, "several degrees of freedom")
    assert not found.chunks
    # An invalid goal does not affect the one that is executed.
    handle = found.start(goal_of([8.0], [row]))
    found.assert_refused(goal_of([2.0], [[math.nan] * 13]), -1, "not finite")
    assert found.result(handle)[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_cancelled_goal_stops_at_the_measured_posture(arm):
    found = arm()
    handle = found.start(ELBOW_UP)
    assert found.wait(handle.cancel_goal_async()).goals_canceling
    status, result = found.result(handle)
    assert (status, result.error_string) == (GoalStatus.STATUS_CANCELED, "cancelled")
    found.assert_held()
    assert 0.005 < found.positions()[ELBOW] - HOME_ROW[ELBOW] < 0.7


def test_a_second_goal_replaces_the_first_one(arm):
    found = arm()
    first = found.start(ELBOW_UP)
    second = found.send(goal_of([2.0], [moved(right_elbow_joint=-0.2)]))
    status, result = found.result(first)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, ErrorCode.INVALID_GOAL)
    assert result.error_string == "replaced by a new goal"
    assert found.result(second)[0] == GoalStatus.STATUS_SUCCEEDED
    found.until_at(moved(right_elbow_joint=-0.2))


def test_a_violated_path_tolerance_stops_the_arm(arm):
    found = arm()
    name = ACTION_JOINTS[ELBOW]
    tight = [JointTolerance(name=name, position=0.05)]
    goal = goal_of([0.1, 3.0], [moved(**{name: 1.5}), moved(**{name: 1.6})], path_tolerance=tight)
    found.assert_refused(goal, ErrorCode.PATH_TOLERANCE_VIOLATED, f"{name} differs by")
    found.assert_held()
    assert found.positions()[ELBOW] - HOME_ROW[ELBOW] < 1.2


def test_a_goal_that_is_not_reached_is_aborted_after_its_time(arm):
    """The wrist's limit is 0.4625 rad."""
    found = arm()
    goal = goal_of([1.0], [moved(right_wrist_pitch_joint=0.9)])
    goal.goal_time_tolerance.nanosec = SECOND // 2
    text = "right_wrist_pitch_joint differs by 0.4"
    found.assert_refused(goal, ErrorCode.GOAL_TOLERANCE_VIOLATED, text)
    found.assert_held()
    goal.goal_tolerance = [JointTolerance(name="right_wrist_pitch_joint", position=-1.0)]
    found.assert_reached(goal)  # no limit


def test_other_joints_hold_if_partial_goals_are_allowed(arm):
    found = arm("allow_partial_joints_goal:=true")
    goal = goal_of([1.0], [[HOME_ROW[ELBOW] + 0.3]], [ACTION_JOINTS[ELBOW]])
    found.assert_reached(goal)
    found.until_at(moved(right_elbow_joint=0.3))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_without_joint_states_the_goal_is_aborted(arm, how):
    found = arm()
    handle = found.start(ELBOW_UP)
    found.simulation.process.send_signal(how)
    status, result = found.result(handle)
    assert (status, result.error_code) == (GoalStatus.STATUS_ABORTED, ErrorCode.INVALID_GOAL)
    assert "no valid message on /joint_states for " in result.error_string
    count = len(found.chunks)
    found.assert_refused(ELBOW_UP, ErrorCode.INVALID_GOAL, "no valid message on /joint_states")
    found.client.settle()
    assert len(found.chunks) == count
    found.node.stop_well()


def test_a_node_that_was_paused_does_not_jump_ahead(arm):
    """Even if it then receives all joint states in order."""
    found = arm()
    handle = found.start(ELBOW_UP)
    found.node.process.send_signal(signal.SIGSTOP)
    end = time.monotonic() + 6.0  # longer than state_timeout
    found.client.until(lambda: time.monotonic() > end, "the end of the pause")
    count = len(found.chunks)
    found.node.process.send_signal(signal.SIGCONT)
    assert "no valid message on /joint_states for " in found.result(handle)[1].error_string
    assert len(found.chunks) == count


def test_it_continues_with_a_new_simulation(arm, start):
    """Whose stamps begin again."""
    found = arm()
    handle = found.start(ELBOW_UP)
    found.simulation.process.kill()
    start(SIM, "cameras:=false", "safe:=safe_02", "wait_for_action:=false", "real_time_factor:=1.0")
    assert found.result(handle)[1].error_code == ErrorCode.INVALID_GOAL
    found.positions()
    found.meet()
    found.assert_reached(goal_of([1.0], [moved(right_elbow_joint=0.2)]))


def test_a_restarted_node_executes_a_new_goal(arm, start):
    """The arm reaches the end of the last chunk at most, and then rests."""
    found = arm()
    found.start(ELBOW_UP)
    found.node.process.kill()
    before = found.positions()[ELBOW]
    found.client.settle()
    assert found.positions()[ELBOW] - before < 0.4, "20 s of motion are 0.8 rad"
    infos = found.client.get_publishers_info_by_topic
    found.client.until(lambda: not infos(TOPIC), "the end of the killed node in the graph")
    found.node = start(NODE, "state_timeout:=5.0")
    found.meet()
    found.assert_reached(goal_of([2.0], [moved(right_elbow_joint=-0.2)]))
    found.until_at(moved(right_elbow_joint=-0.2))


@pytest.mark.parametrize("restarted", [False, True])
def test_the_running_episode_does_not_end_a_goal(client, start, restarted):
    """A new node, or one with a new simulation, may receive its start after the goal."""
    found = Arm(client)
    found.node = start(NODE, "state_timeout:=60.0")
    states = client.create_publisher(JointState, "/joint_states", convert.STATE_QOS)
    episodes = client.create_publisher(Time, "/episode/started", convert.LATCHED_QOS)
    state = JointState(name=list(ACTION_JOINTS), position=list(HOME_ROW))
    stamps = itertools.count(PERIOD, PERIOD // 4)  # slow, so that a busy node misses little

    def publish() -> None:
        state.header.stamp = convert.to_time(next(stamps))
        states.publish(state)

    def start_goal():
        handle = found.start(goal_of([60.0], [HOME_ROW]))
        return handle.get_result_async()

    client.create_timer(0.05, publish)
    found.meet()
    if restarted:
        ended = start_goal()
        episodes.publish(Time(sec=3600))  # also known to the node before the new simulation
        assert found.wait(ended).result.error_string == "a new episode has started"
        stamps = itertools.count(PERIOD, PERIOD // 4)
        found.positions()
        client.settle()
    ended = start_goal()
    episodes.publish(Time())
    found.feedback.clear()
    client.until(lambda: len(found.feedback) > 10 or ended.done(), "feedback")
    assert not ended.done(), ended.result()
    episodes.publish(Time())
    assert found.wait(ended).result.error_string == "a new episode has started"


def test_a_new_episode_ends_the_goal(arm):
    found = arm()
    handle = found.start(ELBOW_UP)
    found.client.reset(seed=1)
    assert found.result(handle)[1].error_string == "a new episode has started"
    found.until_at(HOME_ROW)


def test_it_never_publishes_beside_another_publisher(arm, start):
    found = arm()
    handle = found.start(ELBOW_UP)
    other = found.client.create_publisher(JointTrajectory, TOPIC, convert.STATE_QOS)
    status, result = found.result(handle)
    reason = "/policy/action_chunk has another publisher: test_client"
    assert status == GoalStatus.STATUS_ABORTED
    # Its name may be discovered later than the publisher.
    assert result.error_string in (reason, reason.replace("test_client", UNNAMED))
    found.client.settle()
    count = len(found.chunks)
    found.assert_refused(ELBOW_UP, ErrorCode.INVALID_GOAL, reason)
    found.client.settle()
    assert len(found.chunks) == count
    found.client.destroy_publisher(other)
    code, output = start("planner_node.node").wait()
    assert code == 2 and "publishes /policy/action_chunk" in output
