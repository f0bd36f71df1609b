"""Serve the page over HTTP: files, a WebSocket for the sections, and two URLs for commands."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import WSCloseCode, web
from aiohttp.http_exceptions import HttpProcessingError

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import parse_json
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import RequestGuard

PAGE = Path(__file__).parent / "page"

RATE = 20
"""Update rate of a page, Hz."""

MAX_BODY = 4096
"""Maximum size of a command, bytes."""

TIMEOUT = 10.0
"""Time limit for a request to arrive, and for the next one on a connection, s."""

MAX_SEED = 2**32 - 1

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""Headers of every response: the page runs only its own scripts and cannot be embedded elsewhere.
uPlot needs inline styles."""

Result = tuple[bool, str]
"""Whether a command succeeded, and a message."""


@dataclass(frozen=True)
class Commands:
    """The commands of the page."""

    reset: Callable[[str, str, int], Awaitable[Result]]
    pause: Callable[[bool], Awaitable[Result]]


def _is_own_error(record: logging.LogRecord) -> bool:
    """Return False for invalid requests, which get an error response and need no traceback."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)


class Page:
    """The web application.

    Args:
        board: the sections of the page.
        guard: accepts or rejects requests.
        commands: commands of the buttons.
        history: returns the section `history` with all rows, for a page that has just opened.
    """

    def __init__(
        self,
        board: Board,
        guard: RequestGuard,
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

    def runner(self) -> web.AppRunner:
        """Return a runner that closes connections without a complete request after TIMEOUT."""
        logger = logging.getLogger(__name__)
        logger.addFilter(_is_own_error)
        return web.AppRunner(
            self.app,
            access_log=None,
            logger=logger,
            shutdown_timeout=2,
            keepalive_timeout=TIMEOUT,
        )

    @web.middleware
    async def _check(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if reason := self._guard.refuse(request.headers):
            return web.Response(status=403, text=reason + "\n")
        return await handler(request)

    async def _index(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "index.html")

    # Sections -----------------------------------------------------------------------------

    async def _live(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=MAX_BODY, compress=False)
        await socket.prepare(request)
        self._sockets.add(socket)
        self._board.viewers += 1
        sender = asyncio.create_task(self._send(socket))
        try:
            async for _ in socket:  # the page sends nothing; the loop ends when it closes
                pass
        finally:
            sender.cancel()
            self._board.viewers -= 1
            self._sockets.discard(socket)
        return socket

    async def _send(self, socket: web.WebSocketResponse) -> None:
        """Send new sections as fast as the page receives them; intermediate values are skipped."""
        version, changed = self._board.changes(0)
        changed.append(json.dumps({"name": "history", "value": self._history()}))
        try:
            while not socket.closed:
                for message in changed:
                    if isinstance(message, str):
                        await socket.send_str(message)
                    else:
                        await socket.send_bytes(message)
                await asyncio.sleep(1 / RATE)
                version, changed = self._board.changes(version)
        except (ConnectionError, RuntimeError):
            return  # the page was closed

    async def _close(self, app: web.Application) -> None:
        for socket in list(self._sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY)

    # Commands -----------------------------------------------------------------------------

    def _command(
        self, act: Callable[[dict[str, Any]], Awaitable[Result]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def respond(request: web.Request) -> web.StreamResponse:
            if reason := self._guard.refuse_command(request.headers):
                return _response(False, reason, 401)
            try:
                done, message = await act(await _body(request))
            except RuleSafeError as error:
                return _response(False, str(error), 400)
            return _response(done, message, 200 if done else 409)

        return respond

    async def _on_reset(self, body: dict[str, Any]) -> Result:
        rule, safe = (_name(body, key) for key in ("rule", "safe"))
        seed = body.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise RuleSafeError(f"seed is {seed!r}; valid: an integer from 0 to {MAX_SEED}")
        return await self._commands.reset(rule, safe, seed)

    async def _on_pause(self, body: dict[str, Any]) -> Result:
        paused = body.get("paused")
        if not isinstance(paused, bool):
            raise RuleSafeError(f"paused is {paused!r}; valid: true, false")
        return await self._commands.pause(paused)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _response(done: bool, message: str, status: int) -> web.Response:
    return web.json_response({"done": done, "message": message}, status=status)


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        body = parse_json(await asyncio.wait_for(request.read(), TIMEOUT))
    except asyncio.TimeoutError:
        raise web.HTTPRequestTimeout(headers={"Connection": "close"}) from None
    except ValueError:
        body = None
    if request.content_type != "application/json" or not isinstance(body, dict):
        raise RuleSafeError('a command must be a JSON object such as {"paused": true}')
    return body


def _name(body: dict[str, Any], key: str) -> str:
    """Return an ID, or "" for the present one. Paths are invalid: a page may not read files."""
    name = body.get(key, "")
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]*", name, re.ASCII):
        raise RuleSafeError(f"{key} is {name!r}; valid: an ID such as {key}_003")
    return name
