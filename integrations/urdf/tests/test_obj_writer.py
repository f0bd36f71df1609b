"""Files of convex pieces."""

import numpy as np
import pytest

from rulesafe_core.meshes import read_hull
from rulesafe_urdf.obj_writer import STL_TRIANGLE, write_hull

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
