"""Every message on to Foxglove as it came, its definition beside it, and where the links are."""

import time
from collections.abc import Callable, Iterable

import foxglove
from foxglove.channels import FrameTransformsChannel
from foxglove.messages import FrameTransform, FrameTransforms, Quaternion, Timestamp, Vector3
from foxglove.websocket import ChannelView, Client, ServerListener

from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import to_quat_wxyz
from rulesafe_data.bags.definitions import definition
from rulesafe_ros.view.frames import Frame

FRAMES = "/view/transforms"
"""Where Foxglove finds the links' poses; of its own type, for the graph has none of them."""

BACKLOG = 256
"""Messages that may wait for a slow viewer; the oldest are dropped."""


class ToFoxglove:
    """A Foxglove WebSocket server, which tells and takes no commands.

    Attributes:
        port: where it listens.

    Errors: RuleSafeError for a port that cannot be had.
    """

    def __init__(self, host: str, port: int):
        self._context = foxglove.Context()
        self._channels: dict[tuple[str, str], foxglove.Channel] = {}
        self._latched: dict[int, bytes] = {}  # the last one by the channel's id
        self._frames = FrameTransformsChannel(FRAMES, context=self._context)
        try:
            self._server = foxglove.start_server(
                name="RuleSafe",
                host=host,
                port=port,
                context=self._context,
                server_listener=_Listener(self._repeat),
                message_backlog_size=BACKLOG,
            )
        except (OSError, RuntimeError) as error:
            raise RuleSafeError(
                f"Foxglove's server cannot listen on {host} port {port} ({error}): perhaps a view "
                "runs there already; for another one: --port 0 --foxglove-port 0 (port:=0 "
                "foxglove_port:=0 of the launch file), or None for none"
            ) from None
        self.port: int | None = self._server.port

    def message(self, topic: str, kind: str, raw: bytes, latched: bool) -> None:
        """Sends a message to who has subscribed. Errors: RuleSafeError for a type whose definition
        is not installed."""
        channel = self._channels.get((topic, kind)) or self._make_channel(topic, kind)
        if latched:
            self._latched[channel.id()] = raw
        channel.log(raw)

    def _make_channel(self, topic: str, kind: str) -> foxglove.Channel:
        text = definition(kind).encode()
        schema = foxglove.Schema(name=kind, encoding="ros2msg", data=text)
        channel = foxglove.Channel(
            topic, schema=schema, message_encoding="cdr", context=self._context
        )
        self._channels[topic, kind] = channel
        return channel

    def _repeat(self, number: int) -> None:
        """Sends a latched channel's last message again."""
        raw = self._latched.get(number)
        for channel in list(self._channels.values()):
            if raw is not None and channel.id() == number:
                channel.log(raw)

    def frames(self, frames: Iterable[Frame]) -> None:
        """Sends the links' poses, if somebody looks; else they are not even computed."""
        if not self._frames.has_sinks():
            return
        # The world's time: stamps of the graph begin anew with each simulation, and a viewer
        # would go on showing the newest.
        now = time.time_ns()
        stamp = Timestamp(sec=now // SECOND, nsec=now % SECOND)
        self._frames.log(FrameTransforms(transforms=[_transform(*f, stamp) for f in frames]))

    def close(self) -> None:
        """Ends the server."""
        self._server.stop()


def _transform(parent: str, child: str, pose, stamp: Timestamp) -> FrameTransform:
    w, x, y, z = map(float, to_quat_wxyz(pose))
    at_x, at_y, at_z = map(float, pose[:3, 3])
    return FrameTransform(
        timestamp=stamp,
        parent_frame_id=parent,
        child_frame_id=child,
        translation=Vector3(x=at_x, y=at_y, z=at_z),
        rotation=Quaternion(x=x, y=y, z=z, w=w),
    )


class _Listener(ServerListener):
    """Calls `came` with the channel's id when a viewer wants a channel."""

    def __init__(self, came: Callable[[int], None]):
        self._came = came

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        """A viewer wants a channel."""
        self._came(channel.id)
