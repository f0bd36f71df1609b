"""scripts/study.sh at its smallest: its commands are valid, and a resumed run writes the same."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

STUDY = Path(__file__).parents[1] / "scripts/study.sh"
SMALL = {
    "RULES": "rule_002 rule_003",
    "MEMORIES": "none vq",
    "SEEDS": "0 1",
    "DEMONSTRATIONS": "1",
    "STEPS": "2",
    "EPISODES": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
}


def begin(out, *studies):
    return subprocess.Popen(
        ["bash", str(STUDY), str(out), *studies],
        env={**os.environ, **SMALL},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(process, out):
    output, _ = process.communicate(timeout=1800)
    logs = "".join(path.read_text()[-2000:] for path in sorted((out / "logs").glob("*.log")))
    assert process.returncode == 0, output + logs


@pytest.mark.train
@pytest.mark.render
@pytest.mark.episode
@pytest.mark.timeout(5400)
def test_a_resumed_study_writes_the_same_tables(tmp_path):
    run = begin(tmp_path, "twenty_rules")
    end = time.monotonic() + 1800
    while not (tmp_path / "policies/all_none_0/policy.json").exists():
        assert run.poll() is None and time.monotonic() < end, run.communicate()[0]
        time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does
    run.communicate(timeout=600)
    assert run.returncode != 0 and not (tmp_path / "table_3.md").exists()
    finish(begin(tmp_path, "twenty_rules"), tmp_path)
    table = (tmp_path / "table_3.md").read_text()
    for name in ("skills", "all_none", "all_vq"):
        assert name in table
    shutil.rmtree(tmp_path / "policies/all_vq_1")
    shutil.rmtree(tmp_path / "results/all_vq_1_nominal")
    (tmp_path / "table_3.md").unlink()
    finish(begin(tmp_path, "twenty_rules"), tmp_path)
    assert (tmp_path / "table_3.md").read_text() == table


def test_an_unknown_study_is_refused_with_the_list(tmp_path):
    run = begin(tmp_path, "table_5")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == 2 and "unknown study 'table_5'" in output
    for name in ("paper", "one_rule", "models", "twenty_rules", "tokens", "memories"):
        assert f"\n  {name} " in output
