"""Tests of the selection of topics, and of errors of the commands."""

import pytest

from rulesafe_cli.cli import main
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
def test_selection_of_topics(selection, expected):
    assert {name for name in NAMES if name in selection} == expected


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
