"""`rulesafe demos export` in the formats of VLA toolchains: which instructions it writes."""

import json
import shutil

import numpy as np
import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.writer import DatasetWriter, EpisodeData
from rulesafe_demos.commands import export
from rulesafe_locks.rules import load_rule

RULE, WITHOUT = load_rule("rule_020"), load_rule("sampled_143")
TASKS = (RULE.description, WITHOUT.description, "Open the safe, please.")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Three episodes without images: of a rule, of a lock without a short instruction, and with a
    custom instruction."""
    root = tmp_path_factory.mktemp("dataset") / "demos"
    writer = DatasetWriter(root)
    for index, task in enumerate(TASKS):
        actions = np.zeros((5, 13))
        writer.write(index, EpisodeData(task, np.zeros((5, 39)), np.zeros((5, 39)), actions))
    writer.finish()
    return root


def instructions(folder):
    lines = (folder / "meta/tasks.jsonl").read_text().splitlines()
    episodes = (folder / "meta/episodes.jsonl").read_text().splitlines()
    tasks = [json.loads(line)["task"] for line in lines]
    assert [json.loads(line)["tasks"] for line in episodes] == [[task] for task in tasks]
    assert all(f"- {task}\n" in (folder / "README.md").read_text() for task in tasks)
    return tasks


@pytest.mark.parametrize("format", ["lerobot-v2.1", "groot"])
def test_short_instructions_are_the_default(dataset, tmp_path, capsys, format):
    command = ["demos", "export", str(dataset), "--format", format, "--out", str(tmp_path / "out")]
    assert main(command) == 0
    assert instructions(tmp_path / "out") == [RULE.short_instruction, *TASKS[1:]]
    text = capsys.readouterr().out
    assert "warning: 1 of 3 instructions have more than an estimated 40 tokens" in text
    assert WITHOUT.description in text  # the one that falls back to the long text


def test_long_instructions_are_those_of_the_dataset(dataset, tmp_path, capsys):
    command = ["demos", "export", str(dataset), "--format", "groot", "--instruction", "long"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 0
    assert instructions(tmp_path / "out") == list(TASKS)
    assert "warning: 2 of 3 instructions have more than" in capsys.readouterr().out


def test_states_have_the_given_name_also_with_dots(demonstrations, tmp_path, capsys):
    demos, out = shutil.copytree(demonstrations, tmp_path / "demos"), tmp_path / "out"
    assert main(["demos", "render", str(demos), "--observations", "joints"]) == 0
    out.mkdir()
    for name, stem in {"v1.2": "v1.2", "v1.3": "v1.3", "joints.parquet": "joints"}.items():
        capsys.readouterr()
        export(demos, out / name)
        files = [out / f"{stem}.{kind}" for kind in ("parquet", "json")]
        assert all(file.is_file() for file in files)
        assert capsys.readouterr().out == f"wrote {files[0]}, {files[1]}\n"
    assert len(list(out.iterdir())) == 6


def test_an_invalid_length_is_refused(dataset, tmp_path):
    with pytest.raises(RuleSafeError, match="unknown instruction 'tiny'"):
        export(dataset, tmp_path / "out", "groot", "tiny")
