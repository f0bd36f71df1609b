"""Tests of the page's server: sections, commands, rejected requests."""

import asyncio
import json

import pytest

pytest.importorskip("aiohttp", reason="aiohttp is not installed")

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from rulesafe_ros.view import web as web_module
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import RequestGuard
from rulesafe_ros.view.web import PAGE, Commands, Page

TestClient.__test__ = TestServer.__test__ = False  # keeps pytest from collecting it

RESET = {"rule": "rule_003", "safe": "safe_05", "seed": 7}


class Served:
    """A page whose commands store their arguments."""

    def __init__(self, guard: RequestGuard):
        self.board, self.commands = Board(), []
        commands = Commands(self._reset, self._pause)
        self.page = Page(self.board, guard, commands, lambda: {"rows": [[0.0]]})

    async def _reset(self, rule, safe, seed):
        self.commands.append((rule, safe, seed))
        return seed != 13, "as you say"

    async def _pause(self, paused):
        self.commands.append(paused)
        return True, "time is paused"


def talk(conversation, guard=RequestGuard(exposed=False, token="")):
    """Run conversation(client, served) with a server."""
    served = Served(guard)

    async def run():
        async with TestClient(TestServer(served.page.app)) as client:
            return await conversation(client, served)

    return asyncio.run(run())


def test_every_file_of_the_page_exists():
    async def conversation(client, served):
        answer = await client.get("/")
        text = await answer.text()
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        files = [word for word in text.replace('"', " ").split() if word.startswith("page/")]
        assert len(files) == 4
        for file in files:
            assert (await client.get(f"/{file}")).status == 200, file
        assert (await client.get("/page/../web.py")).status == 404

    talk(conversation)
    scripts = {path.name for path in PAGE.glob("*.js")}
    for script in scripts - {"vendor.js"}:
        for line in (PAGE / script).read_text().splitlines():
            if line.startswith("import "):
                assert line.split('"')[1].removeprefix("./") in scripts, f"{script}: {line}"


def test_a_page_receives_all_sections_and_then_the_changes():
    async def conversation(client, served):
        served.board.put("instruction", "open it")
        async with client.ws_connect("/live") as socket:
            first = [(await socket.receive()).json() for _ in range(2)]
            assert first[0] == {"name": "instruction", "value": "open it"}
            assert first[1] == {"name": "history", "value": {"rows": [[0.0]]}}
            assert served.board.viewers == 1
            served.board.put_bytes("front_image", b"jpeg")
            assert (await socket.receive()).data == b"\x0bfront_imagejpeg"
            served.board.put("status", {"done": 1})
            assert json.loads((await socket.receive()).data)["value"] == {"done": 1}
        while served.board.viewers:
            await asyncio.sleep(0.01)

    talk(conversation)


def test_buttons():
    async def conversation(client, served):
        answer = await client.post("/reset", json=RESET)
        assert (answer.status, await answer.json()) == (
            200,
            {"done": True, "message": "as you say"},
        )
        await client.post("/reset", json={"seed": 0})
        await client.post("/pause", json={"paused": True})
        assert served.commands == [("rule_003", "safe_05", 7), ("", "", 0), True]
        refused = await client.post("/reset", json=RESET | {"seed": 13})
        assert refused.status == 409

    talk(conversation)


@pytest.mark.parametrize(
    "path, body",
    [("/reset", RESET | {"seed": wrong}) for wrong in (-1, 2**32, 1.5, True, "0")]
    + [("/reset", RESET | {"rule": wrong}) for wrong in ("../secret.json", "/etc/passwd", 3, "a b")]
    + [("/reset", RESET | {"safe": "~/safe.yaml"}), ("/reset", [1]), ("/reset", "text")]
    + [("/pause", {}), ("/pause", {"paused": 1})],
)
def test_an_invalid_command_is_rejected_with_the_reason(path, body):
    async def conversation(client, served):
        answer = await client.post(path, json=body)
        assert answer.status == 400 and (await answer.json())["message"]
        assert served.commands == []

    talk(conversation)


def test_requests_of_other_pages_are_rejected():
    """The browser sends a form of another page without a preflight, with its origin and no JSON."""

    async def conversation(client, served):
        form = await client.post("/reset", data=json.dumps(RESET))
        assert form.status == 400
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            assert (await client.post("/reset", json=RESET, headers=headers)).status == 403
            assert (await client.get("/", headers=headers)).status == 403
            assert (await client.get("/live", headers=headers)).status == 403
        assert (await client.post("/reset", json=RESET | {"x": "y" * 9000})).status in (400, 413)
        assert served.commands == []

    talk(conversation)


def test_an_exposed_page_is_readable_and_its_commands_need_the_token():
    async def conversation(client, served):
        assert (await client.get("/")).status == 200
        async with client.ws_connect("/live") as socket:
            await socket.receive()
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            for path in ("/reset", "/pause"):
                answer = await client.post(path, json=RESET, headers=headers)
                assert answer.status == 401 and "token" in (await answer.json())["message"]
        assert served.commands == []
        answer = await client.post("/reset", json=RESET, headers={"Authorization": "Bearer sesame"})
        assert answer.status == 200 and len(served.commands) == 1

    talk(conversation, RequestGuard(exposed=True, token="sesame"))


@pytest.mark.parametrize("charset", ["nothing", "utf-16", "\\x00", "base64"])
def test_a_wrong_charset_is_a_wrong_command(charset):
    async def conversation(client, served):
        kind = {"Content-Type": f'application/json; charset="{charset}"'}
        answer = await client.post("/pause", data=b"{\xff", headers=kind)
        assert answer.status == 400
        assert "must be a JSON object" in (await answer.json())["message"]

    talk(conversation)


async def send(raw: bytes) -> bytes:
    """Send bytes to the page as it is served, and return the response."""
    runner = Served(RequestGuard(exposed=False, token="")).page.runner()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    reader, writer = await asyncio.open_connection(*runner.addresses[0])
    try:
        writer.write(raw)
        return await asyncio.wait_for(reader.read(), 30)
    finally:
        writer.close()
        await runner.cleanup()


def test_a_header_that_is_too_long_is_refused_without_a_traceback(caplog):
    answer = asyncio.run(send(b"GET / HTTP/1.1\r\nX-Long: " + b"a" * 200_000 + b"\r\n\r\n"))
    assert b" 400 " in answer
    assert not caplog.records


HEAD = b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n", HEAD + b"Content-Length: 9\r\n\r\n{"],
)
def test_half_sent_requests_time_out(sent, monkeypatch):
    monkeypatch.setattr(web_module, "TIMEOUT", 0.5)
    answer = asyncio.run(send(sent))
    assert answer == b"" or b" 408 " in answer
