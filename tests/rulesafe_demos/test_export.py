"""`rulesafe demos export`: the file of states, and formats of other distributions."""

import json
import shutil

import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.store import EpisodeStore
from rulesafe_demos.attempts import load_request
from rulesafe_demos.commands import export

SOURCE = """
def write(*arguments):
    print(*arguments)
"""


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
    about, store = json.loads((out / "joints.json").read_text()), EpisodeStore(demos)
    assert about["command"] == load_request(demos).command()
    assert (about["episodes"], about["digest"]) == (len(store), store.digest)


def test_an_installed_distribution_adds_a_format(installed, capsys):
    installed("my_format", SOURCE, "[rulesafe.dataset_formats]\nplain = my_format:write\n")
    command = "demos export demos --format plain --out new --memory-model all_rules --clusters 4"
    assert main(command.split()) == 0
    assert capsys.readouterr().out == "demos new short all_rules 4 None\n"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "hdf5"}, "unknown format of datasets 'hdf5'; valid: .*states"),
        ({"clusters": 4}, "--clusters and --length require --memory-model"),
        ({"memory_model": "all_rules"}, "--memory-model requires --format"),
    ],
)
def test_invalid_options_are_refused(tmp_path, settings, message):
    with pytest.raises(RuleSafeError, match=message):
        export(tmp_path, tmp_path / "out", **settings)
