"""`rulesafe memory train`: training and errors."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

from rulesafe_cli.cli import main
from vq_memory_node.model_files import load_model

pytestmark = pytest.mark.train

SETTINGS = ("--codes", "16", "--clusters", "2", "4", "--steps", "30", "--batch", "8")
SETTINGS += ("--warm-up", "5", "--checkpoint-every", "10")


@pytest.fixture(scope="module")
def data(request):
    """The demonstrations that come with the repository."""
    return request.config.rootpath / "datasets/rule_001_rule_020.parquet"


@pytest.fixture
def command(capsys):
    """command(ARGUMENTS) -> exit code, stdout, stderr of `rulesafe memory train`."""

    def run(*arguments):
        capsys.readouterr()
        code = main(["memory", "train", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_a_model_is_trained_with_a_progress_bar(command, data, tmp_path):
    code, out, err = command(data, "--out", tmp_path / "model", *SETTINGS)
    assert code == 0, err
    model = load_model(tmp_path / "model")
    assert model.clusterings == (2, 4, 16)
    assert model.training["data"]["episodes"] == 200
    assert model.hash[:12] in out
    assert "validation: loss" in out
    assert "30/30" in err and "perplexity" in err and "loss" in err
    code, _, err = command(data, "--out", tmp_path / "model", *SETTINGS, "--seed", "1")
    assert code == 2
    assert "config seed 0, now 1; choose another folder" in err


def test_errors_are_printed_in_one_line(command, data, tmp_path):
    code, _, err = command(tmp_path / "nothing", "--out", tmp_path / "model")
    assert (code, err.count("\n")) == (2, 1)
    assert "no demonstrations" in err
    code, _, err = command(data, "--out", tmp_path / "model", "--codes", "1")
    assert code == 2
    assert "codes is 1; valid: 2 or more" in err


@pytest.mark.parametrize("name", ["generate.json", "policy.json"])
def test_a_folder_with_other_files_is_not_changed(command, data, tmp_path, name):
    (tmp_path / name).write_text("{}")
    code, _, err = command(data, "--out", tmp_path, *SETTINGS)
    assert (code, err.count("\n")) == (2, 1)
    assert f"is not the folder of a memory model: it contains {name}; set --out to a new" in err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_without_torch_the_error_names_the_package_to_install(data, tmp_path):
    hidden = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError('no torch', name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from rulesafe_cli.cli import main\n"
    )
    arguments = ["memory", "train", str(data), "--out", str(tmp_path / "model")]
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}sys.exit(main({arguments!r}))"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 2
    assert "pip install -c constraints.txt '.[learn]'" in done.stderr
    assert not (tmp_path / "model").exists()
