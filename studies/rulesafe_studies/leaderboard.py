"""The leaderboard: results of the submissions in studies/submissions.

studies/submissions/NAME/ contains submission.json of `rulesafe eval --benchmark` and about.yaml;
see docs/submit.md.
"""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.strict_yaml import build, read_yaml
from rulesafe_core.text_files import read_json, sha256
from rulesafe_data.files import write_json
from rulesafe_eval.agents import is_privileged
from rulesafe_eval.benchmark_names import benchmark_of
from rulesafe_eval.statistics import mean, percent
from rulesafe_eval.submission import differences, read_submission, request_of
from rulesafe_eval.table import Pooled
from rulesafe_sim.benchmarks import BENCHMARKS, load_benchmark
from rulesafe_studies.data import ROOT, pool_rules

FOLDER = ROOT / "studies/submissions"
VERIFIED = FOLDER / "verified.json"
PAGE = ROOT / "docs/results/leaderboard.md"


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
        if stated in ("", "no", "none") and is_privileged(content["request"]):
            raise RuleSafeError(
                f"{path_about} states no privileged information, but the evaluated policy has some"
            )
        yield Entry(path.parent, about, name, content, pool_rules([content]))


def text(folder: Path = FOLDER) -> str:
    """Return the tables of the benchmarks as Markdown.

    Raises:
        RuleSafeError: a submission was not verified since it was changed.
    """
    submissions, known = list(entries(folder)), verified()
    for entry in submissions:
        if folder == FOLDER and known.get(entry.folder.name) != digest(entry):
            raise RuleSafeError(
                f"{entry.folder} is not verified; call python -m rulesafe_studies leaderboard"
            )
    parts = []
    for name in BENCHMARKS:
        benchmark = load_benchmark(name)
        parts.append(f"## {name}\n\n{benchmark.title[0].upper()}{benchmark.title[1:]}: ")
        parts[-1] += f"{len(benchmark.entries)} episodes."
        chosen = [entry for entry in submissions if entry.benchmark == name]
        if not chosen:
            parts.append("No submissions yet.")
            continue
        chosen.sort(key=lambda entry: -entry.results.values("opened").mean())
        rows = ["| policy | success | process score | memory | inputs | training | privileged |"]
        rows.append("|---|---|---|---|---|---|---|")
        rows += map(row, chosen)
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


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


def verified() -> dict[str, str]:
    """Return the hashes of the submissions that were verified, by name."""
    if not VERIFIED.is_file():
        return {}
    found: dict[str, str] = read_json(VERIFIED, "a list of verified submissions")
    return found


def digest(entry: Entry) -> str:
    """Return the hash of a submission."""
    return sha256(entry.folder / "submission.json")


def verify(all: bool = False) -> int:
    """Execute the actions of new submissions again, and write docs/results/leaderboard.md.

    It takes some minutes of CPU time for each; then its hash is stored in verified.json.

    Args:
        all: Execute those of all submissions again: do so before a proposed submission is merged,
            since it could come with a wrong verified.json.
    """
    from rulesafe_studies import pages

    known = verified()
    for entry in entries():
        if known.get(entry.folder.name) == digest(entry) and not all:
            continue
        print(f"{entry.folder.name}: executing the actions again", flush=True)
        if wrong := differences(entry.content, workers=2):
            print("\n".join(wrong))
            return 1
        write_json(VERIFIED, known := known | {entry.folder.name: digest(entry)})
    write_atomically(PAGE, pages.written(PAGE.read_text("utf-8")).encode())
    print(PAGE)
    return 0
