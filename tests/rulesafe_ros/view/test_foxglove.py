"""Tests of the Foxglove server: definitions, latched messages, link transforms."""

import asyncio
import contextlib
import json
import re
import socket
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("foxglove", reason="foxglove-sdk is not installed")
pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("aiohttp", reason="aiohttp is not installed")

import aiohttp
from foxglove_client import PROTOCOL, decode, viewing
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_INDICES
from rulesafe_interfaces.msg import MemoryTokens
from rulesafe_ros.view import foxglove_proxy
from rulesafe_ros.view.foxglove_proxy import FoxgloveProxy
from rulesafe_ros.view.foxglove_server import FRAMES, FoxgloveServer
from rulesafe_ros.view.guard import make_guard
from rulesafe_ros.view.model import JOINT_NAMES
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.sources import sources

LAYOUT = Path(__file__).parents[3] / "config/foxglove_layout.json"


@pytest.fixture
def server():
    foxglove = FoxgloveServer("127.0.0.1", 0)
    yield foxglove
    foxglove.close()


@pytest.mark.parametrize(
    ("headers", "accepted"),
    [
        ({}, True),
        ({"Origin": "file://"}, True),
        ({"Origin": "https://app.foxglove.dev"}, True),
        ({"Origin": "http://localhost:3000"}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "http://127.0.0.1.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://[::1"}, False),
        ({"Host": "evil.example:8765"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"ORIGIN": "https://app.foxglove.dev"}, True),
        ({"hOST": "evil.example:8765"}, False),
    ],
)
def test_pages_of_the_web_cannot_connect(server, headers, accepted):
    """A page that is open in the browser of the user could read the cameras otherwise."""

    async def conversation():
        proxy = FoxgloveProxy(make_guard(ViewOptions()), ("127.0.0.1", server.port))
        await proxy.start("127.0.0.1", 0)
        try:
            async with aiohttp.ClientSession() as session:
                url = f"ws://127.0.0.1:{proxy.port}/"
                async with session.ws_connect(url, protocols=[PROTOCOL], headers=headers) as socket:
                    return (await socket.receive_json())["op"]
        except aiohttp.ClientError as error:
            return type(error).__name__
        finally:
            await proxy.close()

    assert (asyncio.run(conversation()) == "serverInfo") == accepted


def test_viewers_that_send_nothing_are_disconnected(server, monkeypatch):
    monkeypatch.setattr(foxglove_proxy, "TIMEOUT", 0.2)

    async def conversation(sent):
        proxy = FoxgloveProxy(make_guard(ViewOptions()), ("127.0.0.1", server.port))
        await proxy.start("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(sent)
        try:
            return await asyncio.wait_for(reader.read(), 20)
        finally:
            writer.close()
            await proxy.close()

    for sent in (b"", b"GET / HTTP/1.1\r\nHost: a\r\n", b"x" * 100_000):
        with contextlib.suppress(ConnectionResetError):
            assert asyncio.run(conversation(sent)) == b""


def test_messages_arrive_with_their_definitions(server):
    """MCAP's decoder reads messages with the definitions alone, also of RuleSafe's own types."""
    joints = JointState(name=["a", "b"], position=[0.5, -1.0])
    tokens = MemoryTokens(tokens=[3, 1], mask=[True, False], vocabulary_size=4)

    async def conversation():
        async with viewing(server.port) as viewer:
            found = []
            for topic, kind, message in (
                ("/joint_states", "sensor_msgs/msg/JointState", joints),
                ("/memory/tokens", "rulesafe_interfaces/msg/MemoryTokens", tokens),
            ):
                raw = bytes(serialize_message(message))
                server.message(topic, kind, raw, True)
                await viewer.subscribe(topic)
                found.append(decode(*await viewer.next(topic)))
            return found

    heard_joints, heard_tokens = asyncio.run(conversation())
    assert heard_joints.name == ["a", "b"] and list(heard_joints.position) == [0.5, -1.0]
    assert list(heard_tokens.tokens) == [3, 1] and heard_tokens.vocabulary_size == 4


def test_late_viewers_receive_the_last_latched_message(server):
    def say(words: str) -> None:
        raw = bytes(serialize_message(String(data=words)))
        server.message("/instruction", "std_msgs/msg/String", raw, True)

    async def conversation():
        say("first")
        say("second")
        words = []
        for _ in range(2):  # a second viewer too
            async with viewing(server.port) as viewer:
                await viewer.subscribe("/instruction")
                words.append(decode(*await viewer.next("/instruction")).data)
        return words

    assert asyncio.run(conversation()) == ["second", "second"]


def test_link_transforms_are_sent_while_a_viewer_is_subscribed(server):
    computed = []

    def frames():
        computed.append(True)
        yield "pelvis", "torso_link", np.eye(4)

    async def conversation():
        server.frames(frames())
        assert not computed
        async with viewing(server.port) as viewer:
            await viewer.subscribe(FRAMES)
            message = asyncio.create_task(viewer.next(FRAMES))
            while not message.done():
                server.frames(frames())
                await asyncio.sleep(0.02)
            return await message

    channel, data = asyncio.run(conversation())
    assert channel["schemaName"] == "foxglove.FrameTransforms"
    assert b"torso_link" in data


def test_a_used_port_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RuleSafeError, match=f"port {port}.*--foxglove-port"):
            FoxgloveServer("127.0.0.1", port)


def test_the_layout_plots_each_joint_by_its_index():
    labels = {}

    def collect(found: dict) -> dict:
        if "label" in found and "value" in found:
            labels[found["value"]] = found["label"]
        return found

    json.loads(LAYOUT.read_text(), object_hook=collect)
    for i, (index, name) in enumerate(zip(ACTION_INDICES, JOINT_NAMES, strict=True)):
        assert labels[f"/joint_states.position[{index}]"] == name
        assert labels[f"/policy/action_chunk.points[-1].positions[{i}]"] == f"{name}, asked"


def test_the_layout_shows_topics_that_are_relayed():
    relayed = {topic for source in sources(ViewOptions()) for topic in source.topics}
    shown = set(re.findall(r'"(/[a-z_/]+)', LAYOUT.read_text()))
    assert shown <= relayed
    wanted = {"/robot_description", "/camera/points", "/memory/tokens", "/episode/status"}
    assert wanted | {"/policy/action_chunk", "/camera/head/image_raw"} <= shown
