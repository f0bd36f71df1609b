"""`rulesafe demos write`: a model behind a real HTTP server writes programs until a door opens."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import av
import pytest

from planner_node.decompose import decompose
from rulesafe_cli.cli import main
from rulesafe_demos.program import run_program
from rulesafe_demos.prompt import api, opening
from rulesafe_demos.remote import CALLS, SandboxedProgram
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.safes import load_safe

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared/reference/paper.tex"
RIGHT = decompose(["knob+", "door+"], load_safe("safe_02"))
"""Opens rule_002 on safe_02."""


def said(program):
    return json.dumps({"program": program})


class Server:
    """Says `replies` one after the other, a text or (text, finish_reason); then drops connections.
    `requests` are the bodies that came."""

    def __init__(self, replies):
        self.requests = []
        outer, waiting = self, list(replies)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.requests.append(
                    json.loads(self.rfile.read(int(self.headers["content-length"])))
                )
                if not waiting:
                    self.connection.close()
                    return
                reply = waiting.pop(0)
                text, finish = reply if isinstance(reply, tuple) else (reply, "stop")
                message = {"role": "assistant", "content": text}
                choice = {"index": 0, "finish_reason": finish, "message": message}
                usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
                about = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
                body = json.dumps({**about, "choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (OSError, ValueError):  # dropped on purpose
                    self.close_connection = True

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def feedback(self, number):
        """The last message of a request."""
        return self.requests[number]["messages"][-1]["content"]


@pytest.fixture
def serve(monkeypatch):
    """Starts a server that returns these replies."""
    pytest.importorskip("openai")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    servers = []

    def start(*replies):
        servers.append(Server(replies))
        return servers[-1]

    yield start
    for server in servers:
        server.http.shutdown()
        server.http.server_close()


def write(out, *words, rule="rule_002", film=False):
    words = ["--rule", rule, "--safe", "safe_02", "--out", str(out), *map(str, words)]
    return main(["demos", "write", *words, *([] if film else ["--no-film"])])


def verdict(out):
    return json.loads((out / "verdict.json").read_text())


@pytest.mark.episode
def test_a_model_is_told_what_went_wrong_until_it_is_right(serve, tmp_path):
    server = serve(
        "I would rather not.",
        said("import os\nos.system('true')\n"),
        said("while True:\n    pass\n"),
        said("planner.rotate_hand('right', angle=-60)\n"),
        said(RIGHT),
    )
    out = tmp_path / "written"
    assert write(out, "--model", "some-model", "--base-url", server.url, "--repairs", 4) == 0
    found = verdict(out)
    assert found["opened"] and found["model"] == "some-model"
    assert found["written_by"] == "a language model"
    assert found["failures"] == {"prose": 1, "forbidden": 1, "time": 1, "planner": 1}
    assert (found["tokens_in"], found["tokens_out"]) == (5000, 500)
    assert found["tries"][-1]["events"] == ["knob+", "door+"]
    assert (out / "program.py").read_text() == RIGHT
    assert (out / "try_4" / "program.py").read_text() == RIGHT
    assert "no JSON object" in server.feedback(1)
    assert "(forbidden)" in server.feedback(
        2
    ) and "line 1: import is not allowed" in server.feedback(2)
    assert "(time)" in server.feedback(3) and "still running" in server.feedback(3)
    assert "line 1: rotate_hand: no part is held; call hand_pinch first" in server.feedback(4)
    assert "At the end: knob closed, handle closed, door closed." in server.feedback(4)
    assert "no part was moved" in server.feedback(4)

    again = tmp_path / "again"  # from the exchanges, and without a server
    server.http.server_close()
    words = ("--model", "some-model", "--repairs", 4, "--replay", out)
    assert write(again, *words) == 0
    assert verdict(again)["failures"] == found["failures"]
    assert (again / "program.py").read_text() == RIGHT


def test_what_moved_is_told_and_the_same_program_is_not_run_twice(serve, tmp_path):
    """The program opens the handle instead of the knob, so the door stays closed."""
    wrong = decompose(["handle+"], load_safe("safe_02"))
    server = serve(said(wrong), said(wrong), ('{"program": "planner.hand', "length"))
    out = tmp_path / "written"
    words = ("--model", "m", "--base-url", server.url, "--repairs", 2)
    assert write(out, *words) == 1
    assert verdict(out)["failures"] == {"closed": 1, "repeated": 1, "truncated": 1}
    assert not (out / "program.py").exists()
    assert not (out / "try_1").exists()
    feedback = server.feedback(1)
    assert "the program ended, and the door is not open" in feedback
    assert "What moved, in this order: open handle." in feedback
    assert "At the end: knob closed, handle open, door closed." in feedback
    assert "- step 1 (handle+), try 1: handle at" in feedback
    assert "this program was already tried in try 0" in server.feedback(2)
    # Each request has the complete conversation.
    assert [m["role"] for m in server.requests[2]["messages"]] == [
        *("system", "user", "assistant", "user", "assistant", "user")
    ]
    assert write(out, "--model", "other", "--base-url", server.url) == 2  # another's folder


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        ({"program.py": "mine"}, "'program.py'.*has no verdict.json"),
        ({"sub/.token-0123456789ab": "mine"}, "not empty"),
        (
            {"verdict.json": "mine", "program.py": "mine", ".lock": "mine"},
            "not a verdict",
        ),
        (
            {"verdict.json": "[]", ".verdict.json-0123456789ab": "mine"},
            "must be an object",
        ),
        ({"verdict.json": '{"rule": "rule_009"}'}, "has tries of rule_009"),
    ],
)
def test_a_folder_of_something_else_stays_as_it_is(tmp_path, capsys, there, reason):
    for name, text in there.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert write(tmp_path) == 2
    assert re.search(reason, " ".join(capsys.readouterr().err.split()))
    after = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert after == before


def test_a_run_that_was_killed_before_its_first_verdict_goes_on(serve, tmp_path, monkeypatch):
    server = serve("no JSON", "none")
    out = tmp_path / "written"
    words = ("--model", "m", "--base-url", server.url, "--repairs", 0)
    with monkeypatch.context() as patch:
        patch.setattr("rulesafe_demos.write.parse_program", interrupted)
        assert write(out, *words) == 130
    found = verdict(out)
    assert (found["opened"], found["tries"]) == (False, [])
    assert write(out, *words) == 1
    assert len(server.requests) == 1


def interrupted(reply):
    raise KeyboardInterrupt


def test_an_endpoint_that_dies_leaves_what_was_reached(serve, tmp_path, capsys):
    server = serve("no JSON")
    out = tmp_path / "written"
    assert write(out, "--model", "m", "--base-url", server.url, "--tries", 1) == 2
    assert "m: " in capsys.readouterr().err
    found = verdict(out)
    assert not found["opened"]
    assert [one["kind"] for one in found["tries"]] == ["prose", "connection"]
    assert found["failed_requests"] == {"connection": 1}
    again = tmp_path / "again"
    assert write(again, "--model", "m", "--replay", out) == 2
    assert verdict(again) == found


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--model", "m"), "no key"),
        (("--base-url", "http://127.0.0.1:1/v1"), "decompose uses no endpoint"),
        (("--repairs", "-1"), "repairs must be 0 or more, got -1"),
        (("--split", "nowhere"), "unknown"),
        (("--model", "m", "--timeout", "nan"), "timeout_s is nan"),
        (("--model", "m", "--temperature", "inf"), "temperature is inf"),
        (("--model", "m", "--replay", "nowhere"), "nothing to replay"),
    ],
)
def test_what_cannot_be_written_is_said(serve, tmp_path, capsys, words, reason):
    assert write(tmp_path / "written", *words) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "written").exists()


def test_without_a_model_the_plan_is_written_out_and_filmed(tmp_path, small_film):
    out = tmp_path / "written"
    assert write(out, film=True) == 0
    found = verdict(out)
    assert found["model"] == "decompose"
    assert "no language model" in found["written_by"]
    with av.open(str(out / "try_0" / "film.mp4")) as film:
        shot = sum(1 for _ in film.decode(video=0))
    assert shot > 50


def listing():
    """The paper's task program for rule_001, unchanged."""
    if not PAPER.exists():
        pytest.skip("the paper's source is not next to the repository")
    after = PAPER.read_text().split("label={lst:llm-decomp}]\n", 1)[1]
    return after.split(r"\end{lstlisting}", 1)[0]


@pytest.mark.parametrize("name", ["the_paper", "rule_001.py", "rule_020.py"])
@pytest.mark.episode
def test_listings_open_the_safe_in_the_sandbox(name):
    """Unmodified, functions and star arguments included."""
    source = listing() if name == "the_paper" else (ROOT / "examples/programs" / name).read_text()
    rule = "rule_001" if name == "the_paper" else name.removesuffix(".py")
    played = run_program(SandboxedProgram(source), rule, "safe_02", 0, "nominal", None)
    assert played.result.success, played.ending
    assert not played.ending.kind


def test_the_prompt_says_what_there_is_and_not_what_the_lock_knows():
    rule, safe = load_rule("rule_020"), load_safe("safe_07")
    system, task = (text for _, text in opening(rule, safe))
    assert all(f"def planner.{name}(" in system for name in CALLS)
    assert api() in system
    assert rule.description in task
    assert "knob (shape: bar): " in task and "opens clockwise" in task and "60 degrees" in task
    assert "At the start: knob closed, handle closed, door closed." in task
    plan = decompose(shortest_plan(rule), safe)
    assert plan not in system + task
    for other in ("rule_002", "rule_003"):  # the example is never the task itself
        system, task = (text for _, text in opening(load_rule(other), load_safe("safe_02")))
        assert decompose(shortest_plan(load_rule(other)), load_safe("safe_02")) not in system
        assert load_rule(other).description not in system
