"""Imported safes in the page: collision shapes instead of meshes that a browser cannot read."""

import numpy as np
import pytest
from stl import write_stl

from rulesafe_core.body import Body, Link, Material, Shape
from rulesafe_core.meshes import MeshShape
from rulesafe_core.text_files import parse_xml
from rulesafe_core.urdf import to_urdf
from rulesafe_ros.view.boxes import without_meshes
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import load_safe

CORNERS = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.2, 0), (0, 0, 0.3)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
ONE = (1.0, 1.0, 1.0)


def test_urdfs_of_primitives_are_not_changed():
    urdf = to_urdf(safe_body(load_safe("safe_01")))
    assert without_meshes(urdf) is urdf


def test_meshes_become_boxes_and_grips_stay(tmp_path):
    write_stl(tmp_path / "a.stl", CORNERS, FACES)
    red = Material((1.0, 0.0, 0.0))
    shapes = (
        MeshShape("mesh", ONE, np.eye(4), red, False, path=tmp_path / "a.obj"),
        MeshShape("mesh", ONE, visible=False, path=tmp_path / "a.stl"),
        MeshShape("mesh", ONE, visible=False, path=tmp_path / "lost.stl"),
        Shape("sphere", (0.02,), visible=False),
    )
    urdf = to_urdf(Body("x", (Link("a", shapes),), ()))
    link = parse_xml(without_meshes(urdf)).find("link")
    assert link is not None and "<mesh" not in without_meshes(urdf)
    box, sphere = link.findall("visual")
    size = [float(word) for word in box.find("geometry/box").get("size").split()]
    assert size == pytest.approx((0.1, 0.2, 0.3))
    at = [float(word) for word in box.find("origin").get("xyz").split()]
    assert at == pytest.approx((0.05, 0.1, 0.15))
    assert sphere.find("geometry/sphere").get("radius") == "0.02"
    assert box.find("material").get("name") == sphere.find("material").get("name")
