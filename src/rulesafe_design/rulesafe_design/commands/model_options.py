"""Command-line options for a language model, shared by several commands."""

from dataclasses import dataclass
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint
from rulesafe_design.exchanges import open_model
from rulesafe_design.models import LanguageModel


@dataclass(frozen=True)
class ModelOptions:
    """An endpoint and its settings, or the recorded replies of another run.

    Attributes:
        base_url: URL of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.
        replay: The --out of another run, whose recorded replies are used instead of an endpoint.
        temperature: Sampling temperature. Default: that of the model.
        max_tokens: Maximum number of tokens of a reply. Default: the limit of the model.
        timeout: Timeout in s of the connection, of each read and of a complete reply.
        tries: Maximum number of tries of a request. The run ends when all have failed.
    """

    base_url: str | None = None
    replay: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = 300.0
    tries: int = 5

    def open(self, model: str, out: Path) -> LanguageModel:
        """Return the model with this name; its exchanges are recorded in `out`."""
        endpoint = Endpoint(
            model,
            self.base_url,
            self.timeout,
            self.tries,
            self.temperature,
            self.max_tokens,
        )
        return open_model(endpoint, out, self.replay)

    def check_unused(self, writer: str) -> None:
        """Raise RuleSafeError if an option is set for a writer without a model."""
        if self != ModelOptions():
            raise RuleSafeError(
                f"{writer} uses no endpoint, replay or option of a model; for a language model "
                "give --model NAME"
            )
