"""The notebook runs, cell by cell, and shows what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "examples/notebooks/evaluate_and_plot.ipynb"


@pytest.mark.episode
def test_the_notebook_evaluates_and_plots(tmp_path):
    pytest.importorskip("torch", reason="the extra learn is not installed")
    cells = json.loads(FILE.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "expert: 2 of 2 opened (34% to 100%)" in done.stdout
    assert (tmp_path / "runs/notebook/steps.png").stat().st_size > 10_000


def test_the_notebook_is_stored_without_outputs():
    cells = json.loads(FILE.read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
