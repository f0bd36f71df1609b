"""Fixtures of the product's tests that start nodes and a simulated robot."""

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]

# For the processes of trajectory_node, whether or not the distribution is installed.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
)


def fixtures(folder: str) -> ModuleType:
    """Load the conftest.py of a folder of tests/."""
    path = ROOT / "tests" / folder / "conftest.py"
    specification = spec_from_file_location(f"fixtures_of_{folder}", path)
    assert specification and specification.loader
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


start = fixtures("ros").start
_bridge = fixtures("h1_2_bridge")
processes, robot, bridge, user = _bridge.processes, _bridge.robot, _bridge.bridge, _bridge.user
