"""`rulesafe view` from its start to its end: a thread for ROS, the web server in the main one."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial

from aiohttp import web

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import Guard, make_guard
from rulesafe_ros.view.model import Model, choices
from rulesafe_ros.view.node import receiving
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.relay import Relay, make_relay
from rulesafe_ros.view.web import Commands, Page, Told

PATIENCE = 20.0
"""s that a service may take to answer."""


def serve(options: ViewOptions) -> int:
    """Shows until a signal; the exit code: 0 after a SIGINT, 143 after a SIGTERM.

    Errors: RuleSafeError for a port that cannot be had.
    """
    return asyncio.run(_serve(options))


async def _serve(options: ViewOptions) -> int:
    loop, ends = asyncio.get_running_loop(), asyncio.Queue[int]()
    for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM)):
        loop.add_signal_handler(number, ends.put_nowait, code)
    board, guard = Board(), make_guard(options)
    board.put("setup", choices(options.exposed))
    model = Model(board)
    relay = make_relay(options)
    try:
        failed = partial(loop.call_soon_threadsafe, ends.put_nowait, 1)
        with receiving(board, model, options, relay, failed) as node:
            commands = Commands(_command(node.reset_episode), _command(node.pause))
            page = Page(board, guard, commands, model.history)
            runner = web.AppRunner(page.app, access_log=None, shutdown_timeout=2)
            await runner.setup()
            try:
                port = await _bind(runner, options)
                print(greeting(options, port, guard, relay), flush=True)
                return await ends.get()
            finally:
                await runner.cleanup()
    finally:
        relay.close()


def _command(ask: Callable[..., "Future[Told]"]) -> Callable[..., Awaitable[Told]]:
    async def call(*arguments: object) -> Told:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(ask(*arguments)), PATIENCE)
        except asyncio.TimeoutError:
            return False, f"no answer within {PATIENCE:g} s: press it again"

    return call


async def _bind(runner: web.AppRunner, options: ViewOptions) -> int:
    """Binds; the port."""
    try:
        await web.TCPSite(runner, options.host, options.port).start()
    except OSError as error:
        raise RuleSafeError(
            f"cannot listen on {options.host} port {options.port} ({error.strerror}): perhaps a "
            "view runs there already; for another one: --port 0 --foxglove-port 0 (port:=0 "
            "foxglove_port:=0 of the launch file)"
        ) from None
    return int(runner.addresses[0][1])


def greeting(options: ViewOptions, port: int, guard: Guard, relay: Relay) -> str:
    """Where to look, in some lines."""
    any_host = options.host in ("0.0.0.0", "::")
    host = socket.gethostname() if any_host else options.host
    host = f"[{host}]" if ":" in host else host
    address = f"http://{host}:{port}/"
    lines = [f"the page: {address}" + (f"#token={guard.token}" if options.exposed else "")]
    if options.exposed:
        lines.append("  without what follows the # people can look, and press no button")
    if relay.port is not None:
        lines.append(f"Foxglove: ws://{host}:{relay.port}, layout config/foxglove_layout.json")
    return "\n".join([*lines, "Ctrl-C ends it"])
