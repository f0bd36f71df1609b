"""`rulesafe eval verify`. Its dependencies are imported when it runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError

Submission = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SUBMISSION")]


def verify(submission: Submission, workers: int = 1) -> int:
    """Execute the actions of a submission again and compare every episode.

    The policy is not needed. Prints each difference; the exit status is 1 if there is any. Takes
    about a second of CPU time for each episode. A submission that was recorded with another version
    of the physics cannot be verified.

    Example: rulesafe eval verify runs/expert/submission.json

    Args:
        submission: submission.json, or the directory of an evaluation that contains it, whose
            results and actions are compared, too.
        workers: Number of parallel processes.
    """
    from rulesafe_eval.submission import folder_differences, read_submission

    content = read_submission(submission)
    if content["request"].get("commitment"):
        raise RuleSafeError(
            "the submission is sealed; verify it with its key: python -m rulesafe_studies "
            f"sealed_verify {submission} --key-file FILE"
        )
    other = folder_differences(submission, content) if submission.is_dir() else []
    return print_differences(content, workers, other)


def print_differences(content: dict[str, Any], workers: int, more: Sequence[str] = ()) -> int:
    """Verify a submission, print the result, with `more` differences, and return the exit
    status."""
    from rulesafe_core.versions import versions
    from rulesafe_data.bars import ProgressBar
    from rulesafe_eval.agents import is_privileged
    from rulesafe_eval.benchmark_names import benchmark_of
    from rulesafe_eval.submission import differences, request_of

    request = request_of(content)
    for name, version in versions().items():
        if (other := request.versions.get(name)) != version:
            print(f"note: {name} is {version} here, and was {other}")
    opened = sum(e["opened"] for e in content["episodes"])
    privileged = is_privileged(content["request"])
    conditions = [
        f"{'privileged agent' if privileged else 'policy'} {request.setup.policy!r}",
        benchmark_of(request) or "no benchmark",
        f"{len(request.rules)} rules, {len(request.safes)} safes, split {request.split}",
        f"seeds {request.seed} to {request.seed + request.episodes - 1}",
        f"{request.setup.step_seconds:g} s per step",
    ]
    print("; ".join(conditions), flush=True)
    episodes = content["episodes"]
    with ProgressBar(total=len(episodes), unit="episode") as bar:
        found = [*more, *differences(content, workers, on_episode=bar.update)]
    for text in found:
        print(text)
    if found:
        print(f"not verified: {len(found)} difference{'s' if len(found) > 1 else ''}")
        return 1
    print(f"verified: {opened} of {len(episodes)} opened")
    return 0
