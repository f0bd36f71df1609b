"""The benchmark's report. Its values depend on the machine and are not asserted."""

import importlib.util
import json

import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.simulation import LOWER, UPPER
from rulesafe_studies.__main__ import main
from rulesafe_studies.bench import engines
from rulesafe_studies.bench import node as bench_node
from rulesafe_studies.measuring import Wave


def test_it_reports_figures_with_count_and_spread(tmp_path, capsys):
    file = tmp_path / "figures.json"
    assert main(["bench", "--parts", "physics", "--seconds", "2", "--json", str(file)]) == 0
    report = json.loads(file.read_text())
    steps = report["measures"][0]
    assert steps["name"] == "physics steps per CPU second" and steps["count"] == 2
    assert 0 < steps["p10"] <= steps["median"] <= steps["p90"]
    assert report["machine"]["sapien"] and not report["failed"]
    printed = capsys.readouterr().out
    assert "processor" in printed and "physics steps per CPU second" in printed


def test_moves_are_counted_for_each_number_of_copies(tmp_path):
    file = tmp_path / "figures.json"
    assert main(["bench", "--parts", "moves", "--seconds", "2", "--json", str(file)]) == 0
    *rates, memory = json.loads(file.read_text())["measures"]
    assert ["256 copies" in rates[0]["name"], "4096 copies" in rates[1]["name"]] == [True, True]
    assert all(rate["unit"] == "1/s" and rate["count"] == 2 for rate in rates)
    assert all(rate["median"] > 1e3 for rate in rates) and memory["unit"] == "MB"


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed")
def test_the_cost_of_a_job_is_measured_for_each_number_of_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "WORKERS", (2, 50))
    file = tmp_path / "figures.json"
    assert main(["bench", "--parts", "engines", "--seconds", "1", "--json", str(file)]) == 0
    measures = json.loads(file.read_text())["measures"]
    assert len(measures) == 3 and all(measure["median"] > 0 for measure in measures)


def test_unknown_parts_are_refused_with_the_valid_ones(capsys):
    assert main(["bench", "--parts", "gpu"]) == 2
    assert "first_frame" in capsys.readouterr().err


def test_a_part_that_cannot_be_measured_fails_the_run(monkeypatch, capsys, tmp_path):
    def broken(options):
        raise RuleSafeError("no rclpy in this environment")

    monkeypatch.setattr(bench_node, "through_ros", broken)
    file = tmp_path / "figures.json"
    assert main(["bench", "--parts", "ros", "--json", str(file)]) == 1
    assert "no rclpy" in capsys.readouterr().err
    assert json.loads(file.read_text())["failed"] == {"ros": "no rclpy in this environment"}


def test_the_measured_motion_is_real_and_within_the_limits():
    rows = np.array([Wave()(t) for t in np.arange(0, 20, 0.1)])
    assert (rows >= LOWER).all() and (rows <= UPPER).all()
    assert (np.ptp(rows, axis=0) > 0.2).all()
