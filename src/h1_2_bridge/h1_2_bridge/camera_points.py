"""Convert a real camera's aligned depth image to the policies' point cloud (1024, pelvis frame).

The steps are those of the simulation (rulesafe_core.cloud): each pixel with a valid depth becomes a
coloured point, points outside the workspace are removed, and farthest-point sampling reduces the
rest. "Aligned" means that depth and colour images share the same pixel grid (RealSense:
align_depth). This module does not import ROS.
"""

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, OPTICAL_IN_BODY
from rulesafe_core.cloud import CLOUD_POINTS, SAMPLERS, Workspace, load_sampler, sample_cloud
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.robot import h1_2
from rulesafe_core.settings import Settings, setting
from rulesafe_core.transforms import Transform, Vec3, from_xyz_rpy

DEPTH_UNITS = {"32FC1": ("<f4", 1.0), "16UC1": ("<u2", 0.001)}
"""Depth encodings (REP 118): data type and length of one unit in m."""

_WORKSPACE, _CAMERA = Workspace(), DEFAULT_CAMERAS.depth


@dataclass(frozen=True)
class CloudConfig(Settings):
    """Camera pose and point cloud settings. The default pose is that of the simulated head camera,
    which is mounted on the torso and turns with the waist."""

    link: str = setting(_CAMERA.link, "Robot link to which the camera is mounted.")
    xyz: Vec3 = setting(_CAMERA.xyz, "Position of the camera's body frame in `link`.", unit="m")
    rpy: Vec3 = setting(
        _CAMERA.rpy,
        "Roll, pitch and yaw of the camera's body frame (x forward) about fixed axes.",
        unit="rad",
    )
    workspace_low: Vec3 = setting(
        _WORKSPACE.low, "Lower corner of the workspace in the pelvis frame.", unit="m"
    )
    workspace_high: Vec3 = setting(
        _WORKSPACE.high, "Upper corner of the workspace in the pelvis frame.", unit="m"
    )
    near: float = setting(0.1, "Smallest valid depth.", 0, 10, "m")
    far: float = setting(3.0, "Largest valid depth.", 0.1, 20, "m")
    stride: int = setting(1, "Use every n-th pixel in rows and columns.", 1, 16)
    points: int = setting(CLOUD_POINTS, "Number of points in the point cloud.", 1, 100000)
    sampler: str = setting("farthest", f"Downsampling method: {', '.join(SAMPLERS)}.")

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [link.name for link in h1_2().links]
        if self.link not in names:
            raise unknown_name("link", self.link, names)
        if not self.near < self.far:
            raise RuleSafeError(
                f"near must be below far, got near {self.near} m and far {self.far} m"
            )


@dataclass(frozen=True)
class Pinhole:
    """Pinhole camera model from a CameraInfo message.

    Attributes:
        width, height: image size in pixels.
        intrinsics: K, nine numbers, row-major; integer coordinates are pixel centres.
        distortion: k1, k2, t1, t2, k3 of plumb_bob; empty for no distortion.
    """

    width: int
    height: int
    intrinsics: tuple[float, ...]
    distortion: tuple[float, ...] = ()

    def rays(self) -> NDArray[np.float32]:
        """Return x and y of each pixel's ray at depth 1, (H, W, 2).

        Raises:
            RuleSafeError: the camera is not calibrated or its distortion model is not supported.
        """
        if len(self.intrinsics) != 9 or self.intrinsics[0] <= 0 or self.intrinsics[4] <= 0:
            raise RuleSafeError(
                "camera_info has no focal length: the camera is not calibrated; calibrate it or "
                "set K in the camera driver"
            )
        if len(self.distortion) not in (0, 4, 5):
            raise RuleSafeError(
                f"camera_info has {len(self.distortion)} distortion coefficients; valid: 0, or 4 "
                "or 5 (plumb_bob)"
            )
        fx, _, cx, _, fy, cy = self.intrinsics[:6]
        columns, rows = np.meshgrid(np.arange(self.width), np.arange(self.height))
        distorted = np.stack([(columns - cx) / fx, (rows - cy) / fy], axis=-1)
        return self._undistort(distorted).astype(np.float32)

    def _undistort(self, distorted: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rays before lens distortion, by fixed-point iteration."""
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
    """Return a depth image (H, W) in m.

    Raises:
        RuleSafeError: the encoding is not in DEPTH_UNITS or the data size is wrong.
    """
    if encoding not in DEPTH_UNITS:
        raise unknown_name("depth encoding", encoding, DEPTH_UNITS)
    kind, unit = DEPTH_UNITS[encoding]
    if len(data) != width * height * np.dtype(kind).itemsize:
        raise RuleSafeError(
            f"the depth image has {len(data)} bytes for {width}x{height} pixels of {encoding}; "
            "expected one value per pixel without row padding"
        )
    values = np.frombuffer(data, kind)
    return (values * np.float32(unit)).astype(np.float32, copy=False).reshape(height, width)


class CloudMaker:
    """Computes point clouds from the images of one camera."""

    def __init__(self, config: CloudConfig = CloudConfig()) -> None:
        self._config = config
        self._workspace = Workspace(config.workspace_low, config.workspace_high)
        self._sampler = load_sampler(config.sampler)
        self._in_link = from_xyz_rpy(config.xyz, config.rpy) @ OPTICAL_IN_BODY
        self._camera: Pinhole | None = None
        self._rays = np.zeros((0, 0, 2), np.float32)

    def pose_camera_in_pelvis(self, joints: dict[str, float]) -> Transform:
        """Return the pose of the optical frame for joint positions (rad) by name."""
        return h1_2().link_poses(joints)[self._config.link] @ self._in_link

    def points(
        self,
        depth: NDArray[np.float32],
        rgb: NDArray[np.uint8],
        camera: Pinhole,
        pose_camera_in_pelvis: Transform,
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Return all valid points (N, 3), m in the pelvis frame, and their colours (N, 3).

        Args:
            depth: (H, W) m along the optical axis.
            rgb: (H, W, 3).

        Raises:
            RuleSafeError: depth, colour and camera differ in size.
        """
        size = (camera.height, camera.width)
        if depth.shape != size or rgb.shape[:2] != size:
            raise RuleSafeError(
                f"depth {depth.shape}, colour {rgb.shape[:2]} and camera_info {size} must have the "
                "same height and width; align depth to colour in the camera driver"
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
        """Return a point cloud (points, 6): x, y, z in m (pelvis frame), then RGB in 0..1."""
        pose = self.pose_camera_in_pelvis(joints)
        points, colours = self.points(depth, rgb, camera, pose)
        count = self._config.points
        return sample_cloud(points, colours, rng, self._workspace, self._sampler, count)


T = TypeVar("T")


class Nearest(Generic[T]):
    """Buffer of the last `size` stamped messages with lookup by the nearest stamp."""

    def __init__(self, size: int, tolerance: int) -> None:
        """`tolerance`: largest difference of stamps, ns."""
        self._buffer: deque[tuple[int, T]] = deque(maxlen=size)
        self._tolerance = tolerance

    def add(self, stamp: int, item: T) -> None:
        """Add the next message of a topic. If its stamp jumps back, discard those before: after a
        restart or in the next loop of a bag, they belong to another time."""
        if self._buffer and stamp < self._buffer[-1][0]:
            self._buffer.clear()
        self._buffer.append((stamp, item))

    def at(self, stamp: int) -> T | None:
        """Return the item nearest to `stamp` (ns); None if none is within the tolerance."""
        if not self._buffer:
            return None
        nearest, item = min(self._buffer, key=lambda entry: abs(entry[0] - stamp))
        return item if abs(nearest - stamp) <= self._tolerance else None
