"""A viewer with an independent implementation of Foxglove's WebSocket protocol."""

import asyncio
import json
import struct
from contextlib import asynccontextmanager

import aiohttp
from mcap.records import Schema
from mcap_ros2.decoder import DecoderFactory

PROTOCOL = "foxglove.sdk.v1"
PATIENCE = 180.0
MESSAGE = 1  # opcode


class Viewer:
    """Attributes: channels, by topic, as the server advertises them."""

    def __init__(self, socket):
        self._socket = socket
        self.channels: dict[str, dict] = {}
        self._subscribed: dict[int, dict] = {}

    async def _receive(self):
        message = await asyncio.wait_for(self._socket.receive(), PATIENCE)
        if message.type == aiohttp.WSMsgType.TEXT:
            await self._handle(json.loads(message.data))
            return None
        assert message.type == aiohttp.WSMsgType.BINARY, message
        code, subscription, _ = struct.unpack_from("<BIQ", message.data)
        if code != MESSAGE:
            return None
        channel = self._subscribed[subscription]
        return channel, message.data[13:]

    async def _handle(self, message: dict) -> None:
        if message["op"] == "advertise":
            self.channels |= {channel["topic"]: channel for channel in message["channels"]}
        # The server advertises a channel a moment before it accepts subscriptions to it.
        if message["op"] == "status" and message["message"].startswith("Unknown channel ID"):
            refused = int(message["message"].rpartition(" ")[2])
            for number, channel in self._subscribed.items():
                if channel["id"] == refused:
                    await self._request(number, channel)

    async def advertised(self, topics) -> None:
        while not set(topics) <= self.channels.keys():
            await self._receive()

    async def subscribe(self, topic: str) -> None:
        await self.advertised([topic])
        channel = self.channels[topic]
        number = len(self._subscribed) + 1
        self._subscribed[number] = channel
        await self._request(number, channel)

    async def _request(self, number: int, channel: dict) -> None:
        wanted = {"id": number, "channelId": channel["id"]}
        await self._socket.send_json({"op": "subscribe", "subscriptions": [wanted]})

    async def next(self, topic: str) -> tuple[dict, bytes]:
        """Return the channel and the bytes of the next message of a topic."""
        while True:
            found = await self._receive()
            if found and found[0]["topic"] == topic:
                return found


@asynccontextmanager
async def viewing(port: int):
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(
            f"ws://127.0.0.1:{port}", protocols=[PROTOCOL], max_msg_size=2**26
        ) as socket,
    ):
        yield Viewer(socket)


def decode(channel: dict, data: bytes):
    """Decode a message with the definition in its channel."""
    assert (channel["encoding"], channel["schemaEncoding"]) == ("cdr", "ros2msg")
    text = channel["schema"].encode()
    schema = Schema(id=1, data=text, encoding="ros2msg", name=channel["schemaName"])
    decoder = DecoderFactory().decoder_for(channel["encoding"], schema)
    assert decoder is not None, channel
    return decoder(data)
