"""The robot's figures against the manufacturer's, computed here on their own."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from rulesafe_core.body import Shape, fix_joints, merge_fixed
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import HAND_MASS, HOME, h1_2, robot_data
from rulesafe_core.transforms import apply, inverse

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared/reference/h1_2_kinematics.json"
FINGERS = [
    link.name for link in h1_2().links if link.name[:2] in ("L_", "R_") and "hand" not in link.name
]


@pytest.fixture(scope="module")
def reference() -> dict:
    if not REFERENCE.exists():
        pytest.skip(f"the table of the manufacturer's figures is not here ({REFERENCE.name})")
    return json.loads(REFERENCE.read_text())["h1_2_dfx"]


def turn(axis, angle: float) -> np.ndarray:
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def reference_poses(robot: dict, positions: dict[str, float]) -> dict[str, np.ndarray]:
    """Pose of each link in the pelvis frame, straight from the table."""
    joints = dict(robot["joints"])
    poses = {"pelvis": np.eye(4)}
    while joints:
        name = next(name for name, joint in joints.items() if joint["parent"] in poses)
        joint = joints.pop(name)
        roll, pitch, yaw = joint["origin_rpy"]
        local = np.eye(4)
        local[:3, :3] = turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)
        local[:3, 3] = joint["origin_xyz"]
        if joint["type"] != "fixed":
            rule = joint.get("mimic")
            angle = (
                rule["multiplier"] * positions[rule["joint"]] + rule["offset"]
                if rule
                else positions[name]
            )
            local[:3, :3] = local[:3, :3] @ turn(joint["axis"], angle)
        poses[joint["child"]] = poses[joint["parent"]] @ local
    return poses


def random_positions(seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    joints = (h1_2().joint(name) for name in ALL_JOINTS)
    return {joint.name: float(rng.uniform(joint.lower, joint.upper)) for joint in joints}


@pytest.mark.parametrize("seed", range(10))
def test_forward_kinematics_equal_the_reference_chain(reference, seed):
    positions = random_positions(seed)
    expected = reference_poses(reference, positions)
    poses = h1_2().link_poses(positions)
    assert poses.keys() == expected.keys()
    for name, pose in poses.items():
        np.testing.assert_allclose(pose, expected[name], atol=1e-9, err_msg=name)


def test_limits_axes_and_mimic_rules_equal_the_reference(reference):
    body = h1_2()
    assert {joint.name for joint in body.joints} == set(reference["joints"])
    for joint in body.moving_joints:
        figures = reference["joints"][joint.name]
        limit = {k: getattr(joint, k) for k in ("lower", "upper", "effort", "velocity")}
        assert limit == figures["limit"], joint.name
        assert list(joint.axis) == figures["axis"], joint.name
        assert (vars(joint.mimic) if joint.mimic else None) == figures.get("mimic"), joint.name


def test_body_masses_equal_the_reference(reference):
    for link in h1_2().links:
        figures = reference["links"][link.name]
        if link.inertial is None or link.name[:2] in ("L_", "R_"):
            continue
        assert link.inertial.mass == figures["mass"]
        assert list(link.inertial.com) == figures["com_xyz"]
        for i, j in ("xx", "xy", "xz", "yy", "yz", "zz"):
            entry = link.inertial.inertia["xyz".index(i), "xyz".index(j)]
            assert entry == figures["inertia"][f"i{i}{j}"], link.name


def test_the_data_file_is_what_its_script_makes(reference):
    script = runpy.run_path(str(ROOT / "scripts/make_robot_data.py"))
    assert script["distil"](json.loads(REFERENCE.read_text())) == robot_data()


def test_the_39_motors_are_the_joints_that_mimic_nothing():
    motors = [joint.name for joint in h1_2().moving_joints if joint.mimic is None]
    assert sorted(motors) == sorted(ALL_JOINTS)


def test_tree_order():
    seen = {h1_2().links[0].name}
    for joint in h1_2().joints:
        assert joint.parent in seen
        seen.add(joint.child)
    assert seen == {link.name for link in h1_2().links}


def test_inertias_are_those_of_possible_solids_and_well_conditioned():
    for link in h1_2().links:
        if link.inertial is None:
            continue
        principal = np.linalg.eigvalsh(link.inertial.inertia)
        assert principal[0] >= 1e-6, link.name
        assert principal[0] + principal[1] > principal[2], link.name
        assert principal[2] / principal[0] < 15, link.name


def test_a_hand_weighs_what_its_maker_says():
    for side in "LR":
        masses = {
            link.name: link.inertial.mass for link in h1_2().links if link.name.startswith(side)
        }
        assert sum(masses.values()) == pytest.approx(HAND_MASS)
        assert max(masses, key=masses.get) == f"{side}_hand_base_link"
        assert min(masses.values()) > 0.003


def surface_points(shape: Shape) -> np.ndarray:
    """Points (n, 3) on a shape, in its link's frame, whose hull is the shape's within 1 %."""
    if shape.kind == "box":
        corners = np.array(np.meshgrid(*([(-0.5, 0.5)] * 3))).reshape(3, -1).T
        return apply(shape.pose, corners * shape.size)
    radius, length = shape.size
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(3000, 3))
    ball = np.vstack([ball, np.eye(3), -np.eye(3)])
    ball *= radius / np.linalg.norm(ball, axis=1, keepdims=True)
    ends = [ball + np.array([0, 0, z]) for z in (-length / 2, length / 2)]
    return apply(shape.pose, np.vstack(ends))


@pytest.mark.parametrize(
    "link", [link for link in h1_2().links if link.shapes], ids=lambda x: x.name
)
def test_shapes_stay_inside_the_mesh_boxes(link):
    mesh = robot_data()["links"][link.name]["mesh"]
    points = np.vstack([surface_points(shape) for shape in link.shapes])
    low, high = np.array(mesh["aabb"])
    outside = np.maximum(low - points, points - high).max()
    assert outside < (0.002 if link.name in FINGERS else 0.011)
    if link.name in FINGERS:
        obb = mesh["obb"]
        local = (points - obb["center"]) @ np.array(obb["axes"])
        assert (np.abs(local) <= np.array(obb["extents"]) / 2 + 1e-5).all()


@pytest.mark.parametrize("name", FINGERS)
def test_finger_hulls_have_the_meshes_volume(name):
    link = next(link for link in h1_2().links if link.name == name)
    points = np.vstack([surface_points(shape) for shape in link.shapes if shape.collides])
    volume = robot_data()["links"][name]["mesh"]["volume"]
    assert ConvexHull(points).volume == pytest.approx(volume, rel=0.1)


def test_index_fingertip_is_a_capsule_of_the_meshes_size():
    link = next(link for link in h1_2().links if link.name == "R_index_intermediate")
    (shape,) = link.shapes
    radius, length = shape.size
    assert shape.kind == "capsule"
    assert 2 * radius == pytest.approx(0.0126, abs=1e-4)
    assert length + 2 * radius == pytest.approx(0.0534, abs=1e-4)


def test_the_camera_mount_is_outside_the_head():
    body = h1_2()
    camera = body.link_poses({})["camera_link"][:3, 3]
    for shape in body.links[[link.name for link in body.links].index("torso_link")].shapes:
        point = apply(inverse(shape.pose), camera)
        if shape.kind == "box":
            assert (np.abs(point) > np.array(shape.size) / 2).any()
        else:
            radius, length = shape.size
            point[2] -= np.clip(point[2], -length / 2, length / 2)
            assert np.linalg.norm(point) > radius


def test_home_is_inside_the_limits_and_names_every_motor():
    assert tuple(HOME) == ALL_JOINTS
    body = h1_2()
    for joint in body.moving_joints:
        if joint.mimic:
            angle = joint.mimic.multiplier * HOME[joint.mimic.joint] + joint.mimic.offset
        else:
            angle = HOME[joint.name]
        margin = 0.05 if not joint.mimic else 0.0
        assert joint.lower + margin <= angle <= joint.upper - margin, joint.name


def test_home_holds_the_right_hand_ready_and_clear_of_the_safe():
    body = h1_2()
    poses = body.link_poses(HOME)
    points = np.vstack(
        [
            apply(poses[link.name], surface_points(shape))
            for link in body.links
            if link.name.startswith(("R_", "right_shoulder", "right_elbow", "right_wrist"))
            for shape in link.shapes
        ]
    )
    assert points[:, 0].max() < 0.42
    assert points[:, 2].min() > -0.1
    hand = poses["R_hand_base_link"]
    assert 0.1 < hand[0, 3] < 0.35
    assert -0.45 < hand[1, 3] < -0.2
    fingers = hand[:3, :3] @ (0, -1, 0)
    assert fingers[0] > 0.9  # they point forwards


def test_the_feet_stand_level_on_the_floor():
    body = h1_2()
    poses = body.link_poses(HOME)
    for side in ("left", "right"):
        name = f"{side}_ankle_roll_link"
        link = next(link for link in body.links if link.name == name)
        sole = np.vstack([surface_points(s) for s in link.shapes])
        assert -1.03 <= apply(poses[name], sole)[:, 2].min() < -1.015
        np.testing.assert_allclose(poses[name][:3, :3], np.eye(3), atol=1e-9)


def test_holding_and_merging_keep_the_arm_where_it_is():
    """What the scene is built from: everything held at home but the 13 commanded joints."""
    body = h1_2()
    small = merge_fixed(fix_joints(body, {n: q for n, q in HOME.items() if n not in ACTION_JOINTS}))
    assert len(small.moving_joints) == 19
    assert sum(link.inertial.mass for link in small.links) == pytest.approx(
        sum(link.inertial.mass for link in body.links if link.inertial)
    )
    positions = {name: random_positions(3)[name] for name in ACTION_JOINTS}
    expected = body.link_poses(HOME | positions)
    for name, pose in small.link_poses(positions).items():
        np.testing.assert_allclose(pose, expected[name], atol=1e-12, err_msg=name)
