"""The comparison with other simulators: its page, its scripts and the parts that need no peer."""

import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.data import DATA

PEERS = Path(__file__).resolve().parents[1] / "peers"
SCRIPTS = ("ours", "sapien_loop", "maniskill_scene", "maniskill_pick_cube", "robosuite_door")
OWN = ("ours", "bare SAPIEN loop")


def load(name, monkeypatch):
    """Import a module of the folder, which is no package."""
    monkeypatch.syspath_prepend(str(PEERS))
    for other in ("scene", "timing"):
        monkeypatch.delitem(sys.modules, other, raising=False)
    spec = importlib.util.spec_from_file_location(f"peers_{name}", PEERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def call(script, *arguments):
    command = [sys.executable, str(PEERS / f"{script}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


def test_every_subject_was_measured_in_each_round(monkeypatch):
    content = json.loads((DATA / "peers.json").read_text("utf-8"))
    subjects = load("run", monkeypatch).SUBJECTS
    runs = Counter((run["subject"], run["cameras"]) for run in content["runs"])
    expected = {(name, n) for name, subject in subjects.items() for n in subject.cameras}
    assert runs == dict.fromkeys(expected, content["rounds"])


def test_each_script_is_compared(monkeypatch):
    subjects = load("run", monkeypatch).SUBJECTS
    assert {subject.script for subject in subjects.values()} == {f"{name}.py" for name in SCRIPTS}
    for subject in subjects.values():
        if subject.peer:
            lines = (PEERS / f"{subject.peer}.txt").read_text("utf-8").splitlines()
            assert all("==" in line for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_check_their_arguments_before_they_need_the_peer(script):
    shown = call(script, "--help")
    assert shown.returncode == 0 and "--cameras" in shown.stdout, shown.stderr
    assert "valid: a number > 0" in call(script, "--seconds", 0).stderr
    assert "invalid choice" in call(script, "--cameras", 3).stderr


def test_a_missing_scene_is_named(tmp_path):
    assert (
        f"--scene is {tmp_path}, which has no scene.json"
        in call("ours", "--scene", tmp_path).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--subjects", "gazebo"), "gazebo"),
        (("--rounds", 0), "0 rounds"),
        (("--cameras", 3), "valid: some of 0, 1 and 2"),
    ],
)
def test_the_comparison_refuses_what_it_cannot_measure(arguments, message, tmp_path):
    done = call("run", "--build", tmp_path, *arguments)
    assert done.returncode == 1 and message in done.stderr


def test_the_exported_bodies_have_our_collision_shapes(monkeypatch, tmp_path):
    from rulesafe_sim.simulation import Simulation

    scene = load("scene", monkeypatch)
    content = scene.export(tmp_path)
    simulation = Simulation()
    simulation.reset(content["rule"], content["safe"], content["seed"])
    for name, body in (
        ("robot", simulation.bodies.robot.body),
        ("safe", simulation.bodies.safe_body),
    ):
        links = ET.parse(tmp_path / f"{name}.urdf").getroot().iter("link")
        found = {
            link.get("name"): [shape[0].tag for shape in link.findall("collision/geometry")]
            for link in links
        }
        expected = {link.name: [s.kind for s in link.shapes if s.collides] for link in body.links}
        assert found == expected


def compared(tmp_path, cameras):
    file = tmp_path / "peers.json"
    arguments = ["--subjects", *OWN, "--cameras", *cameras, "--rounds", 1, "--seconds", 0.5]
    done = call("run", *arguments, "--parallel", 2, "--build", tmp_path, "--json", file)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout


def test_our_environment_and_the_bare_loop_are_compared(tmp_path):
    content, printed = compared(tmp_path, (0,))
    assert [run["subject"] for run in content["runs"]] == list(OWN)
    assert all(run["simulated"] == 0.5 and run["cpu"] > 0 for run in content["runs"])
    (together,) = content["parallel"]
    assert together["simulated"] == 1.0 and 10 < together["memory"] < 2000
    assert "| bare SAPIEN loop |" in printed and not list(tmp_path.glob("errors_*"))


def test_they_are_compared_with_cameras(tmp_path):
    content, _ = compared(tmp_path, (1, 2))
    assert [run["cameras"] for run in content["runs"]] == [1, 1, 2, 2]


def test_another_motion_is_refused(monkeypatch):
    run = load("run", monkeypatch)
    ours = {"positions": [0.0, 1.0]}
    run.check_motion("other", 0, {"positions": [0.001, 1.0]}, ours)
    with pytest.raises(RuleSafeError, match=r"0\.0100 rad from our joint positions"):
        run.check_motion("other", 0, {"positions": [0.01, 1.0]}, ours)
