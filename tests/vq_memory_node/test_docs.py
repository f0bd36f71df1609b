"""docs/memory.md: its program runs, and its tables match the files."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_data.tables import about, read_columns
from vq_memory_node.commands import SUBCOMMANDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/memory.md").read_text("utf-8")


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_programs_run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_each_subcommand_has_an_example():
    shown = re.findall(r"^rulesafe memory (\w+) ", PAGE, re.M)
    assert list(dict.fromkeys(shown)) == list(SUBCOMMANDS)


def test_columns_and_metadata_of_tokens_are_those_of_the_page(recordings, small_model, tmp_path):
    out = tmp_path / "tokens.parquet"
    words = [str(recordings), "--model", str(small_model), "--out", str(out)]
    assert main(["memory", "tokens", *words]) == 0
    section = PAGE.split("### Tokens as Parquet")[1].split("### ")[0]
    assert re.findall(r"^\| `(\w+)` \| int32", section, re.M) == list(read_columns(out))
    listed = section.split("under the key")[1]
    assert [name for name in re.findall(r"`(\w+)`", listed) if name != "rulesafe"] == list(
        about(out)
    )


def test_files_of_a_model_are_those_of_the_page(small_model):
    section = PAGE.split("### Files of a model")[1].split("### ")[0]
    listed = re.findall(r"^\| `([^`/]+)` \|", section, re.M)
    assert sorted(listed) == sorted(path.name for path in small_model.iterdir())
