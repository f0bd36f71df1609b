"""A node that is interrupted while it is imported ends without a word."""

import signal
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution

import pytest

NODES = {
    script.name: script.value
    for script in distribution("rulesafe").entry_points
    if script.name != "rulesafe"
}


MODULES = {value.split(":")[0] for value in NODES.values()} - {"rulesafe_sim.start"}
"""The simulation's package registers its environment with Gymnasium, which takes NumPy."""


@pytest.mark.parametrize("script", NODES.values(), ids=NODES)
def test_every_node_is_started_by_one(script):
    module, name = script.split(":")
    assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_little_is_imported_before_a_sigint_is_seen_to(module):
    heavy = "{'numpy', 'gymnasium', 'rclpy', 'torch'}"
    code = f"import sys, {module}; print({heavy} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr


def test_a_sigint_during_the_imports_is_the_end(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\nprint('importing', flush=True)\ntime.sleep(60)\n", "utf-8"
    )
    (tmp_path / "node_of_mine.py").write_text(
        "try:\n    import slow\nexcept BaseException as error:\n    raise ImportError from error\n",
        "utf-8",
    )
    code = "from rulesafe_start import starter; starter('node_of_mine')()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout and process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 0


def test_once_imported_the_node_answers_itself(tmp_path):
    (tmp_path / "node_of_mine.py").write_text(
        "import os, signal\n"
        "def main():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        return 7\n",
        "utf-8",
    )
    code = "from rulesafe_start import starter; raise SystemExit(starter('node_of_mine')())"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path).returncode == 7
