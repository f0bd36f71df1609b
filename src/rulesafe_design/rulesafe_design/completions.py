"""Chat completions as they come over the wire: bodies read with a limit of time and size, errors
told apart, replies taken from whatever JSON a server sends.
"""

import asyncio
import contextlib
import json
import math
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent import futures
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from rulesafe_design.models import Finish, Reply

T = TypeVar("T")

MAX_REPLY_BYTES = 4_000_000
MAX_ERROR_BYTES = 65_536
ERROR_S = 10.0
"""s that the body of an error may take."""
GRACE_S = 5.0
"""s for what cannot be cancelled, such as the resolver of names."""
TIMEOUTS = (TimeoutError, asyncio.TimeoutError, futures.TimeoutError)  # one, from 3.11 on


class Trouble(Exception):
    """A try that failed."""

    def __init__(self, kind: str, message: str, status: int = 0, headers: Mapping[str, str] = {}):
        super().__init__(message)
        self.kind, self.status, self.headers = kind, status, headers


def whole(text: str) -> str:
    """The text without halves of characters, which JSON can hold but no file and no request."""
    return text.encode("utf-8", "replace").decode()


def within(seconds: float, job: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine returns. It is cancelled after so many seconds, whatever it waits for then.

    It runs in a thread and an event loop of its own, so a caller in an event loop may ask, and
    nothing that does not heed the cancelling holds the caller or the end of the process.

    Errors: Trouble "timeout"; whatever the coroutine raises.
    """
    outcome: futures.Future[T] = futures.Future()

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(asyncio.wait_for(job(), seconds)))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name=within.__qualname__, daemon=True).start()
    try:
        return outcome.result(seconds + GRACE_S)
    except TIMEOUTS:
        raise Trouble("timeout", f"no reply, or no end of it, within {seconds:g} s") from None


async def read_body(pieces: AsyncIterator[bytes], most: int) -> bytes:
    """All bytes of a body. Errors: Trouble for more than `most` of them, and where the connection
    breaks."""
    body = bytearray()
    try:
        async for piece in pieces:
            body += piece
            if len(body) > most:
                raise Trouble("reply", f"a reply of more than {most} bytes")
    except Trouble:
        raise
    except Exception as error:  # of httpx or httpx2, whichever the openai client brought along
        kind = "timeout" if "Timeout" in type(error).__name__ else "connection"
        raise Trouble(kind, f"the reply broke off: {type(error).__name__}") from None
    return bytes(body)


async def raise_for_status(response: Any) -> None:
    """Called by the HTTP client before it reads the body, which may have no end."""
    status: int = response.status_code
    if status < 300:
        return
    try:
        body = await asyncio.wait_for(read_body(response.aiter_bytes(), MAX_ERROR_BYTES), ERROR_S)
    except Trouble as trouble:
        body = str(trouble).encode()
    except TIMEOUTS:
        body = b"the message did not end in time"
    kind = "server" if status >= 500 else "rate" if status == 429 else "request"
    if status in (408, 425):
        kind = "timeout"
    raise Trouble(kind, f"HTTP {status}: {_said(body)}", status, dict(response.headers))


def _said(body: bytes) -> str:
    """The message of an error's body, in one line."""
    text = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError, IndexError):
        text = json.loads(text)["error"]["message"]
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line or "(no message)"


def told_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header: a number, or a date by the server's own clock."""
    told = headers.get("retry-after", "")
    try:
        seconds = float(told)
        return None if math.isnan(seconds) else max(seconds, 0.0)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(told)
        now = parsedate_to_datetime(headers["date"])
        return max((until - now).total_seconds(), 0.0)
    except (KeyError, TypeError, ValueError, IndexError):
        return None


def read_reply(body: bytes, clean: Callable[[str], str]) -> Reply:
    """The reply of a chat completion, its text passed through `clean`. Errors: Trouble "reply"."""
    try:
        data = json.loads(body)
        choice = data["choices"][0]
        message = choice["message"]
        refusal, content = message.get("refusal"), message.get("content")
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        raise Trouble("reply", f"no chat completion: {_said(body)}") from None
    if isinstance(content, list):  # parts, from some servers
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(text for text in parts if isinstance(text, str))
    finish: Finish = "stop"
    if choice.get("finish_reason") == "length":
        finish = "length"
    elif refusal or choice.get("finish_reason") == "content_filter":
        finish = "refusal"
    text = refusal if isinstance(refusal, str) and refusal else content
    return Reply(
        clean(text if isinstance(text, str) else ""),
        finish,
        _tokens(data, "prompt_tokens"),
        _tokens(data, "completion_tokens"),
    )


def _tokens(data: Any, name: str) -> int | None:
    usage = data.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    right = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 10**9
    return count if right else None
