"""The page and its commands over HTTP: one WebSocket that tells, two addresses that are told.

No ROS here: commands are two functions.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, web

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import Guard

PAGE = Path(__file__).parent / "page"

RATE = 20
"""Messages of a section per second at most."""

MAX_BODY = 4096
"""Bytes of a command."""

MAX_SEED = 2**32 - 1

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Of every answer: nothing from elsewhere runs in the page, and no other page frames its buttons.
uPlot places its lines by inline styles."""

Told = tuple[bool, str]


@dataclass(frozen=True)
class Commands:
    """What the page can have done. Each answers whether it was, and in words what."""

    reset: Callable[[str, str, int], Awaitable[Told]]
    pause: Callable[[bool], Awaitable[Told]]


class Page:
    """The web application.

    Args:
        board: what pages are told.
        guard: whose requests are answered.
        commands: what the buttons do.
        history: the section `history` with all that a page missed which comes late.
    """

    def __init__(
        self,
        board: Board,
        guard: Guard,
        commands: Commands,
        history: Callable[[], Any] = lambda: None,
    ):
        self._board, self._guard, self._commands = board, guard, commands
        self._history = history
        self._sockets: set[web.WebSocketResponse] = set()
        self.app = web.Application(middlewares=[self._check], client_max_size=MAX_BODY)
        self.app.on_response_prepare.append(_add_headers)
        self.app.on_shutdown.append(self._close)
        self.app.router.add_get("/", self._index)
        self.app.router.add_get("/live", self._live)
        self.app.router.add_post("/reset", self._command(self._on_reset))
        self.app.router.add_post("/pause", self._command(self._on_pause))
        self.app.router.add_static("/page/", PAGE)

    @web.middleware
    async def _check(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if reason := self._guard.refuse(request.headers):
            return web.Response(status=403, text=reason + "\n")
        return await handler(request)

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "index.html")

    # Telling ------------------------------------------------------------------------------

    async def _live(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=MAX_BODY, compress=False)
        await socket.prepare(request)
        self._sockets.add(socket)
        self._board.readers += 1
        sender = asyncio.create_task(self._send(socket))
        try:
            async for _ in socket:  # a page says nothing; this ends when it closes
                pass
        finally:
            sender.cancel()
            self._board.readers -= 1
            self._sockets.discard(socket)
        return socket

    async def _send(self, socket: web.WebSocketResponse) -> None:
        """Sends what is new as fast as the page takes it; what is overwritten meanwhile is left
        out."""
        version, news = self._board.news(0)
        news.append(json.dumps({"name": "history", "value": self._history()}))
        try:
            while not socket.closed:
                for message in news:
                    if isinstance(message, str):
                        await socket.send_str(message)
                    else:
                        await socket.send_bytes(message)
                await asyncio.sleep(1 / RATE)
                version, news = self._board.news(version)
        except (ConnectionError, RuntimeError):
            return  # the page has gone

    async def _close(self, app: web.Application) -> None:
        for socket in list(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY)

    # Being told ---------------------------------------------------------------------------

    def _command(
        self, act: Callable[[dict[str, Any]], Awaitable[Told]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            if reason := self._guard.refuse_command(request.headers):
                return _told(False, reason, 401)
            try:
                done, words = await act(await _body(request))
            except RuleSafeError as error:
                return _told(False, str(error), 400)
            return _told(done, words, 200 if done else 409)

        return answer

    async def _on_reset(self, body: dict[str, Any]) -> Told:
        rule, safe = (_name(body, key) for key in ("rule", "safe"))
        seed = body.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise RuleSafeError(f"a seed is a whole number within 0 and {MAX_SEED}, not {seed!r}")
        return await self._commands.reset(rule, safe, seed)

    async def _on_pause(self, body: dict[str, Any]) -> Told:
        paused = body.get("paused")
        if not isinstance(paused, bool):
            raise RuleSafeError(f"paused is true or false, not {paused!r}")
        return await self._commands.pause(paused)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _told(done: bool, words: str, status: int) -> web.Response:
    return web.json_response({"done": done, "words": words}, status=status)


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        body = None
    if request.content_type != "application/json" or not isinstance(body, dict):
        raise RuleSafeError('a command is a JSON object, such as {"paused": true}')
    return body


def _name(body: dict[str, Any], key: str) -> str:
    """An id, or nothing for what is loaded. Paths are for the command line: who may press a button
    may not read files."""
    name = body.get(key, "")
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]*", name, re.ASCII):
        raise RuleSafeError(f"{key} is an id, such as {key}_003, not {name!r}")
    return name
