"""The renderer: images of a scene from the cameras, on the CPU in one thread.

An image depends on its scene, the poses of the links and the camera only: it is the same on every
processor and does not depend on earlier images. A change of any pixel requires a new
`rulesafe_core.versions.RENDERER`. Rendering releases Python's global lock; use one renderer per
thread.
"""

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import tan
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import OPTICAL_IN_BODY, ROOT, CameraConfig
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_render.scene import DECIMALS, CCamera, RenderScene, SceneArrays

KERNELS = ("x86_64_v3", "x86_64_v2", "generic")
"""Names of the compiled libraries, the fastest first. All compute the same images."""


class PixelCloud(NamedTuple):
    """Surface points of a camera image, one per pixel with a surface."""

    points: NDArray[np.float32]  # (N, 3) m, pelvis frame
    colors: NDArray[np.uint8]  # (N, 3)


class Surfaces(NamedTuple):
    """The surface at each pixel of a camera image."""

    positions: NDArray[np.float32]  # (H, W, 3) m, world
    links: NDArray[np.uint16]  # (H, W): index of the link plus one, 0: no surface


class Kernel(NamedTuple):
    """A compiled library."""

    name: str
    library: ctypes.CDLL


@cache
def load_kernel(name: str) -> Kernel:
    """Load a compiled library: the named one, or the fastest that this processor supports if the
    name is empty.

    Raises:
        RuleSafeError: it is not compiled, or this processor does not support it.
    """
    folder = Path(__file__).parent / "lib"
    for kernel in (name,) if name else KERNELS:
        path = folder / f"render_{kernel}.so"
        if not path.is_file():
            continue
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise RuleSafeError(f"cannot load the renderer's library: {error}") from error
        if not library.render_supported():
            continue
        library.render_create.restype = ctypes.c_void_p
        library.render_create.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)]
        library.render_destroy.argtypes = [ctypes.c_void_p]
        library.render_destroy.restype = None
        library.render_pose.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        library.render_image.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
        library.render_image.restype = None
        library.render_positions.argtypes = [ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2]
        library.render_positions.restype = None
        library.render_farthest.argtypes = [
            *(ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        ]
        library.render_farthest.restype = None
        return Kernel(kernel, library)
    names = name or ", ".join(KERNELS)
    raise RuleSafeError(
        f"no library of the renderer ({names}) that this processor supports is in {folder}; "
        "`make setup` or `pip install` compiles it"
    )


class CameraRig:
    """Cameras in a scene. `take()` renders; the other methods read the latest images.

    Args:
        scene: the scene; later changes have no effect.
        configs: the cameras.
        mounts: link of the scene and pose of links that are merged into it (`body.fixed_links`).
        kernel: one of KERNELS; empty: the fastest.

    Raises:
        RuleSafeError: a camera's link is unknown, or a mesh is not valid.
    """

    def __init__(
        self,
        scene: RenderScene,
        configs: Iterable[CameraConfig],
        mounts: Mapping[str, tuple[str, Transform]] = MappingProxyType({}),
        kernel: str = "",
    ):
        self.configs = {config.name: config for config in configs}
        self.links = tuple(scene.links)
        self._mounted = {
            name: _mount(scene.links, config, mounts) for name, config in self.configs.items()
        }
        self._poses = np.tile(np.eye(3, 4, dtype=np.float32), (len(self.links), 1, 1))
        self._images: dict[str, NDArray[np.uint8]] = {}
        self._surfaces: dict[str, Surfaces] = {}
        self._build(scene, kernel)

    def _build(self, scene: RenderScene, kernel: str) -> None:
        cameras = [
            _camera(self.configs[name], scene, *mounted) for name, mounted in self._mounted.items()
        ]
        self._library, message = load_kernel(kernel).library, ctypes.c_char_p()
        arrays = SceneArrays(scene, cameras)
        self._handle = self._library.render_create(
            ctypes.byref(arrays.structure), ctypes.byref(message)
        )
        if not self._handle:
            raise RuleSafeError(f"cannot render this scene: {(message.value or b'').decode()}")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.render_destroy(self._handle)
            self._handle = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.configs)

    def take(self, poses: Sequence[Transform] | NDArray, *names: str) -> None:
        """Render the named cameras (default: all).

        Args:
            poses: pose in the world of each link, in the order of the scene's links.
            names: the cameras.

        Raises:
            RuleSafeError: the poses are not valid, or a camera is unknown.
        """
        count = len(self.links)
        if len(poses) != count:
            raise RuleSafeError(f"{count} poses expected, got {len(poses)}")
        stacked = np.asarray(poses, np.float64)
        if count and stacked.shape != (count, 4, 4):
            raise RuleSafeError(f"poses have the shape {stacked.shape}; valid: {(count, 4, 4)}")
        numbers = [self._number(name) for name in names or self.names]
        self._images, self._surfaces = {}, {}  # those of other poses are not valid any more
        rows = stacked.reshape(-1, 4, 4)[:, :3]
        self._poses = np.ascontiguousarray(np.round(rows, DECIMALS), np.float32)
        self._place()
        for number in numbers:
            self._images[self.names[number]] = self._draw(number)

    def _place(self) -> None:
        if self._library.render_pose(self._handle, self._poses.ctypes.data):
            raise RuleSafeError("the pose of a link is not finite")

    def _draw(self, number: int) -> NDArray[np.uint8]:
        config = self.configs[self.names[number]]
        image = np.empty((config.height, config.width, 3), np.uint8)
        self._library.render_image(self._handle, number, image.ctypes.data)
        return image

    def _locate(self, number: int) -> Surfaces:
        config = self.configs[self.names[number]]
        size = (config.height, config.width)
        found = Surfaces(np.empty((*size, 3), np.float32), np.empty(size, np.uint16))
        pointers = [array.ctypes.data for array in found]
        self._library.render_positions(self._handle, number, *pointers)
        return found

    def rgb(self, name: str) -> NDArray[np.uint8]:
        """Return the RGB image (H, W, 3)."""
        self._number(name)
        if name not in self._images:
            raise RuleSafeError(
                f"camera {name!r} has no image: call take() first; "
                f"cameras with images: {', '.join(sorted(self._images)) or 'none'}"
            )
        return self._images[name]

    def depth(self, name: str) -> NDArray[np.float32]:
        """Return the depth along the optical axis (H, W), m; 0 at pixels without a surface."""
        surfaces, pose = self._shown(name), self.pose_camera_in_pelvis(name)
        depth = (surfaces.positions - pose[:3, 3].astype(np.float32)) @ pose[:3, 2].astype(
            np.float32
        )
        return np.where(surfaces.links > 0, depth, np.float32(0))

    def link_numbers(self, name: str) -> NDArray[np.int32]:
        """Return the index in `RenderScene.links` of the link at each pixel (H, W); -1: none."""
        return self._shown(name).links.astype(np.int32) - 1

    def cloud_pixels(self, name: str) -> PixelCloud:
        """Return the surface points in row-major order; pixels without a surface are omitted."""
        surfaces, colors = self._shown(name), self.rgb(name).reshape(-1, 3)
        points = surfaces.positions.reshape(-1, 3)
        if not surfaces.links.all():  # most images show surfaces only: no copy
            shown = np.flatnonzero(surfaces.links)
            points, colors = points[shown], colors[shown]
        return PixelCloud(points, colors)

    def intrinsics(self, name: str) -> NDArray[np.float64]:
        """Return the camera matrix K (3, 3) in pixels; integer coordinates are pixel centres, as in
        sensor_msgs/CameraInfo."""
        return _intrinsics(self.configs[self.names[self._number(name)]])

    def pose_camera_in_pelvis(self, name: str) -> Transform:
        """Return the pose of the optical frame (z forward, x right, y down) in the pelvis frame."""
        link, pose = self._mounted[self.names[self._number(name)]]
        if link < 0:
            return pose
        parent = np.eye(4)
        parent[:3] = self._poses[link]
        return parent @ pose

    def _number(self, name: str) -> int:
        if name not in self.configs:
            raise unknown_name("camera", name, self.configs)
        return self.names.index(name)

    def _shown(self, name: str) -> Surfaces:
        """Return the surfaces of the latest image of a camera, computed at the first request."""
        self.rgb(name)  # raises if there is none
        if name not in self._surfaces:
            self._surfaces[name] = self._locate(self._number(name))
        return self._surfaces[name]


def _mount(
    links: Sequence[str], config: CameraConfig, mounts: Mapping[str, tuple[str, Transform]]
) -> tuple[int, Transform]:
    """Return the link (-1: the world) and the pose in it of a camera's optical frame."""
    link, pose = mounts.get(config.link, (config.link, np.eye(4)))
    optical = pose @ from_xyz_rpy(config.xyz, config.rpy) @ OPTICAL_IN_BODY
    if link == ROOT:  # it does not move
        return -1, optical
    if link not in links:
        known = sorted({*links, *mounts})
        raise RuleSafeError(f"camera {config.name!r}: {unknown_name('link', link, known)}")
    return links.index(link), optical


def _camera(config: CameraConfig, scene: RenderScene, link: int, pose: Transform) -> CCamera:
    matrix = _intrinsics(config)
    rows = np.round(pose[:3], DECIMALS).ravel().tolist()
    return CCamera(
        (ctypes.c_float * 12)(*rows),
        link,
        link < 0 or not scene.moves[link],
        *(config.width, config.height),
        *(matrix[0, 0], matrix[0, 2], matrix[1, 2]),
        *(config.near, config.far),
    )


def _intrinsics(config: CameraConfig) -> NDArray[np.float64]:
    focal = round(config.height / 2 / tan(config.fovy / 2), DECIMALS)
    return np.array(
        [[focal, 0, (config.width - 1) / 2], [0, focal, (config.height - 1) / 2], [0, 0, 1]]
    )
