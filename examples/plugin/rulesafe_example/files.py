"""A rule set, a safe and cameras are data: a folder of locks and YAML files."""

from pathlib import Path

FOLDER = Path(__file__).parent
LOCKS = FOLDER / "locks"
SAFE = FOLDER / "vault.yaml"
CAMERAS = FOLDER / "wide.yaml"
