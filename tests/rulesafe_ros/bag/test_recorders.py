"""Tests of the selection of topics and of the recorder."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.writing import Splitting
from rulesafe_ros.bag import recorders
from rulesafe_ros.bag.record_options import RecordingOptions
from rulesafe_ros.bag.recorders import RECORDERS, rosbag2_command
from rulesafe_ros.bag.selection import Selection

NAMES = ("/clock", "/joint_states", "/camera/head/image_raw", "/rosout", "/a/_hidden", "/film/head")


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), {"/clock", "/joint_states", "/camera/head/image_raw", "/film/head"}),
        (Selection(("joint_states", "/rosout")), {"/joint_states", "/rosout"}),
        (Selection(("joint_states /rosout", ""), ("",)), {"/joint_states", "/rosout"}),
        (Selection(("/camera/.*", "/clo")), {"/camera/head/image_raw"}),
        (Selection((".*",), ("/film/.*", "/a/.*", "/c.*")), {"/joint_states", "/rosout"}),
    ],
)
def test_both_recorders_select_the_same_topics(selection, expected):
    assert {name for name in NAMES if name in selection} == expected
    command = rosbag2_command(RecordingOptions(Path("bag"), selection))
    options = dict(pairwise(command))
    chosen = {n for n in NAMES if re.search(options.get("--regex", "^((?!/_).)*$"), n)}
    if "--exclude-regex" in options:
        chosen = {n for n in chosen if not re.search(options["--exclude-regex"], n)}
    assert chosen == expected


def test_the_rosbag2_command_contains_all_options():
    recording = RecordingOptions(Path("a/bag"), Selection(), "zstd", Splitting(2.5, 60.0), "sim")
    text = " ".join(rosbag2_command(recording))
    for part in (
        *("ros2 bag record --storage mcap --output a/bag", "--storage-preset-profile zstd_fast"),
        *("--max-bag-size 2500000", "--max-bag-duration 60", "--use-sim-time", "--all-topics"),
    ):
        assert part in text
    assert "--all-topics" not in rosbag2_command(
        RecordingOptions(Path("bag"), Selection(("/clock",)))
    )


def test_rosbag2_without_an_installed_ros_2_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuleSafeError, match="--recorder own"):
        RECORDERS["rosbag2"](RecordingOptions(tmp_path / "bag"))


def test_the_installed_recorder_replaces_this_process(tmp_path, monkeypatch):
    """A fake ros2 prints its arguments; `auto` finds it."""
    ros2 = tmp_path / "ros2"
    ros2.write_text(
        '#!/bin/sh\nif [ "$3" = --help ]; then echo "{mcap,sqlite3}"; else echo "$@"; fi\n'
    )
    ros2.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    arguments = ["bag", "record", "--out", str(tmp_path / "bag"), "--recorder", "auto"]
    command = [sys.executable, "-m", "rulesafe_cli.cli", *arguments]
    output = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    printed, called = output.splitlines()
    assert printed == " ".join(rosbag2_command(RecordingOptions(tmp_path / "bag")))
    assert called.split() == printed.split()[1:]


@pytest.mark.parametrize("options", [{"seconds": 1.0}, {"compression": "lz4"}])
def test_auto_records_with_its_own_recorder_what_rosbag2_cannot(options, monkeypatch, tmp_path):
    used = []
    monkeypatch.setattr(recorders, "has_rosbag2", lambda: True)
    monkeypatch.setattr(recorders, "record_with_own", lambda recording: used.append(recording) or 0)
    recording = RecordingOptions(tmp_path / "bag", **options)
    assert recorders.RECORDERS["auto"](recording) == 0
    assert used == [recording]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nowhere"], "a bag is a folder"),
        (["play", "nowhere"], "a bag is a folder"),
        (["to-video", "nowhere"], "a bag is a folder"),
        (["record", "--topics", "(", "--out", "x"], "not a regular expression"),
        (["record", "--split-seconds", "-1", "--out", "x"], "seconds is -1; valid: 0 or more"),
        (["record", "--seconds", "-1", "--out", "x"], "the duration is -1 s; valid: 0 or more"),
    ],
)
def test_errors_are_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bag", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
