"""Imported safes in evaluations with real nodes: `rulesafe launch ... safe:=FILE`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

LAUNCH = Path(__file__).parents[3] / "launch/sim_evaluation.launch.xml"


@pytest.mark.ros
def test_the_expert_opens_an_imported_safe_over_the_graph(imported, tmp_path):
    """Physics only; the import measures the phases by rendering. Exit code 0: opened."""
    command = [sys.executable, "-m", "rulesafe_cli.cli", "launch", str(LAUNCH), "policy:=expert"]
    command += [f"safe:={imported['wheel'].file}", "rule:=rule_001", "seed:=1"]
    command += ["cameras:=false", "film:=false", f"out:={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
