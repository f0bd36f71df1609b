"""Run `rulesafe view`: the web server in the main thread and the ROS node in another one."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial

from aiohttp import web

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import RequestGuard, make_guard
from rulesafe_ros.view.model import ViewModel, choices
from rulesafe_ros.view.node import running_node
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.web import Commands, Page, Result

TIMEOUT = 20.0
"""Timeout of a service's response, s."""


def serve(options: ViewOptions) -> int:
    """Serve until a signal; return the exit code: 0 after SIGINT, 143 after SIGTERM.

    Raises:
        RuleSafeError: a port is not available.
    """
    return asyncio.run(_serve(options))


async def _serve(options: ViewOptions) -> int:
    loop, exit_codes = asyncio.get_running_loop(), asyncio.Queue[int]()
    for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)):
        loop.add_signal_handler(number, exit_codes.put_nowait, code)
    board, guard = Board(), make_guard(options)
    board.put("setup", choices(options.exposed, options.cameras))
    model = ViewModel(board)
    failed = partial(loop.call_soon_threadsafe, exit_codes.put_nowait, 1)
    with running_node(board, model, options.cameras, failed) as node:
        commands = Commands(_command(node.reset_episode), _command(node.pause))
        page = Page(board, guard, commands, model.history)
        runner = page.runner()
        await runner.setup()
        try:
            port = await _bind(runner, options)
            print(greeting(options, port, guard), flush=True)
            return await exit_codes.get()
        finally:
            await runner.cleanup()


def _command(call_service: Callable[..., "Future[Result]"]) -> Callable[..., Awaitable[Result]]:
    async def call(*arguments: object) -> Result:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(call_service(*arguments)), TIMEOUT)
        except asyncio.TimeoutError:
            return False, f"no response from the simulation within {TIMEOUT:g} s: try again"

    return call


async def _bind(runner: web.AppRunner, options: ViewOptions) -> int:
    """Start listening, and return the port."""
    try:
        await web.TCPSite(runner, options.host, options.port).start()
    except OSError as error:
        raise RuleSafeError(
            f"cannot listen on {options.host} port {options.port} ({error.strerror}); if another "
            "view uses it, start this one with --port 0 (launch file: port:=0)"
        ) from None
    return int(runner.addresses[0][1])


def greeting(options: ViewOptions, port: int, guard: RequestGuard) -> str:
    """Return the start message with the address of the page."""
    any_host = options.host in ("0.0.0.0", "::")
    host = socket.gethostname() if any_host else options.host
    host = f"[{host}]" if ":" in host else host
    address = f"http://{host}:{port}/"
    lines = [f"Live view: {address}" + (f"#token={guard.token}" if options.exposed else "")]
    if options.exposed:
        lines.append("  Without the part after #, the page is read-only.")
    return "\n".join([*lines, "Stop with Ctrl-C."])
