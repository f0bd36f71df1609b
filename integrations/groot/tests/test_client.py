"""Policies of servers with Isaac GR00T's protocol, of which a small server is in this file."""

import io
import json
import socket
import subprocess
import sys
from contextlib import suppress
from threading import Event, Thread

import msgpack
import numpy as np
import pytest
import zmq

from policy_node.loading import check_policy, find_policy
from policy_node.policy import CHUNK, Needs, Observation
from rulesafe_core.errors import RuleSafeError
from rulesafe_groot.client import GrootPolicy
from rulesafe_openpi import remote, wire

IMAGES = {camera: np.full((8, 8, 3), k, np.uint8) for k, camera in enumerate(("head", "front"))}
OBSERVATION = Observation(
    np.arange(39, dtype=np.float32).reshape(3, 13), images=IMAGES, instruction="open it"
)
CONFIG = {
    "video": {"delta_indices": [0], "modality_keys": ["front", "head"]},
    "state": {"delta_indices": [0], "modality_keys": ["right_arm", "right_hand"]},
    "action": {"delta_indices": list(range(16)), "modality_keys": ["right_arm", "right_hand"]},
    "language": {"delta_indices": [0], "modality_keys": ["annotation.human.task_description"]},
}
SERVERS = {"N1.6": "__ModalityConfig_class__", "N1.7": "__ModalityConfig__"}
"""Version of GR00T -> the mark of its modality configurations."""


def npy(value):
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return {"__ndarray_class__": True, "as_npy": file.getvalue()}


def plain(value):
    """The form of the package msgpack-numpy."""
    array = {b"nd": True, b"type": value.dtype.str, b"kind": b"", b"shape": value.shape}
    return array | {b"data": value.tobytes()}


def unpacked(value):
    if "as_npy" in value:
        return np.load(io.BytesIO(value["as_npy"]), allow_pickle=False)
    if b"nd" in value:
        return np.ndarray(value[b"shape"], value[b"type"], value[b"data"])
    return value


class Server:
    """Answers requests as `PolicyServer` of GR00T does.

    Args:
        answer: observation -> the result of get_action, bytes to send instead, or None to stop.
        config: modality configurations.
        version: version of GR00T, a key of SERVERS.
        token: API token.
    """

    def __init__(self, answer, config=CONFIG, version="N1.6", token=None):
        self.answer, self.config, self.token = answer, config, token
        self.mark, self.form = SERVERS[version], npy if version == "N1.6" else plain
        self.calls, self.requests = [], []
        self.socket = zmq.Context.instance().socket(zmq.REP)
        self.socket.linger = 0
        self.port = self.socket.bind_to_random_port("tcp://127.0.0.1")
        self.running = True
        self.thread = Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while self.running:
            if not self.socket.poll(50):
                continue
            request = msgpack.unpackb(self.socket.recv(), object_hook=unpacked)
            self.requests.append(request)
            result = self.result(request)
            if result is None:
                break
            if not isinstance(result, bytes):
                result = msgpack.packb(result, default=self.form)
            self.socket.send(result)
        self.socket.close()

    def result(self, request):
        if self.token and request.get("api_token") != self.token:
            return {"error": "Unauthorized: Invalid API token"}
        self.calls.append(request["endpoint"])
        if request["endpoint"] == "get_modality_config":
            return {name: {self.mark: True, "as_json": c} for name, c in self.config.items()}
        if request["endpoint"] == "reset":
            assert request["data"] == {"options": None}
            return {}
        return self.answer(**request["data"])

    def stop(self):
        self.running = False
        self.thread.join()


@pytest.fixture
def serving():
    """A function that starts a server, and returns it and the address."""
    servers = []

    def start(*arguments, **settings):
        servers.append(Server(*arguments, **settings))
        return servers[-1], f"groot://127.0.0.1:{servers[-1].port}"

    yield start
    for server in servers:
        server.stop()


def actions(steps=16, arm=7, hand=6, value=0.5):
    found = {"right_arm": np.full((1, steps, arm), value, np.float32)}
    return found | {"right_hand": np.full((1, steps, hand), value + 1, np.float32)}


def answer(observation, options):
    return [actions(), {}]


@pytest.mark.parametrize("version", SERVERS)
def test_an_observation_has_the_keys_of_the_exported_dataset(serving, version):
    received = []

    def reply(observation, options):
        received.append(observation)
        assert options is None
        return [actions(60), {"step": np.zeros(1)}]

    _, address = serving(reply, version=version)
    policy = find_policy(address)
    assert policy.needs == Needs(images=True, instruction=True, instruction_length="short")
    chunk = policy.infer(OBSERVATION)
    assert chunk.shape == (CHUNK, 13) and chunk.dtype == np.float32  # of 60 steps, the first 50
    assert (chunk[:, :7] == 0.5).all() and (chunk[:, 7:] == 1.5).all()
    (message,) = received
    assert message.keys() == {"video", "state", "language"}
    for camera in ("front", "head"):
        video = message["video"][camera]
        assert video.shape == (1, 1, 8, 8, 3) and video.dtype == np.uint8
        assert (video == IMAGES[camera]).all()
    arm, hand = message["state"]["right_arm"], message["state"]["right_hand"]
    assert arm.dtype == hand.dtype == np.float32
    assert arm.tolist() == [[list(range(26, 33))]] and hand.tolist() == [[list(range(33, 39))]]
    assert message["language"] == {"annotation.human.task_description": [["open it"]]}


def test_the_configuration_selects_what_is_sent(serving):
    config = CONFIG | {
        "video": {"delta_indices": [0], "modality_keys": ["ego_view"]},
        "state": {"delta_indices": [-2, 0], "modality_keys": ["hand"]},
        "language": {"delta_indices": [0], "modality_keys": ["task", "paraphrase"]},
        "action": {"delta_indices": [0, 1], "modality_keys": ["waist", "hand", "right_arm"]},
        "rl_info": {},
    }

    def reply(observation, options):
        found = actions(2)
        return [{"hand": found.pop("right_hand"), **found, "waist": np.zeros((1, 2, 1))}, {}]

    server, address = serving(reply, config)
    policy = find_policy(f"{address}?head=ego_view&right_hand=hand&front=")
    assert policy.needs.frames == 3
    assert (policy.infer(OBSERVATION)[:, 7:] == 1.5).all()
    message = server.requests[-1]["data"]["observation"]
    assert message["video"].keys() == {"ego_view"} and (message["video"]["ego_view"] == 0).all()
    assert message["state"].keys() == {"hand"} and message["state"]["hand"].shape == (1, 2, 6)
    assert message["state"]["hand"][0, :, 0].tolist() == [7, 33]  # frames 0 and 2
    assert message["language"] == {"task": [["open it"]], "paraphrase": [["open it"]]}


def test_without_a_configuration_everything_is_sent(serving):
    server, address = serving(answer, config={})
    policy = find_policy(f"{address}?head=")
    policy.infer(OBSERVATION)
    message = server.requests[-1]["data"]["observation"]
    assert message["video"].keys() == {"front"}
    assert message["state"].keys() == {"right_arm", "right_hand"}
    assert message["language"] == {"annotation.human.task_description": [["open it"]]}


@pytest.mark.parametrize(
    ("modality", "keys", "steps", "text"),
    [
        ("video", ["ego", "wrist"], [0], r".*video: no ego, wrist; available: head, front"),
        ("state", ["left_arm"], [0], ".*state: no left_arm; available: right_arm, right_hand"),
        ("action", ["right_arm"], [0], ".*action: no right_hand; available: right_arm"),
        ("video", ["front"], [-1, 0], r".*video: delta_indices \[-1, 0\]; supported: \[0\]"),
        ("state", ["right_arm"], [-100, 0], r".*state: delta_indices .*; supported: -99 to 0"),
        ("state", ["right_arm"], [1], r".*state: delta_indices \[1\]; supported"),
        ("language", ["task"], [1], r".*language: delta_indices \[1\]; supported: \[0\]"),
        (
            "action",
            ["right_arm", "right_hand"],
            [0, 2],
            r".*action: .*; supported: \[0, 1, 2, ...\]",
        ),
        ("state", [], [0], r"configuration is invalid: TypeError.*modality_keys \(\)"),
        ("state", ["right_arm"], [], r"configuration is invalid: TypeError.*delta_indices \(\)"),
        ("state", ["right_arm"], ["0"], r"configuration is invalid: TypeError.*delta_indices"),
        ("state", 3, [0], "configuration is invalid: TypeError"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(serving, modality, keys, steps, text):
    changed = {modality: {"modality_keys": keys, "delta_indices": steps}}
    server, address = serving(answer, CONFIG | changed)
    with pytest.raises(RuleSafeError, match=rf"^{address}: the server's modality {text}"):
        find_policy(address)
    assert "get_action" not in server.calls


def test_the_configuration_of_an_older_version_is_refused(serving):
    server, address = serving(answer)
    server.config = {"video": json.dumps(CONFIG["video"])}
    with pytest.raises(RuleSafeError, match=r"GR00T N1.5, which is not supported"):
        find_policy(address)


def test_each_episode_begins_with_a_reset(serving):
    server, address = serving(answer)
    policy = find_policy(address)
    for count in (2, 1):
        policy.reset()
        for _ in range(count):
            policy.infer(OBSERVATION)
    begin = ["get_modality_config", "reset"]
    assert server.calls == [*begin, "get_action", "get_action", *begin, "get_action"]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"error": "no GPU"}, r"error in the server:\nno GPU"),
        (b"ERROR", "error in the server"),
        ([actions(arm=6), {}], r"'right_arm' .* the shape \(1, n, 7\), not \(1, 16, 6\)"),
        ([{**actions(), "right_hand": np.zeros((16, 6))}, {}], r"'right_hand' .* not \(16, 6\)"),
        ([{**actions(), "right_hand": np.zeros((2, 16, 6))}, {}], r"not \(2, 16, 6\)"),
        ([{**actions(), "right_hand": np.zeros((1, 8, 6))}, {}], r"different lengths: \[16, 8\]"),
        ([actions(0), {}], r"actions of the answer: .*returned \(0, 13\)"),
        ([actions(2, value=np.nan), {}], "26 of 26 not finite"),
        ([{"action.right_arm": 1}, {}], "no array 'right_arm'; it has 'action.right_arm'"),
        ([{**actions(), "right_hand": [1.0]}, {}], "no array 'right_hand'"),
        (actions(), "an answer must be a list"),
        ([], "an answer must be a list"),
        (b"\xc1", "not valid msgpack"),
        (None, "the server has closed the connection"),
    ],
)
def test_an_error_of_the_server_is_named_with_the_address(serving, reply, text):
    server, address = serving(lambda observation, options: reply)
    policy = find_policy(address)
    with pytest.raises(RuleSafeError, match=rf"^{address}: [\s\S]*{text}"):
        policy.infer(OBSERVATION)
    with pytest.raises(RuleSafeError, match="the inference has failed in this episode"):
        policy.infer(OBSERVATION)
    policy.reset()
    if reply is None:
        with pytest.raises(RuleSafeError, match="no policy server: the connection was refused"):
            policy.infer(OBSERVATION)
        return
    server.answer = answer
    assert policy.infer(OBSERVATION).shape == (16, 13)


def test_after_a_late_answer_the_next_episode_has_a_new_socket(serving):
    late = Event()

    def slow(observation, options):
        late.wait(60)
        return [actions(2), {}]

    server, address = serving(slow)
    policy = find_policy(f"{address}?timeout=3")
    with pytest.raises(RuleSafeError, match=r"no answer within 3 s; see \?timeout=SECONDS"):
        policy.infer(OBSERVATION)
    server.answer = answer
    late.set()
    policy.reset()
    assert policy.infer(OBSERVATION).shape == (16, 13)  # not the two steps of the late answer


def test_a_large_answer_is_refused_before_it_is_received(serving, monkeypatch):
    monkeypatch.setattr("rulesafe_groot.zeromq.MAX_BYTES", 10_000)
    _, address = serving(lambda observation, options: bytes(20_000))
    policy = find_policy(address)
    with pytest.raises(RuleSafeError, match="closed the connection, or sent more than"):
        policy.infer(OBSERVATION)


def test_closing_in_another_thread_ends_an_inference(serving):
    asked, stop = Event(), Event()

    def slow(observation, options):
        asked.set()
        stop.wait(60)
        return [actions(), {}]

    _, address = serving(slow)
    policy, errors = find_policy(address), []

    def infer():
        try:
            policy.infer(OBSERVATION)
        except RuleSafeError as error:
            errors.append(str(error))

    thread = Thread(target=infer)
    thread.start()
    assert asked.wait(30)
    policy.close()
    thread.join(30)
    stop.set()
    assert errors == [f"{address}: the connection was closed"]
    policy.close()


def test_an_api_key_is_sent(serving, monkeypatch):
    server, address = serving(answer, token="secret")
    for key in ("", "other"):
        monkeypatch.setenv(wire.API_KEY, key)
        with pytest.raises(RuleSafeError, match=r"no policy server: error in the server:\nUnauth"):
            find_policy(address)
    assert "api_token" not in server.requests[0]
    monkeypatch.setenv(wire.API_KEY, "secret")
    assert find_policy(address).infer(OBSERVATION).shape == (16, 13)


def test_without_a_server_the_policy_is_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for host in ("127.0.0.1", "[::1]"):
        address = f"groot://{host}:{port}"
        with pytest.raises(RuleSafeError) as error:
            find_policy(address)
        assert str(error.value).startswith(f"{address}: no policy server: the connection was ref")
        check_policy(address)  # does not contact the server


@pytest.mark.parametrize("text", [b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, b""])
def test_a_server_of_another_protocol_is_refused(monkeypatch, text):
    monkeypatch.setattr("rulesafe_openpi.remote.OPEN_TIMEOUT", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as other:

        def reply():
            with suppress(OSError):
                while True:
                    connection, _ = other.accept()
                    connection.sendall(text)
                    others.append(connection)

        others = []
        Thread(target=reply, daemon=True).start()
        address = f"groot://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(RuleSafeError, match=f"^{address}: no policy server: "):
            find_policy(address)
        for each in others:
            each.close()


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("groot://", "valid: groot://HOST:PORT"),
        ("groot://host/path", "is not a valid address"),
        (
            "groot://host?image=x",
            r"\['image'\]; valid: front, head, right_arm, right_hand, instruction, timeout",
        ),
        ("groot://host?right_arm=", r"must not have empty settings \['right_arm'\]"),
        ("groot://host?front=a&head=a", "the same key for head and front"),
        ("groot://host?right_arm=right_hand", "the same key for right_arm and right_hand"),
        ("groot://host?timeout=0", "is not a valid address"),
    ],
)
def test_an_invalid_address_is_refused(address, text):
    with pytest.raises(RuleSafeError, match=text):
        check_policy(address)


def test_the_default_port_is_that_of_gr00t():
    assert str(GrootPolicy.parse("groot://robot")) == "groot://robot:5555"
    assert GrootPolicy.parse("groot://robot?front=&head=&timeout=3").timeout == 3
    assert remote.Address.timeout == 300


@pytest.mark.episode
def test_a_policy_of_a_groot_server_is_evaluated(serving, tmp_path):
    def hold(observation, options):
        assert observation["video"]["front"].shape == (1, 1, 224, 224, 3)
        assert observation["language"]["annotation.human.task_description"][0][0]
        return [{key: np.repeat(s, 16, axis=1) for key, s in observation["state"].items()}, {}]

    server, name = serving(hold)
    command = [sys.executable, "-m", "rulesafe_cli.cli", "eval", "--policy", name]
    command += ["--rules", "rule_002", "--episodes", "2", "--safes", "safe_02"]
    command += ["--films", "0", "--step-seconds", "2", "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "results.json").read_text())
    actor = found["request"]["actor"]
    assert (actor["kind"], actor["name"], actor["memory"]) == ("remote", name, None)
    assert len(actor["server"]["modalities"]) == 64
    assert [episode["frames"] for episode in found["episodes"]] == [40, 40]
    assert found["timing"]["inferences"] == 8 and found["timing"]["inference_median_ms"] > 0
    episodes = " ".join(server.calls).split("reset")[1:]
    counts = [episode.count("get_action") for episode in episodes]
    assert [count for count in counts if count] == [4, 4]  # one connection checks the server
