import numpy as np
import pytest

from rulesafe_core.body import Shape
from rulesafe_core.transforms import from_xyz_rpy
from rulesafe_render.meshes import shape_mesh

POSE = from_xyz_rpy((0.3, -0.2, 0.1), (0.4, 0.5, 0.6))
SHAPES = {
    "box": (Shape("box", (0.1, 0.2, 0.3), POSE), 0.1 * 0.2 * 0.3),
    "sphere": (Shape("sphere", (0.2,), POSE), 4 / 3 * np.pi * 0.2**3),
    "capsule": (Shape("capsule", (0.02, 0.1), POSE), np.pi * 0.02**2 * (0.1 + 4 / 3 * 0.02)),
    "cylinder": (Shape("cylinder", (0.02, 0.1), POSE), np.pi * 0.02**2 * 0.1),
}


@pytest.mark.parametrize(("shape", "volume"), SHAPES.values(), ids=SHAPES)
def test_meshes_are_closed_and_face_outwards(shape, volume):
    mesh = shape_mesh(shape)
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    areas = np.cross(b - a, c - a) / 2
    np.testing.assert_allclose(areas.sum(axis=0), 0, atol=1e-6)  # no hole
    enclosed = np.einsum("ij,ij->i", a, areas).sum() / 3
    assert 0.88 * volume < enclosed <= volume * (1 + 1e-4)
    normals = sum(mesh.normals[mesh.triangles[:, i]] for i in range(3))
    assert (np.einsum("ij,ij->i", normals, areas) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(("shape", "volume"), SHAPES.values(), ids=SHAPES)
def test_vertices_lie_on_the_shapes_surface(shape, volume):
    local = (shape_mesh(shape).vertices - POSE[:3, 3]) @ POSE[:3, :3]
    if shape.kind == "box":
        distance = np.abs(local / shape.size).max(axis=1) - 0.5
    elif shape.kind == "cylinder":
        radius, length = shape.size
        around = np.hypot(local[:, 0], local[:, 1]) / radius
        distance = np.maximum(around, np.abs(local[:, 2]) / (length / 2)) - 1
    else:
        radius, length = shape.size if shape.kind == "capsule" else (*shape.size, 0.0)
        core = np.clip(local[:, 2], -length / 2, length / 2)
        distance = np.linalg.norm(local - core[:, None] * [0, 0, 1], axis=1) - radius
    np.testing.assert_allclose(distance, 0, atol=1e-5)
