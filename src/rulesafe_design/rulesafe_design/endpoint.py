"""Request replies from a language model at an OpenAI-compatible endpoint, with the openai client.

The client handles retries, pauses and timeouts. This module validates the settings, limits the time
and the size of a reply, and removes the key from everything that the endpoint sends. Example::

    model = OpenAIModel(Endpoint("some-model", base_url="http://127.0.0.1:8000/v1"))
    model.complete(ModelRequest((("user", "Write a lock."),), schema={}, number=1)).text
"""

import ipaddress
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from rulesafe_core.errors import RuleSafeError, missing_package
from rulesafe_core.settings import Settings, setting
from rulesafe_core.text_files import parse_json
from rulesafe_design.models import Finish, ModelError, ModelRequest, Reply

KEY = "OPENAI_API_KEY"
MAX_REPLY_BYTES = 4_000_000
MAX_MESSAGE = 300
"""Maximum number of characters of an error message."""
DAY_S = 86_400.0
FORMATS = ("json_schema", "json_object", "text")
"""Response formats, strictest first. If an endpoint does not support one, the next is tried."""


@dataclass(frozen=True)
class Endpoint(Settings):
    """The address of a model and the settings of its requests. Servers may have stricter limits."""

    model: str
    base_url: str | None = setting(
        None, "URL such as http://127.0.0.1:8000/v1; None: OPENAI_BASE_URL or the client's default."
    )
    timeout_s: float = setting(
        300.0,
        "Timeout of the connection, of each read and of the complete reply, in s.",
        0.001,
        DAY_S,
    )
    tries: int = setting(5, "Maximum number of tries of a request.", 1, 1000)
    temperature: float | None = setting(
        None, "Sampling temperature; None: default of the model.", 0, 100
    )
    max_tokens: int | None = setting(
        None, "Maximum tokens of a reply; None: limit of the model.", 1, 10**9
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model.strip():
            raise RuleSafeError("the model name is empty; give the name of a model at the endpoint")
        if self.base_url is not None:
            check_url(self.base_url)

    @property
    def parameters(self) -> dict[str, Any]:
        """The request parameters of the sampling, with their names in the API; stored in files."""
        given = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in given.items() if value is not None}


def origin_of(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the origin for lock files."""
    return {"by": "model", "model": model, **parameters}


def check_url(url: str) -> None:
    """Raise RuleSafeError unless a URL has the form http(s)://HOST[:PORT][/PATH]. A URL with a user
    name or password is rejected because the URL is stored in files."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = parts.username or parts.password or parts.query or parts.fragment
    except ValueError:
        valid, secret = False, ""
    if secret:
        raise RuleSafeError(
            f"the base URL must not contain a user name, password, query or fragment; set {KEY}"
        )
    if not valid:
        raise RuleSafeError(f"{url!r} is not a base URL; valid: http(s)://HOST[:PORT][/PATH]")


def key_for(base_url: str | None) -> str:
    """Return the key from the environment; if unset, "none" for a local or private address."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        if base_url is not None and _is_private(base_url):
            return "none"
        raise RuleSafeError(
            f"no key: set {KEY} in the environment (any text if the endpoint needs no key)"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise RuleSafeError(f"{KEY} is not a valid key; it must be printable ASCII without spaces")
    return key


def _is_private(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


class OpenAIModel:
    """A model at an endpoint. Raises RuleSafeError without the openai client or without a key."""

    def __init__(self, endpoint: Endpoint):
        try:
            import openai
        except ImportError as error:
            raise missing_package(error) from error
        url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or None
        if url:
            check_url(url)
        self.endpoint, self.name = endpoint, endpoint.model
        self.origin = origin_of(endpoint.model, endpoint.parameters)
        self._openai, self._key = openai, key_for(url)
        hooks: Any = {"request": [self._count_try], "response": [self._count_response]}
        self._client = openai.OpenAI(
            api_key=self._key,
            base_url=url,
            timeout=endpoint.timeout_s,
            http_client=openai.DefaultHttpxClient(follow_redirects=False, event_hooks=hooks),
        )
        self._format = 0
        self._failed: Counter[str] = Counter()

    def complete(self, request: ModelRequest) -> Reply:
        """Return the reply of the model.

        Raises:
            ModelError: All tries failed, or the endpoint refused the request.
        """
        openai = self._openai
        self._failed.clear()
        form = self._format
        while True:
            try:
                reply = read_reply(self._receive(request, FORMATS[form]), self._clean)
            except ModelError as error:  # an invalid reply, which the client does not retry
                self._failed[error.kind] += 1
                if self._tries_left == 0:
                    raise self._failure(error.kind, str(error)) from None
            except openai.OpenAIError as error:
                unsupported = (openai.BadRequestError, openai.UnprocessableEntityError)
                if not isinstance(error, unsupported) or FORMATS[form] == FORMATS[-1]:
                    raise self._failure(*self._kind_and_text(error)) from None
                form += 1
                self._failed.update(format=1, request=-1)
            else:
                self._format = form
                return replace(reply, retries=dict(+self._failed))

    def _receive(self, request: ModelRequest, form: str) -> bytes:
        """Return the response body; raise ModelError if it exceeds the size or time limit."""
        timeout_s = self.endpoint.timeout_s
        client = self._client.with_options(max_retries=self._tries_left - 1)
        create = client.chat.completions.with_streaming_response.create
        with create(**self._parameters(request, form)) as response:
            body, deadline = bytearray(), time.monotonic() + timeout_s
            try:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > MAX_REPLY_BYTES:
                        raise ModelError(
                            "reply", f"the reply is larger than {MAX_REPLY_BYTES} bytes"
                        )
                    if time.monotonic() > deadline:
                        raise ModelError("timeout", f"no complete reply within {timeout_s:g} s")
            except ModelError:
                raise
            except Exception as error:  # error of the HTTP library that the openai client uses
                kind = "timeout" if "Timeout" in type(error).__name__ else "connection"
                raise ModelError(
                    kind, f"the connection was lost during the reply: {type(error).__name__}"
                ) from None
        return bytes(body)

    def _parameters(self, request: ModelRequest, form: str) -> dict[str, Any]:
        """Return the parameters of the request."""
        messages = [{"role": role, "content": encodable(text)} for role, text in request.messages]
        parameters = {"model": self.name, "messages": messages, **self.endpoint.parameters}
        if form == "json_schema":
            schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
            parameters["response_format"] = {"type": form, "json_schema": schema}
        elif form == "json_object":
            parameters["response_format"] = {"type": form}
        return parameters

    # Failed tries, by kind -----------------------------------------------------------------------

    def _count_try(self, request: Any) -> None:
        """Count a try as a failed connection until its response arrives."""
        self._failed["connection"] += 1

    def _count_response(self, response: Any) -> None:
        self._failed["connection"] -= 1
        if response.status_code >= 300:
            self._failed[_kind_of(response.status_code)] += 1
            self._limit_body(response)

    def _limit_body(self, response: Any) -> None:
        """Limit the size of an error's body and the time to read it; the client limits neither."""
        pieces, deadline = response.iter_bytes(), time.monotonic() + self.endpoint.timeout_s

        def limited() -> Iterator[bytes]:
            size = 0
            for piece in pieces:
                yield piece
                size += len(piece)
                if size > MAX_REPLY_BYTES or time.monotonic() > deadline:
                    break
            response.close()

        response.iter_bytes = limited  # from which `read` takes the body

    @property
    def _tries_left(self) -> int:
        return self.endpoint.tries - self._failed.total() + self._failed["format"]

    def _kind_and_text(self, error: Exception) -> tuple[str, str]:
        """Return the kind and the message for an error of the openai client."""
        openai = self._openai
        if isinstance(error, openai.APITimeoutError):
            return "timeout", f"no reply within {self.endpoint.timeout_s:g} s"
        if isinstance(error, openai.APIConnectionError):
            return "connection", f"no connection to {self._client.base_url}: {error.__cause__}"
        if isinstance(error, openai.APIStatusError):
            body = error.body
            message = body.get("message") if isinstance(body, dict) else body
            text = f"HTTP {error.status_code}: {message or '(no message)'}"
            return _kind_of(error.status_code), text
        return "request", str(error)

    def _failure(self, kind: str, text: str) -> ModelError:
        text = one_line(self._clean(text))[
            :MAX_MESSAGE
        ]  # truncate last, so that no part of the key remains
        tries = self.endpoint.tries
        text = f"{self.name}: {text} (try {tries - self._tries_left} of {tries})"
        return ModelError(kind, text, dict(+self._failed))

    def _clean(self, text: str) -> str:
        """Return a text with the key removed, in case the endpoint sends it back."""
        if len(self._key) > len("none"):
            text = text.replace(self._key, f"[{KEY}]")
        return encodable(text)


def _kind_of(status: int) -> str:
    """Return the kind of failure for an HTTP status code."""
    return "server" if status >= 500 else {408: "timeout", 429: "rate"}.get(status, "request")


def encodable(text: str) -> str:
    """Return the text with lone surrogates replaced, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str) -> str:
    """Return the text as one line without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def read_reply(body: bytes, clean: Callable[[str], str]) -> Reply:
    """Return the reply in a chat completion; `clean` is applied to its text.

    Servers differ: `content` may be a list of parts, and `usage` may be missing or invalid.

    Raises:
        ModelError: The body is not a chat completion.
    """
    try:
        data = parse_json(body)
        choice = data["choices"][0]
        message = choice["message"]
        refusal, content = message.get("refusal"), message.get("content")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        text = body.decode("utf-8", "replace")
        raise ModelError("reply", f"not a chat completion: {text:.2000}") from None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(text for text in parts if isinstance(text, str))
    finish: Finish = "stop"
    if refusal or choice.get("finish_reason") == "content_filter":
        finish = "refusal"
    elif not content and (message.get("reasoning_content") or message.get("reasoning")):
        finish = "reasoning"
    elif choice.get("finish_reason") == "length":
        finish = "length"
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
    return count if type(count) is int and 0 <= count < 10**9 else None
