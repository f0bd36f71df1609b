"""A ZeroMQ request socket with timeouts that notices a lost connection.

A REQ socket does not report that the server has ended, and cannot be used after a request without
an answer. Here the socket's monitor reports the loss, and callers replace the socket after each
failure.
"""

import time
from math import ceil
from threading import Event, Lock
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from rulesafe_core.errors import RuleSafeError
from rulesafe_openpi.remote import Transport
from rulesafe_openpi.wire import MAX_BYTES

POLL = 0.1
"""Time after which a running request notices that another thread closes the connection, s."""

LOST = {
    zmq.EVENT_CONNECT_RETRIED: "the connection was refused, or the host is unknown",
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "it is not a ZeroMQ server",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "it is not a ZeroMQ server",
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "it requires ZeroMQ authentication",
    zmq.EVENT_DISCONNECTED: "the server has closed the connection, or sent more than "
    f"{MAX_BYTES} bytes",
}
"""Events that end a connection, with their error."""

_EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | sum(LOST)


class RequestSocket(Transport):
    """A ZeroMQ REQ socket, and the monitor of its events."""

    ERRORS = (*Transport.ERRORS, zmq.ZMQError)

    def __init__(self, endpoint: str) -> None:
        self._lock, self._closing = Lock(), Event()
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.IPV6, endpoint.startswith("["))
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
        self._monitor: Any = self._socket.get_monitor_socket(_EVENTS)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        self._endpoint = endpoint

    def open(self, timeout: float) -> None:
        """See `Transport.open`."""
        with self._lock:
            self._socket.connect(f"tcp://{self._endpoint}")
            if not self._wait(timeout, zmq.EVENT_HANDSHAKE_SUCCEEDED):
                raise RuleSafeError(f"no ZeroMQ connection within {timeout:g} s")

    def call(self, request: bytes | None, timeout: float) -> bytes:
        """See `Transport.call`. The connection cannot be used after any failure."""
        with self._lock:
            if request is not None:
                self._socket.send(request, zmq.NOBLOCK)
            if not self._wait(timeout):
                raise TimeoutError
            return self._socket.recv()

    def close(self) -> None:
        """See `Transport.close`."""
        self._closing.set()
        with self._lock:
            self._socket.disable_monitor()
            self._monitor.close()
            self._socket.close()

    def _wait(self, timeout: float, wanted: int = 0) -> bool:
        """Wait for an event, or by default for an answer; return False after `timeout` s."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if self._closing.is_set():
                raise RuleSafeError("the connection was closed")
            ready = dict(self._poller.poll(ceil(1000 * min(left, POLL))))
            if self._socket in ready:
                return True
            if self._monitor in ready:
                event = recv_monitor_message(self._monitor)["event"]
                if event == wanted or self._socket.poll(0):  # an answer before the loss
                    return True
                if event in LOST:
                    raise RuleSafeError(LOST[event])
        return False
