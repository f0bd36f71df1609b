"""Tests of `rulesafe view` as a process: Foxglove server, exit codes, errors."""

import asyncio
import signal
import socket

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("aiohttp", reason="aiohttp is not installed")
pytest.importorskip("foxglove", reason="foxglove-sdk is not installed")

from foxglove_client import decode, viewing

from rulesafe_cli.cli import main
from rulesafe_core.joints import ALL_JOINTS
from rulesafe_core.urdf import to_urdf, with_frames
from rulesafe_ros.view.foxglove_server import FRAMES
from rulesafe_sim.camera_frames import camera_frames
from rulesafe_sim.simulation import ROBOT
from rulesafe_sim.variation import Cameras


@pytest.mark.ros
def test_foxglove_gets_the_graph(run):
    """In any order of starting; latched messages reach a viewer that connects later."""
    view = run("rulesafe_cli.cli", "view", "--port", "0", "--foxglove-port", "0")
    port = int(view.says(r"Foxglove: ws://127.0.0.1:(\d+)").group(1))
    run("rulesafe_sim.node", "--ros-args", "-p", "cameras:=false", "-p", "safe:=safe_06")

    async def conversation():
        received = {}
        async with viewing(port) as viewer:
            for topic in ("/joint_states", "/robot_description", "/episode/status"):
                await viewer.subscribe(topic)
                received[topic] = decode(*await viewer.next(topic))
            await viewer.subscribe(FRAMES)
            while b"stand" not in (await viewer.next(FRAMES))[1]:
                pass  # the safe's description follows a little later
        return received

    received = asyncio.run(conversation())
    assert tuple(received["/joint_states"].name) == ALL_JOINTS
    assert received["/robot_description"].data == with_frames(
        to_urdf(ROBOT), camera_frames(Cameras())
    )
    assert received["/episode/status"].safe == "safe_06"
    assert view.stop(signal.SIGTERM) == 143, view.output


def test_a_used_port_is_a_one_line_error(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", "--port", str(port), "--foxglove-port", "None"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"port {port}" in line and "--port" in line


def test_the_foxglove_port_may_be_none_and_ros_arguments_are_ignored(capsys):
    words = ["--foxglove-port", "None", "--port", "-1", "--ros-args", "-r", "__node:=view"]
    assert main(["view", *words]) == 2
    assert capsys.readouterr().err == "rulesafe: port is -1; valid: 0 to 65535\n"


def test_an_exposed_page_prints_its_token():
    from rulesafe_ros.view.guard import make_guard
    from rulesafe_ros.view.options import ViewOptions
    from rulesafe_ros.view.serving import greeting

    options = ViewOptions(host="0.0.0.0", foxglove_port=None)
    guard = make_guard(options)
    assert f":8080/#token={guard.token}" in greeting(options, 8080, guard, None)
    options = ViewOptions()
    guard = make_guard(options)
    assert greeting(options, 8080, guard, None).startswith("Live view: http://127.0.0.1:8080/\n")
