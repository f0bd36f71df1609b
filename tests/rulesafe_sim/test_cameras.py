import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rulesafe_core.body import Material, Shape
from rulesafe_core.cameras import DEFAULT_CAMERAS, ROOT, CameraConfig, looking_at
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import apply, from_parts, from_xyz_rpy, inverse
from rulesafe_sim.cameras import CameraRig, use_shaders
from rulesafe_sim.randomisation import SPLITS
from rulesafe_sim.visuals import build_room, show_shapes

EYE = (-0.1, 0.3, 0.5)
CAMERA = CameraConfig("test", EYE, looking_at(EYE, (0.6, -0.1, 0.1)), 0.9, width=160, height=120)
SIDE = 0.1
RED = Material((0.8, 0.02, 0.02), roughness=0.9)
pytestmark = pytest.mark.render


def make_scene():
    import sapien

    use_shaders()
    return sapien.Scene([sapien.physx.PhysxCpuSystem(), sapien.render.RenderSystem()])


def add(scene, shape: Shape, name: str):
    import sapien

    entity = sapien.Entity()
    entity.name = name
    show_shapes(entity, [shape])
    scene.add_entity(entity)
    return entity


@pytest.fixture(scope="module")
def cube_scene():
    """A room with a red cube at a known pose: rig, its id and its pose."""
    scene = make_scene()
    build_room(scene)
    pose = from_xyz_rpy((0.6, -0.1, 0.1), (0.2, 0.1, 0.5))
    cube = add(scene, Shape("box", (SIDE,) * 3, pose, RED), "cube")
    rig = CameraRig(scene, [CAMERA])
    rig.take()
    return rig, cube.per_scene_id, pose


def project(rig: CameraRig, points):
    """Pixel coordinates (N, 2) of points (N, 3) of the pelvis frame."""
    seen = apply(inverse(rig.pose_camera_in_pelvis("test")), points) @ rig.intrinsics("test").T
    return seen[:, :2] / seen[:, 2:]


def test_pictures_have_shape_type_and_content(cube_scene):
    rig, _, _ = cube_scene
    picture = rig.rgb("test")
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8
    assert picture.flags.c_contiguous
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    assert 40 < picture.mean() < 230


def test_a_red_cube_is_red_where_it_is(cube_scene):
    rig, cube, _ = cube_scene
    ids = rig.cloud_pixels("test").ids.reshape(120, 160)  # the room fills the picture
    inside = ids == cube
    red, green, blue = rig.rgb("test")[inside].astype(int).mean(axis=0)
    assert inside.sum() > 200
    assert red > 2 * green and red > 2 * blue


def test_intrinsics_and_extrinsics_put_the_cube_where_it_is_seen(cube_scene):
    rig, cube, pose = cube_scene
    corners = np.array(np.meshgrid(*[(-SIDE / 2, SIDE / 2)] * 3)).T.reshape(-1, 3)
    pixels = project(rig, apply(pose, corners))
    rows, columns = np.nonzero(rig.cloud_pixels("test").ids.reshape(120, 160) == cube)
    seen = [columns.min(), rows.min(), columns.max(), rows.max()]
    expected = [*pixels.min(axis=0), *pixels.max(axis=0)]
    np.testing.assert_allclose(seen, expected, atol=1.5)


def test_every_cloud_point_projects_to_its_own_pixel(cube_scene):
    rig, _, _ = cube_scene
    points = rig.cloud_pixels("test").points
    grid = np.stack(np.meshgrid(np.arange(160), np.arange(120)), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(project(rig, points), grid, atol=0.02)


def test_cloud_points_lie_on_the_cubes_faces(cube_scene):
    rig, cube, pose = cube_scene
    cloud = rig.cloud_pixels("test")
    local = apply(inverse(pose), cloud.points[cloud.ids == cube])
    off_surface = np.abs(np.abs(local).max(axis=1) - SIDE / 2)
    assert off_surface.max() < 1e-4
    faces = {(int(np.abs(p).argmax()), bool(p[np.abs(p).argmax()] > 0)) for p in local}
    assert len(faces) == 3  # what one sees of a cube


def test_depth_is_measured_along_the_optical_axis(cube_scene):
    rig, _, _ = cube_scene
    depth = rig.depth("test")
    local = apply(inverse(rig.pose_camera_in_pelvis("test")), rig.cloud_pixels("test").points)
    np.testing.assert_allclose(depth.reshape(-1), local[:, 2], atol=1e-4)
    assert depth.min() > 0.3


def test_two_renders_of_one_state_are_identical(cube_scene):
    rig, _, _ = cube_scene
    first = rig.rgb("test"), rig.depth("test").copy()
    rig.take()
    np.testing.assert_array_equal(first[0], rig.rgb("test"))
    np.testing.assert_array_equal(first[1], rig.depth("test"))


def test_nothing_in_view_gives_an_empty_cloud():
    rig = CameraRig(make_scene(), [CAMERA])
    rig.take()
    cloud = rig.cloud_pixels("test")
    assert cloud.points.shape == (0, 3) and cloud.colors.shape == (0, 3)
    assert (rig.depth("test") == 0).all()


def test_a_camera_on_a_link_moves_with_it():
    import sapien

    scene = make_scene()
    mount = sapien.Entity()
    mount.name = "arm"
    scene.add_entity(mount)
    rig = CameraRig(scene, [replace(CAMERA, xyz=(0, 0, 0.1), rpy=(0, 0, 0), link="arm")])
    mount.pose = sapien.Pose([1.0, 2.0, 3.0])
    rig.take()
    expected = from_parts([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (1.0, 2.0, 3.1))
    np.testing.assert_allclose(rig.pose_camera_in_pelvis("test"), expected, atol=1e-6)


def test_the_key_light_throws_a_shadow():
    def floor_under(with_lid: bool):
        scene = make_scene()
        build_room(scene)
        if with_lid:  # held up between the lamp and the spot that the camera sees
            add(
                scene,
                Shape("box", (0.5, 0.5, 0.01), from_parts(np.eye(3), (0.0, -0.4, -0.4))),
                "lid",
            )
        spot = (0.54, -0.14, -1.03)
        eye = (1.4, 0.6, -0.6)
        rig = CameraRig(scene, [replace(CAMERA, xyz=eye, rpy=looking_at(eye, spot), fovy=0.1)])
        rig.take()
        return rig.rgb("test").mean()

    assert floor_under(True) < 0.8 * floor_under(False)


@pytest.mark.parametrize("config", list(DEFAULT_CAMERAS), ids=lambda config: config.name)
def test_default_cameras_see_the_safe_at_every_placement(config):
    from rulesafe_sim.simulation import placement_pose

    ranges = SPLITS["nominal"].randomisation.placement
    rig = CameraRig(make_scene(), [replace(config, name="test", link=ROOT)])
    rig.take()
    for nominal in (ranges.left_hinge, ranges.right_hinge):
        for signs in np.array(np.meshgrid(*[(-1, 1)] * 4)).T.reshape(-1, 4):
            xyz = np.array(nominal.xyz) + signs[:3] * ranges.xyz
            placed = replace(nominal, xyz=tuple(xyz), yaw=nominal.yaw + signs[3] * ranges.yaw)
            corners = [(0, y, z) for y in (-0.18, 0.18) for z in (-0.18, 0.18)]
            pixels = project(rig, apply(placement_pose(placed), corners))
            assert (pixels > 0).all() and (pixels < 223).all(), (placed, pixels)


def test_errors_say_what_is_valid():
    rig = CameraRig(make_scene(), [CAMERA])
    with pytest.raises(RuleSafeError, match=r"call take\(\) first"):
        rig.rgb("test")
    with pytest.raises(RuleSafeError, match="unknown camera 'rear'; valid: test"):
        rig.take("rear")
    with pytest.raises(RuleSafeError, match="unknown link 'tail'"):
        CameraRig(make_scene(), [replace(CAMERA, link="tail")])
    with pytest.raises(RuleSafeError, match="fovy"):
        replace(CAMERA, fovy=4.0)
    with pytest.raises(RuleSafeError, match="width is 0; valid: 16 to 2048"):
        replace(CAMERA, width=0)


def test_a_machine_without_vulkan_is_told_what_to_install():
    code = (
        "from rulesafe_sim.cameras import use_shaders\n"
        "from rulesafe_core.errors import RuleSafeError\n"
        "try:\n    use_shaders()\nexcept RuleSafeError as error:\n    print(error)"
    )
    nowhere = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **nowhere},
    )
    assert done.returncode == 0, done.stderr
    assert "cannot render" in done.stdout and "mesa-vulkan-drivers" in done.stdout
