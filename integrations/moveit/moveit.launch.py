"""MoveIt's move_group and trajectory_node, next to a running simulation or bridge, which publishes
/robot_description. Needs MoveIt, and this distribution installed in the active environment."""

from pathlib import Path

import yaml
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

FOLDER = Path(__file__).resolve().parent / "rulesafe_moveit"


def load(name):
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def generate_launch_description():
    clock = {"use_sim_time": LaunchConfiguration("use_sim_time")}
    move_group = {
        "robot_description_semantic": (FOLDER / "h1_2.srdf").read_text("utf-8"),
        "robot_description_kinematics": load("kinematics.yaml"),
        "robot_description_planning": load("joint_limits.yaml"),
        "planning_pipelines": ["ompl"],
        "default_planning_pipeline": "ompl",
        "ompl": load("ompl_planning.yaml"),
        "publish_robot_description_semantic": True,
        **load("moveit_controllers.yaml"),
    }
    return LaunchDescription(
        [
            DeclareLaunchArgument("use_sim_time", default_value="true"),
            # The first node: without MoveIt the launch fails before it has started a process, which
            # launch would not end.
            Node(
                package="moveit_ros_move_group",
                executable="move_group",
                parameters=[move_group, clock],
                output="screen",
                on_exit=Shutdown(),
            ),
            # The parent frame of the virtual joint.
            Node(
                package="tf2_ros",
                executable="static_transform_publisher",
                arguments=["--frame-id", "world", "--child-frame-id", "pelvis"],
            ),
            Node(
                executable="trajectory_node",  # found on PATH
                parameters=[{"allow_partial_joints_goal": True}, clock],
                output="screen",
                on_exit=Shutdown(),
            ),
        ]
    )
