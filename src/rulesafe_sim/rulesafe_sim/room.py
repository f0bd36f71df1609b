"""The room around robot and safe: floor, walls and lights."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.body import Color, Material
from rulesafe_core.transforms import about_axis, apply
from rulesafe_render.meshes import TriangleMesh, box_mesh
from rulesafe_render.scene import Lights, RenderScene
from rulesafe_render.textures import Texture, make_texture
from rulesafe_sim.stand import FLOOR_Z
from rulesafe_sim.variation import Colours, Lighting

WOOD = (0.34, 0.22, 0.13)  # linear RGB of the floor
WALL = (0.50, 0.53, 0.55)


def add_room(
    scene: RenderScene, lighting: Lighting = Lighting(), colours: Colours = Colours()
) -> None:
    """Add floor, three walls and lights to a scene. The room casts no shadows."""
    half, height, thick = 2.6, 2.8, 0.02
    wood, white = Material((1.0, 1.0, 1.0), 0.55), Material((0.75, 0.74, 0.72), 0.7)
    floor = box_mesh((0.6, 0, FLOOR_Z - thick), (half, half, thick))
    _add(scene, "floor", _textured(floor, half), wood, _planks(colours.floor.apply(WOOD)))
    wall = Material(colours.walls.apply(WALL), 0.9)
    middle = FLOOR_Z + height / 2
    for name, xy, size in (
        ("wall_front", (0.6 + half, 0), (thick, half)),
        ("wall_left", (0.6, half), (half, thick)),
        ("wall_right", (0.6, -half), (half, thick)),
    ):
        _add(scene, name, box_mesh((*xy, middle), (*size, height / 2)), wall)
        wider = tuple(s + 0.01 if s == thick else s for s in size)
        skirting = box_mesh((*xy, FLOOR_Z + 0.05), (*wider, 0.05))
        _add(scene, f"{name}_skirting", skirting, white)
    scene.lights = _lights(lighting)


def _add(
    scene: RenderScene,
    name: str,
    mesh: TriangleMesh,
    material: Material,
    texture: Texture | None = None,
) -> None:
    link = scene.add_link(name, moves=False)
    scene.add_mesh(link, mesh, material, texture, casts_shadow=False)


def _lights(lighting: Lighting) -> Lights:
    tint = np.array(lighting.tint)
    ambient = lighting.ambient * tint

    def color(values: Color, factor: NDArray[np.float64]) -> Color:
        red, green, blue = (np.array(values) * factor).tolist()
        return red, green, blue

    # The shadow map covers a radius of 1.15 m around the safe and the arm.
    key, fill = tuple(_key_direction(lighting).tolist()), (0.5, -0.7, -0.5)
    return Lights(
        ambient=color((0.36, 0.36, 0.37), ambient),
        directional=(
            (key, color((2.5, 2.4, 2.2), lighting.key * tint)),
            (fill, color((0.45, 0.5, 0.6), ambient)),
        ),
        shadow_center=(0.35, -0.2, -0.1),
        shadow_half=1.15,
    )


def _key_direction(lighting: Lighting) -> NDArray[np.float64]:
    """Return the direction (3,) of the key light: nominally steep and from the right, so that
    neither head nor torso casts a shadow on the door."""
    direction = np.array([0.62, 0.3, -0.72])
    level = np.array([-direction[1], direction[0], 0.0])
    higher = about_axis(level / np.linalg.norm(level), lighting.elevation)
    return apply(about_axis((0, 0, 1), lighting.azimuth) @ higher, direction)


def _textured(mesh: TriangleMesh, half: float) -> TriangleMesh:
    """Return the floor with a part of the texture: planks of 22 cm, along x."""
    x, y = (mesh.vertices[:, 0] - 0.6) / half, mesh.vertices[:, 1] / half
    uv = np.column_stack([0.375 + x / 8, 0.5 + y / 6])
    return mesh._replace(uv=uv.astype(np.float32))


def _planks(wood: Color) -> Texture:
    """Return a wood texture (512, 512): sixteen rows of planks with random tint and grain."""
    brightness, joints = _grain()
    image = np.full((*brightness.shape, 4), 255, np.uint8)
    for channel, value in enumerate(wood):
        shade = value * brightness
        for joint in joints:
            shade[joint] *= 0.72
        image[..., channel] = np.clip(shade, 0, 1, out=shade) * 255
    return make_texture(image, srgb=False)


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
