"""Services of all nodes: a request delays a node only while its callback runs.

rclpy sends a response in the thread of the callbacks, with Python's lock, and for a client that has
left, rmw_fastrtps waits 100 ms for its return. Here a thread sends the responses by rcl, without
Python's lock. It drops those to clients that have left, and the oldest ones of a queue that is
full. This module uses private interfaces of rclpy and is tested only with Jazzy.
"""

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import monotonic
from typing import Any

import rclpy.logging
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.service import Service

from rulesafe_core.callbacks_ros import describe_error, log_failure

MOST_RESPONSES = 64
"""Responses that wait to be sent."""

ABSENCE = 1.0
"""Time (s) in which no further response is sent to a client that has left."""

_rcl = ctypes.CDLL(_rclpy.__file__)
_send, _take = _rcl.rcl_send_response, _rcl.rcl_take_request
_send.argtypes = _take.argtypes = [ctypes.c_void_p] * 3
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_CREATE = ctypes.PYFUNCTYPE(ctypes.c_void_p)
_DESTROY = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_TO_PYTHON = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)
_FROM_PYTHON = ctypes.PYFUNCTYPE(ctypes.c_bool, ctypes.py_object, ctypes.c_void_p)


class _RequestId(ctypes.Structure):
    """rmw_request_id_t."""

    _fields_ = [("client", ctypes.c_uint8 * 16), ("number", ctypes.c_int64)]


class _Message:
    """A message of C, which is destroyed with this object."""

    def __init__(self, kind: Any) -> None:
        def function(prototype: Any, name: str) -> Callable[..., Any]:
            return prototype(_pointer_of(getattr(kind.__class__, name), None))  # type: ignore

        self._to_python = function(_TO_PYTHON, "_CONVERT_TO_PY")
        self._from_python = function(_FROM_PYTHON, "_CONVERT_FROM_PY")
        self._destroy = function(_DESTROY, "_DESTROY_ROS_MESSAGE")
        self.address = function(_CREATE, "_CREATE_ROS_MESSAGE")()

    def get(self) -> Any:
        return self._to_python(self.address)

    def set(self, message: Any) -> "_Message":
        if not self._from_python(message, self.address):
            raise TypeError(f"invalid response {message!r}")
        return self

    def __del__(self) -> None:
        self._destroy(self.address)


class ServiceServer:
    """Executes requests and sends the responses in a thread, until `close`."""

    def __init__(self) -> None:
        self._requests: dict[Service, _Message] = {}
        self._queue: deque[tuple[Service, _RequestId, _Message]] = deque(maxlen=MOST_RESPONSES)
        self._changed, self._closed = Condition(), False
        self._absent: dict[bytes, float] = {}  # client -> time of its absence, s, monotonic clock
        self._thread = Thread(target=self._send_responses, name="responses", daemon=True)
        self._thread.start()

    def execute(self, service: Service) -> bool:
        """Execute one request of a service and return whether there was one, without waiting.

        If the callback raises an exception, the response has `success` False and the error as
        `message`, if it has these fields.
        """
        types: Any = service.srv_type
        if service not in self._requests:
            self._requests[service] = _Message(types.Request)
        request, identifier, kind = self._requests[service], _RequestId(), types.Response
        if _take(service.handle.pointer, ctypes.addressof(identifier), request.address):
            _rcl.rcutils_reset_error()
            return False
        try:
            response = service.callback(request.get(), kind())
            converted = _Message(kind).set(response)
        except Exception as error:
            log_failure(rclpy.logging.get_logger(service.logger_name), service.service_name, error)
            response = kind()
            if hasattr(response, "message"):
                response.message = describe_error(error)
            converted = _Message(kind).set(response)
        with self._changed:
            self._queue.append((service, identifier, converted))
            self._changed.notify()
        return True

    def close(self) -> None:
        """Send the remaining responses and end the thread, before the nodes are destroyed."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _send_responses(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                service, request, response = self._queue.popleft()
            client, now = bytes(request.client), monotonic()
            self._absent = {c: t for c, t in self._absent.items() if now - t < ABSENCE}
            if client in self._absent:
                continue
            try:
                pointer = service.handle.pointer
                if _send(pointer, ctypes.addressof(request), response.address):
                    _rcl.rcutils_reset_error()
                    self._absent[client] = monotonic()
            except Exception as error:  # of a service that is being destroyed
                log_failure(rclpy.logging.get_logger(service.logger_name), "a response", error)


class ServicePoller:
    """Executes at most one request per call, for control loops.

    Args:
        node: the node, with all its services.
        server: executes the requests.
        first: names of the services that are polled before the others, except in each fourth call.
    """

    def __init__(self, node: Node, server: ServiceServer, first: Sequence[str] = ()) -> None:
        self._server, self._calls = server, 0
        self._first = deque(s for s in node.services if s.service_name in first)
        self._others = deque(s for s in node.services if s.service_name not in first)

    def poll(self) -> None:
        """Execute a request if there is one. Of the services that are not in `first`, only one is
        polled."""
        self._calls += 1
        if self._others and self._calls % 4 == 0 and self._poll_other():
            return
        for service in self._first:
            if self._server.execute(service):
                self._first.remove(service)  # its requests must not delay those of the others
                self._first.append(service)
                return
        if self._others:
            self._poll_other()

    def _poll_other(self) -> bool:
        self._others.rotate()
        return self._server.execute(self._others[0])
