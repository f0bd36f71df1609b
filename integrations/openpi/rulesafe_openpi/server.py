"""Serves a policy by the WebSocket protocol of openpi, see `client`.

Each connection is an episode with its own state: memory, and the last frames of joint positions. A
client that does not send them, such as openpi's, only sends the current positions; those of the
frames between two observations are then interpolated linearly, since the robot has executed
`execute` steps of the last chunk.
"""

import contextlib
import hmac
import http
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Lock
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection
from websockets.sync.server import serve as listen

from policy_node.history import ObservationHistory
from policy_node.loading import memory_of_policy
from policy_node.policy import Observation, Policy, check_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_openpi import client, wire
from vq_memory_node.memory import Reading
from vq_memory_node.rolling import RollingMemory

KEYS = client.Keys()

ERROR = 1011
"""Close code of an internal error."""

LARGEST = 1e6
"""Largest valid value of an observation: a joint position, coordinate, colour or token."""

WAIT = 10.0
"""Maximum time for which a connection waits for a free policy, s."""

KEEPALIVE = 60
"""Idle time after which the system checks whether a client still exists, s."""

BUSY = 1013
"""Close code of a server without a free policy."""


class Session:
    """The episode of one connection: builds observations from messages.

    Args:
        policy: the policy that receives the observations.
        execute: number of frames between two observations, for clients that do not send the
            joint positions between them.
    """

    def __init__(self, policy: Policy, execute: int) -> None:
        self._needs, self._execute = policy.needs, execute
        self._history = ObservationHistory(policy.needs)
        self._memory = RollingMemory(memory_of_policy(policy))
        self._frame = policy.needs.frames - 1
        self._executed = execute
        self._last: NDArray[np.float32] | None = None

    def observation(self, message: Mapping[Any, Any]) -> Observation:
        """Return the observation of a message.

        Raises:
            RuleSafeError: an input that the policy requires is missing or has another shape.
        """
        needs, history = self._needs, self._history
        state = np.array(_array(message, KEYS.state, (len(ACTION_JOINTS),)), np.float32)
        if self._last is None:
            for each in history.window(self._frame):
                history.push(each, state)
            self._memory.push(state)
        else:
            for step in range(1, self._executed + 1):
                self._frame += 1
                joints = self._last + (state - self._last) * np.float32(step / self._executed)
                history.push(self._frame, joints)
                self._memory.push(joints)
        self._last, frame = state, self._frame
        if client.JOINTS in message:
            joints = _array(message, client.JOINTS, (needs.frames, len(ACTION_JOINTS)))
            for each, positions in zip(history.window(frame), joints, strict=True):
                history.push(each, positions)
        if needs.points:
            clouds = _array(message, client.POINTS, (needs.cloud_frames, None, 6))
            for each, points in zip(history.clouds(frame), clouds, strict=True):
                history.push(each, points=points)
        for camera in needs.image_cameras:
            image = _array(message, KEYS.camera(camera), (None, None, 3))
            history.push(frame, images={camera: image})
        prompt = message.get(KEYS.prompt, "")
        if needs.instruction and not (isinstance(prompt, str) and prompt):
            raise RuleSafeError(f"the policy requires {KEYS.prompt!r}, a text")
        return history.observation(frame, prompt, self._reading(message))

    def sent(self, steps: int) -> None:
        """Register the number of steps of the chunk that answers the last observation."""
        self._executed = min(self._execute, steps)

    def _reading(self, message: Mapping[Any, Any]) -> Reading:
        own = self._memory.read()
        if not self._needs.memory or client.MEMORY not in message:
            return own
        values = _array(message, client.MEMORY, own.values.shape)
        mask = _array(message, client.MEMORY_MASK, own.mask.shape)
        largest = self._memory.memory.vocabulary - 1
        if largest >= 0 and not ((values >= 0) & (values <= largest)).all():
            raise RuleSafeError(f"{client.MEMORY!r} has values outside of 0 .. {largest}")
        return Reading(values.astype(own.values.dtype), mask.astype(bool))


def _array(message: Mapping[Any, Any], key: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return an array of a message; raise RuleSafeError if it is missing or of another shape."""
    found = message.get(key)
    expected = ", ".join("n" if size is None else str(size) for size in shape)
    if not isinstance(found, np.ndarray):
        raise RuleSafeError(f"the policy requires {key!r}, an array ({expected})")
    same = len(shape) == found.ndim and all(
        size in (None, given) for size, given in zip(shape, found.shape, strict=True)
    )
    if not same:
        raise RuleSafeError(f"{key!r} must be an array ({expected}), not {found.shape}")
    if found.dtype.kind not in "fiub" or not (np.abs(found.astype(float)) <= LARGEST).all():
        raise RuleSafeError(f"{key!r} has values that are not numbers up to {LARGEST:g}")
    return found


class PolicyServer:
    """Answers the observations of several connections, each with a policy of its own.

    Args:
        make: returns another instance of the policy.
        execute: see `Session`.
        connections: maximum number of simultaneous connections.
        key: API key that clients have to send; empty: none.
        about: facts about the policy for the metadata, such as its name.
    """

    def __init__(
        self,
        make: Callable[[], Policy],
        execute: int,
        connections: int = 4,
        key: str = "",
        about: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._make, self._execute, self._key = make, execute, key
        self._free: SimpleQueue[Policy] = SimpleQueue()
        self._left, self._lock = connections - 1, Lock()
        first = make()
        memory = memory_of_policy(first)
        needs = dict(vars(first.needs))
        described = {
            **needs.pop("cameras").to_entry(),
            "needs": needs,
            "memory": memory.describe() if memory.length else None,
            **about,
        }
        self._metadata = wire.encode({client.RULESAFE: described})
        self._free.put(first)

    def listen(self, host: str, port: int) -> Server:
        """Return a server that listens; its `serve_forever` answers until `shutdown`.

        Raises:
            RuleSafeError: the address is in use or not one of this machine.
        """
        try:
            return listen(
                self._answer,
                host,
                port,
                compression=None,
                max_size=wire.MAX_BYTES,
                ping_interval=None,  # clients do not answer while they simulate
                process_request=self._check,
                origins=[None],  # no web pages
            )
        except OSError as error:
            raise RuleSafeError(f"cannot listen on {host}:{port}: {error}") from error

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/healthz":
            return connection.respond(http.HTTPStatus.OK, "OK\n")
        given = request.headers.get_all("Authorization")  # one; several are wrong
        wanted = f"Api-Key {self._key}".encode()
        if self._key and not (len(given) == 1 and hmac.compare_digest(given[0].encode(), wanted)):
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, "the API key is wrong\n")
        return None

    def _take(self) -> Policy:
        """Return a policy that is not in use; raise Empty if none becomes free within WAIT."""
        with self._lock:
            new = self._free.empty() and self._left > 0
            self._left -= new
        if not new:
            return self._free.get(timeout=WAIT)
        try:
            return self._make()
        except BaseException:
            with self._lock:
                self._left += 1
            raise

    def _answer(self, connection: ServerConnection) -> None:
        # A client that has vanished does not occupy a policy for ever.
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE)
        policy = None
        try:
            policy = self._take()
            policy.reset()
            session = Session(policy, self._execute)
            connection.send(self._metadata)
            for data in connection:
                if isinstance(data, str):
                    raise RuleSafeError("an observation must be a binary message")
                observation = session.observation(wire.decode_dict(data))
                began = time.perf_counter()
                chunk = check_chunk(policy.infer(observation))
                session.sent(len(chunk))
                timing = {"infer_ms": 1000 * (time.perf_counter() - began)}
                connection.send(wire.encode({KEYS.actions: chunk, "server_timing": timing}))
        except ConnectionClosed:
            pass
        except Empty:
            connection.close(BUSY, "all policies are in use")
        except Exception as error:
            if isinstance(error, RuleSafeError):
                text = str(error)
            else:
                traceback.print_exc()
                text = f"{type(error).__name__}; its traceback is in the output of the server"
            with contextlib.suppress(ConnectionClosed):
                connection.send(text)
            connection.close(ERROR, "error in the server, see the previous message")
        finally:
            if policy is not None:
                self._free.put(policy)
