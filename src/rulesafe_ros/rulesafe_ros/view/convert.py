"""Messages to what the page shows."""

from io import BytesIO
from typing import Any

import numpy as np
import PIL.Image
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import CompressedImage, Image, PointCloud2

from policy_node.convert import to_points
from rulesafe_core.errors import RuleSafeError
from rulesafe_interfaces.msg import BridgeState, EpisodeStatus

QUALITY = 88
"""Of the page's JPEG pictures."""

RAW_MODES = {"rgb8": ("RGB", "RGB", 3), "bgr8": ("RGB", "BGR", 3), "mono8": ("L", "L", 1)}
"""Encoding of an image -> Pillow's mode, its raw mode, bytes a pixel."""

LEVELS = {
    DiagnosticStatus.OK: "ok",
    DiagnosticStatus.WARN: "warning",
    DiagnosticStatus.ERROR: "error",
    DiagnosticStatus.STALE: "warning",
}


def picture_bytes(message: Image | CompressedImage) -> bytes:
    """The picture as JPEG (or as it came, if it is compressed already), for a browser.

    Errors: RuleSafeError for an encoding that is none of RAW_MODES, or too few bytes.
    """
    if isinstance(message, CompressedImage):
        return bytes(message.data)
    if message.encoding not in RAW_MODES:
        raise RuleSafeError(
            f"pictures must be {', '.join(RAW_MODES)} or compressed, got {message.encoding!r}"
        )
    mode, raw, width = RAW_MODES[message.encoding]
    if message.step < width * message.width or len(message.data) < message.step * message.height:
        raise RuleSafeError(
            f"{len(message.data)} bytes, {message.step} a row, are no picture of "
            f"{message.width} x {message.height} pixels"
        )
    size = (message.width, message.height)
    picture = PIL.Image.frombuffer(mode, size, bytes(message.data), "raw", raw, message.step, 1)
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def cloud_bytes(message: PointCloud2) -> bytes:
    """Points (N, 6), float32: x, y, z in m and r, g, b in 0..1. Errors: RuleSafeError for a cloud
    of another layout than ours."""
    return np.ascontiguousarray(to_points(message), np.float32).tobytes()


def status_section(message: EpisodeStatus) -> dict[str, Any]:
    """An episode's status as a page gets it."""
    parts = zip(
        message.parts,
        message.part_positions,
        message.part_open,
        message.part_locked,
        strict=True,
    )
    at, turn = message.safe_pose.position, message.safe_pose.orientation
    return {
        "rule": message.rule,
        "safe": message.safe,
        "seed": message.seed,
        "episode": message.episode,
        "frame": message.frame,
        "time": round(message.episode_time, 3),
        "plan": list(message.plan),
        "remaining": list(message.remaining),
        "done": message.steps_done,
        "score": round(message.process_score, 3),
        "success": message.success,
        "parts": [
            {"name": name, "position": round(position, 4), "open": is_open, "locked": locked}
            for name, position, is_open, locked in parts
        ],
        "contacts": {
            name: round(force, 1)
            for name, force in zip(message.contact_names, message.contact_forces, strict=True)
        },
        "safe_position": [at.x, at.y, at.z],
        "safe_quat_xyzw": [turn.x, turn.y, turn.z, turn.w],
        "waiting": message.waiting,
        "clipped": message.clipped_actions,
    }


def bridge_section(message: BridgeState) -> dict[str, Any]:
    """What the bridge to a real robot does."""
    return {
        "state": message.state,
        "reason": message.reason,
        "weight": round(message.weight, 3),
        "dry_run": message.dry_run,
    }


def complaints(message: DiagnosticArray) -> list[tuple[str, str, str]]:
    """Name, level and words of each diagnostic."""
    return [(s.name, LEVELS.get(s.level, "error"), s.message) for s in message.status]
