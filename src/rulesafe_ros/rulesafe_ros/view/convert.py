"""Convert messages to sections of the page."""

from io import BytesIO
from typing import Any

import numpy as np
import PIL.Image
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from sensor_msgs.msg import CompressedImage, Image, PointCloud2

from rulesafe_core.messages import decode_cloud, decode_image
from rulesafe_interfaces.msg import BridgeState, EpisodeStatus

QUALITY = 88
"""JPEG quality of the page's images."""

LEVELS = {
    DiagnosticStatus.OK: "ok",
    DiagnosticStatus.WARN: "warning",
    DiagnosticStatus.ERROR: "error",
    DiagnosticStatus.STALE: "warning",
}


def image_bytes(message: Image | CompressedImage) -> bytes:
    """Return the image as JPEG; the data of a compressed image is returned unchanged."""
    if isinstance(message, CompressedImage):
        return bytes(message.data)
    buffer = BytesIO()
    PIL.Image.fromarray(decode_image(message)).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def cloud_bytes(message: PointCloud2) -> bytes:
    """Return the points as bytes of (N, 6) float32: x, y, z in m and r, g, b in 0..1."""
    return np.ascontiguousarray(decode_cloud(message), np.float32).tobytes()


def status_section(message: EpisodeStatus) -> dict[str, Any]:
    """Return the section `status`."""
    parts = zip(
        message.parts,
        message.part_positions,
        message.part_open,
        message.part_locked,
        strict=True,
    )
    p, q = message.safe_pose.position, message.safe_pose.orientation
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
        "safe_position": [p.x, p.y, p.z],
        "safe_quat_xyzw": [q.x, q.y, q.z, q.w],
        "waiting": message.waiting,
        "clipped": message.clipped_actions,
    }


def bridge_section(message: BridgeState) -> dict[str, Any]:
    """Return the section `bridge`: the state of the bridge to a real robot."""
    return {
        "state": message.state,
        "reason": message.reason,
        "weight": round(message.weight, 3),
        "dry_run": message.dry_run,
    }


def diagnostics(message: DiagnosticArray) -> list[tuple[str, str, str]]:
    """Return (name, level, text) of each diagnostic status."""
    return [(s.name, LEVELS.get(s.level, "error"), s.message) for s in message.status]
