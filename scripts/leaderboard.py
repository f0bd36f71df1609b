#!/usr/bin/env python3
"""Write docs/leaderboard.md from the submissions of the repository.

    .venv/bin/python scripts/leaderboard.py

submissions/NAME/ contains submission.json of `rulesafe eval --benchmark` and about.yaml; see
docs/submit.md. The actions of a new submission are executed again, some minutes of CPU time; its
hash is then stored in submissions/verified.json. With --all, those of all submissions are executed
again: do so before a proposed submission is merged, since it could come with a wrong verified.json.
"""

import html
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.strict_yaml import build, read_yaml
from rulesafe_core.text_files import read_json
from rulesafe_data.files import sha256, write_json
from rulesafe_eval.benchmarks import BENCHMARKS, benchmark_of, load_benchmark
from rulesafe_eval.statistics import mean, percent
from rulesafe_eval.submission import differences, read_submission, request_of
from rulesafe_eval.table import Pooled, pool_rules

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "submissions"
VERIFIED = FOLDER / "verified.json"
PAGE = ROOT / "docs/leaderboard.md"

HEAD = """\
# Leaderboard

Results on the [benchmarks](submit.md#benchmarks), sorted by success rate. The actions of each
submission were executed again, with the stated outcomes. This does not show how the actions were
chosen; "privileged" is what the authors state, after "yes" if the evaluation found some. 95 %
intervals are Wilson's or bootstraps over the poses. To add a policy: [Submit a result](submit.md).
Written by `scripts/leaderboard.py`.
"""


@dataclass(frozen=True)
class About:
    """What about.yaml states; all entries are required.

    Attributes:
        policy: name of the policy.
        authors: authors of the submission.
        memory: memory of the policy, such as "four tokens of VQ-Memory".
        inputs: what it observes.
        training: data and number of demonstrations; training seeds.
        privileged: privileged information that it uses, or "none".
    """

    policy: str
    authors: str
    memory: str
    inputs: str
    training: str
    privileged: str


@dataclass(frozen=True)
class Entry:
    """A submission on a benchmark."""

    folder: Path
    about: About
    benchmark: str
    content: Mapping[str, Any]  # of submission.json
    results: Pooled


def entries(folder: Path = FOLDER) -> Iterator[Entry]:
    """Yield the submissions of a folder.

    Raises:
        RuleSafeError: about.yaml or submission.json is invalid, the episodes are not those of a
            benchmark, or about.yaml does not state the policy's privileged information.
    """
    for path in sorted(folder.glob("*/submission.json")):
        content = read_submission(path)
        name = benchmark_of(request_of(content))
        required = load_benchmark(name).entries if name in BENCHMARKS else ()
        expected = {(each["rule"], each["number"]) for each in required}
        submitted = [(each["rule"], each["number"]) for each in content["episodes"]]
        if not required or set(submitted) != expected or len(submitted) != len(expected):
            raise RuleSafeError(
                f"{path} does not have the episodes of a benchmark: evaluate with --benchmark"
            )
        path_about = path.with_name("about.yaml")
        about = build(About, read_yaml(path_about), str(path_about))
        stated = about.privileged.strip(" .-").lower()
        if stated in ("", "no", "none") and content["request"]["actor"].get("privileged"):
            raise RuleSafeError(
                f"{path_about} states no privileged information, but the evaluated policy has some"
            )
        yield Entry(path.parent, about, name, content, pool_rules([content]))


def page(submissions: list[Entry]) -> str:
    """Return the leaderboard as Markdown."""
    parts = [HEAD]
    for name in BENCHMARKS:
        benchmark = load_benchmark(name)
        parts.append(f"## {name}\n\n{benchmark.title[0].upper()}{benchmark.title[1:]}: ")
        parts[-1] += f"{len(benchmark.entries)} episodes.\n"
        chosen = [entry for entry in submissions if entry.benchmark == name]
        if not chosen:
            parts.append("No submissions yet.\n")
            continue
        chosen.sort(key=lambda entry: -entry.results.values("opened").mean())
        rows = ["| policy | success | process score | memory | inputs | training | privileged |"]
        rows.append("|---|---|---|---|---|---|---|")
        rows += map(row, chosen)
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def row(entry: Entry) -> str:
    """Return a submission's row of the table."""
    results, about = entry.results, entry.about
    privileged = bool(entry.content["request"]["actor"].get("privileged"))
    success = percent(results.values("opened").mean(), results.interval("opened"))
    score = mean(results.values("process_score").mean(), results.interval("process_score"))
    cells = (
        about.policy,
        success,
        score,
        about.memory,
        about.inputs,
        about.training,
        f"yes: {about.privileged.removeprefix('yes: ')}" if privileged else about.privileged,
    )
    return f"| {' | '.join(map(escaped, cells))} |"


def escaped(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "&#124;")


def main() -> int:
    """Verify new submissions, and write the page if all are verified; return the exit status."""
    submissions, known = list(entries()), {}
    if VERIFIED.is_file():
        known = read_json(VERIFIED, "a list of verified submissions")
    for entry in submissions:
        digest = sha256(entry.folder / "submission.json")
        if known.get(entry.folder.name) == digest and "--all" not in sys.argv:
            continue
        print(f"{entry.folder.name}: executing the actions again", flush=True)
        if wrong := differences(entry.content, workers=2):
            print("\n".join(wrong))
            return 1
        write_json(VERIFIED, known := known | {entry.folder.name: digest})
    write_atomically(PAGE, page(submissions).encode())
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
