"""A robot from a user's own URDF with meshes: here ours, with its shapes written as STL files."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sapien

from planner_node.episode import run_expert
from rulesafe_core.body import Shape, fix_joints, merge_fixed
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.meshes import MeshShape
from rulesafe_core.robot import FIXED_POSITIONS, h1_2
from rulesafe_core.transforms import from_xyz_rpy
from rulesafe_core.urdf import to_urdf
from rulesafe_core.urdf_reader import robot_from_urdf
from rulesafe_render.meshes import shape_mesh
from rulesafe_sim.bodies import ROBOT
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation

RED = ET.fromstring('<material name="red"><color rgba="1 0 0 1"/></material>')


def write_stl(path: Path, shapes: list[Shape]) -> None:
    meshes = [shape_mesh(shape) for shape in shapes]
    corners = np.concatenate([mesh.vertices[mesh.triangles] for mesh in meshes])  # (T, 3, 3)
    facets = np.zeros(len(corners), [("normal", "<3f4"), ("corners", "<9f4"), ("more", "<u2")])
    facets["corners"] = corners.reshape(-1, 9)
    # The normals stay zero, as in many such files: readers find them out.
    path.write_bytes(bytes(80) + np.uint32(len(facets)).tobytes() + facets.tobytes())


def write_urdf(folder: Path, edit: Callable[[ET.Element], object] = lambda robot: None) -> str:
    """Our robot as the manufacturer's file is: each visual a mesh, with its colour; the right arm
    and hand collide as meshes, the rest as primitives."""
    robot = ET.fromstring(to_urdf(h1_2()))
    (folder / "meshes").mkdir(exist_ok=True)
    for link in h1_2().links:
        shapes = [shape for shape in link.shapes if shape.visible and shape.collides]
        if not shapes:
            continue
        write_stl(folder / f"meshes/{link.name}.STL", shapes)
        element = robot.find(f"link[@name='{link.name}']")
        roles = ("visual", "collision") if link.name.startswith(("R_", "right_")) else ("visual",)
        for role in roles:
            for old in element.findall(role):
                element.remove(old)
            geometry = ET.SubElement(ET.SubElement(element, role), "geometry")
            ET.SubElement(geometry, "mesh", filename=f"meshes/{link.name}.STL")
        element.find("visual").append(RED)
    edit(robot)
    path = folder / "own.urdf"
    path.write_text(ET.tostring(robot, encoding="unicode"), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def urdf(tmp_path_factory) -> str:
    return write_urdf(tmp_path_factory.mktemp("robot"))


def simulate(urdf: str, *, rule="rule_001", safe="safe_01") -> Simulation:
    simulation = Simulation(SimulationConfig(robot_urdf=urdf))
    simulation.reset(rule, safe, 0)
    return simulation


def test_links_stand_where_the_kinematics_say(urdf):
    simulation = simulate(urdf)
    rng = np.random.default_rng(0)
    for _ in range(5):
        targets = dict(zip(ACTION_JOINTS, rng.uniform(LOWER, UPPER).tolist(), strict=True))
        simulation._robot.place(targets)
        expected = ROBOT.link_poses({**FIXED_POSITIONS, **targets})
        links = {link.name: link for link in simulation._robot.articulation.links}
        assert {"pelvis", "R_index_intermediate", "R_thumb_distal"} < links.keys()
        for name, link in links.items():
            pose = link.entity_pose.to_transformation_matrix()
            np.testing.assert_allclose(pose, expected[name], atol=1e-5, err_msg=name)


def test_drives_masses_and_joint_names_are_ours(urdf):
    own, ours = simulate(urdf), Simulation()
    ours.reset("rule_001", "safe_01", 0)
    assert own._robot.names == ours._robot.names
    mimics = [[joint.mimic for joint in each._robot.body.moving_joints] for each in (own, ours)]
    assert mimics[0] == mimics[1] and any(mimics[0])
    for a, b in zip(own._robot.articulation.links, ours._robot.articulation.links, strict=True):
        assert (a.name, a.mass) == (b.name, b.mass)
    for simulation in (own, ours):
        for _ in range(5):
            simulation.step(HOME_ACTION + 0.1)
    np.testing.assert_allclose(own.state().joint_positions, ours.state().joint_positions, atol=1e-5)


def test_mesh_links_collide_as_the_hull_of_their_mesh(urdf):
    simulation = simulate(urdf)
    finger = simulation._robot.articulation.find_link_by_name("R_index_intermediate")
    (hull,) = finger.collision_shapes
    assert isinstance(hull, sapien.physx.PhysxCollisionShapeConvexMesh)
    link = next(link for link in h1_2().links if link.name == finger.name)
    surface = np.concatenate([shape_mesh(shape).vertices for shape in link.shapes])
    np.testing.assert_allclose(hull.vertices.min(0), surface.min(0), atol=1e-4)
    np.testing.assert_allclose(hull.vertices.max(0), surface.max(0), atol=1e-4)
    assert hull.physical_material.static_friction == 1.0


@pytest.mark.episode
def test_the_expert_opens_a_safe_with_it(urdf):
    simulation = simulate(urdf, rule="rule_003", safe="safe_02")
    result = run_expert(simulation)
    assert result.success, result.reason
    assert simulation.success and simulation.clipped_actions == 0


def test_its_meshes_are_seen_in_their_colour(urdf):
    """Where our robot's pixels are, and hardly anywhere else, the picture turns red."""

    def front(urdf: str) -> np.ndarray:
        view = Observer(simulate(urdf)).observe(["front"])
        return view["front"].astype(int)

    def red(picture: np.ndarray) -> np.ndarray:
        return picture[..., 0] > 2 * picture[..., 1:].max(axis=-1) + 20

    ours, own = front(""), front(urdf)
    changed = np.abs(own - ours).max(axis=-1) > 30
    assert not red(ours).any()
    assert red(own).sum() > 1500
    assert (changed & red(own)).sum() > 0.8 * changed.sum()


def set_mesh(link: str, filename: str, **more: str) -> Callable[[ET.Element], None]:
    def edit(robot):
        for mesh in robot.findall(f"link[@name='{link}']/*/geometry/mesh"):
            mesh.attrib.update(filename=filename, **more)

    return edit


@pytest.mark.parametrize("prefix", ["package://robot/", "package://another_name/", "file://", ""])
def test_mesh_names_resolve(tmp_path, prefix):
    folder = tmp_path / "robot" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robot" / "palm.STL").touch()
    place = f"{tmp_path}/robot/" if prefix == "file://" else "" if prefix else "../"
    name = f"{prefix}{place}palm.STL"
    body = robot_from_urdf(write_urdf(folder, set_mesh("R_hand_base_link", name, scale="1 2 3")))
    palm = next(link for link in body.links if link.name == "R_hand_base_link")
    for shape in palm.shapes:
        assert isinstance(shape, MeshShape) and shape.size == (1, 2, 3)
        assert shape.path.samefile(tmp_path / "robot" / "palm.STL")


def test_further_links_are_carried_along(tmp_path):
    def add_tool(robot):
        robot.append(
            ET.fromstring(
                '<joint name="turn" type="revolute"><parent link="mount"/><child link="tool"/>'
                '<origin xyz="0 0 0.1"/></joint>'
            )
        )
        robot.append(
            ET.fromstring(
                '<joint name="bolts" type="fixed"><parent link="right_wrist_yaw_link"/>'
                '<child link="mount"/><origin xyz="0.1 0 0"/></joint>'
            )
        )
        ET.SubElement(robot, "link", name="mount")
        robot.append(
            ET.fromstring(
                '<link name="tool"><collision><origin xyz="0 1 0"/><geometry>'
                '<sphere radius="0.02"/></geometry></collision></link>'
            )
        )

    body = merge_fixed(fix_joints(robot_from_urdf(write_urdf(tmp_path, add_tool)), FIXED_POSITIONS))
    wrist = next(link for link in body.links if link.name == "right_wrist_yaw_link")
    (tool,) = (shape for shape in wrist.shapes if shape.kind == "sphere")
    np.testing.assert_allclose(tool.pose, from_xyz_rpy((0.1, 1, 0.1)))
    assert tool.size == (0.02,) and tool.collides and not tool.visible


def edit_elbow(tag: str, key: str, value: str) -> Callable[[ET.Element], None]:
    return lambda robot: robot.find(f"joint[@name='right_elbow_joint']/{tag}").set(key, value)


def drop_elbow(robot: ET.Element) -> None:
    robot.remove(robot.find("joint[@name='right_elbow_joint']"))


def set_pelvis(geometry: str) -> Callable[[ET.Element], None]:
    def edit(robot):
        old = robot.find("link[@name='pelvis']/collision/geometry")
        old.clear()
        old.extend(ET.fromstring(f"<geometry>{geometry}</geometry>"))

    return edit


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (drop_elbow, "no joint right_elbow_joint"),
        (edit_elbow("axis", "xyz", "0 -1 0"), "right_elbow_joint: axis"),
        (set_mesh("R_thumb_distal", "meshes/x.STL"), "R_thumb_distal: .* 'meshes/x.STL'"),
        (set_mesh("R_thumb_distal", "package://a/x.STL"), "R_thumb_distal: .* 'package://a/x.STL'"),
        (set_mesh("R_thumb_distal", "own.urdf", scale="1 -1 1"), "R_thumb_distal: .*scales > 0"),
        (set_pelvis('<box size="1 2"/>'), r"pelvis: expected 3 finite number\(s\), got '1 2'"),
        (set_pelvis('<sphere radius="a"/>'), r"pelvis: expected 1 finite number\(s\), got 'a'"),
        (set_pelvis("<cone/>"), "pelvis: unknown geometry 'cone'; valid: box"),
        (set_pelvis(""), "pelvis: a collision has no geometry"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tmp_path, edit, named):
    with pytest.raises(RuleSafeError, match=named):
        Simulation(SimulationConfig(robot_urdf=write_urdf(tmp_path, edit)))


@pytest.mark.parametrize("link", ["torso_link", "R_thumb_distal"])
def test_a_mesh_that_cannot_be_read_is_refused_by_name(tmp_path, link):
    urdf = write_urdf(tmp_path)  # the torso's mesh is seen only
    (tmp_path / f"meshes/{link}.STL").write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(RuleSafeError, match=f"the mesh .*{link}.STL"):
        Observer(simulate(urdf)).observe(["front"])
