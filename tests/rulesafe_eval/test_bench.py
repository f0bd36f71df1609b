"""The benchmark's report. What it measures depends on the machine and is not asserted."""

import json

import numpy as np
import pytest

from rulesafe_eval import bench, bench_node
from rulesafe_eval.bench_tools import Wave
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.simulation import LOWER, UPPER


def test_it_reports_figures_with_count_and_spread(tmp_path, capsys):
    file = tmp_path / "figures.json"
    assert bench.main(["--parts", "physics", "--seconds", "2", "--json", str(file)]) == 0
    report = json.loads(file.read_text())
    steps = report["measures"][0]
    assert steps["name"] == "physics steps per CPU second" and steps["count"] == 2
    assert 0 < steps["p10"] <= steps["median"] <= steps["p90"]
    assert report["machine"]["sapien"] and not report["failed"]
    printed = capsys.readouterr().out
    assert "processor" in printed and "physics steps per CPU second" in printed


def test_unknown_parts_are_refused_with_the_valid_ones():
    with pytest.raises(RuleSafeError, match="first_frame"):
        bench.main(["--parts", "gpu"])


def test_a_part_that_cannot_be_measured_fails_the_run(monkeypatch, capsys, tmp_path):
    def broken(options):
        raise RuleSafeError("no rclpy in this environment")

    monkeypatch.setattr(bench_node, "through_ros", broken)
    file = tmp_path / "figures.json"
    assert bench.main(["--parts", "ros", "--json", str(file)]) == 1
    assert "no rclpy" in capsys.readouterr().err
    assert json.loads(file.read_text())["failed"] == {"ros": "no rclpy in this environment"}


def test_the_measured_motion_is_real_and_within_the_limits():
    rows = np.array([Wave()(t) for t in np.arange(0, 20, 0.1)])
    assert (rows >= LOWER).all() and (rows <= UPPER).all()
    assert (np.ptp(rows, axis=0) > 0.2).all()
