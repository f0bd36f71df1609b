"""The ten safes: that they load, that hidden ones hide, that annotations point at the parts."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import yaml
from scipy.spatial import cKDTree

import rulesafe_sim
from rulesafe_core.body import Body, Material, Shape
from rulesafe_core.cameras import load_cameras
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import about_axis, apply, from_parts
from rulesafe_demos.attempts import make_request
from rulesafe_locks.rules import PARTS
from rulesafe_render.meshes import shape_mesh
from rulesafe_sim import articulations, physics
from rulesafe_sim.bodies import EpisodeBodies, load_robot
from rulesafe_sim.config import PhysicsConfig
from rulesafe_sim.observer import Views
from rulesafe_sim.randomisation import SPLITS, load_split, sample_placement
from rulesafe_sim.safe import Safe, detent_torque
from rulesafe_sim.safe_body import inertial_of, safe_body
from rulesafe_sim.safe_checks import check_safe, contains, solid_shapes
from rulesafe_sim.safe_families import HandleShape, KnobShape, Wheel
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Variation

DATA = Path(rulesafe_sim.__file__).parent / "data/safes"


@pytest.fixture(params=SAFES)
def safe(request) -> Safe:
    return load_safe(request.param)


def test_the_hand_can_operate_each_built_in_safe(safe):
    """They are loaded without this check, which takes a quarter of a second."""
    check_safe(safe)


def same_shape(a: Shape, b: Shape, tolerance: float = 1e-6) -> bool:
    """Whether two shapes fill the same space and look the same."""
    if (a.kind, a.material, a.collides, a.visible) != (b.kind, b.material, b.collides, b.visible):
        return False
    if np.abs(a.pose[:3, 3] - b.pose[:3, 3]).max() > tolerance:
        return False
    if a.kind != "box" and not np.allclose(a.size, b.size, atol=tolerance):
        return False
    if a.kind == "sphere":
        return True
    if a.kind in ("capsule", "cylinder"):
        return abs(a.pose[:3, 2] @ b.pose[:3, 2]) > 1 - tolerance
    corners_a, corners_b = box_corners(a), box_corners(b)
    distance = np.linalg.norm(corners_a[:, None] - corners_b[None], axis=2)
    return bool(distance.min(axis=0).max() < tolerance and distance.min(axis=1).max() < tolerance)


def box_corners(box: Shape) -> np.ndarray:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return apply(box.pose, signs * np.array(box.size) / 2)


def same_set(one: list[Shape], other: list[Shape]) -> bool:
    """Whether two lists hold the same shapes in some order."""
    left = list(other)
    for shape in one:
        match = next((i for i, candidate in enumerate(left) if same_shape(shape, candidate)), None)
        if match is None:
            return False
        left.pop(match)
    return not left


def placed(body: Body, link: str, positions: dict[str, float]) -> list[Shape]:
    pose = body.link_poses(positions)[link]
    shapes = next(item.shapes for item in body.links if item.name == link)
    return [replace(shape, pose=pose @ shape.pose) for shape in shapes]


def test_same_shape_sees_small_differences() -> None:
    box = Shape("box", (0.1, 0.2, 0.3))
    assert same_shape(box, Shape("box", (0.1, 0.2, 0.3), about_axis((1, 0, 0), np.pi)))
    assert same_shape(box, Shape("box", (0.1, 0.3, 0.2), about_axis((1, 0, 0), np.pi / 2)))
    assert not same_shape(box, Shape("box", (0.1, 0.2, 0.3), about_axis((1, 0, 0), 0.001)))
    assert not same_shape(box, Shape("box", (0.1, 0.2, 0.3), material=Material((1, 0, 0))))
    assert not same_set([box], [box, box])


def test_ten_safes_of_enough_families() -> None:
    safes = [load_safe(name) for name in SAFES]
    assert len(safes) == 10
    assert {path.stem for path in DATA.glob("*.yaml")} == set(SAFES)
    assert {type(safe.knob.shape) for safe in safes} == set(get_args(KnobShape))
    assert {type(safe.handle.shape) for safe in safes} == set(get_args(HandleShape))
    assert Counter(safe.hinge for safe in safes) == {"left": 5, "right": 5}
    assert len({safe.looks for safe in safes}) == 10
    hidden = [safe for safe in safes if not safe.phase_visible]
    assert len(hidden) >= 6
    assert len(hidden) < 10


@pytest.mark.parametrize("part", ["knob", "handle"])
def test_phase_is_visible_exactly_where_it_says(safe: Safe, part: str) -> None:
    body = safe_body(safe)
    closed = placed(body, part, {})
    opened = placed(body, part, {f"{part}_joint": safe.parts[part].range})
    assert same_set(closed, opened) == (not safe.turners[part].phase_visible)
    assert not same_set(closed, placed(body, part, {f"{part}_joint": safe.parts[part].range / 2}))


@pytest.mark.parametrize("part", ["knob", "handle"])
def test_hidden_phases_have_the_same_corners_in_pictures(safe: Safe, part: str) -> None:
    """Round shapes too: the facets of their meshes fall on each other."""
    body, turner = safe_body(safe), safe.turners[part]

    def corners(position: float) -> np.ndarray:
        shown = [s for s in placed(body, part, {f"{part}_joint": position}) if s.visible]
        return np.concatenate([shape_mesh(shape).vertices for shape in shown])

    distance = cKDTree(corners(0.0)).query(corners(turner.range))[0].max()
    assert (distance < 1e-6) == (not turner.phase_visible)


def test_a_safe_hides_both_phases_or_shows_both(safe: Safe) -> None:
    assert safe.knob.phase_visible == safe.handle.phase_visible == safe.phase_visible


def test_body_is_well_formed(safe: Safe) -> None:
    body = safe_body(safe)
    assert [link.name for link in body.links] == ["body", "door", "knob", "handle"]
    assert [joint.name for joint in body.joints] == ["door_joint", "knob_joint", "handle_joint"]
    for link in body.links:
        assert link.inertial is not None
        assert link.inertial.mass > 0
        moments = np.linalg.eigvalsh(link.inertial.inertia)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1]
    for joint in body.joints:
        part = safe.parts[joint.name.removesuffix("_joint")]
        assert (joint.lower, joint.upper, joint.damping) == (0.0, part.range, part.damping)
    # No cylinder collides: its facets would turn without friction.
    assert not any(s.kind == "cylinder" and s.collides for link in body.links for s in link.shapes)


def test_frame_is_the_middle_of_the_closed_doors_front(safe: Safe) -> None:
    door = placed(safe_body(safe), "door", {})[0]
    low, high = box_corners(door).min(axis=0), box_corners(door).max(axis=0)
    np.testing.assert_allclose((low + high)[1:], 0, atol=1e-9)
    assert high[0] == pytest.approx(0, abs=1e-9)


def test_door_opens_towards_the_robot(safe: Safe) -> None:
    body = safe_body(safe)
    side = -1 if safe.hinge == "left" else 1  # y points to the right as seen from the front
    free_edge = apply(body.link_poses({})["door"], (0, -side * safe.case.door_width, 0))
    np.testing.assert_allclose(free_edge, (0, -side * safe.case.door_width / 2, 0), atol=1e-9)
    opened = apply(
        body.link_poses({"door_joint": 0.5})["door"], (0, -side * safe.case.door_width, 0)
    )
    assert opened[0] == pytest.approx(safe.case.door_width * np.sin(0.5))


def test_door_clears_its_frame(safe: Safe) -> None:
    """No point of the panel meets a wall while it opens."""
    body = safe_body(safe)
    walls = [shape for shape in body.links[0].shapes if shape.collides]
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, n) for n in (5, 41, 5)]), -1)
    for position in np.linspace(0, safe.door.range, 31):
        panel = placed(body, "door", {"door_joint": position})[0]
        points = apply(panel.pose, grid.reshape(-1, 3) * panel.size)
        assert not any(contains(wall, points).any() for wall in walls)


def test_knob_above_handle_beside_the_free_edge(safe: Safe) -> None:
    poses = safe_body(safe).link_poses({})
    for name, part in safe.turners.items():
        _, y, z = poses[name][:3, 3]
        free = safe.case.door_width / 2 * (1 if safe.hinge == "left" else -1)
        assert abs(free - y) == pytest.approx(part.from_free_edge)
        assert z == pytest.approx(part.above_centre)
        np.testing.assert_allclose(poses[name][:3, 0], (1, 0, 0), atol=1e-9)
    assert poses["knob"][2, 3] > poses["handle"][2, 3]


@pytest.mark.parametrize(
    ("held", "use"), [("knob", "turn"), ("handle", "turn"), ("handle", "pull")]
)
def test_grasps_close_on_the_part(safe: Safe, held: str, use: str) -> None:
    """Along the closing axis the fingers meet the part and, a finger's travel away, nothing."""
    solid = solid_shapes(safe.turners[held])
    grasps = safe.grasps(held, use)
    assert len(set(grasps)) == len(grasps) >= 1
    for grasp in grasps:
        point, closing, approach = (
            np.array(v) for v in (grasp.point, grasp.closing, grasp.approach)
        )
        np.testing.assert_allclose(approach, (-1, 0, 0))
        assert closing @ approach == pytest.approx(0, abs=1e-9)
        assert np.linalg.norm(closing) == pytest.approx(1)
        held_at, beside = point, point + np.outer((-0.026, 0.026), closing)
        assert any(contains(shape, held_at[None]).any() for shape in solid)
        assert not any(contains(shape, beside).any() for shape in solid)


def test_wheels_offer_every_spoke() -> None:
    safe = load_safe("safe_03")
    assert isinstance(safe.handle.shape, Wheel)
    points = np.array([grasp.point for grasp in safe.grasps("handle", "turn")])
    assert len(points) == safe.handle.shape.spokes
    np.testing.assert_allclose(points.mean(axis=0)[1:], 0, atol=1e-6)
    radius = np.hypot(points[:, 1], points[:, 2])
    np.testing.assert_allclose(radius, radius[0], atol=1e-6)


def test_grasps_refuse_what_they_do_not_know() -> None:
    safe = load_safe("safe_01")
    with pytest.raises(RuleSafeError, match="knob, handle"):
        safe.grasps("hinge", "turn")
    with pytest.raises(RuleSafeError, match="turn, pull"):
        safe.grasps("knob", "push")
    with pytest.raises(RuleSafeError, match="valid: handle"):
        safe.grasps("knob", "pull")


def test_detent_holds_either_end(safe: Safe) -> None:
    for part in safe.turners.values():
        assert detent_torque(part, 0.0) == -part.detent
        assert detent_torque(part, part.range) == part.detent
        assert detent_torque(part, part.range / 2) == 0
        # It has turned over to the new phase before that phase is announced.
        assert detent_torque(part, part.open_above * part.range) > 0
        assert detent_torque(part, part.closed_below * part.range) < 0
        slope = np.diff([detent_torque(part, q) for q in np.linspace(0, part.range, 50)])
        assert (slope >= 0).all()
    assert safe.knob.torque(0.0) < 0 < safe.handle.torque(safe.handle.range)
    assert safe.door.torque(0.3) == -safe.door.spring


@pytest.mark.parametrize("fraction", [0.0, 0.4, 0.6, 1.0])
def test_detent_works_in_the_physics(safe: Safe, fraction: float) -> None:
    """A part left between its ends goes on to the nearer one; at an end it stays, whatever the
    weight of its arm."""
    config = PhysicsConfig()
    scene = physics.make_scene(config)
    body = physics.build_body(scene, safe_body(safe), np.eye(4), 1.0, physics.Groups.SAFE)
    lockable = articulations.LockableSafe(body, safe.parts, config.lock_play)
    start = {name: fraction * part.range for name, part in safe.turners.items()}
    lockable.set_positions({f"{name}_joint": position for name, position in start.items()})
    for _ in range(round(1.0 / config.timestep)):
        lockable.update_torques({})
        scene.step()
    end = lockable.part_positions()
    for name, part in safe.turners.items():
        moved = (end[name] - start[name]) / part.range
        if fraction in (0.0, 1.0):
            assert abs(moved) < 1e-3
        else:
            assert moved * (fraction - 0.5) > 0
            assert abs(moved) > 0.02
    assert abs(end["door"]) < 1e-3


STRAY, VISIBLE = 10, 40
"""Pixels of 50176: so many rounding at a silhouette may flip in one picture, by the processor that
renders; a part that is seen to turn changes more than so many."""


def test_pictures_hide_or_show_the_phases(safe: Safe) -> None:
    """Closed and open, head and front camera, at several placements: hidden phases change a stray
    pixel in some picture at most, and nothing in most of them.

    Pictures have no noise, so that a change of 3 in 256 counts."""
    changed: dict[tuple[str, float], list[int]] = {}
    places = SPLITS["nominal"].randomisation.placement
    for seed in range(3):
        placement = sample_placement(places, safe.hinge, seed)
        bodies = EpisodeBodies(load_robot(), safe, Variation(placement))
        views, still = Views(bodies), Simulation()
        still.reset("rule_001", safe, 0)

        def pictures(views=views, joints=still.joints(), **fractions: float) -> np.ndarray:
            turned = [safe.parts[part].range * fractions.get(part, 0.0) for part in PARTS]
            rig = views.take(replace(joints, safe_positions=np.array(turned, np.float32)))
            return np.stack([rig.rgb(camera).astype(int) for camera in rig.names])

        closed = pictures()
        for name in safe.turners:
            for fraction in (0.5, 1.0):
                change = np.abs(pictures(**{name: fraction}) - closed).max(axis=-1)
                pixels = (change > 2).sum(axis=(1, 2)).tolist()  # by camera
                changed.setdefault((name, fraction), []).extend(pixels)
    for name, part in safe.turners.items():
        assert min(changed[name, 0.5]) > VISIBLE
        if part.phase_visible:
            assert min(changed[name, 1.0]) > VISIBLE
        else:
            assert max(changed[name, 1.0]) <= STRAY
            assert np.median(changed[name, 1.0]) == 0


def test_inertia_of_a_box_and_of_a_split_box() -> None:
    whole = [Shape("box", (0.1, 0.2, 0.4))]
    halves = [Shape("box", (0.1, 0.2, 0.2), from_parts(np.eye(3), (0, 0, z))) for z in (-0.1, 0.1)]
    one, two = inertial_of(whole, 3.0), inertial_of(halves, 3.0)
    np.testing.assert_allclose(np.diag(one.inertia), 3 / 12 * np.array([0.2, 0.17, 0.05]))
    np.testing.assert_allclose(two.inertia, one.inertia, atol=1e-12)


@pytest.fixture
def edited(tmp_path):
    """Writes a copy of a safe with one value changed or removed, and gives its path."""

    def edit(source: str, keys: str, value: object = None, remove: bool = False) -> Path:
        data = yaml.safe_load((DATA / f"{source}.yaml").read_text())
        *path, last = keys.split(".")
        place = data
        for key in path:
            place = place[key]
        if remove:
            del place[last]
        else:
            place[last] = value
        copy = tmp_path / "mine.yaml"
        copy.write_text(yaml.safe_dump(data))
        return copy

    return edit


def test_a_users_file_loads(edited) -> None:
    safe = load_safe(edited("safe_03", "parts.handle.damping_nms_per_rad", 0.06))
    assert safe.id == "mine"
    assert safe.handle.damping == 0.06
    assert load_safe(str(edited("safe_03", "title", "Mine"))).title == "Mine"


@pytest.mark.parametrize(
    ("source", "keys", "value", "words"),
    [
        ("safe_01", "hinge", "top", ["hinge", "left, right", "'top'"]),
        ("safe_01", "colour", "red", ["unknown colour", "valid keys: title, hinge"]),
        ("safe_01", "parts.knob.range", 60, ["parts.knob", "unknown range", "range_deg"]),
        ("safe_01", "parts.knob.range_deg", "60", ["parts.knob.range_deg", "number", "'60'"]),
        ("safe_01", "parts.knob.range_deg", True, ["parts.knob.range_deg", "number"]),
        ("safe_01", "parts.knob.range_deg", 400, ["parts.knob.range_deg", "20 to 120 deg"]),
        ("safe_01", "parts.knob.open_above", 0.2, ["parts.knob", "closed_below < open_above"]),
        ("safe_01", "parts.knob.spring_nm", 0.05, ["spring_nm", "detent_nm"]),
        ("safe_01", "parts.knob.shape.family", "ball", ["bar, grip, fluted", "'ball'"]),
        ("safe_01", "parts.knob.shape.sides", 6, ["parts.knob.shape", "unknown sides"]),
        ("safe_03", "parts.knob.shape.sides", 7, ["parts.knob.shape", "even"]),
        ("safe_03", "parts.knob.shape.sides", 6.5, ["parts.knob.shape.sides", "an integer"]),
        ("safe_01", "looks.door.color", "red", ["looks.door.color", "#a0b1c2"]),
        ("safe_01", "parts.knob.motion_axis", [0, 1, 0], ["parts.knob.motion_axis", "clockwise"]),
        ("safe_01", "parts.door.motion_axis", [0, 0, 1], ["parts.door.motion_axis", "left hinge"]),
        ("safe_01", "parts.knob.grasp.points_m", [0, 0, 0], ["points_m[0]", "3 numbers"]),
        (
            "safe_01",
            "parts.knob.grasp.points_m",
            [[0.1, 0, 0]],
            ["the part is 0.000 m thick", "valid: 0.015 .. 0.036 m"],
        ),
        (
            "safe_01",
            "parts.knob.grasp.closing",
            [0, 0, 1],
            ["the part is 0.048 m thick", "valid: 0.015 .. 0.036 m"],
        ),
        ("safe_01", "parts.knob.grasp.closing", [0, 2, 0], ["length 1"]),
        ("safe_01", "parts.knob.grasp.closing", [1, 0, 0], ["perpendicular"]),
        ("safe_01", "parts.knob.grasp.link", "handle", ["parts.knob.grasp.link must be knob"]),
        (
            "safe_01",
            "parts.handle.closed_angle_deg",
            90,
            ["parts.handle", "beyond the side of the door"],
        ),
        ("safe_03", "parts.knob.above_centre_m", 0.02, ["parts.knob and parts.handle", "finger"]),
        ("safe_03", "parts.handle.shape.spokes", 8, ["8 spokes", "open hand"]),
    ],
)
def test_errors_name_file_key_and_what_is_valid(edited, source, keys, value, words) -> None:
    with pytest.raises(RuleSafeError) as caught:
        load_safe(edited(source, keys, value))
    for word in ["mine.yaml", *words]:
        assert word in str(caught.value)


def test_missing_key_is_named(edited) -> None:
    with pytest.raises(RuleSafeError, match=r"mine.yaml: parts.door: missing mass_kg; valid keys"):
        load_safe(edited("safe_01", "parts.door.mass_kg", remove=True))


def test_a_safe_of_an_installed_package(tmp_path: Path, installed) -> None:
    file = tmp_path / "vault_01.yaml"
    file.write_text((DATA / "safe_03.yaml").read_text())
    split = (DATA.parent / "splits/nominal.yaml").read_text()
    (tmp_path / "own.yaml").write_text(split.replace("safe_01", "vault", 1))
    with pytest.raises(RuleSafeError, match=r"own.yaml: safes: unknown safe 'vault'"):
        load_split(tmp_path / "own.yaml")
    installed(
        "vaults",
        f"VAULT = {str(file)!r}\n",
        "[rulesafe.safes]\nvault = vaults:VAULT\n[rulesafe.cameras]\nwide = vaults:VAULT\n",
    )
    for name in ("vault", "vaults:VAULT"):
        assert replace(load_safe(name), id="safe_03") == load_safe("safe_03")
    assert load_split(tmp_path / "own.yaml").safes[0] == "vault"
    with pytest.raises(RuleSafeError, match=r"vault_01.yaml: title must be a mapping"):
        load_cameras("wide")  # the file is found, but it defines a safe
    request = make_request("rule_001", 1, None, "safe_01,vault", "nominal", 0)
    assert request.safes == ("safe_01", str(file)) and list(request.files) == [str(file)]


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(RuleSafeError, match=r"unknown safe 'safe_11'.*safe_01.*safe_10.*\.yaml"):
        load_safe("safe_11")
    with pytest.raises(RuleSafeError, match=r"nowhere\.yaml"):
        load_safe(tmp_path / "nowhere.yaml")
    for content, word in (
        ("a: [", "bad.yaml"),
        ("- 1", "mapping of keys to values"),
        ("a: 1\na: 2", "duplicate key 'a'"),
        ("[a, b]: 1", "a key must be a scalar"),
    ):
        (tmp_path / "bad.yaml").write_text(content)
        with pytest.raises(RuleSafeError, match=word):
            load_safe(tmp_path / "bad.yaml")
