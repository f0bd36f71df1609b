"""A Foxglove WebSocket server for the unchanged messages of the graph, and for transforms."""

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
"""Topic of the link poses with a message type of Foxglove, since the graph has no /tf."""

BACKLOG = 256
"""Queue length for a slow viewer; the oldest messages are dropped."""


class FoxgloveServer:
    """A Foxglove server that publishes messages and accepts no commands.

    The server does not check the origin of connections. Therefore clients connect to
    `foxglove_proxy`, which checks it and forwards the connection.

    Attributes:
        port: TCP port of the server.

    Raises:
        RuleSafeError: the port is not available.
    """

    def __init__(self, host: str, port: int):
        self._context = foxglove.Context()
        self._channels: dict[tuple[str, str], foxglove.Channel] = {}
        self._latched: dict[int, bytes] = {}  # last message by the channel's id
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
                f"the Foxglove server cannot listen on {host} port {port} ({error}); start the "
                "view without Foxglove: --foxglove-port None"
            ) from None
        self.port = self._server.port

    def message(self, topic: str, kind: str, raw: bytes, latched: bool) -> None:
        """Send a message to its subscribers, and to later ones if it is latched.

        Raises:
            RuleSafeError: the definition of the message type is not installed.
        """
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
        """Send a latched channel's last message again."""
        raw = self._latched.get(number)
        for channel in list(self._channels.values()):
            if raw is not None and channel.id() == number:
                channel.log(raw)

    def frames(self, frames: Iterable[Frame]) -> None:
        """Send the link poses; without subscribers, they are not computed."""
        if not self._frames.has_sinks():
            return
        # System time, since the graph's stamps restart with each simulation and Foxglove shows the
        # transforms with the newest stamps.
        now = time.time_ns()
        stamp = Timestamp(sec=now // SECOND, nsec=now % SECOND)
        self._frames.log(FrameTransforms(transforms=[_transform(*f, stamp) for f in frames]))

    def close(self) -> None:
        """Stop the server."""
        self._server.stop()


def _transform(parent: str, child: str, pose, stamp: Timestamp) -> FrameTransform:
    w, qx, qy, qz = map(float, to_quat_wxyz(pose))
    x, y, z = map(float, pose[:3, 3])
    return FrameTransform(
        timestamp=stamp,
        parent_frame_id=parent,
        child_frame_id=child,
        translation=Vector3(x=x, y=y, z=z),
        rotation=Quaternion(x=qx, y=qy, z=qz, w=w),
    )


class _Listener(ServerListener):
    """Calls `subscribed` with the channel ID when a viewer subscribes."""

    def __init__(self, subscribed: Callable[[int], None]):
        self._subscribed = subscribed

    def on_subscribe(self, client: Client, channel: ChannelView) -> None:
        self._subscribed(channel.id)
