"""Interface of language models: requests, replies and errors.

A model has a `name`, an `origin` and a method `complete(request) -> Reply`. Implementations: an
endpoint (`endpoint.py`), recorded exchanges (`exchanges.py`) and the grammar (`grammar.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rulesafe_core.errors import RuleSafeError

Finish = Literal["stop", "length", "refusal", "reasoning"]
"""Why a reply ended: it is complete, it reached the length limit, the model refused, or there is
only reasoning, in a field of its own."""

FAILURES = {
    "rate": "too many requests (429)",
    "timeout": "no complete reply within the time limit",
    "connection": "no connection, a lost connection, or no response within the time limit",
    "server": "a server error (5xx)",
    "reply": "a response that is not a chat completion",
    "request": "the server refused the request (4xx); check the key, the model name and the size",
    "replay": "the replayed run has no further reply",
}
"""Kinds of ModelError. All but the last two are retried before they are raised."""


@dataclass(frozen=True)
class ModelRequest:
    """One request to a model."""

    messages: tuple[tuple[str, str], ...]
    """The role ("system", "user" or "assistant") and the content of each message."""
    schema: Mapping[str, Any]
    """JSON schema of the answer."""
    number: int
    """Number of the conversation, from 1."""
    attempt: int = 0
    """0 for the first request of the conversation, then 1, 2, ... for the repairs."""


@dataclass(frozen=True)
class Reply:
    """The reply of a model."""

    text: str
    finish: Finish = "stop"
    tokens_in: int | None = None
    """Number of tokens of the request; None if the endpoint does not report it."""
    tokens_out: int | None = None
    retries: Mapping[str, int] = field(default_factory=dict)
    """Number of failed tries before this reply, by kind: FAILURES, and "format" for each response
    format that the endpoint does not support."""


class ModelError(RuleSafeError):
    """A request failed. `kind`: one of FAILURES; `retries`: number of failed tries, by kind."""

    def __init__(self, kind: str, message: str, retries: Mapping[str, int] = {}):
        super().__init__(message)
        self.kind = kind
        self.retries = dict(retries)


class LanguageModel(Protocol):
    """Interface of a language model."""

    @property
    def name(self) -> str:
        """The name of the model in files and reports."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """The origin, as JSON, for lock files: "by" ("model" or "sampled") and the settings that
        the replies depend on, such as the name and parameters of the model, or the seed."""

    def complete(self, request: ModelRequest) -> Reply:
        """Return the reply, or raise ModelError."""
