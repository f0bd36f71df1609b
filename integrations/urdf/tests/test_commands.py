"""`rulesafe safes import | show | check | export` on the command line."""

import pytest

from rulesafe_cli.cli import main


@pytest.mark.episode
def test_a_urdf_is_imported_shown_checked_and_exported(urdfs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    urdf = str(urdfs["lever"])
    assert main(["safes", "import", urdf, "--out", "box.yaml"]) == 0
    assert "next: rulesafe safes check box.yaml" in capsys.readouterr().out
    assert main(["safes", "import", urdf, "--out", "box.yaml"]) == 2
    assert "box.yaml exists; add --overwrite" in capsys.readouterr().err
    edited = ["--mapping", "box/mapping.yaml", "--overwrite"]
    before = (tmp_path / "box.yaml").read_bytes()
    assert main(["safes", "import", urdf, "--out", "box.yaml", *edited]) == 0
    assert (tmp_path / "box.yaml").read_bytes() == before  # the mapping has all choices
    capsys.readouterr()
    assert not main(["safes", "show", "box.yaml"])
    assert "mesh" in capsys.readouterr().out
    assert main(["safes", "check", "box.yaml", "--poses", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "[ok  ] expert: opened it in 1 of 1 poses"
    assert not main(["safes", "export", "box.yaml", "--out", "out"])
    assert (tmp_path / "out/box.urdf").is_file()


def test_a_check_of_a_safe_that_cannot_be_loaded_fails(tmp_path, capsys):
    assert main(["safes", "check", str(tmp_path / "lost.yaml")]) == 1
    assert "[FAIL] file: cannot read" in capsys.readouterr().out


def test_an_import_into_another_kind_of_file_is_refused(urdfs, tmp_path, capsys):
    assert main(["safes", "import", str(urdfs["lever"]), "--out", str(tmp_path / "x.urdf")]) == 2
    assert "the file of a safe must end in .yaml" in capsys.readouterr().err


def test_an_edited_mapping_is_not_replaced_without_overwrite(urdfs, tmp_path, capsys):
    (tmp_path / "x").mkdir()
    (tmp_path / "x/mapping.yaml").write_text("edited")
    assert main(["safes", "import", str(urdfs["lever"]), "--out", str(tmp_path / "x.yaml")]) == 2
    assert "x exists; add --overwrite" in capsys.readouterr().err
    assert (tmp_path / "x/mapping.yaml").read_text() == "edited"
