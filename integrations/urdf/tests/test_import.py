"""Imports of foreign safes and of the built-in ones: mapping, geometry, phases, and the expert."""

import shutil
from dataclasses import replace
from math import degrees, radians
from pathlib import Path

import numpy as np
import pytest
import trimesh
import yaml

from planner_node.collision import CollisionWorld
from planner_node.episode import run_expert
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape, scaled_hull
from rulesafe_core.transforms import apply
from rulesafe_core.urdf import to_urdf
from rulesafe_sim.config import Placement
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safe_checks import contains
from rulesafe_sim.safe_families import Fluted, Grip, Lever, Wheel
from rulesafe_sim.safe_meshes import Mesh, Shell
from rulesafe_sim.safes import SAFES, load_safe, read_safe
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Colours, ColourShift, Variation, vary_safe
from rulesafe_urdf import decompose, importing
from rulesafe_urdf.check import check_file
from rulesafe_urdf.decompose import convex_pieces
from rulesafe_urdf.export import export_safe
from rulesafe_urdf.importing import import_urdf
from rulesafe_urdf.mapping import read_mapping
from rulesafe_urdf.mesh_files import Piece
from rulesafe_urdf.phases import VISIBLE, measure_phase
from rulesafe_urdf.propose import propose
from rulesafe_urdf.source import read_source

NAMES = ("dial", "lever", "wheel")


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


def test_roles_and_directions_are_proposed(sources):
    dial = propose(sources["dial"])
    assert (dial.mapping.up, dial.mapping.front) == ("+z", "-x")
    assert dial.mapping.knob.joint == "joint_1" and dial.mapping.handle.joint == "joint_2"
    assert isinstance(dial.mapping.knob.grip, Fluted)  # a round dial
    assert isinstance(dial.mapping.handle.grip, Lever)
    assert dial.mapping.handle.opens == "counterclockwise"  # it points to the left, and turns down
    lever = propose(sources["lever"])
    assert (lever.mapping.up, lever.mapping.front) == ("+z", "+y")
    assert lever.mapping.scale == 1.0
    assert lever.mapping.door.range == pytest.approx(1.9)
    assert lever.mapping.knob.joint == "selector" and lever.mapping.handle.joint == "latch"
    wheel = propose(sources["wheel"])
    assert (wheel.mapping.up, wheel.mapping.front) == ("+y", "+z")
    assert isinstance(wheel.mapping.knob.grip, Grip) and wheel.mapping.knob.grip.sides == 8
    assert isinstance(wheel.mapping.handle.grip, Wheel) and wheel.mapping.handle.grip.spokes == 3


def test_what_was_changed_is_reported(imported):
    notes = "\n".join(imported["dial"].notes)
    for text in (
        "joint_3 slides (link_3); it is fixed",
        "scaled by 0.267, so that the arm reaches its parts",
        "the knob turns without end; a stop limits it to 60 deg",
        "the handle turns by 90 deg; a stop limits it to 60 deg",
        "the knob is scaled by 1 along and 0.7534 across its axis",
        "the door opens by 120 deg; a stop limits it",
    ):
        assert text in notes
    assert imported["dial"].fault == ""


def test_imported_safes_have_the_frames_of_all_safes(imported, name):
    safe = load_safe(imported[name].file)
    body = safe_body(safe)
    poses = body.link_poses({})
    assert [link.name for link in body.links] == ["body", "door", "knob", "handle"]
    door = _corners(body, "door")
    low, high = door.min(0), door.max(0)
    assert (low + high)[1:] == pytest.approx((0, 0), abs=2e-3)
    assert abs(safe.hinge_point[1]) == pytest.approx(safe.case.door_width / 2, abs=0.02)
    assert np.sign(safe.hinge_point[1]) == safe.hinge_side
    for part in ("knob", "handle"):
        assert poses[part][:3, 0] == pytest.approx((1, 0, 0))
        assert poses[part][:3, 3] == pytest.approx(safe.axis_point(part), abs=1e-5)
    opened = apply(body.link_poses({"door_joint": 1.0})["door"], (0, -2 * safe.hinge_point[1], 0))
    assert opened[0] > 0.1  # outwards


def _corners(body, link: str) -> np.ndarray:
    """Points of the collision shapes of a link, closed, in the frame of the safe."""
    pose = body.link_poses({})[link]
    shapes = next(each for each in body.links if each.name == link).shapes
    hulls = [s for s in shapes if isinstance(s, MeshShape) and s.collides]
    return apply(pose, np.concatenate([scaled_hull(shape).vertices for shape in hulls]))


def test_the_case_stays_hollow_and_the_door_closes_it(imported, name):
    """The decomposition of the case leaves room for the hand behind the door."""
    safe = load_safe(imported[name].file)
    case = [s for s in safe_body(safe).links[0].shapes if s.collides]
    assert len(case) >= 5
    inside = np.array([(-0.06, y, z) for y in (-0.08, 0, 0.08) for z in (-0.08, 0.05, 0.1)])
    filled = np.any([contains(shape, inside) for shape in case], axis=0)
    assert not filled.any()
    behind = np.array([(-safe.case.depth - 0.01, 0, 0), (0.02, 0, 0)])
    assert not np.any([contains(shape, behind) for shape in case], axis=0).any()


def test_textures_and_materials_are_kept(imported):
    safe = load_safe(imported["dial"].file)
    (door,) = (each for each in safe.door.meshes.visual if each.texture)
    assert Path(door.texture).read_bytes().startswith(b"\x89PNG")
    assert door.material.color == pytest.approx(door.texture_color, abs=1e-6)
    lever = load_safe(imported["lever"].file)
    assert lever.looks.handle.metallic == pytest.approx(0.4, abs=0.01)


def test_colours_of_meshes_are_randomised(imported):
    safe = load_safe(imported["dial"].file)
    shift = Variation(Placement((0, 0, 0), 0), colours=Colours(safe=ColourShift(hue=1.0)))
    varied = vary_safe(safe, shift)
    (before,), (after,) = safe.door.meshes.visual[:1], varied.door.meshes.visual[:1]
    assert before.material.color != after.material.color
    assert before.texture_color == after.texture_color  # the texture itself does not change
    assert hash(varied) != hash(safe) and varied.handle.shape.grip == safe.handle.shape.grip


def test_phases_are_measured_by_rendering(imported):
    knob, handle = (load_safe(imported["dial"].file).turners[p] for p in ("knob", "handle"))
    assert not knob.phase_visible  # a round dial without marks
    assert handle.phase_visible
    assert not load_safe(imported["wheel"].file).knob.phase_visible  # 45 deg of an octagon
    assert load_safe(imported["wheel"].file).handle.phase_visible  # 60 deg of three arms


@pytest.mark.parametrize("safe", SAFES)
@pytest.mark.parametrize("part", ["knob", "handle"])
def test_measured_phases_are_those_that_the_shapes_of_built_in_safes_have(safe, part):
    found = load_safe(safe)
    images = measure_phase(found, part)
    assert images.visible == found.turners[part].phase_visible
    assert images.difference < VISIBLE / 10 or images.difference > 5 * VISIBLE


def test_links_that_touch_do_not_block_each_other(imported, name):
    """The door of an imported safe fills its frame; both may overlap, and the door still opens."""
    simulation = Simulation()
    simulation.reset("rule_001", imported[name].file, seed=0)
    simulation._safe.set_positions({"door_joint": 0.0})
    door = simulation.safe.door
    simulation._safe.set_stop("door", False, True, 0.0)
    before = simulation.state().part_positions["door"]
    for _ in range(10):
        simulation._safe.update_torques({"door": 2.0})
        for _ in range(20):
            simulation.scene.step()
    moved = simulation._safe.part_positions()["door"] - before
    assert moved > 0.3 * door.range


def test_the_planner_collides_with_hulls_and_grips(imported, name):
    safe = load_safe(imported[name].file)
    world = CollisionWorld(safe_body(safe))
    kinds = {type(thing.geometry).__name__ for thing in world.geometry.geometryObjects}
    assert "Convex" in kinds and "Capsule" in kinds


def test_a_mapping_can_be_edited(imported, urdfs, tmp_path):
    folder = imported["lever"].file.with_suffix("")
    data = yaml.safe_load((folder / "mapping.yaml").read_text())
    data["title"] = "Strongbox"
    data["handle"]["range_deg"] = 50
    data["handle"]["detent_nm"] = 0.03
    data["knob"]["opens"] = "clockwise"
    data["knob"]["closed_deg"] = 120
    del data["handle"]["grip"]  # convex pieces of the mesh instead, which is bent
    data["door"]["pull_points_m"] = data["handle"]["points_m"]
    edited = tmp_path / "edited.yaml"
    edited.write_text(yaml.safe_dump(data))
    done = import_urdf(urdfs["lever"], tmp_path / "box.yaml", edited)
    assert done.fault == ""
    safe = load_safe(tmp_path / "box.yaml")
    assert safe.title == "Strongbox"
    assert degrees(safe.handle.range) == pytest.approx(50)
    assert safe.handle.detent == 0.03
    assert safe.knob.opening_sign == 1
    assert safe.handle.shape.grip is None and len(safe.handle.shape.hulls) >= 3
    again = read_mapping(tmp_path / "box/mapping.yaml")
    assert again.knob.closed == pytest.approx(radians(120))


@pytest.mark.parametrize("part", ["knob", "handle"])
def test_a_missing_part_is_added(part, urdfs, tmp_path):
    shutil.copytree(urdfs["dial"].parent, tmp_path / "copy")
    urdf = tmp_path / "copy/mobility.urdf"
    joint = {"knob": '"joint_1" type="continuous"', "handle": '"joint_2" type="revolute"'}[part]
    text = urdf.read_text()
    assert joint in text
    urdf.write_text(text.replace(joint, joint.split()[0] + ' type="fixed"'))
    done = import_urdf(urdf, tmp_path / "one.yaml")
    assert done.fault == ""
    assert f"the URDF has no {part}: a built-in one is added to the door" in done.notes
    safe = load_safe(tmp_path / "one.yaml")
    assert not isinstance(safe.turners[part].shape, Mesh)
    # The fixed part of the URDF is still on the door; the added one is beside it. A lever finds
    # its space below the fixed one, towards which it does not turn.
    at = {name: np.array(safe.axis_point(name)) for name in ("knob", "handle")}
    old = propose(read_source(urdfs["dial"])).layout.axis_on_door(part)
    assert np.linalg.norm(at[part][1:] - old) > {"knob": 0.05, "handle": 0.03}[part]
    assert np.linalg.norm(at["knob"] - at["handle"]) > 0.05


def test_a_safe_that_the_hand_cannot_operate_is_written_with_its_fault(imported, urdfs, tmp_path):
    folder = imported["lever"].file.with_suffix("")
    data = yaml.safe_load((folder / "mapping.yaml").read_text())
    data["handle"]["points_m"] = [[0.2, 0, 0.05]]
    (tmp_path / "edited.yaml").write_text(yaml.safe_dump(data))
    done = import_urdf(urdfs["lever"], tmp_path / "box.yaml", tmp_path / "edited.yaml")
    assert "the part is 0.000 m thick along the closing axis" in done.fault
    (failed,) = check_file(tmp_path / "box.yaml", "rule_001", 1)
    assert not failed.passed and "0.000 m thick" in failed.detail


@pytest.mark.parametrize("step", ["build_safe", "write_safe", "measured", "figure"])
def test_an_interrupted_import_changes_nothing(imported, urdfs, tmp_path, monkeypatch, step):
    """A file with phases that are not measured would look complete."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    old = imported["wheel"].file
    shutil.copy(old, tmp_path / "old.yaml")
    shutil.copytree(old.with_suffix(""), tmp_path / "old")
    (tmp_path / "old/mapping.yaml").unlink()
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    monkeypatch.setattr(importing, step, interrupt)
    for name in ("new", "old"):
        with pytest.raises(KeyboardInterrupt):
            import_urdf(urdfs["dial"], tmp_path / f"{name}.yaml")
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_an_interrupted_export_leaves_no_folder(imported, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rulesafe_urdf.export.to_urdf", interrupt)
    with pytest.raises(KeyboardInterrupt):
        export_safe(load_safe(imported["wheel"].file), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_folders_of_the_user_are_not_replaced(urdfs, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("keep")
    with pytest.raises(RuleSafeError, match="exists and is not of an imported safe"):
        import_urdf(urdfs["lever"], tmp_path / "mine.yaml")
    assert (tmp_path / "mine/notes.txt").read_text() == "keep"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine"]


def test_originals_in_the_folder_that_is_written_are_not_deleted(urdfs, tmp_path):
    """A mapping beside the originals does not make their folder that of an imported safe."""
    shutil.copytree(urdfs["dial"].parent, tmp_path / "dial")
    shutil.copytree(urdfs["wheel"].parent, tmp_path / "other")
    for folder in ("dial", "other"):
        (tmp_path / folder / "mapping.yaml").write_text("")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RuleSafeError, match="the folder that is written: choose another --out"):
        import_urdf(tmp_path / "dial/mobility.urdf", tmp_path / "dial.yaml")
    with pytest.raises(RuleSafeError, match="exists and is not of an imported safe"):
        import_urdf(tmp_path / "dial/mobility.urdf", tmp_path / "other.yaml")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_imported_safe_can_be_moved(imported, tmp_path):
    source = imported["wheel"].file
    shutil.copy(source, tmp_path / "my.yaml")
    shutil.copytree(source.with_suffix(""), tmp_path / source.stem)
    assert read_safe(tmp_path / "my.yaml").knob.grasp == load_safe(source).knob.grasp


def test_decompositions_are_stored(sources, monkeypatch):
    pieces = sources["lever"].links["case"].solid
    first = convex_pieces(pieces)
    monkeypatch.setattr(decompose, "_run", lambda *_: pytest.fail("not stored"))
    second = convex_pieces(pieces)
    assert len(first) == len(second)
    for (a, _), (b, _) in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b)


def test_a_solid_block_with_a_hole_is_decomposed():
    ring = trimesh.creation.annulus(0.05, 0.1, 0.03, sections=16)
    found = convex_pieces([Piece(np.asarray(ring.vertices), np.asarray(ring.faces))])
    assert len(found) >= 4
    volumes = [trimesh.Trimesh(*each).volume for each in found]
    assert sum(volumes) == pytest.approx(ring.volume, rel=0.2)


def test_the_urdf_of_an_imported_safe_names_its_meshes(imported, name):
    safe = load_safe(imported[name].file)
    urdf = to_urdf(safe_body(safe))
    files = {line.split('"')[1] for line in urdf.split("filename=")[1:]}
    assert all(Path(file.removeprefix("file://")).is_file() for file in files)
    assert isinstance(safe.case, Shell)


@pytest.mark.episode
def test_the_expert_opens_each_foreign_safe(imported, name):
    findings = list(check_file(imported[name].file, "rule_001", 1))
    assert [f"{f.check}: {f.detail}" for f in findings if not f.passed] == []
    assert findings[-1].detail == "opened it in 1 of 1 poses"


@pytest.mark.episode
@pytest.mark.parametrize("safe", ["safe_02", "safe_03", "safe_08"])
def test_built_in_safes_are_the_same_after_export_and_import(safe, tmp_path):
    """A tee, a prism and a wheel, a fluted knob; hinges on both sides."""
    original = load_safe(safe)
    urdf = export_safe(original, tmp_path / "out")
    done = import_urdf(urdf, tmp_path / "again.yaml")
    assert done.fault == ""
    again = load_safe(tmp_path / "again.yaml")
    assert again.hinge == original.hinge
    for part in ("knob", "handle"):
        one, other = original.turners[part], again.turners[part]
        assert type(other.shape.grip) is type(one.shape)
        sizes = {**vars(one.shape), "hub_radius": vars(other.shape.grip).get("hub_radius")}
        for key in vars(other.shape.grip):
            assert vars(other.shape.grip)[key] == pytest.approx(sizes[key], abs=1e-3)
        assert other.range == pytest.approx(one.range)
        assert other.opening_sign == one.opening_sign
        assert other.phase_visible == one.phase_visible
        assert again.axis_point(part) == pytest.approx(original.axis_point(part), abs=1e-4)
    assert again.looks.door.color == pytest.approx(original.looks.door.color, abs=0.01)
    simulation = Simulation()
    simulation.reset("rule_001", again, seed=0)
    assert run_expert(simulation).success


def test_a_texture_is_exported_and_imported_again(imported, tmp_path):
    urdf = export_safe(load_safe(imported["dial"].file), tmp_path / "out")
    import_urdf(urdf, tmp_path / "again.yaml")
    first, second = (
        next(each for each in load_safe(file).door.meshes.visual if each.texture)
        for file in (imported["dial"].file, tmp_path / "again.yaml")
    )
    assert second.texture_color == pytest.approx(first.texture_color, abs=0.01)
    assert Path(second.texture).is_file()


def test_an_edited_mapping_is_not_replaced_by_a_proposed_one(imported, urdfs, tmp_path):
    out = tmp_path / "dial.yaml"
    shutil.copytree(imported["dial"].file.with_suffix(""), tmp_path / "dial")
    mapping = tmp_path / "dial/mapping.yaml"
    text = mapping.read_text("utf-8").replace("range_deg: 60", "range_deg: 50")
    mapping.write_text(text, encoding="utf-8")
    with pytest.raises(RuleSafeError, match=r"differs from the proposed mapping: add --mapping"):
        import_urdf(urdfs["dial"], out)
    assert mapping.read_text("utf-8") == text and not out.exists()


def test_an_imported_safe_is_exported_and_imported_again(imported, tmp_path):
    first = load_safe(imported["wheel"].file)
    urdf = export_safe(first, tmp_path / "out")
    assert read_source(urdf).root == "body"
    import_urdf(urdf, tmp_path / "again.yaml")
    second = load_safe(tmp_path / "again.yaml")
    assert second.case.door_width == pytest.approx(first.case.door_width, abs=1e-3)
    assert second.handle.shape.grip.spokes == 3
    with pytest.raises(RuleSafeError, match="exists and is no empty folder"):
        export_safe(first, tmp_path / "out")


def test_sheets_without_thickness_are_solid():
    """Walls of exported furniture are often single rectangles."""
    corners = np.array([(0, 0, 0), (0.3, 0, 0.3), (0.3, 0.4, 0.3), (0, 0.4, 0)])
    ((points, faces),) = convex_pieces([Piece(corners, np.array([(0, 1, 2), (0, 2, 3)]))])
    volume = trimesh.Trimesh(points, faces).volume
    assert 0.001 < volume / (0.3 * np.sqrt(2) * 0.4) < 0.004  # m: its thickness
    line = Piece(corners[[0, 1, 0]], np.array([(0, 1, 2)]))
    assert convex_pieces([line]) == []


def test_the_front_is_found_for_any_orientation_of_triangles(sources):
    source = sources["dial"]
    flipped = {
        name: replace(
            link,
            visual=tuple(replace(p, faces=p.faces[:, ::-1]) for p in link.visual),
            collision=(),
        )
        for name, link in source.links.items()
    }
    layouts = [propose(each).layout for each in (source, replace(source, links=flipped))]
    assert layouts[0].to_safe == pytest.approx(layouts[1].to_safe, abs=1e-9)
