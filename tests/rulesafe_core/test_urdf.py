"""The URDF read back by Pinocchio, and the check of a user's own URDF."""

import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

from rulesafe_core.body import (
    Body,
    Joint,
    Link,
    Material,
    Shape,
    capsule_between,
    joint_position,
    merge_fixed,
)
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_core.transforms import from_xyz_rpy, to_quat_wxyz
from rulesafe_core.urdf import to_urdf
from rulesafe_core.urdf_reader import check_robot_urdf, read_kinematics

pin = pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def text() -> str:
    return to_urdf(h1_2())


@pytest.fixture(scope="module")
def model(text):
    return pin.buildModelFromXML(text)


def configuration(model, positions: dict[str, float]) -> np.ndarray:
    """Pinocchio's q for motor positions by name, mimics filled in."""
    q = pin.neutral(model)
    for joint in h1_2().moving_joints:
        index = model.joints[model.getJointId(joint.name)].idx_q
        q[index] = joint_position(joint, positions)
    return q


def random_positions(seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    joints = (h1_2().joint(name) for name in ALL_JOINTS)
    return {joint.name: float(rng.uniform(joint.lower, joint.upper)) for joint in joints}


@pytest.mark.parametrize("seed", range(10))
def test_pinocchio_puts_every_link_where_the_body_does(model, seed):
    positions = random_positions(seed)
    data = model.createData()
    pin.framesForwardKinematics(model, data, configuration(model, positions))
    for name, pose in h1_2().link_poses(positions).items():
        frame = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(frame, pose, atol=1e-9, err_msg=name)


def test_pinocchio_reads_limits_and_masses(model):
    body = h1_2()
    assert sorted(model.names[1:]) == sorted(joint.name for joint in body.moving_joints)
    for joint in body.moving_joints:
        index = model.joints[model.getJointId(joint.name)].idx_q
        assert model.lowerPositionLimit[index] == joint.lower
        assert model.upperPositionLimit[index] == joint.upper
        assert model.velocityLimit[index] == joint.velocity
        assert model.upperEffortLimit[index] == joint.effort
    merged = merge_fixed(body)  # Pinocchio lumps fixed links just so
    for link in merged.links[1:]:
        parent = next(joint.name for joint in merged.joints if joint.child == link.name)
        inertia = model.inertias[model.getJointId(parent)]
        assert inertia.mass == pytest.approx(link.inertial.mass, rel=1e-12)
        np.testing.assert_allclose(inertia.lever, link.inertial.com, atol=1e-12)
        np.testing.assert_allclose(inertia.inertia, link.inertial.inertia, atol=1e-12)


def test_pinocchio_reads_the_mimic_rules(text):
    model = pin.buildModelFromXML(text, mimic=True)
    assert model.nq == len(ALL_JOINTS)
    positions = random_positions(1)
    q = pin.neutral(model)
    for name, angle in positions.items():
        q[model.joints[model.getJointId(name)].idx_q] = angle
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    poses = h1_2().link_poses(positions)
    for name in ("R_thumb_distal", "R_pinky_intermediate", "L_thumb_distal"):
        frame = data.oMf[model.getFrameId(name)].homogeneous
        np.testing.assert_allclose(frame, poses[name], atol=1e-9)


def test_home_collides_with_nothing(text, model):
    """Limbs against trunk, legs and each other; near links overlap by design, so they are left."""
    geometry = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION)
    for (a, first), (b, second) in combinations(enumerate(geometry.geometryObjects), 2):
        joints = first.parentJoint, second.parentJoint
        one_hand = all(model.names[joint][:2] in ("L_", "R_") for joint in joints)
        if not one_hand and joints_between(model, *joints) > 2:
            geometry.addCollisionPair(pin.CollisionPair(a, b))
    assert not hits(model, geometry, HOME)
    assert hits(model, geometry, HOME | {"right_shoulder_yaw_joint": 1.5})  # arm through trunk


def hits(model, geometry, positions: dict[str, float]) -> list[tuple[str, str]]:
    """Names of the shapes that touch."""
    data = geometry.createData()
    q = configuration(model, positions)
    pin.computeCollisions(model, model.createData(), geometry, data, q, False)
    names = [shape.name for shape in geometry.geometryObjects]
    return [
        (names[pair.first], names[pair.second])
        for pair, result in zip(geometry.collisionPairs, data.collisionResults, strict=True)
        if result.isCollision()
    ]


def joints_between(model, first: int, second: int) -> int:
    return len(set(model.supports[first].tolist()) ^ set(model.supports[second].tolist()))


def small_body() -> Body:
    shapes = (
        capsule_between((0, 0, 0), (0, 0, 0.2), 0.03, material=Material((1.0, 0.0, 0.0))),
        capsule_between((0, 0, 0), (0, 0, 0), 0.05),
        Shape("box", (0.1, 0.2, 0.3), collides=False),
        Shape("cylinder", (0.1, 0.4), visible=False),
    )
    origin = from_xyz_rpy((0.1, 0.2, 0.3), (0.1, -0.2, 0.3))
    joint = Joint("hinge", "base", "arm", origin, axis=(0, 1, 0), upper=1.5, damping=0.25)
    return Body("small", (Link("base"), Link("arm", shapes)), (joint,))


def test_capsules_become_a_cylinder_and_two_spheres():
    arm = ET.fromstring(to_urdf(small_body())).findall("link")[1]
    visual = [element.find("geometry")[0].tag for element in arm.findall("visual")]
    collision = [element.find("geometry")[0].tag for element in arm.findall("collision")]
    assert visual == ["cylinder", "sphere", "sphere", "sphere", "box"]
    assert collision == ["cylinder", "sphere", "sphere", "sphere", "cylinder"]
    heights = [float(e.find("origin").get("xyz").split()[2]) for e in arm.findall("visual")[:3]]
    assert heights == pytest.approx([0.1, 0.0, 0.2])


def test_damping_origin_and_colours_are_written():
    robot = ET.fromstring(to_urdf(small_body()))
    joint = robot.find("joint")
    assert joint.find("dynamics").get("damping") == "0.25"
    xyz, rpy = ([float(x) for x in joint.find("origin").get(key).split()] for key in ("xyz", "rpy"))
    np.testing.assert_allclose(from_xyz_rpy(xyz, rpy), small_body().joints[0].origin, atol=1e-15)
    colors = {m.get("name"): m.find("color").get("rgba") for m in robot.findall("material")}
    used = {m.get("name") for m in robot.findall("link/visual/material")}
    assert used == set(colors)
    assert "1.0 0.0 0.0 1.0" in colors.values()


def test_the_text_is_the_same_each_time(text):
    h1_2.cache_clear()
    assert to_urdf(h1_2()) == text
    assert "np." not in text


def changed(text: str, edit) -> str:
    robot = ET.fromstring(text)
    edit(robot)
    return ET.tostring(robot, encoding="unicode")


def test_our_own_urdf_passes_the_check_with_other_meshes_and_further_links(text, tmp_path):
    def edit(robot):
        for link in robot.findall("link"):
            for element in link.findall("visual"):
                link.remove(element)
        ET.SubElement(robot, "link", name="tool")

    path = tmp_path / "own.urdf"
    path.write_text(changed(text, edit))
    check_robot_urdf(path)


def test_rotations_may_be_quaternions(text, tmp_path):
    def edit(robot):
        for element in robot.iter("origin"):
            rpy = tuple(map(float, element.attrib.pop("rpy", "0 0 0").split()))
            w, x, y, z = to_quat_wxyz(from_xyz_rpy(rpy=rpy))
            element.set("quat_xyzw", f"{x} {y} {z} {w}")

    path = tmp_path / "own.urdf"
    path.write_text(changed(text, edit))
    check_robot_urdf(path)
    found, expected = (read_kinematics(urdf).joints for urdf in (path.read_text(), text))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.origin, other.origin, atol=1e-9)


def edit_elbow(tag: str, key: str, value: str):
    def edit(robot):
        joint = robot.find("joint[@name='right_elbow_joint']")
        joint.find(tag).set(key, value)

    return edit


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (edit_elbow("axis", "xyz", "0 -1 0"), "axis 0.0 -1.0 0.0"),
        (edit_elbow("axis", "xyz", "0 one 0"), "one"),
        (edit_elbow("axis", "xyz", "0 1"), "expected 3 finite number(s)"),
        (edit_elbow("origin", "xyz", "0.006 -0.0329 -0.183"), "origin 0.006 -0.0329 -0.183"),
        (edit_elbow("origin", "rpy", "0 0 0.001"), "rpy 0.0 0.0 0.001"),
        (edit_elbow("origin", "quat", "1 0 0 0"), "the unknown attribute 'quat'"),
        (edit_elbow("parent", "link", "torso_link"), "parent 'torso_link'"),
        (lambda r: r.find("joint[@name='right_elbow_joint']").set("type", "fixed"), "type fixed"),
        (lambda r: r.find("joint[@name='right_elbow_joint']").set("name", "x"), "no joint"),
        (lambda r: r.find("link[@name='right_elbow_link']").set("name", "x"), "no link"),
    ],
)
def test_another_robot_fails_the_check_by_name(text, tmp_path, edit, named):
    path = tmp_path / "other.urdf"
    path.write_text(changed(text, edit))
    with pytest.raises(RuleSafeError, match="right_elbow") as error:
        check_robot_urdf(path)
    assert named in str(error.value)


def test_what_is_no_urdf_fails_with_its_name(tmp_path):
    with pytest.raises(RuleSafeError, match=r"absent\.urdf"):
        check_robot_urdf(tmp_path / "absent.urdf")
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot>")
    with pytest.raises(RuleSafeError, match=r"broken\.urdf"):
        check_robot_urdf(broken)
