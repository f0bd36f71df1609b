import numpy as np
import pytest
import trimesh
from PIL import Image

from rulesafe_core.body import Body, Link, Material, Shape
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape
from rulesafe_core.transforms import from_xyz_rpy
from rulesafe_render.meshes import read_mesh, shape_mesh
from rulesafe_render.scene import RenderScene, link_meshes
from rulesafe_render.textures import read_texture

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


def test_the_normals_and_texture_positions_of_a_file_are_kept(tmp_path):
    slanted = "vn 0 0.6 0.8\n" * 3
    (tmp_path / "sheet.obj").write_text(
        f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{slanted}vt 0 0\nvt 1 0\nvt 0 1\nf 1/1/1 2/2/2 3/3/3\n"
    )
    mesh = read_mesh(tmp_path / "sheet.obj", (1.0, 2.0, 1.0))
    np.testing.assert_allclose(mesh.normals, [np.array([0, 0.3, 0.8]) / 0.73**0.5] * 3, atol=1e-6)
    top = mesh.vertices[:, 1].argmax()
    assert tuple(mesh.uv[top]) == (0, 0), "from the image's first pixel, which is at the top left"


def test_pieces_of_a_file_are_placed_also_if_they_are_mirrored(tmp_path):
    scene = trimesh.Scene()
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    for center, scale in ((0.5, (1, 1, 1)), (-0.5, (-2, 1, 1))):
        pose = np.diag((*scale, 1.0))
        pose[0, 3] = center
        scene.add_geometry(box, transform=pose)
    scene.export(tmp_path / "two.glb")
    mesh = read_mesh(tmp_path / "two.glb")
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    areas = np.cross(b - a, c - a) / 2
    assert np.einsum("ij,ij->i", a, areas).sum() / 3 == pytest.approx(3 * 0.1 * 0.2 * 0.3)
    normals = sum(mesh.normals[mesh.triangles[:, i]] for i in range(3))
    assert (np.einsum("ij,ij->i", normals, areas) > 0).all()
    np.testing.assert_allclose([mesh.vertices[:, 0].min(), mesh.vertices[:, 0].max()], [-0.6, 0.55])


def test_a_texture_is_multiplied_by_the_change_of_the_colour(tmp_path):
    (tmp_path / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    Image.new("RGB", (4, 4), (188, 188, 188)).save(tmp_path / "image.png")
    look = Material((0.25, 0.5, 1.0), roughness=0.7)
    shape = MeshShape(
        *("mesh", (1.0, 1.0, 1.0), np.eye(4), look, False),
        path=tmp_path / "mesh.obj",
        texture=tmp_path / "image.png",
        texture_color=(0.5, 0.5, 0.5),
    )
    [(_, [(_, found, texture)])] = link_meshes(Body("body", (Link("link", (shape,)),), ()))
    assert found == Material((0.5, 1.0, 2.0), roughness=0.7) and texture.srgb
    scene = RenderScene()
    scene.add_links(link_meshes(Body("body", (Link("one", (shape,)), Link("two", (shape,))), ())))
    assert len(scene.textures) == 1 and [part.texture for part in scene.parts] == [0, 0]


def test_a_mesh_is_closed_if_it_encloses_a_volume_also_with_repeated_vertices(tmp_path):
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    inside_out, open_box = box.copy(), box.copy()
    inside_out.invert()
    open_box.update_faces(np.arange(len(box.faces)) > 0)
    for mesh, closed in ((box, True), (inside_out, False), (open_box, False)):
        mesh.export(tmp_path / "mesh.stl")  # three vertices for each triangle
        assert read_mesh(tmp_path / "mesh.stl").closed == closed
        (tmp_path / "mesh.stl").unlink()


def test_a_damaged_texture_is_refused(tmp_path):
    path = tmp_path / "image.png"
    Image.new("RGB", (8, 8)).save(path)
    content = path.read_bytes()
    for damaged in (b"", content[:40], content[:33] + b"\xff" * 30):
        path.write_bytes(damaged)
        with pytest.raises(RuleSafeError, match="cannot read the texture"):
            read_texture(path)
