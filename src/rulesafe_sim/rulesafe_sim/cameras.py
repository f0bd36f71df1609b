"""Cameras in the scene, with a custom shader pack.

Nothing is rendered until `CameraRig.take()`. The world frame is the robot's pelvis frame. The room
is defined in visuals.py.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sapien
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.settings import Settings, required, setting
from rulesafe_core.transforms import Transform, Vec3, from_parts, from_xyz_rpy, to_quat_wxyz
from rulesafe_sim.variation import Cameras, CameraShift

OPTICAL_IN_BODY = from_parts([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (0, 0, 0))
"""Pose of the optical frame (z forward, x right, y down; REP 103) in the body frame (x forward)."""


@dataclass(frozen=True)
class CameraConfig(Settings):
    """A pinhole camera with square pixels; xyz and rpy are the pose of its body frame (x forward,
    y left, z up)."""

    name: str
    xyz: Vec3 = required(unit="m")
    rpy: Vec3 = required(unit="rad")
    fovy: float = required(unit="rad", help="Vertical angle of view.", above=0, below=np.pi)
    width: int = setting(224, "", 1, unit="pixels")
    height: int = setting(224, "", 1, unit="pixels")
    link: str = setting("", "Reference link of the pose; empty: the pelvis frame.")
    near: float = setting(0.02, "Smallest rendered depth.", unit="m")
    far: float = setting(12.0, "Largest rendered depth.", unit="m")


def looking_at(eye: Vec3, target: Vec3) -> Vec3:
    """Return roll (0), pitch and yaw (rad) of a camera at `eye` that looks at `target` (m)."""
    x, y, z = np.subtract(target, eye)
    return 0.0, float(np.arctan2(-z, np.hypot(x, y))), float(np.arctan2(y, x))


HEAD = CameraConfig(
    "head",
    # Position of camera_link on torso_link in the H1-2 URDF; torso_link coincides with the pelvis
    # frame while the waist is at 0. In the URDF the camera looks 50.8 deg down and straight ahead,
    # so that a safe is at the image border; here it looks 36 deg down and 20 deg to the right.
    xyz=(0.11109, 0.0175, 0.68789),
    rpy=(0.0, float(np.radians(36)), float(np.radians(-20))),
    fovy=float(np.radians(70)),
)
"""Egocentric view: the head camera of the robot, above the safe and the hand."""

_FRONT_POSITION: Vec3 = (-0.35, -0.95, 0.85)
FRONT = CameraConfig(
    "front",
    xyz=_FRONT_POSITION,
    rpy=looking_at(_FRONT_POSITION, (0.47, -0.27, 0.22)),
    fovy=float(np.radians(38)),
)
"""Third-person view: robot, hand, door and parts from the robot's right."""


def shifted(cameras: Iterable[CameraConfig], shifts: Cameras) -> tuple[CameraConfig, ...]:
    """Apply the pose changes of a variation; cameras other than "head" and "front" are kept."""
    result = []
    for camera in cameras:
        shift = getattr(shifts, camera.name, CameraShift())
        x, y, z = np.add(camera.xyz, shift.xyz).tolist()
        roll, pitch, yaw = np.add(camera.rpy, shift.rpy).tolist()
        fovy = camera.fovy + shift.fov
        result.append(replace(camera, xyz=(x, y, z), rpy=(roll, pitch, yaw), fovy=fovy))
    return tuple(result)


class PixelCloud(NamedTuple):
    """Surface points of a camera image, one per pixel with a surface."""

    points: NDArray[np.float32]  # (N, 3) m, pelvis frame
    colors: NDArray[np.uint8]  # (N, 3)
    ids: NDArray[np.int32]  # (N,) per_scene_id of the entity


def shader_dir() -> Path:
    """Return the directory of the shader pack."""
    return Path(__file__).resolve().parent / "shaders" / "lit"


def use_shaders() -> None:
    """Select the shader pack for all cameras created later.

    Raises:
        RuleSafeError: no Vulkan driver that can render is installed, or this process was forked
            from a process that had rendered.
    """
    if (process := _start_renderer()) != os.getpid():
        raise RuleSafeError(
            f"cannot render in process {os.getpid()}: it was forked from process {process}, which "
            "has rendered, and the Vulkan driver does not support this. Start worker processes "
            'with context="spawn" (gymnasium.make_vec: vector_kwargs={"context": "spawn"}; '
            'multiprocessing.get_context("spawn"))'
        )


@cache
def _start_renderer() -> int:
    """Start the renderer once; return the id of the process in which it runs."""
    sapien.render.set_camera_shader_dir(str(shader_dir()))
    for name in ("Color", "Lighting", "Albedo"):
        sapien.render.set_picture_format(name, "r8g8b8a8unorm")
    sapien.render.set_picture_format("Normal", "r16g16b16a16sfloat")
    try:
        sapien.render.RenderSystem()
    except RuntimeError as error:
        raise RuleSafeError(
            f"cannot render: {error}. Install a Vulkan driver: the GPU's own, or Mesa 24 or newer "
            "for rendering on the CPU (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers; on "
            "Debian 12 from bookworm-backports). Without cameras no Vulkan driver is needed"
        ) from error
    return os.getpid()


class CameraRig:
    """Cameras in a scene. `take()` renders; the other methods read the latest images."""

    def __init__(self, scene: sapien.Scene, configs: Iterable[CameraConfig]):
        self._scene = scene
        self.configs = {config.name: config for config in configs}
        self._cameras = {name: self._add(config) for name, config in self.configs.items()}
        self._taken: set[str] = set()
        self._images: dict[tuple[str, str], NDArray] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.configs)

    def take(self, *names: str) -> None:
        """Render the named cameras (default: all) in the current state of the scene."""
        cameras = [self._camera(name) for name in names or self.names]
        self._scene.update_render()
        for camera in cameras:
            camera.take_picture()
        # get_picture waits for the image: SAPIEN crashes if a scene is deleted during rendering.
        self._images = {(c.name, "Color"): c.get_picture("Color") for c in cameras}
        self._taken = {camera.name for camera in cameras}

    def rgb(self, name: str) -> NDArray[np.uint8]:
        """Return the RGB image (H, W, 3)."""
        return np.ascontiguousarray(self._image(name, "Color")[..., :3])

    def depth(self, name: str) -> NDArray[np.float32]:
        """Return the depth along the optical axis (H, W), m; 0 at pixels without a surface."""
        return -self._image(name, "Position")[..., 2]

    def cloud_pixels(self, name: str) -> PixelCloud:
        """Return the surface points in row-major order; pixels without a surface are omitted."""
        position = self._image(name, "Position").reshape(-1, 4)
        valid = position[:, 3] > 0
        position = position[valid]
        model = self._camera(name).get_model_matrix()
        return PixelCloud(
            points=position[:, :3] @ model[:3, :3].T + model[:3, 3],
            colors=self._image(name, "Color").reshape(-1, 4)[valid, :3],
            ids=position[:, 3].astype(np.int32),
        )

    def intrinsics(self, name: str) -> NDArray[np.float64]:
        """Return the camera matrix K (3, 3) in pixels; integer coordinates are pixel centres, as in
        sensor_msgs/CameraInfo."""
        matrix = self._camera(name).get_intrinsic_matrix().astype(np.float64)
        matrix[:2, 2] -= 0.5  # SAPIEN's origin is the corner of the first pixel
        return matrix

    def pose_camera_in_pelvis(self, name: str) -> Transform:
        """Return the pose of the optical frame (z forward, x right, y down) in the pelvis frame."""
        body = self._camera(name).get_global_pose().to_transformation_matrix()
        return body.astype(np.float64) @ OPTICAL_IN_BODY

    def _camera(self, name: str) -> sapien.render.RenderCameraComponent:
        if name not in self._cameras:
            raise unknown_name("camera", name, self._cameras)
        return self._cameras[name]

    def _image(self, name: str, kind: str) -> NDArray:
        camera = self._camera(name)
        if name not in self._taken:
            raise RuleSafeError(
                f"camera {name!r} has no image: call take() first; "
                f"cameras with images: {', '.join(sorted(self._taken)) or 'none'}"
            )
        if (name, kind) not in self._images:
            self._images[name, kind] = camera.get_picture(kind)
        return self._images[name, kind]

    def _add(self, config: CameraConfig) -> sapien.render.RenderCameraComponent:
        use_shaders()
        camera = sapien.render.RenderCameraComponent(config.width, config.height)
        camera.name = config.name
        camera.set_fovy(config.fovy, compute_x=True)
        camera.near, camera.far = config.near, config.far
        self._mount(config.link).add_component(camera)
        camera.local_pose = _pose(from_xyz_rpy(config.xyz, config.rpy))
        return camera

    def _mount(self, link: str) -> sapien.Entity:
        if not link:
            mount = sapien.Entity()
            self._scene.add_entity(mount)
            return mount
        links = {entity.name: entity for entity in self._scene.entities if entity.name}
        if link not in links:
            raise unknown_name("link", link, sorted(links))
        return links[link]


def _pose(transform: Transform) -> sapien.Pose:
    return sapien.Pose(transform[:3, 3], to_quat_wxyz(transform))
