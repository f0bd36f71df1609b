"""Images by SAPIEN's renderer with its own shaders, which needs a Vulkan driver: the renderer
"sapien" of a camera set (docs/interface.md). The scene is that of the default renderer.

Images differ from those of the default renderer and between Vulkan drivers.
"""

import os
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import OPTICAL_IN_BODY
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import Transform, inverse, to_quat_wxyz
from rulesafe_render.renderer import CameraRig, Surfaces
from rulesafe_render.scene import LINEAR, SRGB, Lights, RenderScene, ScenePart, unit_vector
from rulesafe_render.textures import Texture
from rulesafe_sim.sapien_import import sapien

SHADERS = "default"
"""Name of the shader pack of SAPIEN."""

BEHIND = 2.0
"""Distance (m) of the shadow camera from the centre of the shadows; nearer than the walls, which
would hide the light."""

SHADOW_FAR = 12.0
"""Depth range (m) of the shadow camera; in SAPIEN surfaces beyond it are dark."""


@cache
def _start(shaders: str) -> int:
    """Select the shaders of all cameras created later; return the id of this process."""
    sapien.render.set_camera_shader_dir(shaders)
    try:
        sapien.render.RenderSystem()
    except RuntimeError as error:
        raise RuleSafeError(
            f"cannot render with SAPIEN: {error}. It needs a Vulkan driver: that of the GPU, or "
            "Mesa 23.2 or newer (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers). The "
            "default renderer needs none: omit `renderer: sapien` from the file of the cameras"
        ) from error
    return os.getpid()


class SapienRig(CameraRig):
    """Cameras whose images SAPIEN renders; see `CameraRig`, whose `kernel` has no effect.

    Raises:
        RuleSafeError: no Vulkan driver is installed, or this process was forked from one that has
            rendered with SAPIEN, which Vulkan drivers do not support.
    """

    def _build(self, scene: RenderScene, kernel: str) -> None:
        if _start(SHADERS) != os.getpid():
            raise RuleSafeError(
                f"cannot render with SAPIEN in process {os.getpid()}: it was forked from process "
                f"{_start(SHADERS)}, which has rendered. Start it by spawn instead of fork, or use "
                "the default renderer"
            )
        self._scene = sapien.Scene([sapien.render.RenderSystem()])
        bodies = [sapien.render.RenderBodyComponent() for _ in self.links]
        for part in scene.parts:
            texture = scene.textures[part.texture] if part.texture >= 0 else None
            bodies[part.link].attach(_shape(part, texture))
        self._entities = [sapien.Entity() for _ in self.links]
        for entity, body in zip(self._entities, bodies, strict=True):
            if body.render_shapes:
                entity.add_component(body)
            self._scene.add_entity(entity)
        _light(self._scene, scene.lights)
        self._cameras = [self._camera(name) for name in self.names]
        # Number plus one of the link of each entity, by the entity's number in the scene.
        numbers = [entity.per_scene_id for entity in self._entities]
        self._link_of = np.zeros(max(numbers, default=0) + 1, np.uint16)
        self._link_of[numbers] = np.arange(1, len(numbers) + 1)

    def _camera(self, name: str) -> sapien.render.RenderCameraComponent:
        config, (link, pose) = self.configs[name], self._mounted[name]
        camera = sapien.render.RenderCameraComponent(config.width, config.height)
        camera.set_fovy(config.fovy, compute_x=True)
        camera.near, camera.far = config.near, config.far
        if link < 0:
            mount = sapien.Entity()
            self._scene.add_entity(mount)
        else:
            mount = self._entities[link]
        mount.add_component(camera)
        camera.local_pose = _pose(pose @ inverse(OPTICAL_IN_BODY))
        return camera

    def _place(self) -> None:
        if not np.isfinite(self._poses).all():
            raise RuleSafeError("the pose of a link is not finite")
        for entity, pose in zip(self._entities, self._poses.astype(float), strict=True):
            entity.pose = _pose(pose)
        self._scene.update_render()

    def _draw(self, number: int) -> NDArray[np.uint8]:
        camera = self._cameras[number]
        camera.take_picture()
        color = camera.get_picture("Color")[..., :3]
        return np.round(np.clip(color, 0, 1) * 255).astype(np.uint8)

    def _locate(self, number: int) -> Surfaces:
        camera = self._cameras[number]
        model = camera.get_model_matrix()
        in_camera = camera.get_picture("Position")[..., :3]
        entities = camera.get_picture("Segmentation")[..., 1]
        known = np.where(entities < len(self._link_of), entities, 0)
        positions = in_camera @ model[:3, :3].T + model[:3, 3]
        return Surfaces(positions.astype(np.float32), self._link_of[known])


def _shape(part: ScenePart, texture: Texture | None) -> sapien.render.RenderShapeTriangleMesh:
    mesh, look = part.mesh, part.material
    material = sapien.render.RenderMaterial(
        base_color=[*look.color, 1.0], roughness=look.roughness, metallic=look.metallic
    )
    if texture:  # SAPIEN's shaders ignore the material's colour if there is a texture
        texels, values = texture.levels[0], SRGB if texture.srgb else LINEAR
        image = np.ones(texels.shape, np.float32)
        image[..., :3] = values[texels[..., :3]] * np.array(look.color, np.float32)
        material.base_color_texture = sapien.render.RenderTexture2D(
            image, "R32G32B32A32Sfloat", mipmap_levels=len(texture.levels)
        )
    triangles = mesh.triangles.astype(np.uint32)
    if not mesh.closed:  # both sides are visible; SAPIEN omits back faces
        triangles = np.concatenate([triangles, triangles[:, ::-1]])
    return sapien.render.RenderShapeTriangleMesh(
        mesh.vertices, triangles, mesh.normals, mesh.uv, material
    )


def _light(scene: sapien.Scene, lights: Lights) -> None:
    scene.set_ambient_light(np.array(lights.ambient))
    for number, (direction, color) in enumerate(lights.directional):
        along = unit_vector(direction)
        scene.add_directional_light(
            along,
            np.array(color),
            shadow=number == 0,
            position=np.array(lights.shadow_center) - BEHIND * along,
            shadow_scale=lights.shadow_half,
            shadow_near=0.1,
            shadow_far=SHADOW_FAR,
            shadow_map_size=lights.shadow_size,
        )
    for position, color in lights.points:
        scene.add_point_light(np.array(position), np.array(color))


def _pose(transform: Transform) -> sapien.Pose:
    return sapien.Pose(transform[:3, 3], to_quat_wxyz(transform))
