"""Client of openpi's policy servers, by their WebSocket protocol, and the keys of its messages.

    rulesafe eval --policy openpi://127.0.0.1:8000 --rules rule_001 --episodes 10

The server first sends a map of metadata. Each observation is one binary message, and so is its
answer; a text message is the traceback of an error in the server. Since there is no message for a
reset, a new connection is opened for each episode. `Keys` lists the names in messages, which the
address can change: `openpi://HOST:PORT?image=observation/exterior_image&wrist_image=`. A server
behind a proxy has an address such as `openpi://wss://HOST/PATH`. With `memory=vq` the observation
contains the tokens of VQ-Memory.

A server of `rulesafe policy serve` describes its policy in the metadata, and receives what that
needs.
"""

import re
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from policy_node.policy import Needs, Observation
from rulesafe_core.cameras import CameraSet
from rulesafe_core.cloud import CLOUD_POINTS
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.instructions import EXPORT_LENGTH, check_length
from rulesafe_openpi import wire
from rulesafe_openpi.remote import (
    MAX_FRAMES,
    Address,
    RemotePolicy,
    Transport,
    first_steps,
    server_error,
)
from vq_memory_node.memory import MEMORIES, Memory, NoMemory, make_memory, memory_from

CLOSE_TIMEOUT = 2.0
"""Maximum time to close a connection, s."""

MAX_MEMORY = 1000
"""Maximum number of values of a memory that a server may request."""

RULESAFE = "rulesafe"
"""Key of a server's metadata that describes its policy, if the server is of RuleSafe."""

POINTS = "observation/points"
JOINTS = "observation/joints"
MEMORY = "observation/memory_tokens"
MEMORY_MASK = "observation/memory_mask"
"""Keys of further inputs, which only servers of RuleSafe request: point clouds (C, N, 6), the last
joint positions (T, 13), and the values of the memory, tokens (M,) or joint positions (M, 13), with
a mask (M,) of the observed ones; see `policy.Observation`."""


@dataclass(frozen=True)
class Keys:
    """Names of the standard inputs and of the actions in messages; an empty one is omitted.

    Attributes:
        image: image of the camera `front`, (224, 224, 3) uint8.
        wrist_image: image of the camera `head`.
        state: joint positions (13,) float32, rad, in the order of ACTION_JOINTS.
        prompt: the instruction.
        actions: the answer: target joint positions (n, 13), rad, at 10 Hz.
    """

    image: str = "observation/image"
    wrist_image: str = "observation/wrist_image"
    state: str = "observation/state"
    prompt: str = "prompt"
    actions: str = "actions"

    def camera(self, name: str) -> str:
        """Return the name of the images of a camera; a camera of another set has its own."""
        known = {"front": self.image, "head": self.wrist_image}
        return known.get(name, f"observation/{name}_image")


class WebSocket(Transport):
    """A WebSocket connection, on which the server sends a first message."""

    ERRORS = (*Transport.ERRORS, WebSocketException)

    _connection: ClientConnection

    def __init__(self, endpoint: str) -> None:
        self._endpoint, self._stack = endpoint, ExitStack()

    def open(self, timeout: float) -> None:
        """See `Transport.open`."""
        key = wire.api_key()
        self._connection = self._stack.enter_context(
            connect(
                self._endpoint,
                additional_headers={"Authorization": f"Api-Key {key}"} if key else None,
                compression=None,
                max_size=wire.MAX_BYTES,
                open_timeout=timeout,
                close_timeout=CLOSE_TIMEOUT,
                ping_interval=None,  # servers may not answer during an inference
                proxy=None,
            )
        )

    def call(self, request: bytes | None, timeout: float) -> bytes:
        """See `Transport.call`. Raises RuleSafeError also for a text message, the traceback of an
        error in the server."""
        if request is not None:
            with suppress(TimeoutError):
                self._connection.recv(0)
                raise RuleSafeError("the server sent more than one answer to the last observation")
            self._connection.send(request)
        message = self._connection.recv(timeout)
        if isinstance(message, str):
            raise server_error(message)
        return message

    def close(self) -> None:
        """See `Transport.close`."""
        self._stack.close()


class OpenpiPolicy(RemotePolicy):
    """The policy of a server with openpi's protocol. Settings: the fields of `Keys`, and `memory`,
    the kind of the memory whose values are sent, one of `MEMORIES`."""

    TRANSPORT = WebSocket
    PORT = 8000
    PATHS = True
    SETTINGS = MappingProxyType({**asdict(Keys()), "memory": "none"})
    REQUIRED = ("actions",)

    @classmethod
    def parse(cls, text: str) -> Address:
        """See `RemotePolicy.parse`. As in openpi, HOST may have the protocol: wss://HOST is
        encrypted, by default at port 443."""
        plain = re.sub("^openpi://wss?://", "openpi://", text)
        address = super().parse(plain)
        if not text.startswith("openpi://wss://"):
            return address
        return replace(address, secure=True, port=urlsplit(plain).port or 443)

    @property
    def endpoint(self) -> str:
        """URL of the WebSocket."""
        address = self.address
        return f"ws{'s' * address.secure}://{address.endpoint}{address.path}"

    def _begin(self) -> bytes:
        return self._call(None)

    def _configure(self, description: bytes) -> None:
        settings = dict(self.address.settings)
        self.memory = make_memory(settings.pop("memory"))
        self._keys = keys = Keys(**settings)
        self.needs = Needs(
            images=bool(keys.image or keys.wrist_image),
            instruction=bool(keys.prompt),
            instruction_length=EXPORT_LENGTH,
            memory=bool(self.memory.length),
        )
        metadata = wire.decode_dict(description)
        if RULESAFE in metadata:
            self.metadata = metadata[RULESAFE]
            self.needs, self.memory = _described(self.metadata)

    def _request(self, observation: Observation) -> NDArray[np.float32]:
        answer = wire.decode_dict(self._call(wire.encode(self._message(observation))))
        name = self._keys.actions
        if name not in answer:
            names = ", ".join(map(repr, answer))
            raise RuleSafeError(f"the answer has no {name!r}; it has {names}")
        return first_steps(answer[name], repr(name))

    def _message(self, observation: Observation) -> dict[str, Any]:
        keys, needs, images = self._keys, self.needs, observation.images
        message: dict[str, Any] = {keys.state: observation.joints[-1]}
        message |= {keys.camera(name): images[name] for name in needs.image_cameras}
        if needs.instruction:
            message[keys.prompt] = observation.instruction
        if needs.frames > 1:
            message[JOINTS] = observation.joints
        if needs.points:
            message[POINTS] = observation.points
        if needs.memory:
            message[MEMORY] = observation.memory.values
            message[MEMORY_MASK] = observation.memory.mask
        message.pop("", None)
        return message


def _described(about: Any) -> tuple[Needs, Memory]:
    """Return the needs and the memory of a policy that a server describes in RuleSafe's form."""
    try:
        cameras = CameraSet.from_entry(about, "cameras")
        needs, memory = Needs(**about["needs"], cameras=cameras), about["memory"]
        types = {name: type(value) for name, value in vars(Needs()).items()}
        if any(type(value) is not types[name] for name, value in vars(needs).items()):
            raise TypeError(f"needs {about['needs']!r}")
        check_length(needs.instruction_length)
        within = 0 < needs.frames <= MAX_FRAMES and 0 <= needs.clouds <= needs.frames
        if not (within and 0 <= needs.points <= CLOUD_POINTS):
            raise ValueError(f"needs {about['needs']!r}")
        # No module:Class, which would be imported.
        if memory and (
            memory["kind"] not in MEMORIES.builtin or not 0 < memory["length"] <= MAX_MEMORY
        ):
            raise ValueError(f"memory {memory!r}")
        return needs, memory_from(memory) if memory else NoMemory()
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise RuleSafeError(f"the server's metadata are invalid: {error!r}") from error
