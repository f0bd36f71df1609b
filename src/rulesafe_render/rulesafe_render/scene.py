"""Scenes: links with meshes, lights, and their layout in the library's memory (native/scene.h)."""

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.body import Body, Color, Material, srgb_to_linear
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape
from rulesafe_core.transforms import rotation_between
from rulesafe_render.meshes import TriangleMesh, join, shape_mesh
from rulesafe_render.textures import Texture, read_texture

DECIMALS = 7
"""Lengths (m) and directions are rounded to this number of decimals: their last bits depend on the
processor, since mathematics libraries choose other instructions on each."""

LINEAR = np.arange(256, dtype=np.float32) / np.float32(255)
SRGB = np.array([srgb_to_linear(i / 255) for i in range(256)], np.float32)


RenderLink = tuple[str, list[tuple[TriangleMesh, Material, Texture | None]]]
"""Name of a link, and its meshes with material and texture."""


class CPart(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int32)
        for name in (
            *("first_vertex", "vertices", "first_triangle", "triangles", "link", "material"),
            *("moves", "casts_shadow", "double_sided"),
        )
    ]


class CMaterial(ctypes.Structure):
    _fields_ = [
        ("color", ctypes.c_float * 3),
        ("roughness", ctypes.c_float),
        ("metallic", ctypes.c_float),
        ("texture", ctypes.c_int32),
    ]


class CTexture(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("first_texel", "width", "height", "levels")),
        ("linear", ctypes.c_float * 256),
    ]


class CLight(ctypes.Structure):
    _fields_ = [("place", ctypes.c_float * 3), ("color", ctypes.c_float * 3)]


class CCamera(ctypes.Structure):
    _fields_ = [
        ("pose", ctypes.c_float * 12),
        *((name, ctypes.c_int32) for name in ("link", "fixed", "width", "height")),
        *((name, ctypes.c_float) for name in ("focal", "center_x", "center_y", "near", "far")),
    ]


class CScene(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int32)
            for name in (
                *("parts", "materials", "textures", "links", "vertices", "triangles", "texels"),
                *("directional_lights", "point_lights", "cameras"),
            )
        ),
        *(
            (name, ctypes.c_void_p)
            for name in (
                *("part", "material", "texture", "x", "y", "z", "nx", "ny", "nz", "u", "v"),
                *("corner", "texel", "directional_light", "point_light", "camera"),
            )
        ),
        ("ambient", ctypes.c_float * 3),
        ("shadow", ctypes.c_float * 12),
        ("shadow_size", ctypes.c_int32),
    ]


@dataclass(frozen=True)
class Lights:
    """Light of a scene; colours are linear RGB.

    Attributes:
        ambient: factor on the light of the room around the scene.
        directional: directions in which light travels, and colours; the first one casts shadows.
        points: positions (m), and colours at a distance of 1 m.
        shadow_center: centre (m) of the square in which shadows are cast, across the first light.
        shadow_half: half of the side of this square, m.
        shadow_size: texels per side of the shadow map, a multiple of 8.
    """

    ambient: Color = (0.36, 0.36, 0.37)
    directional: tuple[tuple[Color, Color], ...] = ()
    points: tuple[tuple[Color, Color], ...] = ()
    shadow_center: Color = (0.0, 0.0, 0.0)
    shadow_half: float = 1.0
    shadow_size: int = 512


@dataclass(frozen=True)
class ScenePart:
    """A mesh of a link; `texture`: index into `RenderScene.textures`, -1: none."""

    link: int
    mesh: TriangleMesh
    material: Material
    texture: int
    casts_shadow: bool


@dataclass
class RenderScene:
    """Links with meshes. All coordinates of a link are in its own frame.

    Attributes:
        lights: the lights.
        links: names of the links, in the order of their poses.
        moves: whether each link moves.
        parts, textures: the meshes, see `add_mesh`.
    """

    lights: Lights = Lights()
    links: list[str] = field(default_factory=list)
    moves: list[bool] = field(default_factory=list)
    parts: list[ScenePart] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)

    def add_link(self, name: str, *, moves: bool) -> int:
        """Add a link without meshes and return its index.

        Raises:
            RuleSafeError: a link has this name already.
        """
        if name in self.links:
            raise RuleSafeError(f"two links of the scene have the name {name!r}")
        self.links.append(name)
        self.moves.append(moves)
        return len(self.links) - 1

    def add_mesh(
        self,
        link: int,
        mesh: TriangleMesh,
        material: Material,
        texture: Texture | None = None,
        *,
        casts_shadow: bool = True,
    ) -> None:
        """Add a mesh to a link. A texture is multiplied by the colour of the material.

        Raises:
            RuleSafeError: the arrays of the mesh have other shapes than those of `TriangleMesh`.
        """
        count, shapes = len(mesh.vertices), [np.shape(array) for array in mesh[:4]]
        if shapes != [(count, 3), (count, 3), (len(mesh.triangles), 3), (count, 2)]:
            raise RuleSafeError(
                f"the vertices, normals, triangles and texture positions of a mesh of the link "
                f"{self.links[link]} have the shapes {', '.join(map(str, shapes))}; valid: "
                "(V, 3), (V, 3), (T, 3), (V, 2)"
            )
        number = -1
        if texture is not None:
            if texture not in self.textures:
                self.textures.append(texture)
            number = self.textures.index(texture)
        self.parts.append(ScenePart(link, mesh, material, number, casts_shadow))

    def add_links(self, links: Iterable[RenderLink]) -> None:
        """Add the links of a body; its root does not move, the other links do.

        Raises:
            RuleSafeError: a link has the name of another one.
        """
        for number, (name, meshes) in enumerate(links):
            index = self.add_link(name, moves=number > 0)
            for each in meshes:
                self.add_mesh(index, *each)


def link_meshes(body: Body) -> list[RenderLink]:
    """Return the meshes of the visible shapes of a body by link, one for each material.

    Raises:
        RuleSafeError: a mesh or texture file cannot be read.
    """
    found: list[RenderLink] = []
    for link in body.links:
        meshes: list[tuple[TriangleMesh, Material, Texture | None]] = []
        groups: dict[Material, list[TriangleMesh]] = {}
        for shape in link.shapes:
            if not shape.visible:
                continue
            if isinstance(shape, MeshShape) and shape.texture:
                shares = zip(shape.material.color, shape.texture_color, strict=True)
                red, green, blue = (color / max(mean, 1e-3) for color, mean in shares)
                look = replace(shape.material, color=(red, green, blue))
                meshes.append((shape_mesh(shape), look, read_texture(shape.texture)))
            else:
                groups.setdefault(shape.material, []).append(shape_mesh(shape))
        meshes += [(join(parts), material, None) for material, parts in groups.items()]
        found.append((link.name, meshes))
    return found


class SceneArrays:
    """The C structure of a scene and the arrays to which it points."""

    def __init__(self, scene: RenderScene, cameras: Sequence[CCamera]):
        parts, lights = scene.parts, scene.lights
        mesh = join([part.mesh for part in parts])
        columns = [*mesh.vertices.T, *mesh.normals.T, *mesh.uv.T]
        attributes = [np.ascontiguousarray(np.round(c, DECIMALS), np.float32) for c in columns]
        # Corners are counted within the part.
        corners = np.ascontiguousarray(
            np.concatenate([np.zeros((0, 3)), *(part.mesh.triangles for part in parts)]), np.int32
        )
        texels = np.concatenate(
            [level.reshape(-1, 4) for texture in scene.textures for level in texture.levels]
            or [np.zeros((0, 4), np.uint8)]
        )
        directional = [(-unit_vector(light[0]), light[1]) for light in lights.directional]
        arrays: dict[str, ctypes.Array[Any]] = {
            "part": (CPart * len(parts))(*self._parts(scene)),
            "material": (CMaterial * len(parts))(*(_material(part) for part in parts)),
            "texture": (CTexture * len(scene.textures))(*_textures(scene.textures)),
            "directional_light": (CLight * len(directional))(*map(_light, directional)),
            "point_light": (CLight * len(lights.points))(*map(_light, lights.points)),
            "camera": (CCamera * len(cameras))(*cameras),
        }
        self.structure = CScene(
            parts=len(parts),
            materials=len(parts),
            textures=len(scene.textures),
            links=len(scene.links),
            vertices=len(attributes[0]),
            triangles=len(corners),
            texels=len(texels),
            directional_lights=len(directional),
            point_lights=len(lights.points),
            cameras=len(cameras),
            corner=corners.ctypes.data,
            texel=texels.ctypes.data,
            ambient=(ctypes.c_float * 3)(*lights.ambient),
            shadow=(ctypes.c_float * 12)(*_shadow_frame(lights).ravel()),
            shadow_size=lights.shadow_size,
            **{name: ctypes.addressof(array) for name, array in arrays.items()},
            **{
                name: array.ctypes.data
                for name, array in zip(
                    ("x", "y", "z", "nx", "ny", "nz", "u", "v"), attributes, strict=True
                )
            },
        )
        self._keep = (attributes, corners, texels, arrays)

    @staticmethod
    def _parts(scene: RenderScene) -> list[CPart]:
        found, vertex, triangle = [], 0, 0
        for number, part in enumerate(scene.parts):
            vertices, triangles = len(part.mesh.vertices), len(part.mesh.triangles)
            found.append(
                CPart(
                    *(vertex, vertices, triangle, triangles, part.link, number),
                    *(scene.moves[part.link], part.casts_shadow, not part.mesh.closed),
                )
            )
            vertex, triangle = vertex + vertices, triangle + triangles
        return found


def _material(part: ScenePart) -> CMaterial:
    look = part.material
    color = (ctypes.c_float * 3)(*look.color)
    return CMaterial(color, look.roughness, look.metallic, part.texture)


def _textures(textures: Sequence[Texture]) -> list[CTexture]:
    found, first = [], 0
    for texture in textures:
        height, width = texture.levels[0].shape[:2]
        values = SRGB if texture.srgb else LINEAR
        table = (ctypes.c_float * 256)(*values.tolist())
        found.append(CTexture(first, width, height, len(texture.levels), table))
        first += sum(level.shape[0] * level.shape[1] for level in texture.levels)
    return found


def _light(light: tuple[ArrayLike, ArrayLike]) -> CLight:
    place, color = (np.round(np.asarray(values, float), DECIMALS).tolist() for values in light)
    return CLight((ctypes.c_float * 3)(*place), (ctypes.c_float * 3)(*color))


def unit_vector(vector: ArrayLike) -> NDArray[np.float64]:
    """Return a vector divided by its length."""
    direction = np.asarray(vector, float)
    return direction / np.linalg.norm(direction)


def _shadow_frame(lights: Lights) -> NDArray[np.float64]:
    """Return the rows (3, 4) that map a point (m, world) to column and row in the shadow map
    (texels) and depth (m)."""
    if not lights.directional:
        return np.eye(3, 4)
    forward, left, up = rotation_between((1, 0, 0), lights.directional[0][0]).T
    scale = lights.shadow_size / (2 * lights.shadow_half)
    rows = np.stack([-left * scale, -up * scale, forward])
    offset = -rows @ np.array(lights.shadow_center)
    offset[:2] += lights.shadow_size / 2 - 0.5  # integer coordinates are texel centres
    return np.round(np.column_stack([rows, offset]), DECIMALS - 2)
