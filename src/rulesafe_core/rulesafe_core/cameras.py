"""Sets of cameras: names, mounts and sizes, from which topics, observation keys, datasets and the
inputs of policies follow.

A set is plain data. Simulation, ROS nodes, datasets and checkpoints use the same objects and the
same form in files, a mapping of names to cameras (YAML, JSON)::

    head: {width: 320, height: 240}
    wrist: {link: R_hand_base_link, xyz_m: [0.05, 0.0, 0.04], rpy_rad: [0, 0.5, 0], fovy_rad: 1.2,
            width: 320, height: 240}

Missing keys of "head" and "front" have the values of DEFAULT_CAMERAS. The first camera, "head" if
there is one, measures depth: the point cloud is computed from its images. The key `renderer` of a
file selects one of RENDERERS.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import FileRegistry
from rulesafe_core.settings import Settings, required, setting
from rulesafe_core.strict_yaml import as_mapping, build, keys_of, read_yaml
from rulesafe_core.transforms import Transform, Vec3, from_parts, from_xyz_rpy

POINTS = "points"
"""Observation key of the point cloud."""

POINTS_TOPIC = "/camera/points"

ROOT = "pelvis"
"""Root link of the robot, whose frame is that of the room."""

RENDERERS = ("rulesafe", "sapien")
"""Renderers of the simulation: `rulesafe_render`, the default, and SAPIEN with its own shaders,
which needs a Vulkan driver. Their images differ."""

RESERVED = ("all_joint_positions", "joint_positions", "joints", "memory", POINTS, "renderer")
"""Names of other observations, inputs of policies and keys of files, which no camera may have."""

CAMERA_FILES = FileRegistry("rulesafe.cameras", "file of cameras")

OPTICAL_IN_BODY = from_parts([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (0, 0, 0))
"""Pose of the optical frame (z forward, x right, y down; REP 103) in the body frame (x forward)."""


@dataclass(frozen=True)
class CameraConfig(Settings):
    """A pinhole camera with square pixels; xyz and rpy are the pose of its body frame (x forward,
    y left, z up)."""

    name: str
    xyz: Vec3 = required(unit="m")
    rpy: Vec3 = required(unit="rad")
    fovy: float = required(0.05, pi - 0.05, "rad", help="Vertical angle of view.")
    width: int = setting(224, "Width of the images, pixels.", 16, 2048)
    height: int = setting(224, "Height of the images, pixels.", 16, 2048)
    link: str = setting(ROOT, "Reference link of the pose.")
    near: float = setting(0.02, "Smallest rendered depth.", above=0, unit="m")
    far: float = setting(12.0, "Largest rendered depth.", above=0, unit="m")

    @property
    def pose_optical_in_link(self) -> Transform:
        """Pose of the optical frame in the frame of the link."""
        return from_xyz_rpy(self.xyz, self.rpy) @ OPTICAL_IN_BODY

    @property
    def optical_frame(self) -> str:
        """Name of the optical frame."""
        return f"{self.name}_camera_optical_frame"

    def topic(self, name: str = "image_raw") -> str:
        """Return a topic of the camera: "image_raw", "camera_info", "depth/image_raw" ..."""
        return f"/camera/{self.name}/{name}"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of an image, (height, width, 3)."""
        return self.height, self.width, 3

    def crop(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the central part of images (..., H, W, 3) that has the camera's aspect ratio."""
        height, width = images.shape[-3:-1]
        rows = min(height, max(1, round(width * self.height / self.width)))
        columns = min(width, max(1, round(height * self.width / self.height)))
        top, left = (height - rows) // 2, (width - columns) // 2
        return images[..., top : top + rows, left : left + columns, :]

    def fit(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return an image (H, W, 3) of any size in the size of the camera: its central part,
        resized. All inputs of policies and datasets are made so.

        Raises:
            RuleSafeError: it has another shape or type.
        """
        values = np.asarray(image)
        valid = values.ndim == 3 and values.shape[2] == 3 and values.size
        if not valid or values.dtype != np.uint8:
            raise RuleSafeError(
                f"image {self.name} must be (H, W, 3) uint8, got {values.shape} {values.dtype}"
            )
        if values.shape == self.shape:
            return values
        part = PIL.Image.fromarray(np.ascontiguousarray(self.crop(values)))
        size = (self.width, self.height)
        return np.asarray(part.resize(size, PIL.Image.Resampling.BILINEAR))

    @property
    def film_topic(self) -> str:
        """Topic of larger images for videos."""
        return f"/film/{self.name}/compressed"


@dataclass(frozen=True)
class CameraSet:
    """One or more cameras with different names, whose images have the same size.

    Attributes:
        cameras: the cameras.
        renderer: one of RENDERERS, which renders their images in simulation.

    Raises:
        RuleSafeError: there is no camera, a name is used twice or not valid in a topic, sizes
            differ, or the renderer is unknown.
    """

    cameras: tuple[CameraConfig, ...]
    renderer: str = RENDERERS[0]

    def __post_init__(self) -> None:
        for name in self.names:
            if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name) or name in RESERVED:
                raise RuleSafeError(
                    f"{name!r} is not the name of a camera; valid: lower-case letters, digits and "
                    f"underscores, not {', '.join(RESERVED)}"
                )
        sizes = {f"{camera.width}x{camera.height}" for camera in self}
        if len(set(self.names)) < len(self.names) or len(sizes) != 1:
            raise RuleSafeError(
                "a set has one or more cameras with different names and the same size, not "
                f"{', '.join(self.names) or 'none'} with the sizes {', '.join(sorted(sizes))}"
            )
        if self.renderer not in RENDERERS:
            raise unknown_name("renderer", str(self.renderer), RENDERERS)

    def __iter__(self) -> Iterator[CameraConfig]:
        return iter(self.cameras)

    def __len__(self) -> int:
        return len(self.cameras)

    def __getitem__(self, name: str) -> CameraConfig:
        for camera in self:
            if camera.name == name:
                return camera
        raise unknown_name("camera", name, self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the cameras, in the order in which images are stacked."""
        return tuple(camera.name for camera in self)

    @property
    def depth(self) -> CameraConfig:
        """The camera that measures depth, from which the point cloud is computed."""
        return self.cameras[0]

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the rendered observations: the images of each camera, and the point cloud."""
        return (*(camera.name for camera in self), POINTS)

    def frames(self) -> list[tuple[str, str, Transform]]:
        """Return link, name and pose of each optical frame, for `urdf.with_frames`."""
        return [(each.link, each.optical_frame, each.pose_optical_in_link) for each in self]

    def resized(self, side: int) -> "CameraSet":
        """Return the same cameras with square images."""
        return replace(self, cameras=tuple(replace(c, width=side, height=side) for c in self))

    def to_dict(self) -> dict[str, Any]:
        """Convert to the form in files, with all keys; `renderer` only if it is not the default."""
        renderer = {} if self.renderer == RENDERERS[0] else {"renderer": self.renderer}
        keys = {key: of.name for key, of in keys_of(CameraConfig).items() if key != "name"}
        return renderer | {
            camera.name: {
                key: list(value) if isinstance(value := getattr(camera, name), tuple) else value
                for key, name in keys.items()
            }
            for camera in self
        }

    @classmethod
    def from_dict(cls, data: Any, where: str) -> "CameraSet":
        """Convert from the form in files; `where` is the prefix of error messages. Raises
        RuleSafeError with the invalid camera and key."""
        defaults = DEFAULT_CAMERAS.to_dict()
        entries = {str(name): entry for name, entry in as_mapping(data, where).items()}
        renderer = entries.pop("renderer", RENDERERS[0])
        names = sorted(entries, key=lambda name: (*defaults, name).index(name))
        cameras = []
        for name in names:
            at = f"{where}: {name}"
            given = {} if entries[name] is None else as_mapping(entries[name], at)
            entry = defaults.get(name, {}) | given
            if entry.setdefault("name", name) != name:
                raise RuleSafeError(f"{at}.name is {entry['name']!r}; valid: {name!r} or no name")
            cameras.append(build(CameraConfig, entry, at))
        try:
            return cls(tuple(cameras), renderer)
        except RuleSafeError as error:
            raise RuleSafeError(f"{where}: {error}") from error

    def to_entry(self) -> dict[str, Any]:
        """Return the entry `cameras` of a JSON file; empty for the default set."""
        return {} if self == DEFAULT_CAMERAS else {"cameras": self.to_dict()}

    @classmethod
    def from_entry(cls, about: Mapping[str, Any], where: str) -> "CameraSet":
        """Return the set of a JSON file; see `to_entry`."""
        found = about.get("cameras")
        return DEFAULT_CAMERAS if found is None else cls.from_dict(found, where)


def load_cameras(name: str | Path) -> CameraSet:
    """Return a set of cameras.

    Args:
        name: the path of a YAML file, or an entry point of the group "rulesafe.cameras" or
            `module:attribute` whose value is such a path; empty: DEFAULT_CAMERAS.

    Raises:
        RuleSafeError: the name is unknown, or the file is not valid.
    """
    if name == "":
        return DEFAULT_CAMERAS
    path = CAMERA_FILES.file(name)
    return CameraSet.from_dict(read_yaml(path), path.name)


def looking_at(eye: Vec3, target: Vec3) -> Vec3:
    """Return roll (0), pitch and yaw (rad) of a camera at `eye` that looks at `target` (m)."""
    x, y, z = np.subtract(target, eye)
    return 0.0, float(np.arctan2(-z, np.hypot(x, y))), float(np.arctan2(y, x))


_FRONT_POSITION: Vec3 = (-0.35, -0.95, 0.85)

DEFAULT_CAMERAS = CameraSet(
    (
        # Position of camera_link on torso_link in the H1-2 URDF; torso_link coincides with the
        # pelvis frame while the waist is at 0. In the URDF the camera looks 50.8 deg down and
        # straight ahead, so that a safe is at the image border; here it looks 36 deg down and 20
        # deg to the right.
        CameraConfig(
            "head",
            xyz=(0.11109, 0.0175, 0.68789),
            rpy=(0.0, radians(36), radians(-20)),
            fovy=radians(70),
            link="torso_link",
        ),
        CameraConfig(
            "front",
            xyz=_FRONT_POSITION,
            rpy=looking_at(_FRONT_POSITION, (0.47, -0.27, 0.22)),
            fovy=radians(38),
        ),
    )
)
"""The egocentric view of the robot's head camera, above the safe and the hand, and a third-person
view of robot, hand, door and parts from the robot's right."""
