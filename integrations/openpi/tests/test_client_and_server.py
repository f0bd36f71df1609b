"""Policies of other processes by openpi's protocol: our client and our server."""

import os
import signal
import socket
import subprocess
import sys
import threading
from threading import Thread

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

from policy_node.loading import check_policy, find_policy
from policy_node.policy import CHUNK, Needs, Observation
from rulesafe_cli import cli
from rulesafe_core.errors import RuleSafeError
from rulesafe_openpi import client as openpi
from rulesafe_openpi import server as serving
from rulesafe_openpi import wire
from rulesafe_openpi.client import RULESAFE, OpenpiPolicy
from rulesafe_openpi.server import PolicyServer, Session
from vq_memory_node.memory import Reading, VqMemory
from vq_memory_node.rolling import RollingMemory

IMAGES = {c: np.full((8 + k, 8, 3), k, np.uint8) for k, c in enumerate(("head", "front"))}
OBSERVATION = Observation(np.full((1, 13), 0.5, np.float32), images=IMAGES, instruction="open it")


class Recorder:
    """A policy that stores what it receives, and stays at the present posture."""

    needs = Needs(frames=3, points=4, images=True, instruction=True, memory=True, clouds=1)
    memory = VqMemory()
    instances = 0

    def __init__(self):
        type(self).instances += 1
        self.received, self.resets = [], 0

    def reset(self):
        self.resets += 1

    def infer(self, observation):
        self.received.append(observation)
        return np.repeat(observation.joints[-1:], 20, axis=0)


@pytest.fixture
def running():
    """A function that starts a server and returns its port."""
    servers = []

    def start(server):
        Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.socket.getsockname()[1]

    yield start
    for server in servers:
        server.shutdown()


@pytest.fixture
def answering(running):
    """A function that starts a server which answers each observation in a given way, and returns a
    policy that uses it."""

    def start(answer, settings="", metadata=None):
        def handle(connection):
            connection.send(wire.encode({} if metadata is None else metadata))
            for data in connection:
                reply = answer(wire.decode(data))
                if reply is None:
                    return
                connection.send(reply)

        port = running(serve(handle, "127.0.0.1", 0, compression=None))
        return OpenpiPolicy(f"openpi://127.0.0.1:{port}{settings}")

    return start


def actions(value, name="actions"):
    return wire.encode({name: np.asarray(value)})


def test_an_observation_has_the_keys_of_openpi(answering):
    received = []

    def answer(message):
        received.append(message)
        return actions(np.full((60, 13), 0.25))

    policy = answering(answer)
    assert policy.needs == Needs(images=True, instruction=True, instruction_length="short")
    chunk = policy.infer(OBSERVATION)
    assert chunk.shape == (CHUNK, 13) and (chunk == 0.25).all()  # of 60 steps, the first 50
    (message,) = received
    names = {"observation/image", "observation/wrist_image", "observation/state", "prompt"}
    assert message.keys() == names and message["prompt"] == "open it"
    assert (message["observation/image"] == 1).all()  # front
    assert (message["observation/wrist_image"] == 0).all()  # head
    assert message["observation/state"].tolist() == [0.5] * 13


def test_keys_and_memory_are_set_by_the_address(answering):
    received = []

    def answer(message):
        received.append(message)
        return actions(np.zeros((1, 13)), "a")

    policy = answering(answer, "?image=exterior&wrist_image=&state=q&actions=a&memory=vq")
    assert policy.needs.images and policy.needs.instruction and policy.needs.memory
    assert policy.memory == VqMemory()
    reading = Reading(np.arange(40) % 4, np.arange(40) > 30)
    joints, images = OBSERVATION.joints, OBSERVATION.images
    assert policy.infer(Observation(joints, None, images, "go", reading)).shape == (1, 13)
    (message,) = received
    assert message.keys() == {"exterior", "q", "prompt", openpi.MEMORY, openpi.MEMORY_MASK}
    assert (message[openpi.MEMORY] == reading.values).all()
    assert (message[openpi.MEMORY_MASK] == reading.mask).all()


@pytest.mark.parametrize(
    ("settings", "needs", "length"),
    [
        ("", None, "short"),
        ("?instruction=short", None, "short"),
        ("?instruction=long", None, "long"),
        ("", Needs(instruction=True), "long"),
        ("", Needs(instruction=True, instruction_length="short"), "short"),
        ("?instruction=short", Needs(instruction=True), "short"),
    ],
)
def test_the_length_of_the_instruction_is_that_of_address_server_or_exports(
    answering, settings, needs, length
):
    needs = needs and {key: value for key, value in vars(needs).items() if key != "cameras"}
    about = {RULESAFE: {"needs": needs, "memory": None}} if needs else {}
    policy = answering(lambda message: None, settings, about)
    assert policy.needs.instruction and policy.needs.instruction_length == length


def test_each_episode_has_a_connection(running):
    connections = []

    def handle(connection):
        connections.append(0)
        connection.send(wire.encode({}))
        for _ in connection:
            connections[-1] += 1
            connection.send(actions(np.zeros((2, 13))))

    policy = OpenpiPolicy(f"openpi://127.0.0.1:{running(serve(handle, '127.0.0.1', 0))}")
    for count in (2, 3):
        policy.reset()
        for _ in range(count):
            policy.infer(OBSERVATION)
    assert connections == [2, 3]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Traceback: no GPU", r"error in the server:\nTraceback: no GPU"),
        (actions(np.zeros((5, 12))), r"'actions' of the answer: .*returned \(5, 12\)"),
        (actions(np.zeros((0, 13))), r"'actions' of the answer: .*returned \(0, 13\)"),
        (actions(np.zeros(13)), r"'actions' of the answer: .*returned \(13,\)"),
        (actions(np.full((2, 13), np.nan)), "26 of 26 not finite"),
        (actions(np.ones((2, 13), bool)), "has the dtype bool; valid: floats"),
        (wire.encode({"action": 1}), "the answer has no 'actions'; it has 'action'"),
        (wire.encode([1]), "a message must be a map"),
        (b"\xc1", "not valid msgpack"),
        (None, "received 1000|closed"),
    ],
)
def test_an_error_of_the_server_is_named_with_the_address(answering, reply, text):
    policy = answering(lambda message: reply)
    with pytest.raises(RuleSafeError, match=rf"^openpi://127.0.0.1:\d+: [\s\S]*({text})"):
        policy.infer(OBSERVATION)
    with pytest.raises(RuleSafeError, match="the inference has failed in this episode"):
        policy.infer(OBSERVATION)  # the server has lost the state of the episode
    policy.reset()
    with pytest.raises(RuleSafeError, match=text):  # after a new connection
        policy.infer(OBSERVATION)


def test_another_policy_at_the_same_address_is_refused(running):
    names = iter("aab")

    def handle(connection):
        connection.send(wire.encode({"policy": next(names)}))
        for _ in connection:
            connection.send(actions(np.zeros((2, 13))))

    policy = OpenpiPolicy(f"openpi://127.0.0.1:{running(serve(handle, '127.0.0.1', 0))}")
    policy.infer(OBSERVATION)
    policy.reset()
    policy.infer(OBSERVATION)
    policy.reset()
    with pytest.raises(RuleSafeError, match="the server has another policy than before"):
        policy.infer(OBSERVATION)


def test_a_late_answer_is_an_error(answering):
    over = threading.Event()
    policy = answering(lambda message: over.wait(60) and None, "?timeout=3")
    with pytest.raises(RuleSafeError, match=r"no answer within 3 s; see \?timeout=SECONDS"):
        policy.infer(OBSERVATION)
    over.set()


def test_without_a_server_the_policy_is_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(RuleSafeError, match=f"^openpi://127.0.0.1:{port}: no policy server: "):
        find_policy(f"openpi://127.0.0.1:{port}")
    check_policy(f"openpi://127.0.0.1:{port}")  # does not contact the server


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("openpi://", "valid: openpi://HOST:PORT"),
        ("openpi://host:port", "is not a valid address"),
        ("openpi://host:99999", "is not a valid address"),
        ("openpi://wss://", "is not a valid address"),
        ("openpi://http://host", "is not a valid address"),
        ("openpi://host?colour=red", r"unknown settings \['colour'\]; valid: image, wrist_image"),
        ("openpi://user:word@host", "is not a valid address: it has a user"),
        ("openpi://host#part", "is not a valid address: it has a user, a fragment"),
        ("openpi://a host", "is not a valid address: it has a user, a fragment, a space"),
        ("openpi://host:0", "a space or the port 0"),
        ("openpi://host?image=a&image=b", "it has a setting twice"),
        ("openpi://host?instruction=tiny", "unknown instruction 'tiny'.*short, long"),
        ("openpi://host?actions=", r"must not have empty settings \['actions'\]"),
        ("openpi://host?timeout=-1", "is not a valid address"),
        ("openpi://host?timeout", "is not a valid address"),
        ("openpi://host?timeout=inf", "is not a valid address"),
    ],
)
def test_an_invalid_address_is_refused(address, text):
    with pytest.raises(RuleSafeError, match=text):
        check_policy(address)
    with pytest.raises(RuleSafeError, match=text):
        OpenpiPolicy.parse(address)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("openpi://host", "ws://host:8000"),
        ("openpi://host:80/", "ws://host:80"),
        ("openpi://host:80/my/policy?timeout=9", "ws://host:80/my/policy"),
        ("openpi://ws://host/policy", "ws://host:8000/policy"),
        ("openpi://wss://host", "wss://host:443"),
        ("openpi://wss://host:8443/policy?image=", "wss://host:8443/policy"),
    ],
)
def test_an_address_may_have_a_path_and_be_encrypted(address, url, monkeypatch):
    connected = []

    def connect(url, **options):
        connected.append(url)
        raise OSError("not now")

    monkeypatch.setattr(openpi, "connect", connect)
    check_policy(address)
    with pytest.raises(RuleSafeError, match="no policy server: not now"):
        find_policy(address)
    assert connected == [url]


def test_an_address_of_ipv6_is_valid():
    assert OpenpiPolicy.parse("openpi://[::1]:8000").host == "::1"
    with pytest.raises(RuleSafeError, match="no policy server"):
        find_policy("openpi://[::1]:9")


def test_a_server_of_rulesafe_receives_what_its_policy_needs(running):
    policies = []

    def make():
        policies.append(Recorder())
        return policies[-1]

    # With more connections, a connection that is opened at once may get a new policy.
    port = running(PolicyServer(make, 12, connections=1).listen("127.0.0.1", 0))
    remote = find_policy(f"openpi://127.0.0.1:{port}")
    assert remote.needs == Recorder.needs and remote.memory == Recorder.memory
    random = np.random.default_rng(0)
    given = Observation(
        random.random((3, 13), np.float32),
        random.random((1, 4, 6), np.float32),
        IMAGES,
        "open it",
        Reading(random.integers(4, size=40), np.arange(40) > 20),
    )
    assert (remote.infer(given) == np.repeat(given.joints[-1:], 20, axis=0)).all()
    (found,) = policies[0].received
    assert (found.joints == given.joints).all() and (found.points == given.points).all()
    assert (found.memory.values == given.memory.values).all()
    assert (found.memory.mask == given.memory.mask).all() and found.instruction == "open it"
    for camera, image in IMAGES.items():
        assert found.images[camera].shape == (224, 224, 3)
        assert (found.images[camera] == image[0, 0]).all()
    remote.reset()
    remote.infer(given)
    assert len(policies) == 1 and policies[0].resets == 2  # free policies are used again


def test_positions_between_two_observations_are_interpolated():
    session, policy = Session(Recorder(), 4), Recorder()
    message = {"observation/image": IMAGES["front"], "observation/wrist_image": IMAGES["head"]}
    message |= {"prompt": "open", openpi.POINTS: np.zeros((1, 4, 6), np.float32)}
    expected = RollingMemory(policy.memory)
    for state in (0.0, 0.8, 0.4):
        message["observation/state"] = np.full(13, state, np.float32)
        found = session.observation(message)
    np.testing.assert_allclose(found.joints[:, 0], [0.6, 0.5, 0.4], atol=1e-6)
    positions = [0.0, 0.2, 0.4, 0.6, 0.8, 0.7, 0.6, 0.5, 0.4]
    for position in positions:
        expected.push(np.full(13, position, np.float32))
    assert (found.memory.values == expected.read().values).all()
    assert (found.memory.mask == expected.read().mask).all()
    session.sent(2)  # a chunk of two steps
    message["observation/state"] = np.zeros(13, np.float32)
    np.testing.assert_allclose(session.observation(message).joints[:, 0], [0.4, 0.2, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"observation/state": np.zeros(12)}, r"'observation/state' must be an array \(13\)"),
        ({"observation/state": np.full(13, 2**63, np.uint64)}, "not numbers up to 1e"),
        ({"observation/state": np.full(13, 1e300)}, "not numbers up to 1e"),
        ({"observation/state": np.full(13, "x")}, "not numbers up to 1e"),
        ({openpi.MEMORY: np.full(40, 9), openpi.MEMORY_MASK: np.ones(40, bool)}, "outside of 0"),
        ({"observation/state": None}, r"requires 'observation/state', an array \(13\)"),
        ({"prompt": ""}, "requires 'prompt', a text"),
        ({"prompt": 3}, "requires 'prompt', a text"),
        ({openpi.POINTS: np.zeros((4, 6))}, r"'observation/points' must be an array \(1, n, 6\)"),
        ({openpi.POINTS: np.zeros((1, 3, 6))}, r"must have shape \(n, 6\) with n >= 4"),
        ({openpi.JOINTS: np.zeros((2, 13))}, r"'observation/joints' must be an array \(3, 13\)"),
        ({openpi.MEMORY: np.zeros(3, int)}, r"'observation/memory_tokens' must be an array \(40\)"),
        (
            {openpi.MEMORY: np.zeros(40, int)},
            r"requires 'observation/memory_mask', an array",
        ),
        ({"observation/image": np.zeros((8, 8))}, "must be an array"),
        ({"observation/image": np.zeros((8, 8, 3))}, "must be .* uint8"),
    ],
)
def test_an_observation_without_a_required_input_is_refused(change, text):
    message = {"observation/image": IMAGES["front"], "observation/wrist_image": IMAGES["head"]}
    message |= {"prompt": "open", openpi.POINTS: np.zeros((1, 4, 6), np.float32)}
    message["observation/state"] = np.zeros(13, np.float32)
    assert Session(Recorder(), 12).observation(message).memory.mask.sum() == 1
    with pytest.raises(RuleSafeError, match=text):
        Session(Recorder(), 12).observation(message | change)


def test_an_error_of_the_policy_reaches_the_client(running, capfd):
    class Broken(Recorder):
        needs = Needs()

        def infer(self, observation):
            raise ZeroDivisionError("no weights")

    port = running(PolicyServer(Broken, 12).listen("127.0.0.1", 0))
    policy = find_policy(f"openpi://127.0.0.1:{port}")
    with pytest.raises(RuleSafeError, match=r"error in the server:\nZeroDivisionError; its trace"):
        policy.infer(OBSERVATION)
    assert "no weights" in capfd.readouterr().err


def test_a_policy_that_cannot_be_created_leaves_its_place(running):
    class Still(Recorder):
        needs = Needs()

        def __init__(self):
            super().__init__()
            if type(self).instances in (2, 3):
                raise RuleSafeError("no memory left")

    Still.instances = 0
    port = running(PolicyServer(Still, 12, connections=2).listen("127.0.0.1", 0))
    name = f"openpi://127.0.0.1:{port}"
    first = find_policy(name)
    for _ in range(2):
        with pytest.raises(RuleSafeError, match="error in the server:\nno memory left"):
            find_policy(name)
    second = find_policy(name)
    assert second.infer(OBSERVATION).shape == first.infer(OBSERVATION).shape == (20, 13)


def test_web_pages_are_refused(running):
    class Still(Recorder):
        needs = Needs()

    port = running(PolicyServer(Still, 12).listen("127.0.0.1", 0))
    refused = pytest.raises(InvalidStatus, match="403")
    with refused, connect(f"ws://127.0.0.1:{port}", origin="https://example.org"):
        pass


def test_the_number_of_connections_is_limited(running, monkeypatch):
    monkeypatch.setattr(serving, "WAIT", 0.1)

    class Still(Recorder):
        needs = Needs()

    Still.instances = 0
    port = running(PolicyServer(Still, 12, connections=2).listen("127.0.0.1", 0))
    name = f"openpi://127.0.0.1:{port}"
    first, _ = find_policy(name), find_policy(name)
    with pytest.raises(RuleSafeError, match="all policies are in use"):
        find_policy(name)
    first.close()
    deadline = 100
    while deadline:  # the server notices the end of the connection soon
        try:
            find_policy(name)
            break
        except RuleSafeError:
            deadline -= 1
    assert deadline and Still.instances == 2


def test_an_api_key_is_required(running, monkeypatch):
    class Still(Recorder):
        needs = Needs()

    port = running(PolicyServer(Still, 12, key="secret").listen("127.0.0.1", 0))
    for key in ("", "other"):
        monkeypatch.setenv(wire.API_KEY, key)
        with pytest.raises(RuleSafeError, match="HTTP 401"):
            find_policy(f"openpi://127.0.0.1:{port}")
    monkeypatch.setenv(wire.API_KEY, "secret")
    assert find_policy(f"openpi://127.0.0.1:{port}").infer(OBSERVATION).shape == (20, 13)


def test_two_authorization_headers_are_refused(running):
    port = running(PolicyServer(Recorder, 12, key="secret").listen("127.0.0.1", 0))
    request = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    request += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n"
    request += 2 * "Authorization: Api-Key secret\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{request}\r\n".encode())
        assert b" 401 " in connection.recv(1000).splitlines()[0]


@pytest.mark.parametrize("key", ["sec\nret", "s\xe9cret", "secret "])
def test_an_invalid_api_key_is_not_printed(monkeypatch, key):
    monkeypatch.setenv(wire.API_KEY, key)
    with pytest.raises(RuleSafeError, match="has an invalid character") as error:
        find_policy("openpi://127.0.0.1:1")
    assert key not in str(error.value)


def test_a_second_answer_to_an_observation_is_an_error(running):
    """Each later observation would get the answer to the one before."""

    def handle(connection):
        connection.send(wire.encode({}))
        for _ in connection:
            for _ in range(2):
                connection.send(actions(np.zeros((1, 13))))

    port = running(serve(handle, "127.0.0.1", 0, compression=None))
    policy = OpenpiPolicy(f"openpi://127.0.0.1:{port}")
    policy.infer(OBSERVATION)
    with pytest.raises(RuleSafeError, match="more than one answer to the last observation"):
        while True:  # until the second answer has arrived
            policy.infer(OBSERVATION)


@pytest.fixture
def echo(tmp_path, monkeypatch):
    """The name of a policy that answers with the joint positions it observes."""
    (tmp_path / "echoing.py").write_text(
        "from policy_node.policy import Needs\n"
        "class Echo:\n"
        "    needs = Needs(frames=3)\n"
        "    def reset(self): pass\n"
        "    def infer(self, observation): return observation.joints\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return "echoing:Echo"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_with_its_options_until_a_signal(echo, monkeypatch, number):
    monkeypatch.setenv(wire.API_KEY, "secret")
    words = ["policy", "serve", echo, "--port", "0", "--execute", "1"]
    command = [sys.executable, "-m", "rulesafe_cli.cli", *words, "--connections", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline().strip()
            assert line.startswith(f"serving {echo} on openpi://127.0.0.1:")
            address = "ws://" + line.partition("//")[2]
            with pytest.raises(InvalidStatus, match="401"), connect(address):
                pass
            key = {"Authorization": "Api-Key secret"}
            with connect(address, additional_headers=key) as first:
                assert wire.decode_dict(first.recv())[RULESAFE]["name"] == echo
                for value in (0.0, 1.0):
                    state = np.full(13, value, np.float32)
                    first.send(wire.encode({serving.KEYS.state: state}))
                    chunk = wire.decode_dict(first.recv())[serving.KEYS.actions]
                assert chunk[:, 0].tolist() == [0, 0, 1]  # one frame between the observations
                refused = pytest.raises(ConnectionClosed, match="all policies are in use")
                with connect(address, additional_headers=key) as second, refused:
                    second.recv(timeout=600)
            server.send_signal(number)
            assert server.communicate(timeout=600)[0] == "stopped\n" and server.returncode == 0
        finally:
            server.kill()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("echoing:Echo --port 65536", "--port is 65536; valid: 0 to 65535"),
        ("echoing:Echo --port -1", "--port is -1; valid: 0 to 65535"),
        ("echoing:Echo --connections 0", "--connections is 0"),
        ("echoing:Echo --execute 0", "--execute is 0"),
        ("echoing:Echo --threads 0", "--threads is 0"),
        ("echoing:Echo --host 192.0.2.1 --port 0", "cannot listen on 192.0.2.1:0: "),
    ],
)
@pytest.mark.usefixtures("echo")
def test_options_that_cannot_be_served_are_refused(words, message, capsys):
    assert cli.main(["policy", "serve", *words.split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "about",
    [
        None,
        {},
        {"needs": {"frames": "3"}, "memory": None},
        {"needs": {"colour": 1}, "memory": None},
        {"needs": {}, "memory": {"kind": "vq", "colour": 1}},
        {"needs": {}, "memory": "x"},
        {"needs": {}, "memory": {"kind": "antigravity:Memory", "length": 1}},
        {"needs": {}, "memory": {"kind": "raw", "length": 10**12}},
        {"needs": {"frames": 10**9}, "memory": None},
        {"needs": {"points": -1}, "memory": None},
        {"needs": {"instruction_length": "tiny"}, "memory": None},
        {"needs": {"instruction_length": ["short"]}, "memory": None},
    ],
)
def test_invalid_metadata_are_refused(answering, about):
    with pytest.raises(RuleSafeError):
        answering(lambda message: None, metadata={RULESAFE: about})
    assert "antigravity" not in sys.modules
