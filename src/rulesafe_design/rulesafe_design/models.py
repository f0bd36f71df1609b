"""Language models: requests, replies, and the ways in which a request can fail.

A model is anything with a `name`, an `origin` and `complete(request) -> Reply`: an endpoint
(`endpoint.py`), its exchanges on disk (`exchanges.py`), or the grammar (`grammar.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rulesafe_core.errors import RuleSafeError

Finish = Literal["stop", "length", "refusal"]
"""Why a reply ended: it was complete; it was cut at the model's limit; the model refused."""

FAILURES = {
    "rate": "too many requests (429)",
    "timeout": "no complete reply within the time limit",
    "connection": "no connection, a connection that broke, or no response within the time limit",
    "server": "an error of the server (5xx)",
    "reply": "a response that is not a chat completion",
    "request": "the server refused the request (4xx): key, name of the model, size",
    "replay": "the run that is replayed has no further reply",
}
"""Kinds of ModelError. All but the last two are retried before they are raised."""


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model."""

    messages: tuple[tuple[str, str], ...]
    """Role ("system", "user" or "assistant") and content of each message."""
    schema: Mapping[str, Any]
    """JSON schema of the answer."""
    number: int
    """Of the conversation, from 1."""
    attempt: int = 0
    """0, then 1, 2, ... for repairs."""


@dataclass(frozen=True)
class Reply:
    """The reply of a model."""

    text: str
    finish: Finish = "stop"
    tokens_in: int | None = None
    """Tokens of the request; None if the endpoint does not report them."""
    tokens_out: int | None = None
    retries: Mapping[str, int] = field(default_factory=dict)
    """Failed tries before this reply, by kind of FAILURES; "format" for each response format that
    the endpoint does not support."""


class ModelError(RuleSafeError):
    """A request without a reply. `kind`: one of FAILURES; `retries`: all failed tries, by kind."""

    def __init__(self, kind: str, message: str, retries: Mapping[str, int] = {}):
        super().__init__(message)
        self.kind = kind
        self.retries = dict(retries)


class LanguageModel(Protocol):
    """Anything that answers requests."""

    @property
    def name(self) -> str:
        """The name in records."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """The origin in every lock's file: "by" ("model", "sampled"), and what the replies depend
        on, such as name and parameters of a model, or a seed. Plain JSON."""

    def complete(self, request: ModelRequest) -> Reply:
        """Return the reply; ModelError if there is none."""
