"""Images, positions and links that cameras see, and that every kernel computes the same bytes."""

import gc
import threading
from dataclasses import replace

import numpy as np
import pytest

from rulesafe_core.body import Body, Link, Material, Shape
from rulesafe_core.cameras import DEFAULT_CAMERAS, ROOT, CameraConfig, looking_at
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import apply, from_parts, from_xyz_rpy, inverse
from rulesafe_render.meshes import TriangleMesh, box_mesh, join, shape_mesh
from rulesafe_render.renderer import KERNELS, CameraRig, load_kernel
from rulesafe_render.scene import Lights, RenderScene, link_meshes
from rulesafe_render.textures import make_texture
from rulesafe_sim.randomisation import SPLITS
from rulesafe_sim.room import add_room

EYE = (-0.1, 0.3, 0.5)
CAMERA = CameraConfig("test", EYE, looking_at(EYE, (0.6, -0.1, 0.1)), 0.9, width=160, height=120)
SIDE = 0.1
RED = Material((0.8, 0.02, 0.02), roughness=0.9)
GREY = Material((0.4, 0.4, 0.4), roughness=0.8)
STILL = np.eye(4)


def room_with(*shapes: Shape) -> RenderScene:
    """A room, and each shape as a link of its own that does not move."""
    scene = RenderScene()
    add_room(scene)
    for number, shape in enumerate(shapes):
        link = scene.add_link(f"thing_{number}", moves=False)
        scene.add_mesh(link, shape_mesh(shape), shape.material)
    return scene


def take(scene: RenderScene, *cameras: CameraConfig, kernel: str = "", **poses) -> CameraRig:
    """Images of a scene with the given poses of its links."""
    rig = CameraRig(scene, cameras or [CAMERA], kernel=kernel)
    rig.take([poses.get(link, STILL) for link in rig.links])
    return rig


@pytest.fixture(scope="module")
def cube_scene():
    """A room with a red cube at a known pose: rig, its number and its pose."""
    pose = from_xyz_rpy((0.6, -0.1, 0.1), (0.2, 0.1, 0.5))
    rig = take(room_with(Shape("box", (SIDE,) * 3, pose, RED)))
    return rig, rig.links.index("thing_0"), pose


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
    inside = rig.link_numbers("test") == cube
    red, green, blue = rig.rgb("test")[inside].astype(int).mean(axis=0)
    assert inside.sum() > 200
    assert red > 2 * green and red > 2 * blue


def test_intrinsics_and_extrinsics_put_the_cube_where_it_is_seen(cube_scene):
    rig, cube, pose = cube_scene
    corners = np.array(np.meshgrid(*[(-SIDE / 2, SIDE / 2)] * 3)).T.reshape(-1, 3)
    pixels = project(rig, apply(pose, corners))
    rows, columns = np.nonzero(rig.link_numbers("test") == cube)
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
    points = rig.cloud_pixels("test").points.reshape(120, 160, 3)  # the room fills the image
    local = apply(inverse(pose), points[rig.link_numbers("test") == cube])
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
    rig.take([STILL] * len(rig.links))
    np.testing.assert_array_equal(first[0], rig.rgb("test"))
    np.testing.assert_array_equal(first[1], rig.depth("test"))


def test_nothing_in_view_gives_an_empty_cloud():
    rig = take(RenderScene())
    cloud = rig.cloud_pixels("test")
    assert cloud.points.shape == (0, 3) and cloud.colors.shape == (0, 3)
    assert (rig.depth("test") == 0).all()


def test_a_camera_on_a_link_moves_with_it():
    scene = room_with()
    scene.add_link("arm", moves=True)
    camera = replace(CAMERA, xyz=(0, 0, 0.1), rpy=(0, 0, 0), link="arm")
    rig = take(scene, camera, arm=from_xyz_rpy((0.2, 0.3, 0.4)))
    expected = from_parts([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], (0.2, 0.3, 0.5))
    np.testing.assert_allclose(rig.pose_camera_in_pelvis("test"), expected, atol=1e-6)
    fixed = replace(CAMERA, xyz=(0.2, 0.3, 0.5), rpy=(0, 0, 0))
    np.testing.assert_array_equal(rig.rgb("test"), take(scene, fixed).rgb("test"))


def test_the_key_light_throws_a_shadow():
    lid = Shape("box", (0.5, 0.5, 0.01), from_parts(np.eye(3), (0.0, -0.4, -0.4)))
    spot, eye = (0.54, -0.14, -1.03), (1.4, 0.6, -0.6)
    camera = replace(CAMERA, xyz=eye, rpy=looking_at(eye, spot), fovy=0.1)

    def floor_under(*shapes: Shape) -> float:
        return float(take(room_with(*shapes), camera).rgb("test").mean())

    assert floor_under(lid) < 0.8 * floor_under()


@pytest.mark.parametrize("config", list(DEFAULT_CAMERAS), ids=lambda config: config.name)
def test_default_cameras_see_the_safe_at_every_placement(config):
    from rulesafe_sim.bodies import placement_pose

    ranges = SPLITS["nominal"].randomisation.placement
    rig = take(RenderScene(), replace(config, name="test", link=ROOT))
    for nominal in (ranges.left_hinge, ranges.right_hinge):
        for signs in np.array(np.meshgrid(*[(-1, 1)] * 4)).T.reshape(-1, 4):
            xyz = np.array(nominal.xyz) + signs[:3] * ranges.xyz
            placed = replace(nominal, xyz=tuple(xyz), yaw=nominal.yaw + signs[3] * ranges.yaw)
            corners = [(0, y, z) for y in (-0.18, 0.18) for z in (-0.18, 0.18)]
            pixels = project(rig, apply(placement_pose(placed), corners))
            assert (pixels > 0).all() and (pixels < 223).all(), (placed, pixels)


def test_errors_say_what_is_valid():
    scene = RenderScene()
    scene.add_link("arm", moves=True)
    rig = CameraRig(scene, [CAMERA])
    with pytest.raises(RuleSafeError, match=r"call take\(\) first"):
        rig.rgb("test")
    with pytest.raises(RuleSafeError, match="unknown camera 'rear'; valid: test"):
        rig.take([STILL], "rear")
    with pytest.raises(RuleSafeError, match="unknown link 'tail'; valid: arm"):
        CameraRig(scene, [replace(CAMERA, link="tail")])
    with pytest.raises(RuleSafeError, match="1 poses expected"):
        rig.take([STILL, STILL])
    with pytest.raises(RuleSafeError, match="not finite"):
        rig.take([STILL * np.nan])
    with pytest.raises(RuleSafeError, match="two links of the scene have the name 'arm'"):
        scene.add_link("arm", moves=False)
    with pytest.raises(RuleSafeError, match="fovy"):
        replace(CAMERA, fovy=4.0)
    with pytest.raises(RuleSafeError, match="width is 0; valid: 16 to 2048"):
        replace(CAMERA, width=0)
    with pytest.raises(RuleSafeError, match=r"no library of the renderer \(fastest\)"):
        load_kernel("fastest")


def test_arrays_of_other_shapes_are_refused():
    """The library reads as many values as the scene states."""
    scene, box = RenderScene(), box_mesh((0, 0, 0), (1, 1, 1))
    for number in range(4):
        scene.add_link(f"link_{number}", moves=True)
    for name in ("normals", "uv", "triangles"):
        short = box._replace(**{name: getattr(box, name)[:, :1]})
        with pytest.raises(RuleSafeError, match=r"a mesh of the link link_0 .* valid: \(V, 3\)"):
            scene.add_mesh(0, short, GREY)
    with pytest.raises(RuleSafeError, match="a mesh of the link link_0"):
        scene.add_mesh(0, box._replace(normals=box.normals[:3]), GREY)
    rig = CameraRig(scene, [CAMERA])
    with pytest.raises(RuleSafeError, match=r"shape \(4, 3, 4\); valid: \(4, 4, 4\)"):
        rig.take(np.zeros((4, 3, 4)))


def test_after_a_failed_image_there_is_none():
    rig = take(room_with())
    with pytest.raises(RuleSafeError, match="not finite"):
        rig.take([STILL * np.nan] * len(rig.links))
    with pytest.raises(RuleSafeError, match=r"call take\(\) first"):
        rig.depth("test")


# The same images, however they are computed -------------------------------------------------


def crowd(seed: int) -> tuple[RenderScene, list[np.ndarray], list[CameraConfig]]:
    """A random scene with primitives, a texture, an open surface, point lights and cameras of odd
    sizes, some of whose triangles cross the near plane; poses; and cameras."""
    rng = np.random.default_rng(seed)
    scene = RenderScene()
    for number in range(8):
        link = scene.add_link(f"link_{number}", moves=number % 2 == 0)
        for kind, sizes in (("box", 3), ("capsule", 2), ("cylinder", 2)):
            pose = from_xyz_rpy(rng.uniform(-0.3, 0.3, 3), rng.uniform(-3, 3, 3))
            shape = Shape(kind, tuple(rng.uniform(0.02, 0.3, sizes)), pose)
            look = Material(tuple(rng.uniform(0, 1, 3)), *rng.uniform(0, 1, 2))
            scene.add_mesh(link, shape_mesh(shape), look)
    sheet = box_mesh((0, 0, -0.5), (2.0, 2.0, 0.001))
    scene.add_mesh(
        scene.add_link("sheet", moves=bool(seed % 2)),
        sheet._replace(uv=sheet.vertices[:, :2] * np.float32(1.7), closed=False),
        GREY,
        make_texture(rng.integers(0, 256, (37, 50, 3), np.uint8), srgb=True),
    )
    add_room(scene)
    point = ((0.2, 0.1, 0.9), (0.3, 0.2, 0.1))
    scene.lights = replace(scene.lights, points=(point,))
    poses = [
        from_xyz_rpy(rng.uniform(-0.6, 0.6, 3), rng.uniform(-3, 3, 3)) for _ in scene.links[:9]
    ]
    poses += [STILL] * (len(scene.links) - 9)
    cameras = [
        CameraConfig("odd", (-0.4, 0.2, 0.4), (0, 0.4, 0), 1.2, width=97, height=61),
        CameraConfig("near", (0, 0, 0), (0, 0.1, 0.3), 2.0, width=64, height=80, link="link_2"),
        CameraConfig("still", (0.1, 0, 0.3), (0, 0.9, 0), 1.0, width=224, height=32, link="link_1"),
    ]
    return scene, poses, cameras


def content(rig: CameraRig) -> list[bytes]:
    return [
        array.tobytes()
        for name in rig.names
        for array in (rig.rgb(name), rig.depth(name), rig.link_numbers(name))
    ]


@pytest.mark.parametrize("seed", range(10))
def test_every_kernel_computes_the_same_bytes(seed):
    scene, poses, cameras = crowd(seed)
    found = []
    for kernel in KERNELS:
        try:
            load_kernel(kernel)
        except RuleSafeError:  # not of this machine
            continue
        rig = CameraRig(scene, cameras, kernel=kernel)
        rig.take(poses)
        found.append(content(rig))
    assert found and all(each == found[0] for each in found)
    assert len(np.unique(rig.rgb("odd").reshape(-1, 3), axis=0)) > 200


@pytest.mark.parametrize("seed", range(4))
def test_an_image_does_not_depend_on_those_before(seed):
    scene, poses, cameras = crowd(seed)
    rng = np.random.default_rng(seed)
    rig = CameraRig(scene, cameras)
    for number in range(6):
        for i, moves in enumerate(scene.moves):
            if moves and (number < 3 or i == 4):  # at last a single one, so that most is kept
                poses[i] = from_xyz_rpy(rng.uniform(-0.6, 0.6, 3), rng.uniform(-3, 3, 3))
        rig.take(poses)
        new = CameraRig(scene, cameras)
        new.take(poses)
        assert content(rig) == content(new)


def test_a_link_that_should_not_move_may_move():
    scene, poses, cameras = crowd(0)
    rig = CameraRig(scene, cameras)
    rig.take(poses)
    for link in ("link_1", "sheet"):
        poses[rig.links.index(link)] = from_xyz_rpy((0.1, 0, 0.2))
        rig.take(poses)
        new = CameraRig(scene, cameras)
        new.take(poses)
        assert content(rig) == content(new)


def test_threads_render_independently():
    scenes = [crowd(seed) for seed in range(2)]
    expected = []
    for scene, poses, cameras in scenes:
        rig = CameraRig(scene, cameras)
        rig.take(poses)
        expected.append(content(rig))
    found: dict[int, list[list[bytes]]] = {}

    def work(number: int) -> None:
        scene, poses, cameras = scenes[number]
        rig, found[number] = CameraRig(scene, cameras), []
        for _ in range(20):
            rig.take(poses)
            found[number].append(content(rig))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(2):
        assert found[number] == [expected[number]] * 20


# Single properties ---------------------------------------------------------------------------


def facing(mesh: TriangleMesh, material: Material = GREY, texture=None, **changes) -> CameraRig:
    """Image of a mesh alone, by a camera at the origin that looks along x."""
    scene = RenderScene(Lights(ambient=(1.0, 1.0, 1.0)))
    scene.add_mesh(scene.add_link("mesh", moves=False), mesh, material, texture)
    return take(scene, replace(CAMERA, xyz=(0, 0, 0), rpy=(0, 0, 0), **changes))


def sheet(*corners, closed: bool = False) -> TriangleMesh:
    """A square or triangle of the given corners, with normals towards -x."""
    vertices = np.array(corners, np.float32)
    triangles = np.array([(0, i, i + 1) for i in range(1, len(corners) - 1)], np.int32)
    normals = np.tile(np.array([[-1, 0, 0]], np.float32), (len(corners), 1))
    return TriangleMesh(
        vertices, normals, triangles, np.zeros((len(corners), 2), np.float32), closed
    )


SQUARE = ((1, -0.2, -0.2), (1, 0.2, -0.2), (1, 0.2, 0.2), (1, -0.2, 0.2))


def test_the_back_of_a_closed_surface_is_hidden_and_that_of_an_open_one_is_not():
    area = [
        (facing(sheet(*corners, closed=closed)).link_numbers("test") >= 0).sum()
        for corners in (SQUARE, SQUARE[::-1])
        for closed in (False, True)
    ]
    assert area[0] == area[2] == max(area) and sorted(area)[:1] == [0] and area.count(0) == 1


def test_neighbours_share_no_pixel_and_leave_no_gap():
    rng = np.random.default_rng(0)
    for _ in range(20):
        center = (1.0, *rng.uniform(-0.1, 0.1, 2))
        fan = [(*SQUARE[i], *SQUARE[(i + 1) % 4]) for i in range(4)]
        parts = [sheet(center, corners[:3], corners[3:]) for corners in fan]
        whole = facing(sheet(*SQUARE)).link_numbers("test") >= 0
        pieces = [facing(part).link_numbers("test") >= 0 for part in parts]
        np.testing.assert_array_equal(np.sum(pieces, axis=0), whole)


def test_a_triangle_through_the_camera_plane_is_cut():
    rig = facing(sheet((-5, -3, -0.1), (5, -3, -0.1), (5, 3, -0.1), (-5, 3, -0.1)), near=0.05)
    seen = rig.link_numbers("test") >= 0
    assert seen[70:].all() and not seen[:58].any()
    points = rig.cloud_pixels("test").points
    np.testing.assert_allclose(points[:, 2], -0.1, atol=2e-4)


def test_surfaces_beyond_the_far_plane_are_not_seen():
    assert (facing(sheet(*SQUARE), far=1.1).link_numbers("test") >= 0).any()
    assert not (facing(sheet(*SQUARE), far=0.9).link_numbers("test") >= 0).any()


def test_a_texture_is_where_its_coordinates_put_it():
    image = np.zeros((2, 2, 3), np.uint8)
    image[0, 0], image[1, 1] = (255, 0, 0), (0, 0, 255)
    uv = np.array([(1, 1), (0, 1), (0, 0), (1, 0)], np.float32)  # y to the left, z up
    mesh = sheet(*SQUARE)._replace(uv=uv)
    rgb = facing(mesh, Material((1.0, 1.0, 1.0), 1.0), make_texture(image, srgb=True)).rgb("test")
    seen = rgb.reshape(120, 160, 3).astype(int)
    top_left, bottom_right = seen[44, 64], seen[75, 95]
    assert top_left[0] > 2 * top_left[2] and bottom_right[2] > 2 * bottom_right[0]


def test_a_texture_seen_from_afar_is_its_mean():
    checks = np.indices((256, 256)).sum(0) % 2 * 255
    image = np.repeat(checks[..., None], 3, axis=2).astype(np.uint8)
    uv = np.array([(0, 0), (4, 0), (4, 4), (0, 4)], np.float32)
    mesh = sheet(*SQUARE)._replace(uv=uv)
    seen = facing(mesh, Material((1.0, 1.0, 1.0), 1.0), make_texture(image, srgb=False, levels=9))
    inside = seen.rgb("test")[50:70, 70:90].astype(int)
    assert np.ptp(inside) <= 3


def test_a_point_light_is_brighter_nearby():
    def brightness(distance: float) -> float:
        scene = RenderScene(Lights(points=(((1 - distance, 0, 0), (0.3, 0.3, 0.3)),)))
        scene.add_mesh(scene.add_link("mesh", moves=False), sheet(*SQUARE), GREY)
        rig = take(scene, replace(CAMERA, xyz=(0, 0, 0), rpy=(0, 0, 0)))
        return float(rig.rgb("test")[60, 80].mean())

    assert brightness(0.3) > brightness(0.5) + 5 > brightness(5.0) + 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertices": np.full((4, 3), np.nan, np.float32)}, "not finite"),
        ({"vertices": np.full((4, 3), 1e6, np.float32)}, "beyond 10 km"),
        ({"normals": np.full((4, 3), np.inf, np.float32)}, "unit vector"),
        ({"uv": np.full((4, 2), np.nan, np.float32)}, "texture position"),
        ({"triangles": np.array([[0, 1, 4]], np.int32)}, "no such vertex"),
        ({"triangles": np.array([[0, -1, 2]], np.int32)}, "no such vertex"),
    ],
    ids=["nan", "huge", "normal", "uv", "index", "negative"],
)
def test_invalid_meshes_are_refused(change, message):
    with pytest.raises(RuleSafeError, match=message):
        facing(sheet(*SQUARE)._replace(**change))


def test_degenerate_and_empty_meshes_show_nothing():
    flat = sheet(*[(1, 0, 0)] * 4)
    assert not (facing(flat).link_numbers("test") >= 0).any()
    assert not (facing(join([])).link_numbers("test") >= 0).any()


def test_meshes_of_one_material_are_joined():
    shapes = tuple(Shape("sphere", (0.1,), material=RED) for _ in range(3))
    links = link_meshes(
        Body("body", (Link("a", shapes), Link("b", (Shape("box", (1, 1, 1)),))), ())
    )
    assert [(name, len(meshes)) for name, meshes in links] == [("a", 1), ("b", 1)]


def test_the_memory_of_a_renderer_is_released(monkeypatch):
    gc.collect()
    destroyed = []
    library = load_kernel("").library
    release = library.render_destroy
    monkeypatch.setattr(library, "render_destroy", lambda handle: destroyed.append(release(handle)))
    rig = take(RenderScene())
    del rig
    gc.collect()
    assert len(destroyed) == 1
