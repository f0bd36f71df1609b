"""A policy that another process infers, by the WebSocket protocol of openpi's policy servers.

    rulesafe eval --policy openpi://127.0.0.1:8000 --rules rule_001 --episodes 10

The server first sends a map of metadata. Each observation is one binary message, and so is its
answer; a text message is the traceback of an error in the server. Since there is no message for a
reset, a new connection is opened for each episode. `Keys` lists the names in messages, which the
address can change: `openpi://HOST:PORT?image=observation/exterior_image&wrist_image=`. With
`memory=vq` the observation contains the tokens of VQ-Memory; see `wire`.

A server of `rulesafe policy serve` describes its policy in the metadata, and receives what that
needs.
"""

import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from policy_node import wire
from policy_node.loading import RULESAFE, SCHEME
from policy_node.policy import CHUNK, Needs, Observation, check_chunk
from policy_node.wire import Keys
from rulesafe_core.cloud import CLOUD_POINTS
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MEMORIES, Memory, NoMemory, make_memory, memory_from

PORT = 8000

OPEN_TIMEOUT = 10.0
"""Maximum time to open a connection, s."""

CLOSE_TIMEOUT = 2.0
"""Maximum time to close a connection, s."""

MAX_TIMEOUT = 86_400.0
"""Maximum value of the setting `timeout`, s."""

MAX_MEMORY = 1000
"""Maximum number of values of a memory that a server may request."""

MAX_TRACE = 4000
"""Maximum number of characters of a server's traceback in an error message."""


@dataclass(frozen=True)
class Address:
    """The address of a policy server, and its settings.

    Attributes:
        host, port: where the server listens.
        keys: names in messages.
        memory: kind of the memory whose values are sent, one of `MEMORIES`.
        timeout: maximum time of an inference, s, and of loading the policy for a connection. The
            first inference may compile a network.
    """

    host: str
    port: int = PORT
    keys: Keys = field(default_factory=Keys)
    memory: str = "none"
    timeout: float = 300.0

    def __str__(self) -> str:
        return f"{SCHEME}{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Return the address of a text openpi://HOST:PORT?NAME=VALUE&...

    Raises:
        RuleSafeError: host, port, or a setting is invalid.
    """
    valid = [key.name for key in fields(Keys)] + ["memory", "timeout"]
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port or PORT
        given = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
        timeout = float(given.pop("timeout", Address.timeout))
    except ValueError as error:
        raise RuleSafeError(f"{text!r} is not a valid address: {error}") from error
    if not host or parts.path not in ("", "/") or not 0 < timeout <= MAX_TIMEOUT:
        raise RuleSafeError(
            f"{text!r} is not a valid address; valid: {SCHEME}HOST:PORT?timeout=300"
        )
    memory = given.pop("memory", Address.memory)
    if unknown := sorted(given.keys() - set(valid)):
        raise RuleSafeError(f"{text!r} has unknown settings {unknown}; valid: {', '.join(valid)}")
    return Address(host, port, Keys(**given), memory, timeout)


class RemotePolicy:
    """The policy of a server.

    Args:
        address: see `parse_address`.

    Raises:
        RuleSafeError: the address is invalid, or no server answers.
    """

    def __init__(self, address: str) -> None:
        self.address = parse_address(address)
        keys = self.address.keys
        self._stack = ExitStack()
        self._connection: ClientConnection | None = None
        self._begun = self._failed = False
        self._first = b""
        self.memory: Memory = make_memory(self.address.memory)
        self.needs = Needs(
            images=bool(keys.image or keys.wrist_image),
            instruction=bool(keys.prompt),
            memory=bool(self.memory.length),
        )
        self._connect()
        try:
            self.metadata = wire.decode_dict(self._first)
            if RULESAFE in self.metadata:
                self.needs, self.memory = _described(self.metadata[RULESAFE])
        except RuleSafeError as error:
            self.close()
            raise RuleSafeError(f"{self.address}: {error}") from None

    def reset(self) -> None:
        """Begin a new episode; the next inference opens a new connection."""
        if self._begun:
            self.close()
        self._failed = False

    def close(self) -> None:
        """Close the connection."""
        self._stack.close()
        self._connection, self._begun = None, False

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """See `policy.Policy.infer`. Raises RuleSafeError if the server fails or is too slow, and
        then until `reset`, since the server has lost the state of the episode."""
        if self._failed:
            raise RuleSafeError(f"{self.address}: the inference has failed in this episode")
        if self._connection is None:
            self._connect()
        self._begun = self._failed = True
        try:
            assert self._connection is not None
            self._connection.send(wire.encode(self._message(observation)))
            chunk = self._chunk(self._receive())
        except (RuleSafeError, WebSocketException, OSError) as error:
            self.close()
            raise RuleSafeError(f"{self.address}: {error}") from None
        self._failed = False
        return chunk

    def _connect(self) -> None:
        """Open a connection; raise RuleSafeError if the server has another policy than before."""
        key, host = os.environ.get(wire.API_KEY, ""), self.address.host
        try:
            self._connection = self._stack.enter_context(
                connect(
                    f"ws://{f'[{host}]' if ':' in host else host}:{self.address.port}",
                    additional_headers={"Authorization": f"Api-Key {key}"} if key else None,
                    compression=None,
                    max_size=wire.MAX_BYTES,
                    open_timeout=OPEN_TIMEOUT,
                    close_timeout=CLOSE_TIMEOUT,
                    ping_interval=None,  # servers may not answer during an inference
                    proxy=None,
                )
            )
            first = self._receive()
            if self._first not in (b"", first):
                raise RuleSafeError("the server has another policy than before")
            self._first = first
        except (RuleSafeError, WebSocketException, OSError) as error:
            self.close()
            raise RuleSafeError(f"{self.address}: no policy server: {error}") from None

    def _receive(self) -> bytes:
        """Return the next message; raise RuleSafeError if it is late, or the text of an error."""
        assert self._connection is not None
        timeout = self.address.timeout
        try:
            message = self._connection.recv(timeout)
        except TimeoutError:
            raise RuleSafeError(f"no answer within {timeout:g} s; see ?timeout=SECONDS") from None
        if isinstance(message, str):
            raise RuleSafeError(f"error in the server:\n{message[-MAX_TRACE:]}")
        return message

    def _message(self, observation: Observation) -> dict[str, Any]:
        keys, needs, images = self.address.keys, self.needs, observation.images
        message: dict[str, Any] = {keys.state: observation.joints[-1]}
        if needs.images:
            message |= {keys.image: images["front"], keys.wrist_image: images["head"]}
        if needs.instruction:
            message[keys.prompt] = observation.instruction
        if needs.frames > 1:
            message[wire.JOINTS] = observation.joints
        if needs.points:
            message[wire.POINTS] = observation.points
        if needs.memory:
            message[wire.MEMORY] = observation.memory.values
            message[wire.MEMORY_MASK] = observation.memory.mask
        message.pop("", None)
        return message

    def _chunk(self, answer: bytes) -> NDArray[np.float32]:
        name, content = self.address.keys.actions, wire.decode_dict(answer)
        if name not in content:
            names = ", ".join(map(repr, content))
            raise RuleSafeError(f"the answer has no {name!r}; it has {names}")
        try:
            return check_chunk(np.asarray(content[name])[:CHUNK])
        except (ValueError, IndexError) as error:
            raise RuleSafeError(f"{name!r} of the answer: {error}") from error


def _described(about: Any) -> tuple[Needs, Memory]:
    """Return the needs and the memory of a policy that a server of RuleSafe describes."""
    try:
        needs, memory = Needs(**about["needs"]), about["memory"]
        types = {name: type(value) for name, value in asdict(Needs()).items()}
        if any(type(value) is not types[name] for name, value in asdict(needs).items()):
            raise TypeError(f"needs {about['needs']!r}")
        within = 0 < needs.frames <= 100 and 0 <= needs.clouds <= needs.frames
        if not (within and 0 <= needs.points <= CLOUD_POINTS):
            raise ValueError(f"needs {about['needs']!r}")
        # No module:Class, which would be imported.
        if memory and (memory["kind"] not in MEMORIES or not 0 < memory["length"] <= MAX_MEMORY):
            raise ValueError(f"memory {memory!r}")
        return needs, memory_from(memory) if memory else NoMemory()
    except (TypeError, KeyError, ValueError) as error:
        raise RuleSafeError(f"the server's metadata are invalid: {error!r}") from error
