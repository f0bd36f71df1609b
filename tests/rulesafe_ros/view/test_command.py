"""Tests of `rulesafe view`: errors and messages."""

import socket

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("aiohttp", reason="aiohttp is not installed")

from rulesafe_cli.cli import main


def test_a_used_port_is_a_one_line_error(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", "--port", str(port)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"port {port}" in line and "--port" in line


def test_ros_arguments_are_ignored(capsys):
    words = ["--port", "-1", "--ros-args", "-r", "__node:=view"]
    assert main(["view", *words]) == 2
    assert capsys.readouterr().err == "rulesafe: port is -1; valid: 0 to 65535\n"


def test_an_exposed_page_prints_its_token():
    from rulesafe_ros.view.guard import make_guard
    from rulesafe_ros.view.options import ViewOptions
    from rulesafe_ros.view.serving import greeting

    options = ViewOptions(host="0.0.0.0")
    guard = make_guard(options)
    assert f":8080/#token={guard.token}" in greeting(options, 8080, guard)
    options = ViewOptions()
    guard = make_guard(options)
    assert greeting(options, 8080, guard).startswith("Live view: http://127.0.0.1:8080/\n")
