"""Record the exchanges with a model on disk, to continue an interrupted run or to replay a run.

A file is `<number>_<attempt>_<hash>.json`: the number of the conversation, the number of the
message in it, and the first digits of the SHA-256 of the model name, its parameters, the messages
and the schema. It contains the reply, or the failure that ended the run: a continued run repeats
that request, and a replay ends there. The key of an endpoint is never stored.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import parse_json, read_bytes
from rulesafe_design.endpoint import Endpoint, OpenAIModel, origin_of
from rulesafe_design.files import write_text
from rulesafe_design.models import FAILURES, Finish, LanguageModel, ModelError, ModelRequest, Reply

FORMAT = "rulesafe-exchange-1"
FOLDER = "exchanges"
MAX_BYTES = 16_000_000


@dataclass(frozen=True)
class Exchanges:
    """The exchanges with one model, stored in a folder."""

    folder: Path
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def key(self, request: ModelRequest) -> str:
        """Return the hexadecimal SHA-256 of model, parameters, messages and schema. The URL is not
        included: the name must identify the model."""
        return hashlib.sha256(_dump(self._identity(request)).encode()).hexdigest()

    def path(self, request: ModelRequest) -> Path:
        """Return the path of the exchange, which may not exist."""
        key = self.key(request)
        return self.folder / f"{request.number:04d}_{request.attempt}_{key[:16]}.json"

    def read(self, request: ModelRequest) -> Reply | ModelError | None:
        """Return the recorded outcome of a request; None if there is none. Raises RuleSafeError for
        an invalid file."""
        path = self.path(request)
        try:
            data = parse_json(read_bytes(path, MAX_BYTES))
            if data["format"] != FORMAT or data["key"] != self.key(request):
                raise ValueError("its format or its request is different")
            return _outcome(data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RuleSafeError(
                f"{path} is not a valid exchange ({error}); remove it to repeat the request"
            ) from None

    def write(self, request: ModelRequest, outcome: Reply | ModelError) -> None:
        """Write the outcome of a request; a reply overwrites a failure."""
        content: dict[str, Any] = {"retries": dict(outcome.retries)}
        if isinstance(outcome, Reply):
            kind, content = "reply", {**asdict(outcome), **content}
        else:
            kind, content = "failure", {"kind": outcome.kind, "message": str(outcome), **content}
        record = {
            "format": FORMAT,
            "key": self.key(request),
            "number": request.number,
            "attempt": request.attempt,
            **self._identity(request),
            kind: content,
        }
        write_text(self.path(request), _dump(record, indent=1) + "\n")

    def _identity(self, request: ModelRequest) -> dict[str, Any]:
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "schema": dict(request.schema),
        }


class RecordedModel:
    """A model whose exchanges are recorded; a recorded reply is not requested again."""

    def __init__(self, model: LanguageModel, exchanges: Exchanges):
        self.name, self.origin = model.name, model.origin
        self._model, self._exchanges = model, exchanges

    def complete(self, request: ModelRequest) -> Reply:
        """Return the recorded reply; if there is none, request and record it."""
        recorded = self._exchanges.read(request)
        if isinstance(recorded, Reply):
            return recorded
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._exchanges.write(request, error)
            raise
        self._exchanges.write(request, reply)
        return reply


class ReplayedModel:
    """A model that returns only recorded replies, and copies them to `copy` if given."""

    def __init__(self, exchanges: Exchanges, copy: Exchanges | None = None):
        self.name = exchanges.model
        self.origin = origin_of(exchanges.model, exchanges.parameters)
        self._exchanges, self._copy = exchanges, copy
        if not exchanges.folder.is_dir():
            raise RuleSafeError(
                f"nothing to replay: {exchanges.folder} does not exist; use the --out of a run"
            )

    def complete(self, request: ModelRequest) -> Reply:
        """Return the recorded reply.

        Raises:
            ModelError: The recorded run ended here; the recorded failure, if there is one.
            RuleSafeError: The recorded reply belongs to a different request.
        """
        outcome = self._exchanges.read(request)
        if outcome is None:
            raise self._missing(request)
        if self._copy is not None:
            self._copy.write(request, outcome)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    def _missing(self, request: ModelRequest) -> RuleSafeError:
        path = self._exchanges.path(request)
        text = (
            f"no reply of {self.name} for message {request.attempt} of conversation "
            f"{request.number}: {path} is missing"
        )
        others = sorted(path.parent.glob(f"{request.number:04d}_{request.attempt}_*.json"))
        if others:
            return RuleSafeError(
                f"{text}. {others[0].name} belongs to another request: the replayed run used "
                "another model, other parameters, or the prompts of another version"
            )
        return ModelError("replay", f"{text}. The replayed run ended before this request")


def open_model(endpoint: Endpoint, out: Path, replay: Path | None = None) -> LanguageModel:
    """Return the model at an endpoint, with its exchanges recorded in `out`.

    With `replay`, the --out of another run, return the recorded replies of that run instead; this
    uses no endpoint. Raises RuleSafeError without the key or the openai client.
    """
    exchanges = Exchanges(out / FOLDER, endpoint.model, endpoint.parameters)
    if replay is None:
        return RecordedModel(OpenAIModel(endpoint), exchanges)
    return ReplayedModel(replace(exchanges, folder=replay / FOLDER), copy=exchanges)


def _dump(content: Any, indent: int | None = None) -> str:
    return json.dumps(content, indent=indent, sort_keys=indent is None)


def _outcome(data: Mapping[str, Any]) -> Reply | ModelError:
    """Return the reply or the failure in a file; raise ValueError or TypeError if invalid."""
    outcome = ModelError(**data["failure"]) if "failure" in data else Reply(**data["reply"])
    counts = list(outcome.retries.values())
    if isinstance(outcome, Reply):
        counts += [n for n in (outcome.tokens_in, outcome.tokens_out) if n is not None]
        valid = isinstance(outcome.text, str) and outcome.finish in get_args(Finish)
    else:
        valid = isinstance(data["failure"]["message"], str) and outcome.kind in FAILURES
    if not valid or any(type(n) is not int or n < 0 for n in counts):
        raise ValueError("neither a reply nor a failure")
    return outcome
