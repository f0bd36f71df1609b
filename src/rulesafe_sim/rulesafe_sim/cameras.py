"""Cameras in the scene, with a custom shader pack.

Nothing is rendered until `CameraRig.take()`. The world frame is the robot's pelvis frame. The room
is defined in visuals.py.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import sapien
from numpy.typing import NDArray

from rulesafe_core.cameras import OPTICAL_IN_BODY, ROOT, CameraConfig
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import Transform, from_xyz_rpy, to_quat_wxyz


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
    """Cameras in a scene. `take()` renders; the other methods read the latest images.

    Args:
        scene: the scene.
        configs: the cameras.
        mounts: link of the scene and pose of links that are merged into it (`body.fixed_links`).
    """

    def __init__(
        self,
        scene: sapien.Scene,
        configs: Iterable[CameraConfig],
        mounts: Mapping[str, tuple[str, Transform]] = MappingProxyType({}),
    ):
        self._scene, self._mounts = scene, mounts
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
        link, pose = self._mounts.get(config.link, (config.link, np.eye(4)))
        try:
            self._entity(link).add_component(camera)
        except RuleSafeError as error:
            raise RuleSafeError(f"camera {config.name!r}: {error}") from None
        camera.local_pose = _pose(pose @ from_xyz_rpy(config.xyz, config.rpy))
        return camera

    def _entity(self, link: str) -> sapien.Entity:
        if link == ROOT:  # it does not move
            mount = sapien.Entity()
            self._scene.add_entity(mount)
            return mount
        links = {entity.name: entity for entity in self._scene.entities if entity.name}
        if link not in links:
            raise unknown_name("link", link, sorted({*links, *self._mounts}))
        return links[link]


def _pose(transform: Transform) -> sapien.Pose:
    return sapien.Pose(transform[:3, 3], to_quat_wxyz(transform))
