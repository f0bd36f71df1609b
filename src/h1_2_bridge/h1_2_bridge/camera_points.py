"""From a real camera's aligned depth to the cloud that policies know: 1024 points, pelvis frame.

The same steps as in simulation (rulesafe_core.cloud): every pixel with a depth becomes a point with
its colour, the workspace is cut out, and farthest-point sampling thins it. "Aligned" means that
depth and colour have the same pixels, as drivers offer it (RealSense: align_depth). No ROS here.
"""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cloud import CLOUD_POINTS, SAMPLERS, Workspace, load_sampler, sample_cloud
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.robot import h1_2
from rulesafe_core.settings import Settings, setting
from rulesafe_core.transforms import Transform, Vec3, from_parts, from_xyz_rpy

OPTICAL_IN_BODY = from_parts([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (0, 0, 0))
"""A camera's optical frame (z forward, x right, y down; REP 103) in its body frame (x forward)."""

DEPTH_UNITS = {"32FC1": ("<f4", 1.0), "16UC1": ("<u2", 0.001)}
"""Encodings of depth (REP 118): type and m of one unit."""


_WORKSPACE = Workspace()


@dataclass(frozen=True)
class CloudConfig(Settings):
    """Pose of the camera and what is kept of its points. The default pose is that of the simulated
    head camera on the torso, which turns with the waist."""

    link: str = setting("torso_link", "Link of the robot that carries the camera.")
    xyz: Vec3 = setting((0.11109, 0.0175, 0.68789), "Camera's body frame in that link.", unit="m")
    rpy: Vec3 = setting(
        (0.0, float(np.radians(36)), float(np.radians(-20))),
        "Roll, pitch, yaw of that frame (x forward) about fixed axes.",
        unit="rad",
    )
    workspace_low: Vec3 = setting(
        _WORKSPACE.low, "Corner of the workspace in the pelvis frame.", unit="m"
    )
    workspace_high: Vec3 = setting(_WORKSPACE.high, "The opposite corner.", unit="m")
    near: float = setting(0.1, "Smallest valid depth.", 0, 10, "m")
    far: float = setting(3.0, "Largest valid depth.", 0.1, 20, "m")
    stride: int = setting(1, "Step between pixels that are used, in rows and columns.", 1, 16)
    points: int = setting(CLOUD_POINTS, "Points of a cloud.", 1, 100000)
    sampler: str = setting("farthest", f"Method of thinning the cloud: {', '.join(SAMPLERS)}.")

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [link.name for link in h1_2().links]
        if self.link not in names:
            raise unknown_name("link", self.link, names)
        if not self.near < self.far:
            raise RuleSafeError(f"near must be below far, got {self.near} and {self.far}")


@dataclass(frozen=True)
class Pinhole:
    """What CameraInfo tells.

    Attributes:
        width, height: pixels.
        intrinsics: K, nine numbers row by row; integer coordinates are pixel centres.
        distortion: plumb_bob's k1, k2, t1, t2, k3, or nothing.
    """

    width: int
    height: int
    intrinsics: tuple[float, ...]
    distortion: tuple[float, ...] = ()

    def rays(self) -> NDArray[np.float32]:
        """(H, W, 2): x and y of each pixel's ray at depth 1. Errors: RuleSafeError for a camera
        that is not calibrated, or with another distortion."""
        if len(self.intrinsics) != 9 or self.intrinsics[0] <= 0 or self.intrinsics[4] <= 0:
            raise RuleSafeError("camera_info has no focal length: the camera is not calibrated")
        if len(self.distortion) not in (0, 4, 5):
            raise RuleSafeError(
                f"camera_info has {len(self.distortion)} numbers of distortion; valid: none, or 4 "
                "or 5 of plumb_bob"
            )
        fx, _, cx, _, fy, cy = self.intrinsics[:6]
        columns, rows = np.meshgrid(np.arange(self.width), np.arange(self.height))
        distorted = np.stack([(columns - cx) / fx, (rows - cy) / fy], axis=-1)
        return self._undistort(distorted).astype(np.float32)

    def _undistort(self, distorted: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rays that the lens bends to these, by fixed-point iteration."""
        if not any(self.distortion):
            return distorted
        k1, k2, t1, t2, k3 = (*self.distortion, 0.0)[:5]
        rays = distorted
        for _ in range(20):
            x, y = rays[..., 0], rays[..., 1]
            square = x * x + y * y
            radial = 1 + square * (k1 + square * (k2 + square * k3))
            shift = np.stack(
                [
                    2 * t1 * x * y + t2 * (square + 2 * x * x),
                    t1 * (square + 2 * y * y) + 2 * t2 * x * y,
                ],
                axis=-1,
            )
            rays = (distorted - shift) / radial[..., None]
        return rays


def decode_depth(data: bytes, encoding: str, width: int, height: int) -> NDArray[np.float32]:
    """A depth image (H, W) in m. Errors: RuleSafeError for another encoding or size."""
    if encoding not in DEPTH_UNITS:
        raise unknown_name("encoding of depth", encoding, DEPTH_UNITS)
    kind, unit = DEPTH_UNITS[encoding]
    values = np.frombuffer(data, kind)
    if values.size != width * height:
        raise RuleSafeError(
            f"a depth image of {width}x{height} pixels has {values.size} values; valid: one for "
            "each pixel, without padding"
        )
    return (values * np.float32(unit)).astype(np.float32, copy=False).reshape(height, width)


class CloudMaker:
    """Makes the clouds of one camera."""

    def __init__(self, config: CloudConfig = CloudConfig()) -> None:
        self._config = config
        self._workspace = Workspace(config.workspace_low, config.workspace_high)
        self._sampler = load_sampler(config.sampler)
        self._in_link = from_xyz_rpy(config.xyz, config.rpy) @ OPTICAL_IN_BODY
        self._camera: Pinhole | None = None
        self._rays = np.zeros((0, 0, 2), np.float32)

    def pose_camera_in_pelvis(self, joints: dict[str, float]) -> Transform:
        """Pose of the optical frame, with the joints (by name, rad) where they are."""
        return h1_2().link_poses(joints)[self._config.link] @ self._in_link

    def points(
        self,
        depth: NDArray[np.float32],
        rgb: NDArray[np.uint8],
        camera: Pinhole,
        pose_camera_in_pelvis: Transform,
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """All points (N, 3), m in the pelvis frame, and their colours (N, 3), row by row.

        `depth` (H, W) m along the optical axis, `rgb` (H, W, 3). Errors: RuleSafeError if they and
        the camera differ in size.
        """
        size = (camera.height, camera.width)
        if depth.shape != size or rgb.shape[:2] != size:
            raise RuleSafeError(
                f"depth {depth.shape}, colour {rgb.shape[:2]} and camera_info {size} must have the "
                "same height and width: is depth aligned to colour?"
            )
        if camera != self._camera:
            self._rays, self._camera = camera.rays(), camera
        config, step = self._config, (slice(None, None, self._config.stride),) * 2
        depth, rgb = depth[step], rgb[step]
        valid = (depth > config.near) & (depth < config.far)  # False for NaN
        along = depth[valid]
        rays = self._rays[step][valid]
        in_camera = np.column_stack([rays[:, 0] * along, rays[:, 1] * along, along])
        pose = pose_camera_in_pelvis.astype(np.float32)
        return in_camera @ pose[:3, :3].T + pose[:3, 3], rgb[valid]

    def cloud(
        self,
        depth: NDArray[np.float32],
        rgb: NDArray[np.uint8],
        camera: Pinhole,
        joints: dict[str, float],
        rng: np.random.Generator,
    ) -> NDArray[np.float32]:
        """A cloud (count, 6): x, y, z in m (pelvis frame), then red, green, blue in 0..1."""
        pose = self.pose_camera_in_pelvis(joints)
        points, colours = self.points(depth, rgb, camera, pose)
        count = self._config.points
        return sample_cloud(points, colours, rng, self._workspace, self._sampler, count)


T = TypeVar("T")


class Nearest(Generic[T]):
    """The last few stamped things, found by the stamp of another."""

    def __init__(self, size: int, tolerance: int) -> None:
        """`tolerance`: ns that stamps may differ."""
        self._kept: deque[tuple[int, T]] = deque(maxlen=size)
        self._tolerance = tolerance

    def add(self, stamp: int, thing: T) -> None:
        self._kept.append((stamp, thing))

    def at(self, stamp: int) -> T | None:
        """The one with the nearest stamp (ns), None where none is near enough."""
        if not self._kept:
            return None
        nearest, thing = min(self._kept, key=lambda kept: abs(kept[0] - stamp))
        return thing if abs(nearest - stamp) <= self._tolerance else None
