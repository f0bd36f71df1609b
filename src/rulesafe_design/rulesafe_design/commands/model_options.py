"""The options that commands share if a language model writes."""

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
        base_url: An OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.
        replay: The --out of another run: its replies are used and no endpoint.
        temperature: Of the model; its own if not given.
        max_tokens: Of one reply; the model's own limit if not given.
        timeout: Seconds for the connection, for each read, and for the body of one reply.
        tries: Of one request, when the endpoint fails, before the run ends.
    """

    base_url: str | None = None
    replay: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = 300.0
    tries: int = 5

    def open(self, model: str, out: Path) -> LanguageModel:
        """Return the model of this name, whose exchanges are recorded in `out`."""
        endpoint = Endpoint(
            model, self.base_url, self.timeout, self.tries, self.temperature, self.max_tokens
        )
        return open_model(endpoint, out, self.replay)

    def check_unused(self, writer: str) -> None:
        """Raise RuleSafeError if there is an endpoint or a replay for a writer without a model."""
        if self.base_url or self.replay:
            raise RuleSafeError(
                f"{writer} has no endpoint and nothing to replay; for a language model give "
                "--model NAME"
            )
