"""Aligned depth and colour of a real camera in, /camera/points out: see camera_points.

/camera/head/depth/image_raw   sensor_msgs/Image, 16UC1 in mm or 32FC1 in m, aligned to colour
/camera/head/image_raw         sensor_msgs/Image in colour
/camera/head/camera_info       sensor_msgs/CameraInfo of the colour image
/joint_states                  where the waist is
/camera/points                 sensor_msgs/PointCloud2, as the simulation's
"""

import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2

from h1_2_bridge.camera_points import CloudConfig, CloudMaker, Nearest, Pinhole, decode_depth
from rulesafe_core.chunks import SECOND
from rulesafe_core.convert import IMAGE_QOS, to_cloud
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import decode_image, to_ns
from rulesafe_core.ros import claim, declare, run_node
from rulesafe_core.settings import setting

QUIET = 5.0
"""The same complaint is logged this often at most, s."""

SENSOR_QOS = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Drivers may publish either way."""


@dataclass(frozen=True)
class CameraPointsParameters(CloudConfig):
    """Parameters of the node."""

    rate: float = setting(10.0, "Largest rate of clouds.", 0.1, 100, "Hz")
    tolerance: float = setting(0.02, "Largest difference of depth and colour stamps.", 0, 1, "s")


class CameraPointsNode(Node):
    """One camera's clouds."""

    def __init__(self) -> None:
        super().__init__("camera_points")
        parameters = declare(self, CameraPointsParameters)
        self._maker = CloudMaker(parameters)
        self._period, self._last = round(SECOND / parameters.rate), -SECOND
        self._colours: Nearest[Image] = Nearest(10, round(parameters.tolerance * SECOND))
        self._waiting: Image | None = None
        self._camera: Pinhole | None = None
        self._joints: dict[str, float] = {}
        self._claim = claim(self, "/camera/points")
        self._clouds = self.create_publisher(PointCloud2, "/camera/points", IMAGE_QOS)
        for kind, topic, take in (
            (CameraInfo, "/camera/head/camera_info", self._on_info),
            (Image, "/camera/head/image_raw", self._on_colour),
            (Image, "/camera/head/depth/image_raw", self._on_depth),
            (JointState, "/joint_states", self._on_joints),
        ):
            self.create_subscription(kind, topic, take, SENSOR_QOS)

    def _on_info(self, message: CameraInfo) -> None:
        k, d = tuple(message.k.tolist()), tuple(message.d)
        self._camera = Pinhole(message.width, message.height, k, d)

    def _on_joints(self, message: JointState) -> None:
        self._joints = dict(zip(message.name, message.position, strict=False))

    def _on_colour(self, message: Image) -> None:
        self._colours.add(to_ns(message.header.stamp), message)
        if self._waiting is not None:  # depth may come before its colour
            self._try(self._waiting)

    def _on_depth(self, message: Image) -> None:
        if to_ns(message.header.stamp) - self._last < 0:
            self._last = -SECOND  # the clock went back
        self._waiting = message
        self._try(message)

    def _try(self, depth: Image) -> None:
        stamp = to_ns(depth.header.stamp)
        if stamp - self._last < 0.9 * self._period:
            self._waiting = None
            return
        colour = self._colours.at(stamp)
        if colour is None:
            return
        self._waiting = None
        if self._camera is None:
            self._complain("no camera_info yet")
            return
        self._last = stamp
        try:
            self._publish(depth, colour, self._camera, stamp)
        except RuleSafeError as error:
            self._complain(str(error))

    def _publish(self, depth: Image, colour: Image, camera: Pinhole, stamp: int) -> None:
        metres = decode_depth(bytes(depth.data), depth.encoding, depth.width, depth.height)
        # Known by the stamp alone: whoever repeats a bag gets the same cloud.
        rng = np.random.default_rng(stamp)
        cloud = self._maker.cloud(metres, decode_image(colour), camera, self._joints, rng)
        self._clouds.publish(to_cloud(cloud, stamp, "pelvis"))

    def _complain(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=QUIET)


main = partial(run_node, "camera_points", CameraPointsNode)

if __name__ == "__main__":
    sys.exit(main())
