"""examples/plugin, installed: each of its objects is used by its short name, as a user would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra learn is not installed")

from rulesafe_data.store import EpisodeStore

PLUGIN = Path(__file__).parents[1] / "examples/plugin"


RUN = """
import sys
from rulesafe_cli.cli import main

for command in sys.argv[1:]:
    if code := main(command.split()):
        sys.exit(code)
"""


@pytest.fixture(scope="module")
def rulesafe(tmp_path_factory):
    """rulesafe(COMMAND, ...): what commands print where the plugin is installed, in a folder. They
    run one after the other in a new process."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(PLUGIN, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-compile"]
    installed = folder / "installed"
    subprocess.run([*pip, *offline, "--target", str(installed), str(source)], check=True)
    shutil.rmtree(source)
    environment = {**os.environ, "PYTHONPATH": str(installed)}

    def run(*commands):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *commands],
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
    printed = rulesafe("rules list --rules example", "rules solve example_turn", "safes show vault")
    assert "example_turn" in printed
    assert "4 steps" in printed
    assert "Green and steel" in printed


@pytest.mark.episode
def test_the_agent(rulesafe):
    given = "--rules example --safes vault --episodes 1 --step-seconds 1 --films 0"
    rulesafe(f"eval --policy random {given} --out random")
    results = (rulesafe.folder / "random/results.json").read_text()
    assert '"random"' in results and "example_turn" in results


@pytest.mark.episode
@pytest.mark.train
def test_the_policy_family_and_the_memory(rulesafe, demos):
    described = rulesafe(
        "demos render states --observations joints --out joints",
        "policy train joints --policy linear --memory speed --length 8 --steps 3 --out linear",
        "policy describe linear",
    )
    assert "linear" in described and "rulesafe_example.memory:Speed" in described
    given = "--rules rule_001 --safes vault --episodes 1 --step-seconds 1 --films 0"
    rulesafe(f"eval --policy linear {given} --out runs")
    assert (rulesafe.folder / "runs/results.json").is_file()


@pytest.mark.episode
def test_the_cameras(rulesafe, demos):
    rulesafe("demos render states --cameras wide --out images")
    store = EpisodeStore(rulesafe.folder / "images")
    image, *_ = store.episode(0, store.images)[store.images[0]]
    assert image.shape == (96, 96, 3)
