"""Decoded messages of a bag to plain data, as `convert` modules make it of live ones. No ROS here:
datasets and films are made on machines without it."""

from io import BytesIO
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from rulesafe_core.chunks import SECOND, Chunk, make_chunk
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_demos.film.strip import Tokens
from rulesafe_demos.film.summary import Snapshot
from vq_memory_node.memory import Reading
from vq_memory_node.windows import RATE

CHANNELS = {
    "rgb8": (0, 1, 2),
    "bgr8": (2, 1, 0),
    "rgba8": (0, 1, 2, 3),
    "bgra8": (2, 1, 0, 3),
    "mono8": (0, 0, 0),
    "8UC3": (2, 1, 0),
}
"""Encodings of pictures that are understood: where red, green and blue are."""

POINT = [("x", 0), ("y", 4), ("z", 8), ("rgb", 12)]
"""Fields of a cloud's points and where they begin; all are float32 (7)."""


def stamp(time: Any) -> int:
    """ns of a builtin_interfaces/Time."""
    return int(time.sec) * SECOND + int(time.nanosec)


def picture(message: Any) -> NDArray[np.uint8]:
    """(H, W, 3) of a sensor_msgs/Image or CompressedImage. Errors: RuleSafeError for an encoding
    that is not in CHANNELS, or too few bytes."""
    if hasattr(message, "format"):
        try:
            return np.array(PIL.Image.open(BytesIO(bytes(message.data))).convert("RGB"))
        except OSError as error:
            raise RuleSafeError(f"a compressed picture makes no sense: {error}") from error
    if message.encoding not in CHANNELS:
        raise unknown_name("encoding of a picture", message.encoding, CHANNELS)
    order = CHANNELS[message.encoding]
    width = 1 if message.encoding == "mono8" else max(3, len(order))
    if len(message.data) < message.height * message.step or message.step < message.width * width:
        raise RuleSafeError(
            f"a picture of {message.height} rows of {message.step} bytes has {len(message.data)}"
        )
    rows = np.frombuffer(message.data, np.uint8)[: message.height * message.step]
    pixels = rows.reshape(message.height, message.step)[:, : message.width * width]
    shaped = pixels.reshape(message.height, message.width, width)
    return np.ascontiguousarray(shaped[..., list(order[:3])])


def cloud(message: Any) -> NDArray[np.float32]:
    """The points (N, 6) of a cloud: x, y, z in m and r, g, b in 0..1. Errors: RuleSafeError for one
    of another layout than ours."""
    found = [(field.name, field.offset) for field in message.fields]
    if found != POINT or message.point_step != 16 or {f.datatype for f in message.fields} != {7}:
        names = ", ".join(name for name, _ in found)
        raise RuleSafeError(
            f"a cloud's points are x, y, z and rgb, float32 each and nothing else; got {names} in "
            f"{message.point_step} bytes"
        )
    packed = np.frombuffer(message.data, np.float32).reshape(-1, 4)
    rgb = packed[:, 3].copy().view(np.uint32)
    colours = np.stack([rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255], axis=1).astype(np.float32)
    return np.hstack([packed[:, :3], colours / np.float32(255)])


def chunk(message: Any) -> Chunk:
    """The chunk in a trajectory_msgs/JointTrajectory. Errors: RuleSafeError, see `make_chunk`."""
    widths = {len(point.positions) for point in message.points}
    if len(widths) > 1:
        raise RuleSafeError(f"the points of a chunk have {sorted(widths)} positions; all need 13")
    return make_chunk(
        list(message.joint_names),
        np.array([point.positions for point in message.points], np.float64),
        stamp(message.header.stamp),
        [stamp(point.time_from_start) for point in message.points],
    )


def snapshot(status: Any) -> Snapshot:
    """The facts in a rulesafe_interfaces/EpisodeStatus."""
    return Snapshot(
        rule=status.rule,
        safe=status.safe,
        seed=int(status.seed),
        plan=tuple(status.plan),
        steps_done=int(status.steps_done),
        process_score=float(status.process_score),
        order_free_score=float(status.order_free_score),
        part_open=dict(zip(status.parts, map(bool, status.part_open), strict=True)),
        success=bool(status.success),
        frame=int(status.frame),
        time=float(status.episode_time),
        clipped_actions=int(status.clipped_actions),
        state_digest=status.state_digest,
    )


def tokens(message: Any) -> Tokens:
    """What a rulesafe_interfaces/MemoryTokens tells. Errors: RuleSafeError for tokens that make no
    sense."""
    reading = Reading(np.array(message.tokens, np.int64), np.array(message.mask, np.bool_))
    return Tokens(reading, int(message.vocabulary_size), message.stride / RATE)
