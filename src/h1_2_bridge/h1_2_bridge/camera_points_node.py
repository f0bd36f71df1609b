"""Node that computes /camera/points from a real camera's aligned depth and colour images.

Subscribes to
/camera/head/depth/image_raw   sensor_msgs/Image, 16UC1 in mm or 32FC1 in m, aligned to colour
/camera/head/image_raw         sensor_msgs/Image, colour
/camera/head/camera_info       sensor_msgs/CameraInfo of the colour image
/joint_states                  sensor_msgs/JointState, for the waist position
and publishes
/camera/points                 sensor_msgs/PointCloud2, same format as in simulation
"""

import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2

from h1_2_bridge.camera_points import CloudConfig, CloudMaker, Nearest, Pinhole, decode_depth
from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS_TOPIC
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import IMAGE_QOS, to_cloud
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_image, to_ns
from rulesafe_core.namespaces import relative
from rulesafe_core.ros import declare, reserve_topic, run_node
from rulesafe_core.settings import setting

CAMERA = DEFAULT_CAMERAS.depth

WARNING_PERIOD = 5.0
"""Shortest time between two warnings, s."""

SENSOR_QOS = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
"""QoS of the camera topics; best effort receives from publishers of either reliability."""


@dataclass(frozen=True)
class CameraPointsParameters(CloudConfig):
    """Parameters of camera_points."""

    rate: float = setting(10.0, "Maximum publishing rate of /camera/points.", 0.1, 100, "Hz")
    tolerance: float = setting(
        0.02, "Largest difference between depth and colour stamps.", 0, 1, "s"
    )


class CameraPointsNode(Node):
    """Publishes the point clouds of one camera."""

    def __init__(self) -> None:
        super().__init__("camera_points")
        parameters = declare(self, CameraPointsParameters)
        self._maker = CloudMaker(parameters)
        self._period, self._last = round(SECOND / parameters.rate), -SECOND
        self._colours: Nearest[Image] = Nearest(10, round(parameters.tolerance * SECOND))
        self._pending_depth: Image | None = None
        self._camera: Pinhole | None = None
        self._joints: dict[str, float] | None = None
        self._reservation = reserve_topic(self, relative(POINTS_TOPIC))
        self._clouds = self.create_publisher(PointCloud2, relative(POINTS_TOPIC), IMAGE_QOS)
        for message_type, topic, callback in (
            (CameraInfo, CAMERA.topic("camera_info"), self._on_info),
            (Image, CAMERA.topic(), self._on_colour),
            (Image, CAMERA.topic("depth/image_raw"), self._on_depth),
            (JointState, "joint_states", self._on_joints),
        ):
            self.create_subscription(message_type, relative(topic), callback, SENSOR_QOS)

    def _on_info(self, message: CameraInfo) -> None:
        k, d = tuple(message.k.tolist()), tuple(message.d)
        self._camera = Pinhole(message.width, message.height, k, d)

    def _on_joints(self, message: JointState) -> None:
        self._joints = dict(zip(message.name, message.position, strict=False))

    def _on_colour(self, message: Image) -> None:
        self._colours.add(to_ns(message.header.stamp), message)
        if self._pending_depth is not None:  # depth may arrive before its colour
            self._try_publish(self._pending_depth)

    def _on_depth(self, message: Image) -> None:
        if to_ns(message.header.stamp) - self._last < 0:
            self._last = -SECOND  # the ROS time jumped backwards
        self._pending_depth = message
        self._try_publish(message)

    def _try_publish(self, depth: Image) -> None:
        stamp = to_ns(depth.header.stamp)
        if stamp - self._last < 0.9 * self._period:
            self._pending_depth = None
            return
        colour = self._colours.at(stamp)
        if colour is None:
            return
        self._pending_depth = None
        if self._camera is None:
            self._warn(
                "no camera_info received: no point cloud is published; the camera driver must "
                f"publish {CAMERA.topic('camera_info')}"
            )
            return
        if self._joints is None:  # the pose of the camera is unknown
            self._warn("no message on /joint_states received: no point cloud is published")
            return
        self._last = stamp
        try:
            self._publish(depth, colour, self._camera, self._joints, stamp)
        except RuleSafeError as error:
            self._warn(str(error))

    def _publish(
        self, depth: Image, colour: Image, camera: Pinhole, joints: dict[str, float], stamp: int
    ) -> None:
        metres = decode_depth(bytes(depth.data), depth.encoding, depth.width, depth.height)
        # The seed depends only on the stamp, so that replaying a bag gives the same point cloud.
        rng = np.random.default_rng(stamp)
        cloud = self._maker.cloud(metres, decode_image(colour), camera, joints, rng)
        self._clouds.publish(to_cloud(cloud, stamp, "pelvis"))

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=WARNING_PERIOD)


main = partial(run_node, "camera_points", CameraPointsNode)

if __name__ == "__main__":
    sys.exit(main())
