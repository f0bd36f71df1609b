"""A reverse proxy for the Foxglove server, which does not check which page connects.

The proxy reads the head of a connection, checks Host and Origin, and then forwards all bytes. The
server behind it listens on a random address of the loopback network, which no page can guess.
"""

import asyncio
import secrets
from contextlib import suppress
from email.message import Message
from email.parser import BytesHeaderParser
from urllib.parse import urlsplit

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.view.guard import RequestGuard
from rulesafe_ros.view.options import is_loopback

APPS = ("https://app.foxglove.dev", "https://studio.foxglove.dev")
"""Origins of Foxglove in the browser."""

TIMEOUT = 10.0
"""Time limit for the head of a connection, s."""

MAX_HEAD = 16_384
"""Maximum size of the head of a connection, bytes."""

BLOCK = 1 << 16


def hidden_host() -> str:
    """Return a random address of the loopback network 127.0.0.0/8."""
    first, second, third = (1 + secrets.randbelow(254) for _ in range(3))
    return f"127.{first}.{second}.{third}"


def refuse_viewer(guard: RequestGuard, headers: Message) -> str | None:
    """Return why a viewer is rejected, or None. The names of headers are case-insensitive.

    Pages of the web may not connect, except Foxglove's own app and pages served on loopback.
    Programs send no Origin, or one of another scheme.
    """
    origin = headers.get("Origin")
    url = urlsplit(origin or "")
    local = url.scheme in ("http", "https") and is_loopback(url.hostname or "")
    program = origin is None or (bool(url.scheme) and url.scheme not in ("http", "https"))
    if not (program or local or origin in APPS):
        return f"pages of {origin} may not connect"
    return guard.refuse({"Host": headers.get("Host", "")})


class FoxgloveProxy:
    """Accepts viewers on `host` and `port`, and forwards them to the server at `target`.

    Attributes:
        port: TCP port of the proxy.
    """

    def __init__(self, guard: RequestGuard, target: tuple[str, int]):
        self._guard, self._target = guard, target
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self, host: str, port: int) -> None:
        """Start listening; raise RuleSafeError if the port is not available."""
        try:
            self._server = await asyncio.start_server(self._serve, host, port, limit=MAX_HEAD)
        except OSError as error:
            raise RuleSafeError(
                f"the Foxglove server cannot listen on {host} port {port} ({error.strerror}); if "
                "another view uses it, start this one with --port 0 --foxglove-port 0 (launch "
                "file: port:=0 foxglove_port:=0), or without Foxglove: --foxglove-port None"
            ) from None
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            with suppress(
                OSError, ValueError, asyncio.TimeoutError, asyncio.IncompleteReadError,
                asyncio.LimitOverrunError,
            ):  # fmt: skip
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT)
                headers = BytesHeaderParser().parsebytes(head.partition(b"\r\n")[2])
                if reason := refuse_viewer(self._guard, headers):
                    body = f"{reason}\n".encode()
                    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                    writer.write(f"HTTP/1.1 403 Forbidden\r\n{length}".encode() + body)
                    await writer.drain()
                    return
                await self._forward(head, reader, writer)
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _forward(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        from_server, to_server = await asyncio.open_connection(*self._target)
        try:
            to_server.write(head)
            tasks = [
                asyncio.create_task(_copy(reader, to_server)),
                asyncio.create_task(_copy(from_server, writer)),
            ]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            to_server.close()

    async def close(self) -> None:
        """Stop listening, and close the connections."""
        self._server.close()
        for writer in list(self._connections):
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(BLOCK):
        writer.write(block)
        await writer.drain()
