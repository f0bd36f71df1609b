"""Language models: what they are asked, what comes back, and how a request can fail.

A model is anything with a `name`, an `origin` and `complete(request) -> Reply`: an endpoint
(`endpoint.py`), its exchanges on disk (`exchanges.py`), or the grammar (`grammar.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rulesafe_sim.errors import RuleSafeError

Finish = Literal["stop", "length", "refusal"]
"""Why a reply ended: it was complete; it was cut at the model's limit; the model refused."""

FAILURES = {
    "rate": "too many requests, for longer than we wait",
    "timeout": "no reply, or no end of it, in time",
    "connection": "no connection, or one that broke",
    "server": "an error of the server (5xx)",
    "reply": "an answer that is no chat completion",
    "request": "the server refused the request (4xx): key, name of the model, size",
    "replay": "the run that is replayed has no further reply",
}
"""Kinds of ModelError. All but the last two are tried again before they are raised."""


@dataclass(frozen=True)
class Request:
    """One question."""

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
    """What a model said."""

    text: str
    finish: Finish = "stop"
    tokens_in: int | None = None
    """Of the request; None where the endpoint did not say."""
    tokens_out: int | None = None
    retries: Mapping[str, int] = field(default_factory=dict)
    """Tries that failed before this one, by kind of FAILURES; "format" for each form of structured
    output that the endpoint did not know."""


class ModelError(RuleSafeError):
    """A request that stayed without a reply."""

    def __init__(self, kind: str, message: str, retries: Mapping[str, int]):
        super().__init__(message)
        self.kind = kind
        """One of FAILURES."""
        self.retries = dict(retries)
        """Tries that failed, by kind, this last one too."""


class Model(Protocol):
    """Whatever answers requests."""

    @property
    def name(self) -> str:
        """As it stands in records."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """Who writes, as every lock's file says it: "by" ("model", "sampled"), and what a model's
        replies depend on, such as its name and parameters, or a seed. Plain JSON."""

    def complete(self, request: Request) -> Reply:
        """The answer; ModelError where there is none."""
