"""Any OpenAI-compatible endpoint as a model.

The key comes from the environment alone, and whatever an endpoint sends back is searched for it
before anybody sees it. Nothing an endpoint does can hang the process or fill its memory: a reply
has a time and a size, and tries are counted. Example::

    model = OpenAIModel(Endpoint("some-model", base_url="http://127.0.0.1:8000/v1"))
    model.complete(Request((("user", "Write a lock."),), schema={}, number=1)).text
"""

import ipaddress
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from rulesafe_design.completions import (
    MAX_REPLY_BYTES,
    Trouble,
    raise_for_status,
    read_body,
    read_reply,
    told_to_wait,
    whole,
    within,
)
from rulesafe_design.models import ModelError, Reply, Request
from rulesafe_sim.errors import RuleSafeError

KEY = "OPENAI_API_KEY"
MAX_MESSAGE = 300
"""Characters of a server's message that are shown."""
LONGEST_BACKOFF_S = 30.0
DAY_S = 86_400.0
RANGES = {
    "timeout_s": (0.001, DAY_S),
    "tries": (1, 1000),
    "backoff_s": (0.0, DAY_S),
    "longest_wait_s": (0.0, DAY_S),
    "temperature": (0.0, 100.0),
    "max_tokens": (1, 10**9),
}
"""Least and most of an Endpoint's numbers; what a server takes may be less."""
FORMATS = ("json_schema", "json_object", "text")
"""Forms of structured output, the strictest first; an endpoint that knows one not gets the next."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model is, and how patient we are."""

    model: str
    base_url: str | None = None
    """Such as http://127.0.0.1:8000/v1; None: OPENAI_BASE_URL, or else the openai client's own."""
    timeout_s: float = 300.0
    """For a request, from the connection to the last byte of the reply."""
    tries: int = 5
    """Of one request, before the run ends."""
    backoff_s: float = 1.0
    """Pause after the first try that failed; it doubles, up to LONGEST_BACKOFF_S."""
    longest_wait_s: float = 60.0
    """A server that asks for a longer pause (Retry-After) ends the run."""
    temperature: float | None = None
    """None: the model's own."""
    max_tokens: int | None = None
    """Of a reply; None: the model's own limit."""

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise RuleSafeError("a model's name is needed")
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:  # nan is not between either
                raise RuleSafeError(f"{name} is {value}; valid: {least:g} to {most:g}")
        if self.base_url is not None:
            check_url(self.base_url)

    @property
    def parameters(self) -> dict[str, Any]:
        """What is sent with each request and changes replies, as the API names it."""
        given = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in given.items() if value is not None}


def origin_of(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Who writes, for the files of locks."""
    return {"by": "model", "model": model, **parameters}


def check_url(url: str) -> None:
    """Errors: RuleSafeError for anything but http(s)://HOST[:PORT][/PATH]. Names and passwords in
    it would be written down."""
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = parts.username or parts.password or parts.query or parts.fragment
    except ValueError:
        right, secret = False, ""
    if secret:
        raise RuleSafeError(
            f"a base URL holds no name, password, query or fragment; a key belongs into {KEY}"
        )
    if not right:
        raise RuleSafeError(f"{url!r} is no base URL; valid: http(s)://HOST[:PORT][/PATH]")


def key_for(base_url: str | None) -> str:
    """The key of the environment; "none" for a machine of one's own that is given none."""
    key = os.environ.get(KEY, "").strip()
    if not key:
        if base_url is not None and _is_near(base_url):
            return "none"
        raise RuleSafeError(f"no key: set {KEY} in the environment (any word where none is needed)")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise RuleSafeError(f"{KEY} is no key: printable ASCII without blanks is valid")
    return key


def _is_near(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


class OpenAIModel:
    """A model behind an endpoint. RuleSafeError without the openai client or without a key."""

    def __init__(self, endpoint: Endpoint):
        try:
            import openai
        except ImportError:
            raise RuleSafeError(
                "a language model needs the openai client: pip install rulesafe[llm]"
            ) from None
        url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or None
        if url:
            check_url(url)
        self.endpoint, self.name = endpoint, endpoint.model
        self.origin = origin_of(endpoint.model, endpoint.parameters)
        self._openai, self._url = openai, url
        self._key = key_for(url)
        self._format = 0

    def complete(self, request: Request) -> Reply:
        """The model's reply. Errors: ModelError when all tries have failed, or at once where
        another would not help."""
        failed: Counter[str] = Counter()
        form = self._format
        while True:
            try:
                reply = self._ask(request, FORMATS[form])
            except Trouble as trouble:
                if trouble.status in (400, 422) and form + 1 < len(FORMATS):
                    form += 1
                    failed["format"] += 1
                    continue
                self._wait_or_give_up(trouble, failed)
            else:
                self._format = form
                return replace(reply, retries=dict(failed))

    def _wait_or_give_up(self, trouble: Trouble, failed: Counter[str]) -> None:
        """Counts a failed try and pauses before the next, if there is one."""
        failed[trouble.kind] += 1
        tried = failed.total() - failed["format"]
        told = told_to_wait(trouble.headers)
        pause = told
        if pause is None:
            pause = min(self.endpoint.backoff_s * 2 ** (tried - 1), LONGEST_BACKOFF_S)
        reason = ""
        if trouble.kind == "request":
            reason = "asking again would not help"
        elif tried >= self.endpoint.tries:
            reason = f"{tried} tries"
        elif pause > self.endpoint.longest_wait_s:
            reason = f"the server asks for a pause of {pause:.0f} s"
        if reason:
            said = self._clean(str(trouble))[:MAX_MESSAGE]  # in this order: half a key is one too
            message = f"{self.name}: {said} ({reason})"
            counted = {kind: count for kind, count in failed.items() if count}
            raise ModelError(trouble.kind, message, counted) from None
        time.sleep(pause)

    def _ask(self, request: Request, form: str) -> Reply:
        openai = self._openai
        try:
            words = self._words(request, form)
            body = within(self.endpoint.timeout_s, lambda: self._receive(words))
            return read_reply(body, self._clean)
        except openai.APITimeoutError:
            raise Trouble("timeout", f"no reply within {self.endpoint.timeout_s:g} s") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, Trouble):  # clients that wrap what a hook raises
                raise error.__cause__ from None
            why = error.__cause__ or error
            raise Trouble("connection", f"no connection: {why}") from None
        except openai.OpenAIError as error:
            raise Trouble("request", str(error)) from None

    def _words(self, request: Request, form: str) -> dict[str, Any]:
        """What is sent."""
        words: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": role, "content": whole(text)} for role, text in request.messages],
            **self.endpoint.parameters,
        }
        if form == "json_schema":
            schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
            words["response_format"] = {"type": form, "json_schema": schema}
        elif form == "json_object":
            words["response_format"] = {"type": form}
        return words

    async def _receive(self, words: dict[str, Any]) -> bytes:
        """The body of the server's answer, complete. A client for each request: its connection
        belongs to the event loop that is cancelled."""
        openai = self._openai
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False, event_hooks={"response": [raise_for_status]}
        )
        async with openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._url,
            max_retries=0,
            timeout=self.endpoint.timeout_s,
            http_client=http,
        ) as client:
            create: Any = client.chat.completions.with_streaming_response.create
            async with create(**words) as response:
                return await read_body(response.iter_bytes(), MAX_REPLY_BYTES)

    def _clean(self, text: str) -> str:
        """The text without the key, should an endpoint send it back."""
        if len(self._key) > len("none"):
            text = text.replace(self._key, f"[{KEY}]")
        return whole(text)
