"""What the tests of imported safes share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # modules that are no tests

pytest.importorskip("trimesh", reason="needs the extra meshes")

from foreign_safes import FOREIGN

from rulesafe_urdf.importing import Imported, import_urdf
from rulesafe_urdf.source import UrdfSource, read_source


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory) -> None:
    """Decompositions of tests are not stored in the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield


@pytest.fixture(scope="session")
def urdfs(tmp_path_factory) -> dict[str, Path]:
    """The URDF of each foreign safe."""
    folder = tmp_path_factory.mktemp("foreign")
    return {name: write(folder / name) for name, write in FOREIGN.items()}


@pytest.fixture(scope="session")
def sources(urdfs) -> dict[str, UrdfSource]:
    return {name: read_source(urdf) for name, urdf in urdfs.items()}


@pytest.fixture(scope="session")
def imported(urdfs, tmp_path_factory) -> dict[str, Imported]:
    """Each foreign safe, imported."""
    folder = tmp_path_factory.mktemp("imported")
    return {name: import_urdf(urdf, folder / f"{name}.yaml") for name, urdf in urdfs.items()}
