"""Create ROS messages from plain data; quality-of-service profiles of the topics.

`rulesafe_core.messages` decodes messages.
"""

from array import array
from io import BytesIO

import numpy as np
import PIL.Image
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion
from numpy.typing import ArrayLike, NDArray
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2, PointField
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import POINT_FIELDS
from rulesafe_core.transforms import Transform, to_quat_wxyz

# Quality of service -------------------------------------------------------------------------
# All publishers are reliable, as REP 2003 recommends for sensor drivers: best-effort subscribers
# (SensorDataQoS) are compatible with a reliable publisher, but reliable ones, the default of rviz
# and rosbag2, would receive nothing from a best-effort publisher.

STATE_QOS = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
"""QoS of /clock, /joint_states, /episode/status and /policy/action_chunk. The simulation may run
at many times real time while a subscriber is not scheduled. The queue holds all joint states of a
chunk (at most 500), so that memory and policy receive each frame in lock-step."""

IMAGE_QOS = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE)
"""QoS of images and point clouds. The queue holds the frames of 5 s, so that a subscriber that is
not scheduled for a while receives each of them."""

NEWEST_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""QoS of subscriptions of which only the newest message is used."""

LATCHED_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""QoS of /robot_description, /instruction, /episode/started and /memory/tokens: late subscribers
receive the last message."""


def to_time(time: int) -> Time:
    """Convert ns to a stamp."""
    return Time(sec=time // SECOND, nanosec=time % SECOND)


def to_header(time: int, frame: str) -> Header:
    return Header(stamp=to_time(time), frame_id=frame)


def to_image(rgb: NDArray[np.uint8], time: int, frame: str) -> Image:
    """Convert an RGB image (H, W, 3) to rgb8."""
    height, width, _ = rgb.shape
    message = Image(
        header=to_header(time, frame), height=height, width=width, encoding="rgb8", step=3 * width
    )
    message.data = array("B", rgb.tobytes())  # about 100 times faster than a list
    return message


def to_jpeg(rgb: NDArray[np.uint8], time: int, frame: str) -> CompressedImage:
    """Compress an RGB image (H, W, 3) as JPEG.

    A raw image of 480 pixels exceeds the DDS shared-memory segment of the process and delays other
    messages.
    """
    buffer = BytesIO()
    PIL.Image.fromarray(rgb).save(buffer, "JPEG", quality=92)
    message = CompressedImage(header=to_header(time, frame), format="jpeg")
    message.data = array("B", buffer.getvalue())
    return message


def to_camera_info(
    intrinsics: NDArray[np.float64], width: int, height: int, time: int, frame: str
) -> CameraInfo:
    """Create the CameraInfo of a camera without distortion; `intrinsics` (3, 3) in pixels."""
    return CameraInfo(
        header=to_header(time, frame),
        width=width,
        height=height,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=intrinsics.ravel(),
        r=np.eye(3).ravel(),
        p=np.hstack([intrinsics, np.zeros((3, 1))]).ravel(),
    )


_CLOUD_FIELDS = [
    PointField(name=name, offset=offset, datatype=datatype, count=1)
    for name, offset, datatype in POINT_FIELDS
]


def to_cloud(points: NDArray[np.float32], time: int, frame: str) -> PointCloud2:
    """Convert points (N, 6), m and colours 0..1; rgb is packed as 0x00rrggbb in a float32."""
    count = len(points)
    packed = np.empty((count, 4), np.float32)
    packed[:, :3] = points[:, :3]
    red, green, blue = np.round(255 * points[:, 3:6]).astype(np.uint32).T
    packed[:, 3] = (red << 16 | green << 8 | blue).view(np.float32)
    message = PointCloud2(
        header=to_header(time, frame),
        height=1,
        width=count,
        fields=_CLOUD_FIELDS,
        point_step=16,
        row_step=16 * count,
        is_dense=True,
    )
    message.data = array("B", packed.tobytes())
    return message


def to_pose(transform: Transform) -> Pose:
    x, y, z = map(float, transform[:3, 3])
    qw, qx, qy, qz = map(float, to_quat_wxyz(transform))
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=qw, x=qx, y=qy, z=qz))


def to_trajectory(steps: ArrayLike, time: int) -> JointTrajectory:
    """Convert a chunk (n, 13), rad at 10 Hz; `time` (ns) is that of its observation."""
    return JointTrajectory(
        header=to_header(time, "pelvis"),
        joint_names=ACTION_JOINTS,
        points=[
            JointTrajectoryPoint(
                positions=step.tolist(),
                time_from_start=Duration(sec=i * PERIOD // SECOND, nanosec=i * PERIOD % SECOND),
            )
            for i, step in enumerate(np.asarray(steps, np.float64), 1)
        ],
    )
