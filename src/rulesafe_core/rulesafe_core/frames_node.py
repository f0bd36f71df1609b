"""Frames of the robot's links on /tf and /tf_static, as robot_state_publisher publishes them.

The simulation uses `FramePublisher` itself, so that frames have the stamps of its images. On the
robot, `frames_node` subscribes to /robot_description and /joint_states.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from rulesafe_core import transforms
from rulesafe_core.body import Body, Joint
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import LATCHED_QOS, NEWEST_QOS, STATE_QOS, to_header
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import to_ns
from rulesafe_core.ros import declare, reserve_topic, run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_core.urdf_reader import read_kinematics


class FramePublisher:
    """Publishes the poses of links in their parent links: fixed joints on /tf_static, others on
    /tf."""

    def __init__(self, node: Node) -> None:
        self._moving = node.create_publisher(TFMessage, "/tf", STATE_QOS)
        self._static = node.create_publisher(TFMessage, "/tf_static", LATCHED_QOS)
        self._body: Body | None = None
        self._newest: tuple[Mapping[str, float], int] | None = None  # positions (rad), stamp (ns)
        self._subscribers = 0  # at the last call of publish

    def describe(self, urdf: str, stamp: int) -> None:
        """Set the robot's URDF and publish its fixed frames; stamp in ns.

        Raises:
            RuleSafeError: the string is not a valid URDF.
        """
        self._body = read_kinematics(urdf)
        fixed = [found for found in self._body.joint_frames({}) if found[0].kind == "fixed"]
        self._static.publish(_message(fixed, stamp))

    def publish(self, positions: Mapping[str, float], stamp: int) -> None:
        """Publish the frames that move with the joints (rad by name), if there are subscribers;
        stamp in ns."""
        self._newest = positions, stamp
        self._subscribers = self._moving.get_subscription_count()
        if self._body and self._subscribers:
            frames = self._body.joint_frames(positions)
            self._moving.publish(_message((f for f in frames if f[0].kind != "fixed"), stamp))

    def publish_to_new_subscribers(self) -> None:
        """Publish the newest frames again if there is a new subscriber (tf2 warns of repeats)."""
        if self._newest and self._moving.get_subscription_count() > self._subscribers:
            self.publish(*self._newest)


def _message(frames: Iterable[tuple[Joint, transforms.Transform]], stamp: int) -> TFMessage:
    return TFMessage(
        transforms=[
            TransformStamped(
                header=to_header(stamp, joint.parent),
                child_frame_id=joint.child,
                transform=_transform(pose),
            )
            for joint, pose in frames
        ]
    )


def _transform(pose: transforms.Transform) -> Transform:
    x, y, z = map(float, pose[:3, 3])
    qw, qx, qy, qz = map(float, transforms.to_quat_wxyz(pose))
    return Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw)
    )


@dataclass(frozen=True)
class FramesParameters(Settings):
    """Parameters of frames_node."""

    rate: float = setting(20.0, "Maximum publishing rate of /tf.", 0.1, 1000, "Hz")


class FramesNode(Node):
    """Publishes the frames of the received description and joint states."""

    def __init__(self) -> None:
        super().__init__("frames_node")
        self._reservation = reserve_topic(self, "/tf")
        self._period = round(SECOND / declare(self, FramesParameters).rate)
        self._last: int | None = None  # ns, stamp of the last frames
        self._frames = FramePublisher(self)
        self.create_subscription(String, "robot_description", self._on_description, LATCHED_QOS)
        self.create_subscription(JointState, "joint_states", self._on_joints, NEWEST_QOS)

    def _on_description(self, message: String) -> None:
        try:
            self._frames.describe(message.data, self.get_clock().now().nanoseconds)
        except RuleSafeError as error:
            self.get_logger().error(f"/robot_description: {error}")

    def _on_joints(self, message: JointState) -> None:
        stamp = to_ns(message.header.stamp)
        if self._last is not None and 0 <= stamp - self._last < self._period:
            return
        if len(message.name) != len(message.position):
            self.get_logger().warning(
                f"/joint_states: {len(message.name)} names but {len(message.position)} positions",
                throttle_duration_sec=5.0,
            )
            return
        self._last = stamp
        self._frames.publish(dict(zip(message.name, message.position, strict=True)), stamp)


main = partial(run_node, "frames_node", FramesNode)

if __name__ == "__main__":
    sys.exit(main())
