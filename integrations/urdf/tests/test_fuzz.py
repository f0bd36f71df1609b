"""Random and hostile content for each reader of a safe's source."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trimesh
from fuzzing import Target, attack

from rulesafe_sim.safes import load_safe
from rulesafe_urdf.export import export_safe
from rulesafe_urdf.mapping import read_mapping
from rulesafe_urdf.mesh_files import MeshFolder, read_mesh
from rulesafe_urdf.propose import propose
from rulesafe_urdf.source import read_semantics, read_source
from rulesafe_urdf.yaml_writer import dump, to_data


def foreign_urdf(folder: Path) -> Target:
    urdf = export_safe(load_safe("safe_01"), folder / "safe")
    return Target(urdf, lambda: read_source(urdf))


def on_semantics(folder: Path) -> Target:
    path = folder / "semantics.txt"
    path.write_text("link_0 hinge door\nlink_1 hinge knob\n")
    return Target(path, lambda: read_semantics(path))


def foreign_mesh(suffix: str) -> Callable[[Path], Target]:
    def make(folder: Path) -> Target:
        path = folder / f"mesh{suffix}"
        trimesh.creation.box().export(path)
        return Target(path, lambda: read_mesh(path, MeshFolder(folder / "x.urdf")))

    return make


def mapping(folder: Path) -> Target:
    proposal = propose(read_source(export_safe(load_safe("safe_01"), folder / "safe")))
    path = folder / "mapping.yaml"
    path.write_text(dump(to_data(proposal.mapping)))
    return Target(path, lambda: read_mapping(path))


TARGETS = {
    "URDF of a safe": foreign_urdf,
    "mapping of a safe": mapping,
    "semantics of a safe": on_semantics,
    "OBJ": foreign_mesh(".obj"),
    "STL": foreign_mesh(".stl"),
    "GLB": foreign_mesh(".glb"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_content_is_read_or_refused(name, tmp_path_factory, work):
    attack(TARGETS[name](tmp_path_factory.mktemp("fuzz")), work)
