"""`rulesafe demos write`: a model writes the task program."""

from pathlib import Path
from typing import TYPE_CHECKING

from rulesafe_core.errors import RuleSafeError

if TYPE_CHECKING:
    from rulesafe_demos.write import Task
    from rulesafe_design.models import Model

DECOMPOSE = "decompose"


def write(
    rule: str,
    safe: str,
    out: Path,
    model: str = DECOMPOSE,
    base_url: str | None = None,
    replay: Path | None = None,
    repairs: int = 3,
    seed: int = 0,
    split: str = "nominal",
    film: bool = True,
    temperature: float | None = None,
    max_tokens: int | None = None,
    timeout: float = 300.0,
    tries: int = 5,
) -> int:
    """Let a language model write a task program, run it in the sandbox and tell the model what
    went wrong, until the door is open; exit code 1 where it stays shut.

    Called again with the same words it does not ask again for replies that are on disk. The key of
    an endpoint comes from OPENAI_API_KEY alone.

    Example: rulesafe demos write --rule rule_001 --safe safe_02 --out written

    Args:
        rule: The lock's rule: an id, or the path of a lock's file.
        safe: The safe's id, or the path of a YAML file.
        out: Folder for program.py, verdict.json, and try_0/film.mp4 and so on.
        model: The model's name at the endpoint, or decompose: the rule's shortest plan written out,
            without any model.
        base_url: An OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.
        replay: The --out of another run: its replies are used and no endpoint.
        repairs: Times that the model is told what went wrong.
        seed: What varies from episode to episode: the place of the safe and more, by the split.
        split: What the episodes differ in: nominal, train, shifted or a .yaml file.
        film: Without it there are no pictures, and no Vulkan is needed.
        temperature: Of the model; its own if not given.
        max_tokens: Of one reply; the model's own limit if not given.
        timeout: Seconds for one reply.
        tries: Of one request, when the endpoint fails, before the run ends.
    """
    from rulesafe_demos import write as writing
    from rulesafe_design.endpoint import Endpoint
    from rulesafe_design.exchanges import open_model

    if repairs < 0:
        raise RuleSafeError(f"repairs is {repairs}; valid: 0 or more")
    task = writing.Task(rule, safe, seed, split)
    writer: Model
    if model == DECOMPOSE:
        writer = _decompose(task, base_url, replay)
    else:
        endpoint = Endpoint(
            model,
            base_url,
            timeout_s=timeout,
            tries=tries,
            temperature=temperature,
            max_tokens=max_tokens,
        )
        writer = open_model(endpoint, out, replay)
    done = writing.write(task, writer, out, repairs, film)
    for one in done:
        print(f"try {one.number}: {one.outcome or f'{one.kind}: {one.reason}'}")
    print(f"all of it: {out / 'verdict.json'}")
    if not done[-1].opened:
        return 1
    print(f"the program that opened it: {out / 'program.py'}")
    return 0


def _decompose(task: "Task", base_url: str | None, replay: Path | None) -> "Model":
    from rulesafe_demos.write import Decompose

    if base_url or replay:
        raise RuleSafeError(
            "decompose has no endpoint and nothing to replay; for a language model give --model "
            "NAME"
        )
    return Decompose(task)
