"""Every exchange with a model on disk: an interrupted run continues from them without new requests,
and a complete run can be replayed without a model.

A file is `<number>_<attempt>_<hash>.json`: of the conversation, of the message in it, and the first
digits of a SHA-256 of all that decides a reply: the model's name, its parameters, the messages and
the schema. It holds the reply, or the failure that ended the run: a run that goes on asks again, a
replay ends there too. The key of an endpoint is no part of any of this.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint, OpenAIModel, origin_of
from rulesafe_design.files import write_text
from rulesafe_design.models import FAILURES, Finish, Model, ModelError, Reply, Request

FORMAT = "rulesafe-exchange-1"
FOLDER = "exchanges"
MAX_BYTES = 16_000_000


@dataclass(frozen=True)
class Exchanges:
    """The exchanges with one model in a folder."""

    folder: Path
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def key(self, request: Request) -> str:
        """SHA-256, hexadecimal, of what decides the reply."""
        return hashlib.sha256(_dump(self._asked(request)).encode()).hexdigest()

    def path(self, request: Request) -> Path:
        """Where the exchange is, or would be."""
        key = self.key(request)
        return self.folder / f"{request.number:04d}_{request.attempt}_{key[:16]}.json"

    def read(self, request: Request) -> Reply | ModelError | None:
        """What came of a request, None where it was not made. RuleSafeError for a file that is no
        exchange."""
        path = self.path(request)
        try:
            if path.stat().st_size > MAX_BYTES:
                raise RuleSafeError(f"{path}: larger than {MAX_BYTES} bytes")
            data = json.loads(path.read_text("utf-8"))
            if data["format"] != FORMAT or data["key"] != self.key(request):
                raise ValueError("another format or another request")
            return _outcome(data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RuleSafeError(
                f"{path} is no exchange ({error}); remove it, and its request is made again"
            ) from None

    def write(self, request: Request, came: Reply | ModelError) -> None:
        """Keep what came of a request; a reply replaces a failure."""
        retries = dict(came.retries)
        outcome: dict[str, Any]
        if isinstance(came, Reply):
            outcome = {"reply": {**asdict(came), "retries": retries}}
        else:
            outcome = {"failure": {"kind": came.kind, "message": str(came), "retries": retries}}
        record = {
            "format": FORMAT,
            "key": self.key(request),
            "number": request.number,
            "attempt": request.attempt,
            **self._asked(request),
            **outcome,
        }
        write_text(self.path(request), _dump(record, indent=1) + "\n")

    def _asked(self, request: Request) -> dict[str, Any]:
        return {
            "model": self.model,
            "parameters": dict(self.parameters),
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "schema": dict(request.schema),
        }


class Recorded:
    """A model whose exchanges are kept; what is on disk is not asked again."""

    def __init__(self, model: Model, exchanges: Exchanges):
        self.name, self.origin = model.name, model.origin
        self._model, self._exchanges = model, exchanges

    def complete(self, request: Request) -> Reply:
        """The reply on disk, or else the model's, which is then on disk."""
        kept = self._exchanges.read(request)
        if isinstance(kept, Reply):
            return kept
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._exchanges.write(request, error)
            raise
        self._exchanges.write(request, reply)
        return reply


class Replay:
    """A model that gives recorded replies only, and keeps them once more in `copy`, if given."""

    def __init__(self, exchanges: Exchanges, copy: Exchanges | None = None):
        self.name = exchanges.model
        self.origin = origin_of(exchanges.model, exchanges.parameters)
        self._exchanges, self._copy = exchanges, copy
        if not exchanges.folder.is_dir():
            raise RuleSafeError(
                f"nothing to replay: there is no {exchanges.folder}; name the --out of another run"
            )

    def complete(self, request: Request) -> Reply:
        """The reply on disk. Errors: ModelError where the recorded run ended, the same as then if
        its endpoint ended it; RuleSafeError where it answers another request."""
        kept = self._exchanges.read(request)
        if kept is None:
            raise self._missing(request)
        if self._copy is not None:
            self._copy.write(request, kept)
        if isinstance(kept, ModelError):
            raise kept
        return kept

    def _missing(self, request: Request) -> RuleSafeError:
        path = self._exchanges.path(request)
        text = (
            f"no reply of {self.name} for message {request.attempt} of conversation "
            f"{request.number}: {path} is missing"
        )
        others = sorted(path.parent.glob(f"{request.number:04d}_{request.attempt}_*.json"))
        if others:
            return RuleSafeError(
                f"{text}. {others[0].name} answers another request: the run that is replayed had "
                "another model, other parameters, or another version's prompts"
            )
        return ModelError("replay", f"{text}. The run that is replayed ended before")


def open_model(endpoint: Endpoint, out: Path, replay: Path | None = None) -> Model:
    """The model of an endpoint with its exchanges in `out`; with `replay`, the --out of another
    run, the replies of that run alone, and no endpoint. RuleSafeError without key or client."""
    kept = Exchanges(out / FOLDER, endpoint.model, endpoint.parameters)
    if replay is None:
        return Recorded(OpenAIModel(endpoint), kept)
    return Replay(replace(kept, folder=replay / FOLDER), copy=kept)


def _dump(content: Any, indent: int | None = None) -> str:
    return json.dumps(content, indent=indent, sort_keys=indent is None)


def _outcome(data: Mapping[str, Any]) -> Reply | ModelError:
    """Return the reply or the failure in a file; ValueError or TypeError if a field is invalid."""
    came = ModelError(**data["failure"]) if "failure" in data else Reply(**data["reply"])
    counts = list(came.retries.values())
    if isinstance(came, Reply):
        counts += [n for n in (came.tokens_in, came.tokens_out) if n is not None]
        valid = isinstance(came.text, str) and came.finish in get_args(Finish)
    else:
        valid = isinstance(data["failure"]["message"], str) and came.kind in FAILURES
    if not valid or any(type(n) is not int or n < 0 for n in counts):
        raise ValueError("neither a reply nor a failure")
    return came
