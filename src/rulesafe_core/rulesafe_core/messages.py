"""Decode ROS messages to arrays and plain data without importing ROS.

A message is any object with the fields of its type, received by a node or decoded from a bag.
`rulesafe_core.convert` creates messages.
"""

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from rulesafe_core.chunks import SECOND, Chunk, make_chunk
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import action_values
from rulesafe_core.transforms import Transform, from_xyz_quat

CHANNELS = {
    "rgb8": (0, 1, 2),
    "bgr8": (2, 1, 0),
    "rgba8": (0, 1, 2, 3),
    "bgra8": (2, 1, 0, 3),
    "mono8": (0, 0, 0),
    "8UC3": (2, 1, 0),
}
"""Supported image encodings and the indices of red, green and blue in a pixel."""

FLOAT32 = 7
"""sensor_msgs/PointField.FLOAT32"""

POINT_FIELDS = [(name, 4 * i, FLOAT32) for i, name in enumerate(("x", "y", "z", "rgb"))]
"""Name, byte offset and data type of the fields of a point."""


MAX_PIXELS = 50_000_000
"""Maximum size of a compressed image, which may be much larger than its data."""


def to_ns(time: Any) -> int:
    """Convert a builtin_interfaces Time or Duration to ns."""
    return int(time.sec) * SECOND + int(time.nanosec)


@dataclass(frozen=True)
class ArmState:
    """Measured state of the 13 joints of ACTION_JOINTS.

    Attributes:
        stamp: ns.
        positions: (13,) rad.
        velocities: (13,) rad/s; 0 if the message has none.
    """

    stamp: int
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


def decode_joints(message: Any) -> ArmState:
    """Return the state in a sensor_msgs/JointState.

    Raises:
        RuleSafeError: see `action_values`; or a value is not finite.
    """
    positions = action_values(message.name, message.position)
    velocities = np.zeros(len(positions))
    if len(message.velocity):
        velocities = action_values(message.name, message.velocity)
    if not np.isfinite([positions, velocities]).all():
        raise RuleSafeError("joint states have a position or velocity that is not finite")
    return ArmState(to_ns(message.header.stamp), positions, velocities)


def decode_image(message: Any) -> NDArray[np.uint8]:
    """Return the pixels (H, W, 3), RGB, of a sensor_msgs Image or CompressedImage.

    Raises:
        RuleSafeError: the encoding is not in CHANNELS, or the data is too short.
    """
    if hasattr(message, "format"):
        try:
            image = PIL.Image.open(BytesIO(bytes(message.data)))
            if image.width * image.height > MAX_PIXELS:
                raise ValueError(f"{image.width} x {image.height} pixels; at most {MAX_PIXELS}")
            return np.array(image.convert("RGB"))
        except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
            raise RuleSafeError(f"cannot decode the compressed image: {error}") from error
    if message.encoding not in CHANNELS:
        raise unknown_name("image encoding", message.encoding, CHANNELS)
    height, width, step = message.height, message.width, message.step
    order = CHANNELS[message.encoding]
    channels = 1 if message.encoding == "mono8" else len(order)
    if len(message.data) < height * step or step < width * channels:
        raise RuleSafeError(
            f"{len(message.data)} bytes with {step} bytes per row are too few for an image of "
            f"{width} x {height} pixels with encoding {message.encoding}"
        )
    rows = np.frombuffer(message.data, np.uint8, height * step).reshape(height, step)
    pixels = rows[:, : width * channels].reshape(height, width, channels)
    return pixels if order == (0, 1, 2) else np.ascontiguousarray(pixels[..., order[:3]])


def decode_cloud(message: Any) -> NDArray[np.float32]:
    """Return the points (N, 6) of a sensor_msgs/PointCloud2: x, y, z in m and r, g, b in 0..1.

    Raises:
        RuleSafeError: the layout of the points differs from that of `convert.to_cloud`, or the
            size is wrong.
    """
    fields = [(field.name, field.offset, field.datatype) for field in message.fields]
    if fields != POINT_FIELDS or message.point_step != 16 or message.is_bigendian:
        names = ", ".join(name for name, _, _ in fields)
        raise RuleSafeError(
            "the fields of a point cloud must be x, y, z and rgb (float32, 16 bytes per point); "
            f"got {names} with {message.point_step} bytes per point"
        )
    if len(message.data) != 16 * message.width * message.height:
        raise RuleSafeError(
            f"{len(message.data)} bytes are not those of {message.width * message.height} points "
            "of 16 bytes"
        )
    packed = np.frombuffer(message.data, np.float32).reshape(-1, 4)
    rgb = packed[:, 3].copy().view(np.uint32)
    colors = np.stack([rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255], axis=1) / 255
    return np.hstack([packed[:, :3], colors.astype(np.float32)])


def decode_chunk(message: Any, now: int = 0) -> Chunk:
    """Return the chunk of a trajectory_msgs/JointTrajectory.

    Args:
        message: the trajectory.
        now: time (ns) used if the stamp is zero.

    Raises:
        RuleSafeError: see `make_chunk`.
    """
    widths = {len(point.positions) for point in message.points}
    if len(widths) > 1:
        raise RuleSafeError(
            f"every point of a chunk needs 13 positions; the points have {sorted(widths)}"
        )
    return make_chunk(
        list(message.joint_names),
        np.array([point.positions for point in message.points], np.float64),
        to_ns(message.header.stamp) or now,
        [to_ns(point.time_from_start) for point in message.points],
    )


def decode_tokens(message: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the tokens (n,) of a rulesafe_interfaces/MemoryTokens and their mask."""
    return np.array(message.tokens, np.int64), np.array(message.mask, np.bool_)


def decode_pose(pose: Any) -> Transform:
    """Return the transform of a geometry_msgs/Pose."""
    q, p = pose.orientation, pose.position
    return from_xyz_quat((p.x, p.y, p.z), (q.w, q.x, q.y, q.z))
