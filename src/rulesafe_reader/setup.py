"""Package description for colcon; pip uses the pyproject.toml at the root for all packages."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts/colcon_setup.py"))
