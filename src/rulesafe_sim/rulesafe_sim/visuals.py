"""Render geometry: meshes of the bodies' shapes, the room and its lights.

The shapes of a link are merged into one mesh per material, with fewer triangles than SAPIEN's
primitives (144 instead of 1024 for a finger capsule), which renders 25 % faster on a CPU.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sapien
from numpy.typing import NDArray

from rulesafe_core.body import Color, Material, Shape
from rulesafe_core.transforms import about_axis, apply
from rulesafe_sim.stand import FLOOR_Z
from rulesafe_sim.variation import Colours, Lighting

WOOD = (0.34, 0.22, 0.13)  # linear RGB of the floor
WALL = (0.50, 0.53, 0.55)


class TriangleMesh(NamedTuple):
    """Triangle mesh, counter-clockwise seen from outside; lengths in m."""

    vertices: NDArray[np.float32]  # (V, 3)
    normals: NDArray[np.float32]  # (V, 3), unit
    triangles: NDArray[np.uint32]  # (T, 3)


def shape_mesh(shape: Shape) -> TriangleMesh:
    """Triangulate the surface of a shape, in the link frame."""
    mesh = _box(*shape.size) if shape.kind == "box" else _round(shape)
    return TriangleMesh(
        apply(shape.pose, mesh.vertices).astype(np.float32),
        (mesh.normals @ shape.pose[:3, :3].T).astype(np.float32),
        mesh.triangles.astype(np.uint32),
    )


def show_shapes(entity: sapien.Entity, shapes: Iterable[Shape]) -> None:
    """Add the visible shapes of a link to its render body, one mesh per material."""
    groups: dict[Material, list[TriangleMesh]] = {}
    for shape in shapes:
        if shape.visible:
            groups.setdefault(shape.material, []).append(shape_mesh(shape))
    if not groups:
        return
    body = sapien.render.RenderBodyComponent()
    for material, meshes in groups.items():
        mesh = _join(meshes)
        body.attach(
            sapien.render.RenderShapeTriangleMesh(
                mesh.vertices,
                mesh.triangles,
                mesh.normals,
                np.zeros((len(mesh.vertices), 2), np.float32),
                _render_material(material.color, material.roughness, material.metallic),
            )
        )
    entity.add_component(body)


def show_body(
    articulation: sapien.physx.PhysxArticulation, shapes: Mapping[str, Iterable[Shape]]
) -> None:
    """Add shapes (by link name, in the link frame) to the render bodies of an articulation."""
    for link in articulation.links:
        show_shapes(link.entity, shapes.get(link.name, ()))


def build_room(
    scene: sapien.Scene, lighting: Lighting = Lighting(), colours: Colours = Colours()
) -> None:
    """Add floor, three walls and lights to a scene with a render system."""
    half, height, thick = 2.6, 2.8, 0.02
    wood = _render_material((1.0, 1.0, 1.0), 0.55)
    wood.base_color_texture = sapien.render.RenderTexture2D(
        _planks(colours.floor.apply(WOOD)), "R8G8B8A8Unorm", mipmap_levels=6, srgb=False
    )
    _show_box(scene, "floor", (0.6, 0, FLOOR_Z - thick), (half, half, thick), wood)
    wall = _render_material(colours.walls.apply(WALL), 0.9)
    skirting = _render_material((0.75, 0.74, 0.72), 0.7)
    middle = FLOOR_Z + height / 2
    for name, xy, size in (
        ("wall_front", (0.6 + half, 0), (thick, half)),
        ("wall_left", (0.6, half), (half, thick)),
        ("wall_right", (0.6, -half), (half, thick)),
    ):
        _show_box(scene, name, (*xy, middle), (*size, height / 2), wall)
        wider = tuple(s + 0.01 if s == thick else s for s in size)
        _show_box(scene, f"{name}_skirting", (*xy, FLOOR_Z + 0.05), (*wider, 0.05), skirting)
    _light(scene, lighting)


def _light(scene: sapien.Scene, lighting: Lighting) -> None:
    tint = np.array(lighting.tint)
    ambient = lighting.ambient * tint
    scene.set_ambient_light(np.array([0.36, 0.36, 0.37]) * ambient)
    # The shadow map covers a radius of 1.15 m around the safe and the arm.
    direction = _key_direction(lighting)
    scene.add_directional_light(
        direction,
        np.array([2.5, 2.4, 2.2]) * (lighting.key * tint),
        shadow=True,
        position=np.array([0.35, -0.2, -0.1]) - 2.0 * direction,
        shadow_scale=1.15,
        shadow_near=0.1,
        shadow_far=4.0,
        shadow_map_size=512,
    )
    scene.add_directional_light([0.5, -0.7, -0.5], np.array([0.45, 0.5, 0.6]) * ambient)


def _key_direction(lighting: Lighting) -> NDArray[np.float64]:
    """Return the direction (3,) of the key light: nominally steep and from the right, so that
    neither head nor torso casts a shadow on the door."""
    direction = np.array([0.62, 0.3, -0.72])
    level = np.array([-direction[1], direction[0], 0.0])
    higher = about_axis(level / np.linalg.norm(level), lighting.elevation)
    return apply(about_axis((0, 0, 1), lighting.azimuth) @ higher, direction)


def _planks(wood: Color) -> NDArray[np.uint8]:
    """Return a wood texture (512, 512, 4): sixteen rows of planks with random tint and grain."""
    brightness, joints = _grain()
    image = np.full((*brightness.shape, 4), 255, np.uint8)
    for channel, value in enumerate(wood):
        shade = value * brightness
        for joint in joints:
            shade[joint] *= 0.72
        image[..., channel] = np.clip(shade, 0, 1, out=shade) * 255
    return image


@cache
def _grain() -> tuple[NDArray[np.float64], tuple[Any, ...]]:
    """Return the brightness (512, 512) of the planks, and the indices of the pixels at their long
    and their short joints, which are darker."""
    rng = np.random.default_rng(7)
    side, rows = 512, 16
    height = side // rows
    brightness, short = np.empty((side, side)), np.zeros((side, side), np.bool_)
    for row in range(rows):
        ends = (rng.integers(0, side) + np.array([0, side // 2])) % side
        tint = np.where((np.arange(side) - ends[0]) % side < side // 2, *rng.uniform(0.88, 1.06, 2))
        grain = rng.normal(0, 0.02, (height, 1)) + rng.normal(0, 0.006, (height, side))
        plank = slice(row * height, (row + 1) * height)
        brightness[plank] = tint + grain
        short[plank, ends] = True
    return brightness, (slice(0, side, height), np.nonzero(short))


def _render_material(
    color: Color, roughness: float, metallic: float = 0.0
) -> sapien.render.RenderMaterial:
    return sapien.render.RenderMaterial(
        base_color=[*color, 1.0], roughness=roughness, metallic=metallic
    )


def _show_box(scene: sapien.Scene, name: str, center, half_size, material) -> None:
    body = sapien.render.RenderBodyComponent()
    body.attach(sapien.render.RenderShapeBox(half_size, material))
    entity = sapien.Entity()
    entity.name = name
    entity.add_component(body)
    entity.pose = sapien.Pose(center)
    scene.add_entity(entity)


def _join(meshes: list[TriangleMesh]) -> TriangleMesh:
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes[:-1]]).astype(np.uint32)
    return TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([m.triangles + s for m, s in zip(meshes, starts, strict=True)]),
    )


def _box(*size: float) -> TriangleMesh:
    normals = np.repeat(np.concatenate([np.eye(3), -np.eye(3)]), 4, axis=0)  # (24, 3)
    across = np.roll(normals, 1, axis=1)
    along = np.cross(normals, across)
    corner = np.tile([(-1, -1), (1, -1), (1, 1), (-1, 1)], (6, 1))
    vertices = normals + corner[:, :1] * across + corner[:, 1:] * along
    first = np.arange(6)[:, None] * 4
    triangles = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    return TriangleMesh(vertices * np.array(size) / 2, normals, triangles)


def _round(shape: Shape) -> TriangleMesh:
    radius, length = shape.size if len(shape.size) == 2 else (*shape.size, 0.0)
    if shape.kind == "cylinder":
        return _cylinder(radius, length, shape.facets or 2 * _segments(radius))
    return _capsule(radius, length, shape.facets or _segments(radius))


def _capsule(radius: float, length: float, segments: int) -> TriangleMesh:
    """Build a capsule, or a sphere if `length` is 0."""
    angles = np.linspace(0, np.pi / 2, segments // 4 + 1)
    angles = np.concatenate([-angles[::-1], angles])  # two equators, joined by the straight part
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    offsets = np.where(np.arange(len(angles)) < len(angles) // 2, -length / 2, length / 2)
    profile = radius * normals + np.stack([np.zeros_like(offsets), offsets], axis=1)
    return _revolve(profile, normals, np.arange(len(angles) - 1), segments)


def _cylinder(radius: float, length: float, segments: int) -> TriangleMesh:
    half = length / 2
    bottom, top = (radius, -half), (radius, half)
    profile = np.array([(0, -half), bottom, bottom, top, top, (0, half)])
    normals = np.array([(0, -1), (0, -1), (1, 0), (1, 0), (0, 1), (0, 1)])
    return _revolve(profile, normals, np.array([0, 2, 4]), segments)


def _segments(radius: float) -> int:
    """Return the number of corners of a round cross-section, larger for larger shapes."""
    return 8 if radius < 0.008 else 12 if radius < 0.02 else 24


def _revolve(profile: NDArray, normals: NDArray, bands: NDArray, segments: int) -> TriangleMesh:
    """Revolve a profile of (distance from z, z) and its normals about z; `bands` are the indices i
    of the surface strips between profile points i and i + 1."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    turn = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (S, 2)

    def around(points: NDArray) -> NDArray:
        flat = points[:, None, :1] * turn  # (P, S, 2)
        up = np.broadcast_to(points[:, None, 1:], (*flat.shape[:2], 1))
        return np.concatenate([flat, up], axis=-1).reshape(-1, 3)

    here = bands[:, None] * segments + np.arange(segments)  # (B, S)
    right = bands[:, None] * segments + (np.arange(segments) + 1) % segments
    quads = np.stack([here, right, right + segments, here + segments], axis=-1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    vertices = around(profile)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    degenerate = np.linalg.norm(np.cross(b - a, c - a), axis=1) < 1e-12  # at the poles
    return TriangleMesh(vertices, around(normals), triangles[~degenerate])
