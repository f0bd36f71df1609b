"""The renderer "sapien": the scene, positions and links of the default renderer, by SAPIEN."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rulesafe_core.body import Material
from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraConfig
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import from_xyz_rpy
from rulesafe_render.meshes import TriangleMesh, box_mesh
from rulesafe_render.renderer import CameraRig
from rulesafe_render.scene import Lights, RenderScene
from rulesafe_render.textures import make_texture
from rulesafe_sim.observer import Observer
from rulesafe_sim.sapien_images import SapienRig
from rulesafe_sim.simulation import Simulation

CAMERA = CameraConfig("test", (0, 0, 0), (0, 0, 0), 0.9, width=160, height=120)
STILL = np.eye(4)


@pytest.fixture(scope="module", autouse=True)
def vulkan():
    """Skip the tests if this machine has no Vulkan driver: only this renderer needs one."""
    try:
        SapienRig(RenderScene(), [CAMERA])
    except RuleSafeError as error:
        pytest.skip(str(error))


@pytest.mark.thorough  # the first image of a process takes 10 s on a CPU
def test_an_episode_has_the_same_surfaces_at_the_same_pixels():
    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", seed=0)
    cameras = replace(DEFAULT_CAMERAS, renderer="sapien")
    ours, other = Observer(simulation), Observer(simulation, cameras)
    images, others = ours.observe(), other.observe()
    assert isinstance(other.rig, SapienRig) and images.keys() == others.keys()
    for name in DEFAULT_CAMERAS.names:
        assert (images[name].shape, images[name].dtype) == (others[name].shape, others[name].dtype)
        assert 5 < np.abs(images[name].astype(int) - others[name]).mean() < 40, "other shaders"
        assert (ours.rig.link_numbers(name) != other.rig.link_numbers(name)).mean() < 1e-3
        error = np.abs(ours.rig.depth(name) - other.rig.depth(name))
        assert np.median(error) < 1e-5 and np.percentile(error, 99) < 1e-3


def quadrants(size: int = 2) -> TriangleMesh:
    """A sheet across the optical axis that shows an image upright."""
    corners = [(1, 0.2, 0.2), (1, 0.2, -0.2), (1, -0.2, -0.2), (1, -0.2, 0.2)]
    normals = np.tile(np.array([(-1, 0, 0)], np.float32), (4, 1))
    uv = np.array([(0, 0), (0, 1), (1, 1), (1, 0)], np.float32)
    triangles = np.array([(0, 1, 2), (0, 2, 3)], np.int32)
    return TriangleMesh(np.array(corners, np.float32), normals, triangles, uv, closed=False)


@pytest.mark.thorough
@pytest.mark.parametrize("turned", [False, True], ids=["front", "back"])
def test_textures_times_colours_and_open_meshes_on_moving_links(turned):
    image = np.full((2, 2, 3), 255, np.uint8)
    image[0, 0] = (0, 0, 255)
    mesh = quadrants()
    if turned:
        mesh = mesh._replace(triangles=mesh.triangles[:, ::-1])
    scene = RenderScene(Lights(ambient=(0.5, 0.5, 0.5)))
    link = scene.add_link("sheet", moves=True)
    scene.add_mesh(
        link, mesh, Material((1.0, 0.1, 1.0), 1.0), make_texture(image, srgb=True, levels=1)
    )
    for kind in (CameraRig, SapienRig):
        rig = kind(scene, [CAMERA])
        rig.take([from_xyz_rpy((0, 0.1, 0))])
        rgb, shown = rig.rgb("test").astype(int), rig.link_numbers("test") == 0
        rows, columns = np.nonzero(shown)
        assert 47 <= np.ptp(rows) + 1 <= 53, kind  # 0.4 m at 1 m
        assert abs(columns.mean() - (79.5 - 0.1 * rig.intrinsics("test")[0, 0])) < 1
        red, green, blue = rgb[rows.max() - 10, columns.max() - 10]
        assert min(red, blue) > green + 40, "white times magenta"
        red, green, blue = rgb[rows.min() + 10, columns.min() + 10]
        assert blue > red + 40, "blue is at the top left"


@pytest.mark.thorough
def test_a_camera_on_a_link_moves_with_it_and_two_rigs_do_not_mix():
    scene = RenderScene(Lights(ambient=(0.5, 0.5, 0.5), points=(((0, 0, 0), (0.3, 0.3, 0.3)),)))
    scene.add_mesh(
        scene.add_link("cube", moves=False),
        box_mesh((1, 0, 0), (0.1, 0.1, 0.1)),
        Material((1, 0, 0)),
    )
    scene.add_link("arm", moves=True)
    rigs = [kind(scene, [replace(CAMERA, link="arm")]) for kind in (CameraRig, SapienRig)]
    for y in (0.0, 0.2):
        for rig in rigs:
            rig.take([STILL, from_xyz_rpy((0, y, 0), (0.3, 0, 0))])
        ours, other = (rig.cloud_pixels("test") for rig in rigs)
        assert abs(len(ours.points) - len(other.points)) <= 4, "pixels at edges"
        np.testing.assert_allclose(ours.points.mean(0), other.points.mean(0), atol=2e-3)
    with pytest.raises(RuleSafeError, match="not finite"):
        rigs[1].take([STILL, STILL * np.nan])


def test_without_a_driver_the_error_says_what_is_missing():
    code = (
        "from rulesafe_render.scene import RenderScene\n"
        "from rulesafe_sim.sapien_images import SapienRig\n"
        "SapienRig(RenderScene(), [])\n"
    )
    none = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | none
    )
    assert done.returncode == 1
    assert (
        "needs a Vulkan driver" in done.stderr and "The default renderer needs none" in done.stderr
    )
