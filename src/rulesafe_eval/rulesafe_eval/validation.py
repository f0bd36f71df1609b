"""Validation of the content of results.json and submission.json, which others may have written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.request import EvaluationRequest
from rulesafe_sim.episodes import check_seeds, check_step_seconds

MAX_EPISODES = 100_000
"""Maximum number of episodes of a request, which limits the time that a file can claim."""

MAX_FRAMES = 100_000
"""Maximum number of actions of an episode, which limits the memory that a file can claim."""


def _text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _optional(valid: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or valid(value)


EPISODE: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("rule", "safe", "cause", "failed_event"), _text),
    **dict.fromkeys(("number", "seed", "failed_step", "clipped_actions"), _count),
    "frames": lambda value: _count(value) and value <= MAX_FRAMES,
    **dict.fromkeys(
        ("process_score", "order_free_score"), lambda value: _number(value) and 0 <= value <= 1
    ),
    "opened": lambda value: type(value) is bool,
}
"""Values of an episode from which statistics are computed."""

TRAINING = {"seed": _count, "steps": _count, "seconds": _number, "encoder": _text}
MEMORY = {"kind": _text, "model": _text, "clusters": _count, "length": _count}
ACTOR: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("kind", "family", "size"), _text),
    "training": lambda value: isinstance(value, dict) and not _wrong(value, TRAINING),
    "memory": lambda value: (
        isinstance(value, dict) and _text(value.get("kind")) and not _wrong(value, MEMORY)
    ),
}
"""Facts of an agent, each of which may be missing."""


def _wrong(values: Mapping[str, Any], kinds: Mapping[str, Callable[[Any], bool]]) -> list[str]:
    """Return the names of values that are present, not None, and not valid."""
    return [name for name, valid in kinds.items() if not _optional(valid)(values.get(name))]


def checked(content: Mapping[str, Any], file: Path, what: str) -> dict[str, Any]:
    """Return results or a submission with a complete request, as this version writes it.

    Raises:
        RuleSafeError: it has values that `rulesafe eval` does not write; the message has the path
            `file` and describes it as `what`.
    """
    try:
        request = EvaluationRequest.from_dict(content["request"])
        _check_request(request)
        if not isinstance(content["episodes"], list):
            raise TypeError("episodes must be a list")
        for number, episode in enumerate(content["episodes"]):
            for name, valid in EPISODE.items():
                if not valid(episode.get(name)):
                    raise ValueError(f"{name} of episode {number} is {episode.get(name)!r:.60}")
        return {**content, "request": asdict(request)}
    except (
        ArithmeticError,
        AttributeError,
        KeyError,
        RuleSafeError,
        TypeError,
        ValueError,
    ) as error:
        raise RuleSafeError(f"{file} is not {what}: {error}") from error


def _check_request(request: EvaluationRequest) -> None:
    """Raise ValueError or RuleSafeError unless the request is one of `rulesafe eval`."""
    setup, actor = request.setup, request.actor
    counts = (request.episodes, request.seed, setup.execute)
    texts = (
        *(request.split, setup.policy, setup.execution, request.commitment),
        *(setup.variant, setup.disturbances, *request.safes, *request.rules),
    )
    if not (
        all(type(value) is int and value >= 0 for value in counts)
        and all(map(_text, texts))
        and all(isinstance(each, dict) for each in (request.versions, actor, request.files))
        and isinstance(request.locks, dict)
        and all(
            _text(text)
            for each in (request.versions, request.files, request.locks)
            for text in (*each, *each.values())
        )
        and request.rules
        and request.safes
        and all(len(set(names)) == len(names) for names in (request.rules, request.safes))
        and len(request.rules) * request.episodes <= MAX_EPISODES
    ):
        raise ValueError("the request has values that rulesafe eval does not write")
    if wrong := _wrong(actor, ACTOR):
        raise ValueError(f"{wrong[0]} of the actor is {actor[wrong[0]]!r:.60}")
    if actor.get("kind") == "checkpoint" and None in map(actor.get, ("family", "size", "memory")):
        raise ValueError("the actor is a checkpoint without family, size or memory")
    if not _number(setup.step_seconds):
        raise ValueError(f"step_seconds is {setup.step_seconds!r:.60}")
    # The seed of a sealed evaluation is larger; the study compares it with the key.
    check_seeds(0 if request.commitment else request.seed, request.episodes)
    check_step_seconds(setup.step_seconds)
