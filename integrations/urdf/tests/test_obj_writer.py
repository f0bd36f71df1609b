"""Files of convex pieces."""

import numpy as np
import pytest
import trimesh

from rulesafe_core.meshes import read_hull
from rulesafe_urdf.obj_writer import STL_TRIANGLE, corner_normals, write_hull

CORNERS = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def test_a_hull_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "piece.stl"
    write_hull(path, CORNERS, FACES)
    hull = read_hull(path)
    assert sorted(hull.vertices.tolist()) == pytest.approx(np.array(sorted(CORNERS.tolist())))
    assert hull.volume == pytest.approx(0.1 * 0.2 * 0.3 / 6)
    written = np.frombuffer(path.read_bytes(), STL_TRIANGLE, offset=84)["normal"]
    assert written == pytest.approx(hull.normals, abs=1e-6)


def test_edges_are_sharp_whatever_the_size_of_the_faces_and_round_surfaces_are_smooth():
    plate = trimesh.creation.box((0.4, 0.4, 0.01))
    expected = np.repeat(plate.face_normals[:, None], 3, axis=1)
    assert corner_normals(plate.vertices, plate.faces) == pytest.approx(expected, abs=1e-6)
    ball = trimesh.creation.icosphere(3)
    outwards = ball.vertices[ball.faces]
    assert corner_normals(ball.vertices, ball.faces) == pytest.approx(outwards, abs=0.02)
