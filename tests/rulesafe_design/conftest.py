"""A real HTTP server on loopback that speaks the chat completions API, by a test's script."""

import contextlib
import gc
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

KEY = "sk-a-secret-that-nobody-may-see"

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
    """Requests are answered by `script`, one action each; afterwards connections are dropped."""

    def __init__(self):
        self.script: list[Callable] = []
        self.requests: list[dict] = []
        """Bodies, with the headers under "headers" and the path under "path"."""
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
                with contextlib.suppress(OSError):  # the client may have gone
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

    def says(self, text, finish="stop", usage=(100, 20), **message):
        """A reply of the model."""
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
        self.sends(json.dumps(data).encode())

    def locks(self, description, program, plan=None, **options):
        """A reply that holds a lock."""
        answer = {"description": description, "program": program, "plan": plan}
        self.says(json.dumps(answer), **options)

    def counts(self, part="knob", moves=2, also="True", description=None, plan=None, **options):
        """A lock that frees the door after so many moves of a part."""
        words = description or f"Move the {part} exactly {moves} times; condition: {also}."
        self.locks(words, COUNTING.format(part=part, moves=moves, also=also), plan, **options)

    def sends(self, body, status=200, headers=None):
        """Any bytes."""

        def action(handler):
            handler.send_response(status)
            for name, value in {"content-type": "application/json", **(headers or {})}.items():
                handler.send_header(name, value)
            handler.send_header("content-length", str(len(body)))
            handler.send_header("connection", "close")
            handler.end_headers()
            handler.wfile.write(body)

        self.script.append(action)

    def fails(self, status, message="no", headers=None):
        """An error as the API words it, with a short pause before the next try."""
        body = json.dumps({"error": {"message": message}}).encode()
        self.sends(body, status, headers or {"retry-after-ms": "1"})

    def drops(self):
        """The connection is closed without a word."""
        self.script.append(self.dropping)

    @staticmethod
    def dropping(handler):
        handler.connection.close()

    def breaks_off(self):
        """Half a body, then nothing."""

        def action(handler):
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')

        self.script.append(action)

    def is_silent(self):
        """No answer until the end of the test."""
        self.script.append(lambda handler: self.ending.wait(30))

    def never_ends(self, pause_s=0.0, status=200):
        """A body without end: as fast as it goes, or a drop now and then."""

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
    """The key in the environment, which is otherwise free of what a client would read."""
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


def belongings():
    """Descriptors and child processes of this process."""
    children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return len(list(Path("/proc/self/fd").iterdir())), sorted(" ".join(children).split())


@pytest.fixture
def nothing_is_left():
    """No descriptor stays open and no process, zombies included."""
    gc.collect()  # what others left for the collector is theirs, whenever it comes
    before = belongings()
    yield
    assert belongings() == before
