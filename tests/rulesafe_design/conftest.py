"""An HTTP server on loopback with the chat completions API, scripted by a test."""

import contextlib
import gc
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

KEY = "sk-a-secret-that-must-not-leak"

COUNTING = """def check_lock(self):
    knob = self.is_open(obj_name='safe', link_name='knob')
    handle = self.is_open(obj_name='safe', link_name='handle')
    if not hasattr(self, '_state'):
        self._state = {{'last': {part}, 'moves': 0}}
    state = self._state
    if {part} != state['last']:
        state['moves'] = min(state['moves'] + 1, {moves} + 1)
    free = state['moves'] == {moves} and {also}
    self.set_lock(obj_name='safe', link_name='door', lock=not free)
    state['last'] = {part}
"""


class Server:
    """Execute one action of `script` for each request; then drop connections."""

    def __init__(self):
        self.script: list[Callable] = []
        self.requests: list[dict] = []
        """The request bodies, with the additional keys "headers" and "path"."""
        self.ending = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.requests.append({**body, "headers": headers, "path": self.path})
                action = outer.script.pop(0) if outer.script else outer.dropping
                self.close_connection = True
                with contextlib.suppress(OSError):  # the client may have closed the connection
                    action(self)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.ending.set()
        self.http.shutdown()
        self.http.server_close()

    # Actions -------------------------------------------------------------------------------

    def reply(self, text, finish="stop", usage=(100, 20), **message):
        """Add a reply of the model."""
        data = {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "tester",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text, **message},
                }
            ],
        }
        if usage:
            data["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
        self.send(json.dumps(data).encode())

    def reply_lock(self, description, program, plan=None, **options):
        """Add a reply that contains a lock."""
        answer = {"description": description, "program": program, "plan": plan}
        self.reply(json.dumps(answer), **options)

    def reply_counter(
        self, part="knob", moves=2, also="True", description=None, plan=None, **options
    ):
        """Add a reply with a lock that frees the door after `moves` moves of a part."""
        words = description or f"Move the {part} exactly {moves} times; condition: {also}."
        self.reply_lock(words, COUNTING.format(part=part, moves=moves, also=also), plan, **options)

    def send(self, body, status=200, headers=None):
        """Add a response with any body."""

        def action(handler):
            handler.send_response(status)
            for name, value in {"content-type": "application/json", **(headers or {})}.items():
                handler.send_header(name, value)
            handler.send_header("content-length", str(len(body)))
            handler.send_header("connection", "close")
            handler.end_headers()
            handler.wfile.write(body)

        self.script.append(action)

    def fail(self, status, message="no", headers=None):
        """Add an error response of the API, which requests a short pause before the next try."""
        body = json.dumps({"error": {"message": message}}).encode()
        self.send(body, status, headers or {"retry-after-ms": "1"})

    def drop(self):
        """Close the connection without a response."""
        self.script.append(self.dropping)

    @staticmethod
    def dropping(handler):
        handler.connection.close()

    def send_half_body(self):
        """Send an incomplete body."""

        def action(handler):
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')

        self.script.append(action)

    def never_respond(self):
        """Do not respond until the end of the test."""
        self.script.append(lambda handler: self.ending.wait(30))

    def send_endless_body(self, pause_s=0.0, status=200):
        """Send an endless body, with `pause_s` between the pieces."""

        def action(handler):
            handler.send_response(status)
            handler.end_headers()
            piece = b" " if pause_s else b" " * 65_536
            while not self.ending.is_set():
                handler.wfile.write(piece)
                time.sleep(pause_s)

        self.script.append(action)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def key(monkeypatch):
    """Set the key in the environment, and remove other variables that the client reads."""
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


def open_resources():
    """Return the number of descriptors and the child processes of this process."""
    children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return len(list(Path("/proc/self/fd").iterdir())), sorted(" ".join(children).split())


@pytest.fixture
def no_leaks():
    """Check that the test leaves no open descriptor and no process, including zombies."""
    gc.collect()  # objects of other tests must not change the counts
    gc.freeze()  # so that the next collection considers only new objects
    before = open_resources()
    yield
    assert open_resources() == before
