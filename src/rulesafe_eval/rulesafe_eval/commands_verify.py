"""`rulesafe eval verify` and `commitment`. Their dependencies are imported when they run."""

from pathlib import Path
from typing import Annotated, Any

import tyro

Key = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="KEY_FILE")]
Submission = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SUBMISSION")]


def commitment(key_file: Key) -> None:
    """Print the commitment of a secret key: the SHA-256 that is published before the key.

    Example: rulesafe eval commitment sealed.key

    Args:
        key_file: File with 64 or more hexadecimal digits, as of: openssl rand -hex 32.
    """
    from rulesafe_eval.sealed import read_key

    print(read_key(key_file).commitment)


def verify(submission: Submission, key_file: Path | None = None, workers: int = 1) -> int:
    """Execute the actions of a submission again and compare every episode.

    The policy is not needed. Prints each difference; the exit status is 1 if there is any. Takes
    about a second of CPU time for each episode.

    Example: rulesafe eval verify runs/expert/submission.json

    Args:
        submission: submission.json, or the directory of an evaluation that contains it.
        key_file: File with the published key of a sealed submission. Its commitment, seed and locks
            are compared.
        workers: Number of parallel processes.
    """
    from tempfile import TemporaryDirectory

    from rulesafe_eval.submission import read_submission

    content = read_submission(submission)
    with TemporaryDirectory() as folder:
        if key_file or content["request"].get("commitment"):
            from rulesafe_eval.sealed import read_key, unseal

            unseal(content, read_key(key_file) if key_file else None, Path(folder))
        return _verify(content, workers)


def _verify(content: dict[str, Any], workers: int) -> int:
    """Verify a submission, print the result and return the exit status."""
    from rulesafe_core.versions import versions
    from rulesafe_data.bars import ProgressBar
    from rulesafe_eval.benchmark_names import benchmark_of
    from rulesafe_eval.submission import differences, request_of

    for name, version in versions().items():
        if (other := content["request"]["versions"].get(name)) != version:
            print(f"note: {name} is {version} here, and was {other}")
    request = request_of(content)
    name, opened = request.setup.policy, sum(e["opened"] for e in content["episodes"])
    conditions = [
        benchmark_of(request) or "no benchmark",
        f"{len(request.rules)} rules, {len(request.safes)} safes, split {request.split}",
        f"seeds {request.seed} to {request.seed + request.episodes - 1}",
        f"{request.setup.step_seconds:g} s per step",
        *([f"commitment {request.commitment}"] if request.commitment else []),
    ]
    print("; ".join(conditions), flush=True)
    episodes = content["episodes"]
    with ProgressBar(total=len(episodes), unit="episode") as bar:
        found = differences(content, workers, on_episode=bar.update)
    for text in found:
        print(text)
    if found:
        print(f"not verified: {len(found)} difference{'s' if len(found) > 1 else ''}")
        return 1
    print(f"verified: {name} opened {opened} of {len(episodes)}")
    return 0
