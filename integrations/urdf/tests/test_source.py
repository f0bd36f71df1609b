"""URDF files with meshes: what is read, and one clear error for each fault."""

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh

from rulesafe_core.body import srgb_to_linear
from rulesafe_core.errors import RuleSafeError
from rulesafe_urdf import mesh_files
from rulesafe_urdf.importing import import_urdf
from rulesafe_urdf.propose import propose
from rulesafe_urdf.source import read_semantics, read_source


def test_partnet_layout_is_read_with_semantics_textures_and_materials(sources):
    source = sources["dial"]
    assert source.root == "base"
    assert {name: link.meaning for name, link in source.links.items()} == {
        **{"base": "", "link_0": "door", "link_1": "knob", "link_2": "handle"},
        **{"link_3": "button", "link_4": "safe_body"},
    }
    (door,) = source.links["link_0"].visual
    assert door.texture is not None and door.texture.size == (64, 64)
    assert door.uv is not None and len(door.uv) == len(door.vertices)
    (dial,) = source.links["link_1"].visual
    assert dial.texture is None
    assert dial.material.color == pytest.approx((srgb_to_linear(13 / 255),) * 3, abs=1e-3)
    # Meshes are in the object's frame: the joint's origin is subtracted from them.
    pose = source.poses()["link_1"]
    placed = dial.moved(pose).vertices
    assert np.ptp(placed, axis=0).max() == pytest.approx(0.3, abs=0.01)


def test_glb_files_of_a_package_keep_colour_and_metal(sources):
    (lever,) = sources["lever"].links["lever"].visual
    assert lever.material.metallic == pytest.approx(0.4, abs=0.01)
    assert lever.material.color == pytest.approx((210 / 255, 180 / 255, 90 / 255), abs=0.01)


def test_stl_files_are_scaled_and_take_the_colours_of_the_urdf(sources):
    (door,) = sources["wheel"].links["door"].visual
    assert np.ptp(door.vertices, axis=0).max() < 0.6
    assert door.material.color == pytest.approx([srgb_to_linear(v) for v in (0.15, 0.3, 0.6)])
    (spokes,) = sources["wheel"].links["spokes"].visual
    assert spokes.material.color == pytest.approx([srgb_to_linear(v) for v in (0.8, 0.6, 0.2)])


def test_primitives_are_read_too(tmp_path):
    text = """<robot name="x"><link name="a"><visual><geometry><box size="1 2 3"/></geometry>
        </visual><visual><geometry><sphere radius="0.5"/></geometry></visual><collision><geometry>
        <cylinder radius="0.1" length="2"/></geometry></collision></link></robot>"""
    (tmp_path / "x.urdf").write_text(text)
    link = read_source(tmp_path / "x.urdf").links["a"]
    assert np.ptp(link.visual[0].vertices, axis=0) == pytest.approx((1, 2, 3))
    assert np.ptp(link.visual[1].vertices, axis=0) == pytest.approx((1, 1, 1), abs=0.01)
    assert np.ptp(link.solid[0].vertices, axis=0) == pytest.approx((0.2, 0.2, 2), abs=0.01)


def test_a_rotation_may_be_a_quaternion(urdfs, sources, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    text = swapped('rpy="1.57[^"]*"', 'quat_xyzw="0.5 -0.5 -0.5 0.5"')(urdf.read_text())
    urdf.write_text(text)
    for name, pose in sources["dial"].poses().items():
        np.testing.assert_allclose(read_source(urdf).poses()[name], pose, atol=1e-9)


def test_capsules_infinite_limits_and_further_elements(tmp_path):
    text = """<robot name="x"><link name="a"><visual><pose>1 0 0</pose><geometry>
        <capsule radius="0.1" length="1"/></geometry></visual></link><link name="b"/>
        <joint name="j" type="revolute"><parent link="a"/><child link="b"/>
        <limit lower="-inf" upper="1e10" effort="1" velocity="1"/></joint></robot>"""
    (tmp_path / "x.urdf").write_text(text)
    source = read_source(tmp_path / "x.urdf")
    vertices = source.links["a"].visual[0].vertices
    assert np.abs(vertices).max(axis=0) == pytest.approx((0.1, 0.1, 0.6), abs=0.01)
    assert (source.joints[0].lower, source.joints[0].upper) == (-np.inf, np.inf)
    assert source.notes == ("link a: the element <pose> is not read",)


@pytest.mark.parametrize("name", ["my%20box%C3%BC.obj", "my boxü.obj", ".\\my boxü.obj"])
@pytest.mark.parametrize(
    ("encoding", "declaration"),
    [
        ("utf-8", ""),
        ("utf-8-sig", '<?xml version="1.0" encoding="UTF-8"?>'),
        ("iso-8859-1", '<?xml version="1.0" encoding="ISO-8859-1"?>'),
        ("utf-16", '<?xml version="1.0" encoding="utf-16"?>'),
    ],
)
def test_file_names_encodings_and_namespaces(name, encoding, declaration, tmp_path):
    trimesh.creation.box().export(tmp_path / "my boxü.obj")
    text = f"""{declaration}<robot xmlns="http://drake.mit.edu" name="Tür"><link name="a"><visual>
        <geometry><mesh filename="{name}"/></geometry></visual></link></robot>"""
    (tmp_path / "x.urdf").write_bytes(text.encode(encoding))
    source = read_source(tmp_path / "x.urdf")
    assert source.name == "Tür" and len(source.links["a"].visual[0].faces) == 12


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-12", "us-ascii", "idna"])
def test_an_encoding_that_is_not_that_of_the_text_is_one_error(encoding, tmp_path):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="Tür"/>'
    (tmp_path / "x.urdf").write_bytes(text.encode("iso-8859-1"))
    with pytest.raises(RuleSafeError, match=r"x\.urdf is not [-\w]+ text"):
        read_source(tmp_path / "x.urdf")


@pytest.mark.parametrize("content", [None, b"v 0 0 0\nv 1 0 0\nl 1 2\n", b"v 0 0 0\n"])
def test_a_mesh_without_file_or_faces_is_noted_if_the_link_has_others(content, tmp_path):
    if content is not None:
        (tmp_path / "lost.obj").write_bytes(content)
    (tmp_path / "x.urdf").write_text(
        """<robot name="x"><link name="a"><visual><geometry><mesh filename="lost.obj"/></geometry>
        </visual><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>"""
    )
    source = read_source(tmp_path / "x.urdf")
    assert len(source.links["a"].visual) == 1
    (note,) = source.notes
    assert re.match("link a: the visual mesh .*lost.obj .*; its other shapes are used", note)


Edit = Callable[[str], str]


def swapped(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert re.search(old, text, re.DOTALL), old
        return re.sub(old, new, text, count=1, flags=re.DOTALL)

    return edit


FAULTS: dict[str, tuple[Edit, str]] = {
    "missing mesh": (
        lambda text: text.replace("original-3.obj", "lost.obj"),
        "link link_1: the visual mesh textured_objs/lost.obj is missing, .*; valid: at least one",
    ),
    "zero inertia": (
        swapped(
            '<link name="link_1">',
            '<link name="link_1"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/>'
            "</inertial>",
        ),
        "link link_1: its mass is 1 kg and its moments of inertia .* valid: above 0",
    ),
    "two parents": (
        swapped(
            "</robot>",
            '<joint name="bar" type="fixed"><parent link="link_4"/><child link="link_1"/></joint>'
            "</robot>",
        ),
        "link link_1 is the child of 2 joints; closed kinematic loops are not supported",
    ),
    "loop": (
        swapped('<parent link="base"/>', '<parent link="link_2"/>'),
        "the joints joint_0, .* form a closed kinematic loop",
    ),
    "outside": (
        swapped("textured_objs/original-3.obj", "../../../etc/passwd.obj"),
        "is outside .*; give the folder that contains URDF and meshes by --root",
    ),
    "absolute": (swapped("textured_objs/original-3.obj", "/etc/passwd"), "is outside"),
    "file url": (swapped("textured_objs/original-3.obj", "file:///etc/passwd"), "is outside"),
    "entities": (
        swapped("<robot", '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot'),
        "cannot read the URDF .* no DOCTYPE",
    ),
    "no xml": (lambda text: text[:-30], "cannot read the URDF"),
    "another root": (lambda text: text.replace("robot", "sdf"), "the root element is <sdf>"),
    "joint type": (swapped("prismatic", "planar"), "joint joint_3: its type is 'planar'; valid"),
    "axis": (swapped('<axis xyz="0 -1 0"', '<axis xyz="0 0 0"'), "joint_0: its axis has no length"),
    "limit": (swapped('upper="2.2"', 'upper="-3"'), "joint_0: its limits are 0 and -3"),
    "number": (swapped('lower="0"', 'lower="zero"'), "its limit lower is 'zero'; valid: a number"),
    "no such link": (swapped('<child link="link_2"/>', '<child link="l"/>'), "'l' is no link"),
    "two roots": (swapped("</robot>", '<link name="alone"/></robot>'), "base, alone have no par"),
    "names": (swapped("</robot>", '<link name="base"/></robot>'), "a unique name"),
    "joint names": (swapped('name="joint_1"', 'name="joint_0"'), "each joint must have a unique"),
    "format": (swapped("original-3.obj", "paint.png"), "format is not supported; valid: .obj"),
    "geometry": (swapped("<mesh [^>]*3.obj[^>]*>", "<torus/>"), "its geometry is <torus>"),
    "attribute": (
        swapped('rpy="1.57', 'quat_wxyz="1 0 0 0" rpy="1.57'),
        "joint joint_4: <origin> has the unknown attribute 'quat_wxyz'; valid: xyz, rpy, quat_xyzw",
    ),
    "rotations": (swapped('rpy="1.57', 'quat_xyzw="0 0 0 1" rpy="1.57'), "valid: one of them"),
    "quaternion": (swapped('rpy="1.57[^"]*"', 'quat_xyzw="0 0 0 0"'), "valid: a unit quaternion"),
    "origins": (swapped('<axis xyz="0 -1 0"/>', '<origin xyz="1 0 0"/>'), "several .* <origin>"),
    "shapes": (swapped('3.obj"/>', '3.obj"/><box size="1 1 1"/>'), "<geometry> has 2 shapes"),
    "nan": (swapped('upper="2.2"', 'upper="nan"'), "its limit upper is 'nan'; valid: a number"),
    "no position": (swapped('lower="0" upper="2.2"', 'lower="inf" upper="inf"'), "limits are inf"),
    "xacro": (
        swapped("</robot>", '<x:include xmlns:x="http://www.ros.org/wiki/xacro"/></robot>'),
        "it contains xacro elements; expand them",
    ),
    "scale": (swapped('original-3.obj"', 'original-3.obj" scale="0 1 1"'), "valid: not 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_urdf_has_one_clear_error(fault, urdfs, tmp_path):
    edit, message = FAULTS[fault]
    folder = tmp_path / "copy"
    shutil.copytree(urdfs["dial"].parent, folder)
    urdf = folder / "mobility.urdf"
    urdf.write_text(edit(urdf.read_text()))
    with pytest.raises(RuleSafeError, match=message):
        import_urdf(urdf, tmp_path / "out/my_safe.yaml")
    assert not (tmp_path / "out").exists()  # nothing is written


def test_a_urdf_without_a_door_says_which_joints_it_has(urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    urdf.write_text(urdf.read_text().replace('"joint_0" type="revolute"', '"joint_0" type="fixed"'))
    with pytest.raises(RuleSafeError, match=r"it has no door: .* joint_1 \(continuous\)"):
        propose(read_source(urdf))


def test_a_door_that_opens_into_the_case_is_refused(urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    urdf.write_text(urdf.read_text().replace('lower="0" upper="2.2"', 'lower="-2.2" upper="0"'))
    with pytest.raises(RuleSafeError, match=r"opens outwards by .* is another face the front"):
        propose(read_source(urdf))


def test_large_files_are_refused_before_they_are_parsed(urdfs, tmp_path, monkeypatch):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    monkeypatch.setattr(mesh_files, "MAX_MESH_BYTES", 1000)
    with pytest.raises(RuleSafeError, match="larger than the limit of 1000 bytes"):
        read_source(urdf)
    monkeypatch.undo()
    urdf.write_text(urdf.read_text() + " " * 5_000_000)
    with pytest.raises(RuleSafeError, match="larger than the limit of 4000000 bytes"):
        read_source(urdf)
    monkeypatch.setattr(mesh_files, "MAX_TRIANGLES", 100)
    urdf.write_text(urdf.read_bytes()[:-5_000_000].decode())
    with pytest.raises(RuleSafeError, match="triangles; the limit is 100"):
        read_source(urdf)


@pytest.mark.parametrize("content", [b"", b"solid x\n", b"\0" * 500, b"v 1 2\nf 1 2 3 4 5\n"])
@pytest.mark.parametrize("suffix", [".obj", ".stl", ".glb"])
def test_broken_meshes_are_named(content, suffix, tmp_path):
    (tmp_path / f"x{suffix}").write_bytes(content)
    (tmp_path / "x.urdf").write_text(
        f'<robot name="x"><link name="a"><visual><geometry><mesh filename="x{suffix}"/></geometry>'
        "</visual></link></robot>"
    )
    with pytest.raises(RuleSafeError, match=f"link a: .*x{suffix}"):
        read_source(tmp_path / "x.urdf")


def test_materials_of_an_obj_outside_the_folder_are_not_read(tmp_path):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.mtl").write_text("newmtl m\nKd 1 0 0\n")
    box = trimesh.creation.box()
    lines = ["mtllib ../secret.mtl", "usemtl m", *(f"v {x} {y} {z}" for x, y, z in box.vertices)]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in box.faces]
    (folder / "x.obj").write_text("\n".join(lines))
    pieces = None
    try:
        pieces = mesh_files.read_mesh(folder / "x.obj", mesh_files.MeshFolder(folder / "x.urdf"))
    except RuleSafeError as error:
        assert "outside" in str(error)
    assert pieces is None or pieces[0].material.color != pytest.approx((1, 0, 0))


def test_root_allows_meshes_beside_the_folder_of_the_urdf(urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "all/meshes")
    (tmp_path / "all/urdf").mkdir()
    text = (tmp_path / "all/meshes/mobility.urdf").read_text()
    urdf = tmp_path / "all/urdf/mobility.urdf"
    urdf.write_text(text.replace("textured_objs", "../meshes/textured_objs"))
    with pytest.raises(RuleSafeError, match="--root"):
        read_source(urdf)
    assert read_source(urdf, tmp_path / "all").links.keys() > {"link_0"}


def test_semantics_with_a_wrong_line_are_refused(tmp_path):
    path = tmp_path / "semantics.txt"
    assert read_semantics(path) == {}
    path.write_text("link_0 hinge door\nlink_1 knob\n")
    with pytest.raises(RuleSafeError, match="'link_1 knob'; valid: link, joint type, meaning"):
        read_semantics(path)


def test_missing_files_are_named(tmp_path):
    with pytest.raises(RuleSafeError, match=r"cannot read the URDF .*nowhere.urdf"):
        read_source(Path(tmp_path / "nowhere.urdf"))


def one_box(folder: Path, name: str) -> Path:
    """Write a URDF with a box of 1 m, whose mesh has the name or URL `name`."""
    (folder / "x.urdf").write_text(
        f'<robot name="x"><link name="a"><visual><geometry><mesh filename="{name}"/></geometry>'
        "</visual></link></robot>"
    )
    return folder / "x.urdf"


def test_a_package_without_a_name_does_not_allow_every_folder(tmp_path):
    trimesh.creation.box().export(tmp_path / "secret.stl")
    (tmp_path / "in").mkdir()
    urdf = one_box(tmp_path / "in", f"package://{tmp_path}/secret.stl")
    with pytest.raises(RuleSafeError, match=r"missing|outside"):
        read_source(urdf)


def test_a_far_folder_with_the_name_of_a_package_is_not_allowed(tmp_path):
    trimesh.creation.box().export(tmp_path / "secret.stl")
    folder = tmp_path / "robots" / "a" / "b" / "c" / "in"
    folder.mkdir(parents=True)
    package = f"package://{tmp_path.name}/secret.stl"
    with pytest.raises(RuleSafeError, match="missing"):
        read_source(one_box(folder, package))
    near = tmp_path / "in"
    near.mkdir()
    assert read_source(one_box(near, package)).root == "a"


@pytest.mark.parametrize("name", ["loop.stl", "a" * 300 + ".stl"])
def test_names_that_the_file_system_refuses_are_missing_meshes(name, tmp_path):
    (tmp_path / "loop.stl").symlink_to("loop.stl")
    with pytest.raises(RuleSafeError, match=r"a: the visual mesh .* is missing"):
        read_source(one_box(tmp_path, name))


@pytest.mark.parametrize("value", [np.nan, 1e30])
def test_coordinates_that_are_not_finite_are_refused(value, tmp_path):
    mesh = trimesh.creation.box()
    mesh.vertices[0, 0] = 7.0
    content = mesh.export(file_type="stl")
    seven, other = (np.float32(number).tobytes() for number in (7.0, value))
    (tmp_path / "x.stl").write_bytes(content.replace(seven, other))
    with pytest.raises(RuleSafeError, match=r"x\.stl: a coordinate is not finite"):
        read_source(one_box(tmp_path, "x.stl"))


def test_large_arrays_of_a_small_glb_are_refused_before_they_are_allocated(tmp_path):
    accessors = [{"componentType": 5126, "count": 10**9, "type": "VEC3"}]
    text = json.dumps({"asset": {"version": "2.0"}, "accessors": accessors}).encode()
    header = b"glTF" + struct.pack("<IIII", 2, 20 + len(text), len(text), 0x4E4F534A)
    (tmp_path / "x.glb").write_bytes(header + text)
    with pytest.raises(RuleSafeError, match=r"x\.glb: an array has 1000000000 values; the limit"):
        read_source(one_box(tmp_path, "x.glb"))


def test_missing_textures_and_mimicked_joints_are_noted(urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    (tmp_path / "copy/textured_objs/paint.png").write_bytes(b"no image")
    (tmp_path / "copy/textured_objs/original-3.mtl").unlink()
    urdf.write_text(urdf.read_text().replace("</joint>", '<mimic joint="joint_2"/></joint>', 1))
    notes = "\n".join(read_source(urdf).notes)
    assert "paint.png is missing or not readable" in notes
    assert "original-3.mtl is missing or not readable" in notes
    assert "joint_0 mimics joint_2" in notes


def test_a_part_without_area_is_named(urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    line = "v 0.35 0.2 0.1\nv 0.35 0.25 0.1\nv 0.35 0.3 0.1\nf 1 2 3\n"
    (tmp_path / "copy/textured_objs/original-3.obj").write_text(line)
    with pytest.raises(RuleSafeError, match=r"the knob \(link_1\): its triangles have no area"):
        propose(read_source(tmp_path / "copy/mobility.urdf"))
