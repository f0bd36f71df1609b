"""Safes whose links are mesh files, as the import of a URDF writes them."""

from math import radians
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial import ConvexHull
from stl import write_stl

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.meshes import MeshShape
from rulesafe_core.strict_yaml import build
from rulesafe_core.text_files import read_text
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safe_meshes import Shell, digest, mesh_files
from rulesafe_sim.safes import SafeFile, load_safe, safe_file
from rulesafe_sim.simulation import HOME_ACTION, Simulation

CASE = {
    "left": ((-0.28, -0.185, -0.185), (0.0, -0.175, 0.185)),
    "right": ((-0.28, 0.175, -0.185), (0.0, 0.185, 0.185)),
    "back": ((-0.28, -0.175, -0.185), (-0.27, 0.175, 0.185)),
}
"""Lowest and highest corner of each wall in the frame of the safe, m."""

DOOR = ((-0.024, 0.0, -0.172), (0.0, 0.344, 0.172))
"""Corners of the panel in the frame of the door, whose hinge is at y = -0.172, m."""


def write_box(folder: Path, name: str, low, high) -> None:
    """Write a box as OBJ and as convex piece."""
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
    hull = ConvexHull(corners)
    faces, (a, b, c) = hull.simplices, np.moveaxis(corners[hull.simplices], 1, 0)
    inwards = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0
    faces[inwards] = faces[inwards, ::-1]
    write_stl(folder / f"{name}.stl", corners, faces)
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += ["f {} {} {}".format(*(face + 1)) for face in faces]
    (folder / f"{name}.obj").write_text("\n".join(lines))


@pytest.fixture
def safe(tmp_path) -> Path:
    """The file of safe_03 with meshes for the case, the door and the knob."""
    folder = tmp_path / "mine"
    folder.mkdir()
    boxes = CASE | {"panel": DOOR, "knob": ((0.0, -0.015, -0.015), (0.051, 0.015, 0.015))}
    for name, (low, high) in boxes.items():
        write_box(folder, name, low, high)
    data = yaml.safe_load(read_text(safe_file("safe_03")))
    material = {"color": "#14213d", "roughness": 0.5, "metallic": 0.3}

    def link(*names):
        visual = [{"file": f"mine/{name}.obj", "material": material} for name in names]
        return {"visual": visual, "hulls": [f"mine/{name}.stl" for name in names]}

    data["case"] = {
        **{"family": "shell", "width_m": 0.37, "height_m": 0.37, "depth_m": 0.28},
        **{"door_width_m": 0.344, "door_height_m": 0.344, "hinge_m": [0.0, -0.172]},
        "meshes": link(*CASE),
    }
    knob = data["parts"]["knob"]
    mesh = {"family": "mesh", "symmetry": 6, "phase_visible": False}
    knob["shape"] = mesh | {"visual": link("knob")["visual"], "grip": knob["shape"]}
    data["parts"]["door"]["meshes"] = link("panel")
    data["meshes_sha256"] = digest(mesh_files(build(SafeFile, data, "mine")), tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def test_a_safe_with_meshes_is_simulated_like_others(safe):
    found, original = load_safe(safe), load_safe("safe_03")
    assert isinstance(found.case, Shell) and not found.knob.phase_visible
    body = {link.name: link.shapes for link in safe_body(found).links}
    assert sum(isinstance(shape, MeshShape) for shape in body["body"]) == 2 * len(CASE)
    assert [type(s) for s in body["knob"] if s.collides] == [
        type(s) for s in safe_body(original).links[2].shapes if s.collides
    ]
    simulation = Simulation()
    simulation.reset("rule_001", found, seed=0)
    simulation.external_torques = {"knob": 0.5}
    for _ in range(10):
        simulation.step(HOME_ACTION)
    assert simulation.state().part_positions["knob"] > radians(30)


def test_changed_lost_and_foreign_meshes_are_refused(safe):
    mesh = safe.parent / "mine/panel.obj"
    content = mesh.read_text()
    mesh.write_text(content + "\n# changed\n")
    with pytest.raises(RuleSafeError, match=r"mine.yaml: meshes_sha256 is .* import the"):
        load_safe(safe)
    mesh.unlink()
    with pytest.raises(RuleSafeError, match=r"there is no mesh file mine/panel.obj"):
        load_safe(safe)
    safe.write_text(safe.read_text().replace("mine/panel.obj", "../panel.obj"))
    with pytest.raises(RuleSafeError, match=r"\.\./panel.obj is outside the folder"):
        load_safe(safe)
