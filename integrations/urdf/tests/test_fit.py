"""Primitives fitted to meshes: the families of the built-in safes are found again."""

from math import pi, radians
from types import SimpleNamespace

import numpy as np
import pytest

from rulesafe_core.body import Material
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import about_axis
from rulesafe_render.meshes import shape_mesh
from rulesafe_sim.safe_checks import PINCH_WIDTH, pinched_width
from rulesafe_sim.safe_families import Bar, Fluted, Grip, Lever, Tee, Wheel
from rulesafe_urdf.fit import BINS, _arms, _is_ridge, fitted, measure, sample, scales
from rulesafe_urdf.grasps import gripped_grasps
from rulesafe_urdf.mesh_files import Piece, box_piece, cylinder_piece

GREY = Material()
FAMILIES = [
    Bar(0.048, 0.026, 0.028, 0.051),
    Grip(6, 0.03, 0.028, 0.051),
    Grip(8, 0.033, 0.03, 0.05),
    Fluted(6, 0.033, 0.0045, 0.028, 0.051),
    Fluted(8, 0.034, 0.004, 0.03, 0.05),
    Lever(0.1, 0.01, 0.045),
    Tee(0.11, 0.01, 0.045),
    Wheel(3, 0.075, 0.01, 0.016, 0.045),
    Wheel(5, 0.072, 0.0095, 0.017, 0.045),
    Wheel(6, 0.074, 0.009, 0.016, 0.045),
]


def pieces(family, angle: float = 0.0, size: float = 1.0) -> tuple[Piece, ...]:
    """Meshes of a family, rotated by an angle (rad, clockwise) and scaled."""
    meshes = [shape_mesh(shape) for shape in family.shapes(GREY, GREY) if shape.collides]
    turn = about_axis((1, 0, 0), -angle)
    found = (Piece(m.vertices.astype(float), m.triangles.astype(np.int64)) for m in meshes)
    return tuple(piece.moved(turn, size) for piece in found)


@pytest.mark.parametrize("angle", [0.0, 17.0, -70.0])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_family_is_found_again_with_its_sizes_and_angle(family, angle):
    outline = measure(sample(pieces(family, radians(angle))))
    found = fitted(outline)
    assert type(found) is type(family)
    for name, value in vars(family).items():
        if name == "hub_radius":
            continue  # between spokes, the outline shows where these meet
        assert getattr(found, name) == pytest.approx(value, abs=0.0008), name
    step = 2 * pi / (2 if isinstance(family, Bar) else family.symmetry)
    off = (outline.angle - radians(angle) + step / 2) % step - step / 2
    assert abs(off) < radians(1.5)
    assert scales(outline) == (1.0, 1.0)


def test_a_part_without_geometry_is_refused():
    with pytest.raises(RuleSafeError, match="it has no geometry of its own"):
        sample(())


def test_an_outline_without_gaps_has_no_arms():
    """It may be too uneven to be compact."""
    assert _arms(np.ones(BINS, bool)) == []
    assert not _is_ridge(np.linspace(0.66, 1.0, BINS))


@pytest.mark.parametrize("length", [0.04, 0.09])
def test_a_ridge_on_the_face_of_a_round_part_is_gripped(length):
    """As on the dials of ovens: a disc that is too wide for a pinch, with a bar on it."""
    disc = cylinder_piece(0.05, 0.03).moved(about_axis((0, 1, 0), pi / 2) + at_x(0.015))
    bar = box_piece((0.02, 0.022, length)).moved(np.eye(4) + at_x(0.04))
    outline = measure(sample((disc, bar)))
    found = fitted(outline)
    assert isinstance(found, Bar) and scales(outline) == (1.0, 1.0)
    assert found.width == pytest.approx(0.022, abs=1e-3)
    assert (found.face, found.depth) == pytest.approx((0.05, 0.02), abs=1e-3)


def at_x(x: float) -> np.ndarray:
    shift = np.zeros((4, 4))
    shift[0, 3] = x
    return shift


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("size", [0.4, 3.0])
def test_parts_are_scaled_to_fit_the_hand(family, size):
    outline = measure(sample(pieces(family, 0.0, size)))
    along, across = scales(outline)
    assert (along > 1) == (across > 1) == (size < 1)
    scaled = [
        Piece(piece.vertices * (along, across, across), piece.faces)
        for piece in pieces(family, 0.0, size)
    ]
    again = measure(sample(tuple(scaled)))
    assert scales(again) == pytest.approx((1.0, 1.0), abs=0.01)
    assert type(fitted(again)) is type(family)


def test_a_round_dial_gets_flutes_that_fingers_hold():
    angles = np.linspace(0, 2 * pi, 64, endpoint=False)
    ring = np.stack([np.zeros(64), 0.017 * np.sin(angles), 0.017 * np.cos(angles)], axis=1)
    points = np.concatenate([np.add(ring, (x, 0, 0)) for x in (0.01, 0.045)] + [[(0.045, 0, 0)]])
    i = np.arange(64)
    j = (i + 1) % 64
    faces = np.concatenate(
        [np.stack(corners, 1) for corners in ((i, j, i + 64), (j, j + 64, i + 64))]
        + [np.stack((i + 64, j + 64, np.full(64, 128)), 1)]
    )
    outline = measure(sample((Piece(points, faces),)))
    assert outline.kind == "dial"
    found = fitted(outline)
    assert isinstance(found, Fluted) and found.across == pytest.approx(0.034, abs=0.001)


def test_a_part_behind_the_door_is_refused():
    behind = pieces(FAMILIES[0])[0].moved(np.eye(4), np.array((-1.0, 1.0, 1.0)))
    with pytest.raises(RuleSafeError, match="does not stand out of the door"):
        measure(sample((behind,)))


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_proposed_grasps_hold_material_that_a_pinch_can_hold(family):
    """`check_safe` measures this width; here directly, for turning and pulling."""
    part = SimpleNamespace(shape=family)
    grasps = [point for points in gripped_grasps(family) for point in points]
    assert grasps
    for point in grasps:
        width = pinched_width(part, point, (0, 1, 0), (-1, 0, 0))
        assert PINCH_WIDTH[0] <= width <= PINCH_WIDTH[1]
