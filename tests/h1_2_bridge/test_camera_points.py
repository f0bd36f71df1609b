"""Point clouds from depth images, compared with those of the simulation."""

import re
from pathlib import Path

import numpy as np
import pytest

from h1_2_bridge.camera_points import CloudConfig, CloudMaker, Nearest, Pinhole, decode_depth
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.cloud import UniformSampler, Workspace, sample_cloud
from rulesafe_core.errors import RuleSafeError

PINHOLE = Pinhole(64, 48, (60.0, 0, 31.5, 0, 60.0, 23.5, 0, 0, 1))
MM = 1e-3


def grey(height=48, width=64):
    return np.full((height, width, 3), 128, np.uint8)


def test_a_wall_ahead_stands_where_it_is():
    """The camera is 0.5 m above the pelvis and looks straight ahead at a wall 1 m away."""
    maker = CloudMaker(CloudConfig("pelvis", (0.0, 0.0, 0.5), (0.0, 0.0, 0.0)))
    depth = np.ones((48, 64), np.float32)
    points, colours = maker.points(depth, grey(), PINHOLE, maker.pose_camera_in_pelvis({}))
    assert len(points) == len(colours) == 48 * 64
    np.testing.assert_allclose(points[:, 0], 1, atol=1e-6)
    # The first pixel is at the top left, where y and z are positive.
    np.testing.assert_allclose(points[0], [1, 31.5 / 60, 0.5 + 23.5 / 60], atol=1e-6)
    np.testing.assert_allclose(points[-1], [1, -31.5 / 60, 0.5 - 23.5 / 60], atol=1e-6)


def test_the_waist_turns_the_camera():
    maker = CloudMaker()
    at_zero = maker.pose_camera_in_pelvis({})
    turned = maker.pose_camera_in_pelvis({"torso_joint": np.pi / 2})
    np.testing.assert_allclose(turned[:3, 3], [-at_zero[1, 3], at_zero[0, 3], at_zero[2, 3]])


def test_depths_that_are_none_are_left_out():
    maker = CloudMaker(CloudConfig("pelvis", near=0.2, far=2.0))
    depth = np.ones((48, 64), np.float32)
    depth[0, :5] = [0, np.nan, np.inf, 0.19, 2.01]
    points, _ = maker.points(depth, grey(), PINHOLE, np.eye(4))
    assert len(points) == 48 * 64 - 5
    assert np.isfinite(points).all()


def test_millimetres_and_metres_are_the_same():
    metres = np.linspace(0.2, 2, 48 * 64, dtype=np.float32).reshape(48, 64)
    raw = (metres * 1000).round().astype("<u2").tobytes()
    np.testing.assert_allclose(decode_depth(raw, "16UC1", 64, 48), metres, atol=0.51 * MM)
    np.testing.assert_array_equal(decode_depth(metres.tobytes(), "32FC1", 64, 48), metres)
    with pytest.raises(RuleSafeError, match="16UC1"):
        decode_depth(raw, "mono8", 64, 48)
    for data, height in ((raw, 50), (raw[:-1], 48)):
        with pytest.raises(RuleSafeError, match="padding"):
            decode_depth(data, "16UC1", 64, height)


def test_distortion_is_undone():
    """Undistortion inverts plumb_bob (the camera model of OpenCV)."""
    k1, k2, t1, t2, k3 = distortion = (-0.2, 0.05, 0.001, -0.002, 0.01)
    rays = Pinhole(64, 48, PINHOLE.intrinsics, distortion).rays().astype(np.float64)
    x, y = rays[..., 0], rays[..., 1]
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
    bent = np.stack(
        [
            x * radial + 2 * t1 * x * y + t2 * (r2 + 2 * x * x),
            y * radial + t1 * (r2 + 2 * y * y) + 2 * t2 * x * y,
        ],
        axis=-1,
    )
    np.testing.assert_allclose(bent, PINHOLE.rays(), atol=1e-5)
    assert np.abs(rays - PINHOLE.rays()).max() > 1e-3


def test_what_does_not_fit_together_is_refused():
    maker = CloudMaker()
    depth = np.ones((24, 32), np.float32)
    with pytest.raises(RuleSafeError, match="align depth to colour"):
        maker.points(depth, grey(), PINHOLE, np.eye(4))
    with pytest.raises(RuleSafeError, match="torso_link"):
        CloudConfig("neck")
    with pytest.raises(RuleSafeError, match="near must be below far"):
        CloudConfig(near=2.0, far=1.0)
    with pytest.raises(RuleSafeError, match="not calibrated"):
        Pinhole(64, 48, (0.0,) * 9).rays()
    with pytest.raises(RuleSafeError, match="plumb_bob"):
        Pinhole(64, 48, PINHOLE.intrinsics, (0.0,) * 8).rays()


def test_pictures_are_found_by_their_stamps():
    kept: Nearest[str] = Nearest(3, tolerance=10)
    assert kept.at(0) is None
    for stamp in (100, 200, 300, 400):
        kept.add(stamp, str(stamp))
    assert kept.at(305) == "300"
    assert kept.at(390) == "400"
    assert kept.at(350) is None
    assert kept.at(100) is None  # too long ago
    kept.add(100, "the next loop")
    assert kept.at(100) == "the next loop"
    assert kept.at(305) is None  # of the loop before


# Against the simulation ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def scene():
    """The simulation's head camera rig and its rendered images."""
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.simulation import Simulation

    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", seed=0)
    observer = Observer(simulation)
    points = observer.observe(("points",))["points"]
    return observer.rig, points


def pinhole(rig):
    height, width = rig.depth("head").shape
    return Pinhole(width, height, tuple(rig.intrinsics("head").ravel()), (0.0,) * 5)


def test_the_mount_is_the_simulations(scene):
    rig, _ = scene
    expected = rig.pose_camera_in_pelvis("head")
    np.testing.assert_allclose(CloudMaker().pose_camera_in_pelvis({}), expected, atol=1e-6)


@pytest.mark.parametrize("encoding", ["32FC1", "16UC1"])
def test_points_are_those_of_the_simulation(scene, encoding):
    """Compare pixel by pixel; 16UC1 depth has a resolution of 1 mm, as of a RealSense."""
    rig, _ = scene
    depth, unit = rig.depth("head"), 1.0 if encoding == "32FC1" else 1000.0
    kind = "<f4" if encoding == "32FC1" else "<u2"
    raw = (depth * unit).round(0 if unit > 1 else 9).astype(kind).tobytes()
    camera, maker = pinhole(rig), CloudMaker(CloudConfig(near=0.0, far=20.0))
    decoded = decode_depth(raw, encoding, camera.width, camera.height)
    pose = maker.pose_camera_in_pelvis({})
    points, colours = maker.points(decoded, rig.rgb("head"), camera, pose)
    expected = rig.cloud_pixels("head")
    assert len(points) == len(expected.points)
    near = depth[depth > 0] < 3
    tolerance = MM if unit > 1 else 0.05 * MM
    np.testing.assert_allclose(points[near], expected.points[near], atol=tolerance)
    np.testing.assert_array_equal(colours, expected.colors)


def test_the_cloud_is_that_of_the_simulation(scene):
    """Equal random generators give equal points; the simulation's cloud covers the same volume."""
    rig, observed = scene
    maker, camera = CloudMaker(CloudConfig(sampler="uniform", near=0.0)), pinhole(rig)
    cloud = maker.cloud(rig.depth("head"), rig.rgb("head"), camera, {}, np.random.default_rng(5))
    pixels = rig.cloud_pixels("head")
    inside = Workspace().contains(pixels.points)
    expected = sample_cloud(
        pixels.points, pixels.colors, np.random.default_rng(5), sampler=UniformSampler()
    )
    assert inside.sum() > 1024
    np.testing.assert_allclose(cloud[:, :3], expected[:, :3], atol=0.05 * MM)
    np.testing.assert_array_equal(cloud[:, 3:], expected[:, 3:])
    farthest = CloudMaker(CloudConfig(near=0.0)).cloud(
        rig.depth("head"), rig.rgb("head"), camera, {}, np.random.default_rng(6)
    )
    apart = np.linalg.norm(observed[:, None, :3] - farthest[None, :, :3], axis=2)
    assert apart.min(axis=1).max() < 0.04
    assert apart.min(axis=0).max() < 0.04


def test_the_documented_poses_are_those_of_the_simulation():
    text = (Path(__file__).parents[2] / "docs/robot.md").read_text("utf-8")
    for camera, frame in zip(DEFAULT_CAMERAS, ("torso_link", "pelvis"), strict=True):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {camera.name} |"))
        assert f"`{frame}`" in row
        values = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", row)]
        expected = [
            *camera.xyz,
            *np.degrees([*camera.rpy, camera.fovy]),
            camera.width,
            camera.height,
        ]
        np.testing.assert_allclose(values, expected, atol=0.06)
        np.testing.assert_allclose(values[:3], camera.xyz, atol=0.001)
