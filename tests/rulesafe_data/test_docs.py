"""The programs of docs/dataset.md run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/dataset.md").read_text("utf-8").split("## Bags\n")[0]
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("program", [text for text in PROGRAMS if "lerobot" not in text])
def test_programs_run(program, root, tmp_path):
    (tmp_path / "demos").symlink_to(root)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_keys_are_those_of_a_dataset(root):
    from rulesafe_data.store import EpisodeStore

    said = set(re.findall(r"`([\w.]+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.M))))
    said = {key if key != ".front" else "observation.images.front" for key in said}
    said.remove("subtask_index")  # this dataset has none
    assert said == set(EpisodeStore(root).keys)
