"""examples/plugin, installed: each of its objects is used by its short name, as a user would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra learn is not installed")

from rulesafe_data.layout import CAMERAS
from rulesafe_data.store import EpisodeStore

PLUGIN = Path(__file__).parents[1] / "examples/plugin"


@pytest.fixture(scope="module")
def rulesafe(tmp_path_factory):
    """rulesafe(COMMAND): what a command prints where the plugin is installed, in a folder."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(PLUGIN, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    installed = folder / "installed"
    subprocess.run([*pip, *offline, "--target", str(installed), str(source)], check=True)
    shutil.rmtree(source)
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def run(command):
        done = subprocess.run(
            [sys.executable, "-m", "rulesafe_cli.cli", *command.split()],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.folder = folder
    return run


@pytest.fixture(scope="module")
def demos(rulesafe):
    """A demonstration with the plugin's rule, safe and cameras: the folder of the dataset."""
    shared = "--rules example --safes vault --episodes 1 --split nominal --style habitual"
    rulesafe(f"demos generate {shared} --passes states --out states")
    return rulesafe.folder / "states"


def test_the_rule_set_and_the_safe(rulesafe):
    assert "example_turn" in rulesafe("rules list --rules example")
    assert "4 steps" in rulesafe("rules solve example_turn")
    assert "Green and steel" in rulesafe("safes show vault")


@pytest.mark.episode
def test_the_agent(rulesafe):
    given = "--rules example --safes vault --episodes 1 --step-seconds 1 --films 0"
    rulesafe(f"eval --policy random {given} --out random")
    results = (rulesafe.folder / "random/results.json").read_text()
    assert '"random"' in results and "example_turn" in results


@pytest.mark.episode
@pytest.mark.train
def test_the_policy_family_and_the_memory(rulesafe, demos):
    rulesafe("demos render states --observations joints --out joints")
    rulesafe("policy train joints --policy linear --memory speed --length 8 --steps 3 --out linear")
    described = rulesafe("policy describe linear")
    assert "linear" in described and "rulesafe_example.memory:Speed" in described
    given = "--rules rule_001 --safes vault --episodes 1 --step-seconds 1 --films 0"
    rulesafe(f"eval --policy linear {given} --out runs")
    assert (rulesafe.folder / "runs/results.json").is_file()


@pytest.mark.episode
@pytest.mark.render
def test_the_cameras(rulesafe, demos):
    rulesafe("demos render states --cameras wide --out images")
    image, *_ = EpisodeStore(rulesafe.folder / "images").episode(0, CAMERAS)[CAMERAS[0]]
    assert image.shape == (96, 96, 3)
