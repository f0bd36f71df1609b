"""The set-up's own parts, which run before anything is installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.thorough
SCRIPTS = ROOT / "scripts"


def test_python_out_of_range_is_refused(tmp_path):
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    result = subprocess.run(
        [str(SCRIPTS / "setup.sh")],
        env={**os.environ, "PYTHON": str(old)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "3.10 to 3.13" in result.stderr


@pytest.fixture
def clone(tmp_path):
    """A folder with the set-up's script and nothing to set up."""
    (tmp_path / "clone" / "scripts").mkdir(parents=True)
    (tmp_path / "clone" / "scripts" / "setup.sh").write_text((SCRIPTS / "setup.sh").read_text())
    for name in ("constraints.txt", "requirements.lock"):
        (tmp_path / "clone" / name).touch()
    return tmp_path / "clone"


def run_setup(clone, **environment):
    command = ["bash", str(clone / "scripts" / "setup.sh")]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("chosen", [{}, {"PYTHON": sys.executable}])
def test_a_foreign_environment_is_never_emptied(clone, tmp_path, linked, chosen):
    """Neither a user's own environment nor the target of a symbolic link."""
    foreign = tmp_path / "own" if linked else clone / ".venv"
    (foreign / "bin").mkdir(parents=True)
    (foreign / "notes.txt").write_text("mine")
    python = foreign / "bin" / "python"  # of another version, so that PYTHON would replace it
    python.write_text("#!/bin/sh\necho 3.99\nexit 1\n")
    python.chmod(0o755)
    if linked:
        (clone / ".venv").symlink_to(foreign)
    result = run_setup(clone, **chosen)
    assert result.returncode == 1
    assert "this script did not create it" in result.stderr
    assert (foreign / "notes.txt").read_text() == "mine" and python.exists()
    assert (clone / ".venv").is_symlink() == linked


@pytest.fixture
def sound(clone):
    """An environment that was created in place, with a Python that can install nothing."""
    (clone / ".venv/bin").mkdir(parents=True)
    python = clone / ".venv/bin/python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ]\n')
    python.chmod(0o755)
    (clone / ".venv/bin/pip").write_text(f"#!{python}\n")
    return clone / ".venv"


def test_nothing_is_installed_into_a_user_s_own_environment(clone, sound):
    before = sorted(sound.rglob("*"))
    result = run_setup(clone)
    assert result.returncode == 1
    assert "this script did not create, so nothing is installed into it" in result.stderr
    assert "Rename or remove it" in result.stderr
    assert sorted(sound.rglob("*")) == before


@pytest.mark.parametrize("mark", [".setup-created", ".setup-system", "installed", "installed 2"])
def test_an_environment_of_this_project_is_used(clone, sound, mark):
    """Created by this version or an earlier one, or with the project installed from this folder."""
    if mark.startswith("installed"):
        info = sound / "lib/python3.11/site-packages/rulesafe-1.2.dist-info"
        info.mkdir(parents=True)
        folder = f"{clone}{mark.removeprefix('installed').strip()}"
        url = {"dir_info": {"editable": True}, "url": f"file://{folder}"}
        (info / "direct_url.json").write_text(json.dumps(url))
    else:
        (sound / mark).touch()
    script = (clone / "scripts" / "setup.sh").read_text()
    functions = script[: script.index('mkdir -p "${log%/*}"')]
    (clone / "scripts" / "setup.sh").write_text(functions + "venv_is_sound\nrefuse_own_venv\n")
    result = run_setup(clone)
    assert result.returncode == (mark == "installed 2"), result.stderr


def test_an_environment_of_the_set_up_is_made_again(clone):
    """As after a killed set-up, or in a clone that was moved. Only the functions are called."""
    script = (clone / "scripts" / "setup.sh").read_text()
    functions = script[: script.index('mkdir -p "${log%/*}"')]
    call = f'mkdir -p log; python="{sys.executable}"; make_venv\n'
    (clone / "scripts" / "setup.sh").write_text(functions + call)
    (clone / ".venv").mkdir()  # an empty folder is used, too
    for _ in range(2):
        result = run_setup(clone)
        assert result.returncode == 0, result.stderr
        assert (clone / ".venv" / "bin" / "python").exists()
        assert (clone / ".venv" / ".setup-created").exists()
        (clone / ".venv" / "rest").touch()
    assert run_setup(clone).returncode == 0
    assert not (clone / ".venv" / "rest").exists()
