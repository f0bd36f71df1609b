"""Imported safes in evaluations with real nodes: `rulesafe launch ... safe:=FILE`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

LAUNCH = Path(__file__).parents[3] / "launch/sim_evaluation.launch.xml"


@pytest.mark.ros
@pytest.mark.render
@pytest.mark.parametrize("name", ["dial", "lever", "wheel"])
def test_the_expert_opens_an_imported_safe_over_the_graph(imported, name, tmp_path):
    """Physics only; the import measures the phases by rendering."""
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), "policy:=expert"]
    command += [f"safe:={imported[name].file}", "rule:=rule_001", "seed:=1"]
    command += ["cameras:=false", "film:=false", f"out:={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    (episode,) = json.loads((tmp_path / "summary.json").read_text())["episodes"]
    assert episode["opened"]
    assert sorted(e["event"] for e in episode["events"]) == ["door+", "handle+", "knob+"]
