"""Pinned versions and hashes of what is installed and of what the view's page contains."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pins(name: str) -> list[str]:
    """Return the lines name==version of a file, with the marker."""
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return [line.rstrip(" \\") for line in lines if re.match(r"[\w.-]+==", line)]


def test_each_pinned_version_has_hashes():
    """torch has none: an index of builds for the CPU has other files."""
    assert pins("requirements.lock") == [
        line for line in pins("constraints.txt") if not line.startswith("torch==")
    ]
    blocks = re.split(r"\n(?=[\w.-]+==)", (ROOT / "requirements.lock").read_text("utf-8"))[1:]
    assert len(blocks) == len(pins("requirements.lock"))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}\b", block) for block in blocks)


def test_the_packages_of_the_page_are_locked():
    folder = ROOT / "scripts/vendor_page"
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert locked.pop("")["dependencies"] == wanted
    assert all(about["integrity"].startswith("sha512-") for about in locked.values())
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
        assert name == "esbuild" or re.search(rf"{name.split('-')[0]}\S* {version}", notice), name


def test_the_page_s_files_are_those_of_the_locked_packages():
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    reach = ["npm", "view", "uplot", "version", "--fetch-retries=0", "--fetch-timeout=20000"]
    if subprocess.run(reach, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot reach its registry")
    check = [str(ROOT / "scripts/vendor_page.sh"), "check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
