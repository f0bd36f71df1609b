"""Sources that `rules verify` cannot read, and lock files that could not be read."""

import os

import pytest

from rulesafe_cli.cli import main

PROGRAM = """def check_lock(self):
    # one{}comment
    knob = self.is_open(obj_name="safe", link_name="knob")
    self.set_lock(obj_name="safe", link_name="door", lock=not knob)
"""


def test_pipes_devices_and_huge_files_in_a_folder_are_refused_at_once(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(3 * 10**9)
    assert main(["rules", "verify", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert "named pipe" in output and "a device" in output and "larger than" in output
    assert "0 valid, 3 refused" in output


@pytest.mark.parametrize("character", [" ", "\u00a0", "\u200b", "\f"])
def test_what_verify_writes_can_be_shown_or_is_not_written(tmp_path, capsys, character):
    source, out = tmp_path / "my_lock.py", tmp_path / "my_lock.json"
    source.write_text(PROGRAM.format(character))
    words = ["--out", str(out), "--description", "Open the knob."]
    code = main(["rules", "verify", str(source), *words])
    assert (code == 0) == out.exists() == (character == " "), capsys.readouterr()
    if out.exists():
        assert main(["rules", "show", str(out)]) == 0


def test_markup_in_the_title_of_a_safe_is_printed_as_it_is(tmp_path, capsys):
    from rulesafe_sim.safes import safe_file

    lines = safe_file("safe_02").read_text().splitlines()
    titled = ['title: "[/red] \\e]0;x\\a"' if n.startswith("title:") else n for n in lines]
    (tmp_path / "mine.yaml").write_text("\n".join(titled))
    assert main(["safes", "show", str(tmp_path / "mine.yaml")]) == 0
    assert "[/red] <U+001B>]0;x<U+0007>" in capsys.readouterr().out
