"""Rendered images of a single body (the hand or a safe), and projection of points into them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.body import Body, Link, Material, joint_position
from rulesafe_core.cameras import CameraConfig, looking_at
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import Transform, Vec3, apply, inverse
from rulesafe_render.renderer import CameraRig
from rulesafe_render.scene import RenderScene, link_meshes
from rulesafe_sim.room import add_room
from rulesafe_sim.stand import bounds

BACKGROUND = (246, 247, 249)
"""sRGB of the background."""

_LIGHT_PALM = Material((0.25, 0.27, 0.30), roughness=0.6)
_LIGHT_FINGER = Material((0.40, 0.42, 0.45), roughness=0.6)
_LIGHT_THUMB = Material((0.46, 0.40, 0.29), roughness=0.6)


@dataclass(frozen=True)
class Viewpoint:
    """Position `at` and viewing target (m) of a camera, in the body's root frame."""

    name: str
    at: Vec3
    target: Vec3
    fovy: float  # vertical field of view, rad


@dataclass(frozen=True, eq=False)
class View:
    """An image of a body against a plain background."""

    rgb: NDArray[np.uint8]  # (H, W, 3)
    links: NDArray[np.str_]  # (H, W) name of the link at each pixel, "" for the background
    pose_root_in_camera: Transform  # optical frame: x right, y down, z forward
    intrinsics: NDArray[np.float64]  # (3, 3), pixels

    def project(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the pixel coordinates (..., 2), x right and y down, of points (..., 3) in the
        body's root frame (m)."""
        seen = apply(self.pose_root_in_camera, points) @ self.intrinsics.T
        return seen[..., :2] / seen[..., 2:]


def framed(name: str, direction: Vec3, points: ArrayLike, distance: float) -> Viewpoint:
    """Return a viewpoint that shows all points (N, 3) of the root frame (m), at `distance` (m) from
    their centre in a direction."""
    points = np.asarray(points, float)
    target = (points.min(0) + points.max(0)) / 2
    back = np.array(direction) / np.linalg.norm(direction)
    at = target + distance * back
    seen = points - at
    along = -(seen @ back)
    aside = np.linalg.norm(seen + along[:, None] * back, axis=1)
    fovy = 2.0 * float(np.arctan((aside / along).max()))
    return Viewpoint(name, (at[0], at[1], at[2]), (target[0], target[1], target[2]), fovy)


def corners(
    body: Body, positions: Mapping[str, float], links: Iterable[str]
) -> NDArray[np.float64]:
    """Return the corners (8 N, 3) of the boxes around N links, in the root frame (m)."""
    poses, wanted = body.link_poses(positions), set(links)
    found = []
    for link in body.links:
        if link.name in wanted and link.shapes:
            ends = np.array(bounds(link))
            grid = np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 3)
            found.append(apply(poses[link.name], grid))
    return np.concatenate(found)


def take_views(
    body: Body,
    positions: Mapping[str, float],
    pose_root_in_world: Transform,
    viewpoints: Sequence[Viewpoint],
    size: int,
) -> dict[str, View]:
    """Render images (size, size) of a body with its joints at `positions` (rad), by viewpoint name.

    The pose orients the body towards the light, which comes from above and along the world's x
    axis.
    """
    scene = RenderScene()
    scene.add_links(link_meshes(body))
    shown = len(scene.links)
    add_room(scene)
    rig = CameraRig(scene, [_camera(each, pose_root_in_world, size) for each in viewpoints])
    still = np.eye(4)
    poses = {
        name: pose_root_in_world @ pose
        for name, pose in body.link_poses(
            {j.name: joint_position(j, positions) for j in body.moving_joints}
        ).items()
    }
    rig.take([poses.get(link, still) for link in rig.links])
    names = dict(enumerate(rig.links[:shown]))
    return {each.name: _view(rig, each.name, names, pose_root_in_world) for each in viewpoints}


def _camera(of: Viewpoint, pose_root_in_world: Transform, size: int) -> CameraConfig:
    at, target = apply(pose_root_in_world, [of.at, of.target]).tolist()
    return CameraConfig(of.name, tuple(at), looking_at(at, target), of.fovy, size, size)


def _view(
    rig: CameraRig, name: str, links: Mapping[int, str], pose_root_in_world: Transform
) -> View:
    rgb, numbers = rig.rgb(name), rig.link_numbers(name)
    known = np.array([links.get(i, "") for i in range(-1, len(rig.links))])
    shown = known[numbers + 1]
    rgb = np.where((shown == "")[..., None], np.array(BACKGROUND, np.uint8), rgb)
    in_camera = inverse(rig.pose_camera_in_pelvis(name)) @ pose_root_in_world
    return View(rgb, shown, in_camera, rig.intrinsics(name))


def right_hand() -> Body:
    """Return the robot's right hand as a body with root R_hand_base_link, in lighter colours: the
    fingers of a black hand cannot be distinguished."""
    robot = h1_2()
    links = tuple(_lighter(link) for link in robot.links if link.name.startswith("R_"))
    names = {link.name for link in links}
    joints = tuple(j for j in robot.joints if j.parent in names and j.child in names)
    return Body("right_hand", links, joints)


def _lighter(link: Link) -> Link:
    look = _LIGHT_PALM if link.name.endswith("base_link") else _LIGHT_FINGER
    look = _LIGHT_THUMB if "thumb" in link.name else look
    return replace(link, shapes=tuple(replace(shape, material=look) for shape in link.shapes))
