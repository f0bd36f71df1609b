"""A FollowJointTrajectory goal through the bridge."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("unitree_sdk2py", reason="the manufacturer's SDK is not installed")

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectoryPoint

from rulesafe_core.joints import ACTION_JOINTS

pytestmark = pytest.mark.ros

ELBOW = ACTION_JOINTS.index("right_elbow_joint")


@pytest.fixture
def node():
    patient = ("-p", "state_timeout:=60.0", "-p", "goal_time_tolerance:=60.0")
    command = [sys.executable, "-m", "rulesafe_moveit.trajectory_node", "--ros-args", *patient]
    process = subprocess.Popen(command)
    yield process
    process.kill()
    process.wait()


def elbow_goal(user, change, seconds):
    """Return a goal that turns the elbow by `change` rad from the present command."""
    positions = np.array(user.state.command)
    positions[ELBOW] += change
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(ACTION_JOINTS)
    point = JointTrajectoryPoint(positions=positions.tolist())
    point.time_from_start.sec = seconds
    goal.trajectory.points = [point]
    return goal


def test_goals_are_executed_and_cancelled_within_the_bridge_s_limits(robot, bridge, user, node):
    user.destroy_publisher(user._chunks)
    bridge()
    action = ActionClient(user, FollowJointTrajectory, "/trajectory_node/follow_joint_trajectory")
    user.engage()
    user.until(action.server_is_ready, "the action server")
    user.spin(1.0)

    def wait(future):
        user.until(future.done, "a reply of the action server")
        return future.result()

    start = user.state.command[ELBOW]
    handle = wait(action.send_goal_async(elbow_goal(user, 0.2, 2)))
    response = wait(handle.get_result_async())
    assert response.status == GoalStatus.STATUS_SUCCEEDED, response.result
    user.until(lambda: abs(user.state.command[ELBOW] - start - 0.2) < 0.01, "the goal")
    assert user.state.chunks_accepted >= 2 and user.state.state == "ACTIVE"

    handle = wait(action.send_goal_async(elbow_goal(user, 0.6, 20)))
    user.until(lambda: user.state.command[ELBOW] - start > 0.3, "the motion")
    assert wait(handle.cancel_goal_async()).goals_canceling
    assert wait(handle.get_result_async()).status == GoalStatus.STATUS_CANCELED
    user.spin(2.0)
    stopped = user.state.command[ELBOW]
    assert 0.2 < stopped - start < 0.6
    user.spin(1.0)
    assert abs(user.state.command[ELBOW] - stopped) < 1e-3, "the arm is at rest"
