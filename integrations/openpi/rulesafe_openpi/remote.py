"""A policy that a server infers: what the clients of all protocols share.

A connection is an episode: `RemotePolicy.reset` ends it, and the next inference opens another one.
On each connection the server first describes its policy, which must not change.

The instruction is the rule's short one, as in the exports of `rulesafe demos export`, or the long
one for a policy that was trained on it: `SCHEME://HOST:PORT?instruction=long`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import CHUNK, Needs, Observation, check_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_locks.instructions import EXPORT_LENGTH, Length, check_length
from vq_memory_node.memory import Memory, NoMemory

OPEN_TIMEOUT = 10.0
"""Maximum time to open a connection, s."""

MAX_TIMEOUT = 86_400.0
"""Maximum value of the setting `timeout`, s."""

MAX_FRAMES = 100
"""Maximum number of frames of joint positions that a server may request."""

MAX_TRACE = 4000
"""Maximum number of characters of a server's error in an error message."""


@dataclass(frozen=True)
class Address:
    """The address of a policy server, SCHEME://HOST:PORT[/PATH], and its settings.

    Attributes:
        scheme: the protocol, an entry point of `rulesafe.policy_schemes`.
        host, port: where the server listens.
        settings: the settings of the protocol by name.
        instruction: length of the instruction; empty: stated by the server, or that of exports.
        timeout: maximum time of an answer, s. The first inference may compile a network.
        path: path on the server, such as "/policy"; empty without one.
        secure: whether the connection is encrypted (TLS).
    """

    scheme: str
    host: str
    port: int
    settings: Mapping[str, str]
    instruction: Length | Literal[""] = ""
    timeout: float = 300.0
    path: str = ""
    secure: bool = False

    @property
    def endpoint(self) -> str:
        """HOST:PORT, with an IPv6 address in brackets."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.endpoint}"


class Transport(ABC):
    """A connection to a server for one episode. Another thread may call `close`.

    Args:
        endpoint: `RemotePolicy.endpoint`.
    """

    ERRORS: ClassVar[tuple[type[Exception], ...]] = (RuleSafeError, OSError)
    """Exceptions of a connection."""

    @abstractmethod
    def __init__(self, endpoint: str) -> None: ...

    @abstractmethod
    def open(self, timeout: float) -> None:
        """Connect to the server within `timeout` s. Raises one of ERRORS."""

    @abstractmethod
    def call(self, request: bytes | None, timeout: float) -> bytes:
        """Send a request and return the answer; None: return the server's first message.

        Raises:
            TimeoutError: there is no answer within `timeout` s.
            one of ERRORS: the connection is lost.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection, which ends a running call in another thread."""


class RemotePolicy(ABC):
    """The policy of a server. A subclass implements the client of a protocol.

    Args:
        address: see `parse`.

    Attributes:
        needs, memory: see `policy.Policy`.
        metadata: facts about the policy by its server, for the results; None: it states none.

    Raises:
        RuleSafeError: the address is invalid, no server answers, or its policy has other inputs or
            actions than this robot.
    """

    TRANSPORT: ClassVar[type[Transport]]

    PORT: ClassVar[int]
    """Default port."""

    PATHS: ClassVar[bool] = False
    """Whether an address may have a path."""

    SETTINGS: ClassVar[Mapping[str, str]]
    """Default values of the settings in the address, without `instruction` and `timeout`."""

    REQUIRED: ClassVar[tuple[str, ...]]
    """Settings that must not be empty."""

    needs = Needs(instruction_length=EXPORT_LENGTH)
    memory: Memory = NoMemory()

    def __init__(self, address: str) -> None:
        self.address = self.parse(address)
        self.metadata: Any = None
        self._transport: Transport | None = None
        self._begun = self._failed = False
        self._description = b""
        self._connect()
        try:
            self._configure(self._description)
            if length := self.address.instruction:
                self.needs = replace(self.needs, instruction_length=length)
        except RuleSafeError as error:
            self.close()
            raise RuleSafeError(f"{self.address}: {error}") from None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address of a text SCHEME://HOST:PORT?NAME=VALUE&...

        Raises:
            RuleSafeError: host, port, or a setting is invalid.
        """
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, cls.PORT if parts.port is None else parts.port
            query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
            given = dict(query)
            if parts.fragment or parts.username or " " in text or not port:
                raise ValueError("it has a user, a fragment, a space or the port 0")
            if len(given) < len(query):
                raise ValueError("it has a setting twice")
            timeout = float(given.pop("timeout", Address.timeout))
        except ValueError as error:
            raise RuleSafeError(f"{text!r} is not a valid address: {error}") from error
        path = parts.path.removesuffix("/")
        valid_path = not path or (cls.PATHS and "//" not in path)
        if not host or not valid_path or not 0 < timeout <= MAX_TIMEOUT:
            valid = f"{parts.scheme}://HOST:PORT?timeout=300"
            raise RuleSafeError(f"{text!r} is not a valid address; valid: {valid}")
        instruction: Any = given.pop("instruction", Address.instruction)
        if instruction:
            check_length(instruction)
        if unknown := sorted(given.keys() - cls.SETTINGS.keys()):
            names = ", ".join([*cls.SETTINGS, "instruction", "timeout"])
            raise RuleSafeError(f"{text!r} has unknown settings {unknown}; valid: {names}")
        settings = {**cls.SETTINGS, **given}
        if empty := [name for name in cls.REQUIRED if not settings[name]]:
            raise RuleSafeError(f"{text!r} must not have empty settings {empty}")
        return Address(parts.scheme, host, port, settings, instruction, timeout, path)

    @property
    def endpoint(self) -> str:
        """What the transport connects to: HOST:PORT."""
        return self.address.endpoint

    def reset(self) -> None:
        """Begin a new episode; the next inference opens a new connection."""
        if self._begun:
            self.close()
        self._failed = False

    def close(self) -> None:
        """Close the connection. A call in another thread ends a running inference."""
        transport, self._transport = self._transport, None
        self._begun = False
        if transport is not None:
            transport.close()

    def infer(self, observation: Observation) -> NDArray[np.float32]:
        """See `policy.Policy.infer`. Raises RuleSafeError if the server fails or is too slow, and
        then until `reset`, since the server has lost the state of the episode."""
        if self._failed:
            raise RuleSafeError(f"{self.address}: the inference has failed in this episode")
        if self._transport is None:
            self._connect()
        self._begun = self._failed = True
        try:
            chunk = self._request(observation)
        except self.TRANSPORT.ERRORS as error:
            self.close()
            raise RuleSafeError(f"{self.address}: {error}") from None
        self._failed = False
        return chunk

    def _connect(self) -> None:
        """Open a connection; raise RuleSafeError if the server has another policy than before."""
        try:
            self._transport = self.TRANSPORT(self.endpoint)
            self._transport.open(OPEN_TIMEOUT)
            description = self._begin()
            if self._description not in (b"", description):
                raise RuleSafeError("the server has another policy than before")
        except self.TRANSPORT.ERRORS as error:
            self.close()
            raise RuleSafeError(f"{self.address}: no policy server: {error}") from None
        self._description = description

    def _call(self, request: bytes | None) -> bytes:
        """Send a request and return the answer of the server, see `Transport.call`."""
        if self._transport is None:
            raise RuleSafeError("the connection was closed")
        try:
            return self._transport.call(request, self.address.timeout)
        except TimeoutError:
            limit = f"{self.address.timeout:g} s; see ?timeout=SECONDS"
            raise RuleSafeError(f"no answer within {limit}") from None

    @abstractmethod
    def _begin(self) -> bytes:
        """Begin an episode on a new connection; return the message in which the server describes
        its policy."""

    @abstractmethod
    def _configure(self, description: bytes) -> None:
        """Set `needs`, `memory` and `metadata` by the server's description; raise RuleSafeError if
        it does not fit this robot."""

    @abstractmethod
    def _request(self, observation: Observation) -> NDArray[np.float32]:
        """Send an observation and return the chunk of the answer."""


def server_error(text: object) -> RuleSafeError:
    """Return the error for an error that a server reports."""
    return RuleSafeError(f"error in the server:\n{str(text)[-MAX_TRACE:]}")


def check_floating(actions: Any, name: str) -> None:
    """Raise RuleSafeError if an entry of an answer is an array of other numbers than floats."""
    if isinstance(actions, np.ndarray) and actions.dtype.kind != "f":
        raise RuleSafeError(f"{name} of the answer has the dtype {actions.dtype}; valid: floats")


def first_steps(actions: Any, name: str) -> NDArray[np.float32]:
    """Return the first CHUNK steps of the actions (n, 13) in an answer, rad.

    Raises:
        RuleSafeError: the shape is wrong, or a value is not finite or not a floating-point number;
            `name` says which entry.
    """
    check_floating(actions, name)
    try:
        return check_chunk(np.asarray(actions)[:CHUNK])
    except (RuleSafeError, IndexError) as error:
        raise RuleSafeError(f"{name} of the answer: {error}") from error
