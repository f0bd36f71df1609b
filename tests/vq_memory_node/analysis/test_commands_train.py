"""`rulesafe memory train` as a process: trains, goes on, refuses."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from vq_memory_node.model_files import load_model

WORDS = ("--codes", "16", "--clusters", "2", "4", "--steps", "30", "--batch", "8")
WORDS += ("--warm-up", "5", "--checkpoint-every", "10")


@pytest.fixture(scope="module")
def data(request):
    """The demonstrations that come with the repository."""
    return request.config.rootpath / "datasets/rule_001_rule_020.parquet"


def command(*words):
    """Exit code, stdout, stderr of `rulesafe memory train`."""
    told = subprocess.run(
        [sys.executable, "-m", "rulesafe_cli.cli", "memory", "train", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    return told.returncode, told.stdout, told.stderr


def test_a_model_is_trained_with_a_progress_bar(data, tmp_path):
    code, out, err = command(data, "--out", tmp_path / "model", *WORDS)
    assert code == 0, err
    model = load_model(tmp_path / "model")
    assert model.clusterings == (2, 4, 16)
    assert model.training["data"]["episodes"] == 200
    assert model.hash[:12] in out
    assert "validation: loss" in out
    assert "30/30" in err and "perplexity" in err and "loss" in err
    code, _, err = command(data, "--out", tmp_path / "model", *WORDS, "--seed", "1")
    assert code == 2
    assert "config seed 0, now 1; choose another folder" in err


def test_what_cannot_be_trained_is_told_in_one_line(data, tmp_path):
    code, _, err = command(tmp_path / "nothing", "--out", tmp_path / "model")
    assert (code, err.count("\n")) == (2, 1)
    assert "no demonstrations" in err
    code, _, err = command(data, "--out", tmp_path / "model", "--codes", "1")
    assert code == 2
    assert "codes is 1; valid: 2 or more" in err


@pytest.mark.parametrize("name", ["generate.json", "policy.json"])
def test_a_folder_of_something_else_is_left_alone(data, tmp_path, name):
    (tmp_path / name).write_text("{}")
    code, _, err = command(data, "--out", tmp_path, *WORDS)
    assert (code, err.count("\n")) == (2, 1)
    assert f"is not the folder of a memory model: it contains {name}; set --out to a new" in err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_without_torch_the_command_says_what_to_install(data, tmp_path):
    hidden = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError('no torch', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from rulesafe_cli.cli import main\n"
    )
    words = ["memory", "train", str(data), "--out", str(tmp_path / "model")]
    told = subprocess.run(
        [sys.executable, "-c", f"{hidden}sys.exit(main({words!r}))"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert told.returncode == 2
    assert "pip install 'rulesafe[learn]'" in told.stderr
    assert not (tmp_path / "model").exists()
