"""Convex pieces in binary STL: read, scaled, and one clear error for each fault."""

import os
from pathlib import Path

import numpy as np
import pytest
from stl import write_stl

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape, read_hull, scaled_hull

CORNERS = np.array([(x, y, z) for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.3)])
SIDES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
FACES = np.array([face for a, b, c, d in SIDES for face in ((a, b, c), (a, c, d))])


@pytest.fixture
def box(tmp_path) -> Path:
    path = tmp_path / "box.stl"
    write_stl(path, CORNERS, FACES)
    return path


def test_a_box_is_read_with_volume_and_outward_normals(box):
    hull = read_hull(box)
    assert len(hull.vertices) == 8 and len(hull.triangles) == 12
    assert hull.volume == pytest.approx(0.1 * 0.2 * 0.3)
    assert hull.centroid == pytest.approx((0.05, 0.1, 0.15))
    outwards = hull.vertices[hull.triangles].mean(axis=1) - hull.centroid
    assert (np.einsum("ij,ij->i", outwards, hull.normals) > 0).all()


def test_a_changed_file_is_read_again(box):
    read_hull(box)
    write_stl(box, 2 * CORNERS, FACES)
    os.utime(box, ns=(1, 1))
    assert read_hull(box).volume == pytest.approx(8 * 0.006)


def test_scales_of_a_shape_apply_to_volume_and_normals(box):
    hull = scaled_hull(MeshShape("mesh", (1.0, 2.0, 3.0), path=box))
    assert hull.volume == pytest.approx(6 * 0.006)
    assert np.ptp(hull.vertices, axis=0) == pytest.approx((0.1, 0.4, 0.9))
    assert np.linalg.norm(hull.normals, axis=1) == pytest.approx(np.ones(12))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"solid box\nendsolid\n", "is not a binary STL file"),
        (lambda content: content[:-7], "is not a binary STL file"),
        (lambda content: content[:84].replace(b"\x0c\0\0\0", b"\0\0\0\0"), "encloses no volume"),
        (lambda content: content + b"\0" * 2_000_000, "larger than the limit of 1000000 bytes"),
        (lambda content: content[:96] + b"\xff\xff\xff\x7f" + content[100:], "not finite"),
        (lambda content: content[:96] + b"\0\0\0\x3f" + content[100:], "is not convex"),
    ],
)
def test_other_files_are_refused(box, change, message):
    box.write_bytes(change(box.read_bytes()))
    with pytest.raises(RuleSafeError, match=message):
        read_hull(box)


def test_a_surface_from_inside_is_refused(box):
    write_stl(box, CORNERS, FACES[:, ::-1])
    with pytest.raises(RuleSafeError, match=r"not convex|no volume"):
        read_hull(box)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RuleSafeError, match=r"cannot read the mesh .*lost\.stl"):
        read_hull(tmp_path / "lost.stl")
