"""Files that are written: devices and pipes are not replaced, and nothing waits for them."""

import os
import stat
from pathlib import Path

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import (
    LOCK,
    check_regular,
    draft_file,
    exclusive_lock,
    exclusive_output,
    locked,
    write_atomically,
)


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_pipe_is_not_replaced(pipe):
    with pytest.raises(RuleSafeError, match="is a named pipe; valid: a regular file"):
        write_atomically(pipe, b"content")
    with pytest.raises(RuleSafeError, match="is a named pipe"), draft_file(pipe):
        pass
    assert stat.S_ISFIFO(pipe.stat().st_mode) and list(pipe.parent.iterdir()) == [pipe]


def test_a_link_to_a_device_is_not_replaced(tmp_path):
    path = tmp_path / "null"
    path.symlink_to(os.devnull)
    with pytest.raises(RuleSafeError, match="is a device"):
        write_atomically(path, b"content")
    assert path.is_symlink()


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "folder/file"
    for content in (b"first", b"second"):
        write_atomically(path, content)
        assert path.read_bytes() == content


def test_a_pipe_in_place_of_a_lock_is_refused(tmp_path):
    os.mkfifo(tmp_path / LOCK)
    with pytest.raises(RuleSafeError, match="named pipe"), exclusive_lock(tmp_path, "test"):
        pass
    with pytest.raises(RuleSafeError, match="named pipe"), locked(tmp_path / LOCK):
        pass


def test_a_lock_keeps_the_content_of_its_file(tmp_path):
    path = tmp_path / LOCK
    path.write_text("note")
    with (
        exclusive_lock(tmp_path, "test"),
        pytest.raises(RuleSafeError, match="is in use"),
        exclusive_lock(tmp_path, "test"),
    ):
        pass
    with locked(path):
        pass
    assert path.read_text() == "note"


def test_only_regular_files_are_regular(tmp_path, pipe):
    check_regular(write(tmp_path / "file"))
    for path in (pipe, tmp_path):
        with pytest.raises(RuleSafeError, match="valid: a regular file"):
            check_regular(path)
    with pytest.raises(FileNotFoundError):
        check_regular(tmp_path / "missing")


def write(path):
    path.write_bytes(b"")
    return path


def test_one_process_at_a_time_writes_an_output(tmp_path):
    out = tmp_path / "new/file"
    with exclusive_output(out, "test"):
        with (
            pytest.raises(RuleSafeError, match=r"file is in use: another `test` writes to it"),
            exclusive_output(tmp_path / "new/../new/file", "test"),
        ):
            pass
        with exclusive_output(tmp_path / "new/other", "test"):
            out.touch()
    assert [path.name for path in out.parent.iterdir()] == ["file"]
    with pytest.raises(ValueError), exclusive_output(tmp_path / "a/b/c", "test"):
        raise ValueError
    assert not (tmp_path / "a").exists()
    for path in ("/", "/proc/x/y"):  # no lock; the error is that of the command
        with exclusive_output(Path(path), "test"):
            pass
