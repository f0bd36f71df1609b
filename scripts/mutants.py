"""Measure whether the tests notice single changes of the code (mutation testing).

    python scripts/mutants.py                       # a sample of each group of mutants.yaml
    python scripts/mutants.py limits --sample 0     # all mutants of one group
    python scripts/mutants.py --report              # the results so far

scripts/mutants.yaml lists groups of files with the tests that must notice a change, and the mutants
that are equivalent to the original code. The working tree is not changed: each mutant is written to
a copy. Results are appended to a file of JSON lines; an interrupted run continues there. A mutant
is run again if its file has changed, a survivor also if the tests have changed.
"""

import argparse
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from mutations import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[1]
SHORTEST = 15
"""Shortest time limit of a mutant, s."""
MEMORY = 6 * 2**30
"""Memory limit of a mutant, bytes."""


class Order:
    """Pytest plugin: run tests that noticed the most mutants first; store the first that fails."""

    def __init__(self, first: list[str], out: Path) -> None:
        self._rank, self._out = {name: index for index, name in enumerate(first)}, out

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self._rank.get(item.nodeid, len(self._rank)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._out.exists():
            self._out.write_text(report.nodeid)


@dataclass(frozen=True)
class Group:
    """Files, and the tests that must notice a change of them.

    `deselect`: tests that are not run. `equivalent`: reasons by "FILE FUNCTION" and change.
    """

    name: str
    equivalent: dict[str, dict[str, str]]
    files: list[str]
    tests: list[str]
    deselect: tuple[str, ...] = ()

    def is_equivalent(self, mutant: Mutant) -> bool:
        return mutant.change in self.equivalent.get(f"{mutant.file} {mutant.where}", {})

    @cached_property
    def hash_of_tests(self) -> str:
        folders = {path.parent for path in (ROOT / test for test in self.tests)}
        return _hash(*(path for folder in folders for path in sorted(folder.glob("*.py"))))


def _hash(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


class Copy:
    """A copy of the working tree, in which tests run in forks of this process.

    Args:
        folder: an empty folder.
        preload: modules that are imported once, before the forks, because their import is slow.
    """

    def __init__(self, folder: Path, preload: list[str]) -> None:
        self.folder, self._noticed_by = folder, folder / "noticed_by"
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True)
        for name in filter(None, done.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
        with suppress(FileExistsError):
            (folder / ".venv").symlink_to(ROOT / ".venv")
        sources = [str(path) for path in sorted((folder / "src").iterdir())]
        sys.path[:0] = sources
        # A stored module would hide a change of the same size within the same second.
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": os.pathsep.join(sources), "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        for module in preload:
            with suppress(ImportError):
                importlib.import_module(module)
        gc.freeze()  # a garbage collection of these modules takes as long as many tests

    def run(self, group: Group, first: list[str], limit: float) -> tuple[str, str, float]:
        """Run the group's tests; return survived, noticed or timeout, the test, and the time, s."""
        self._noticed_by.unlink(missing_ok=True)
        begin = time.monotonic()
        child = os.fork()
        if not child:
            self._test(group, first)
        status = None
        try:
            while status is None and time.monotonic() < begin + limit:
                time.sleep(0.01)
                done, code = os.waitpid(child, os.WNOHANG)
                status = code if done else None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # also processes that tests have left
            if status is None:
                os.waitpid(child, 0)
        seconds = round(time.monotonic() - begin, 2)
        verdict = "timeout" if status is None else "noticed" if status else "survived"
        test = self._noticed_by.read_text() if self._noticed_by.exists() else ""
        return verdict, test, seconds

    def _test(self, group: Group, first: list[str]) -> None:
        code = 99
        try:
            os.setsid()
            os.chdir(self.folder)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            with Path(os.devnull).open("r+") as null:
                for stream in range(3):
                    os.dup2(null.fileno(), stream)
            arguments = ["-x", "-p", "no:cacheprovider", "-p", "no:unraisableexception"]
            arguments += ["-m", "not (ros or render or episode)"]
            arguments += [f"--deselect={name}" for name in group.deselect]
            code = int(pytest.main([*arguments, *group.tests], [Order(first, self._noticed_by)]))
        finally:
            os._exit(code)


def run(groups: list[Group], sample: int, seed: int, results: Path, preload: list[str]) -> None:
    """Run the mutants of each sample that have no result yet."""
    known = _read(results)
    results.parent.mkdir(parents=True, exist_ok=True)
    tests = {group.name: group.hash_of_tests for group in groups}  # of the copy
    with tempfile.TemporaryDirectory(prefix="mutants_") as folder, results.open("a") as out:
        copy = Copy(Path(folder), preload)
        for group in groups:
            queue = [
                m for m in _sample(group, sample, seed) if not _valid(known.get(m.key), m, group)
            ]
            if not queue:
                continue
            verdict, test, seconds = copy.run(group, [], 600)
            if verdict != "survived":
                sys.exit(f"{group.name}: the tests fail without a change ({verdict} {test})")
            limit = max(SHORTEST, 5 * seconds)
            killers: dict[str, Counter[str]] = defaultdict(Counter)
            for number, mutant in enumerate(queue, 1):
                here, everywhere = killers[mutant.where], killers[""]
                first = [name for name, _ in here.most_common() + everywhere.most_common()]
                path, source = copy.folder / mutant.file, (ROOT / mutant.file).read_bytes()
                path.write_bytes(
                    source[: mutant.begin] + mutant.text.encode() + source[mutant.end :]
                )
                verdict, test, seconds = copy.run(group, list(dict.fromkeys(first)), limit)
                path.write_bytes(source)
                here[test] += bool(test)
                everywhere[test] += bool(test)
                line: dict[str, object] = dict(
                    zip(("file", "where", "change"), mutant.key, strict=True)
                )
                line |= {"verdict": verdict, "test": test, "seconds": seconds}
                line |= {"source": _hash(ROOT / mutant.file), "tests": tests[group.name]}
                out.write(json.dumps(line) + "\n")
                out.flush()
                print(f"{group.name} {number}/{len(queue)}: {verdict} {mutant.change}", flush=True)


def _sample(group: Group, count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants of a group's files in random order; all if it is 0."""
    found = [m for file in group.files for m in mutants_of(file, (ROOT / file).read_bytes())]
    random.Random(f"{seed} {group.name}").shuffle(found)
    return found[: count or None]


def _read(results: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    lines = results.read_text().splitlines() if results.exists() else []
    found = map(json.loads, lines)
    return {(line["file"], line["where"], line["change"]): line for line in found}


def _valid(line: dict[str, Any] | None, mutant: Mutant, group: Group) -> bool:
    if line is None or line["source"] != _hash(ROOT / mutant.file):
        return False
    tested = line["verdict"] != "survived" or line["tests"] == group.hash_of_tests
    return tested or group.is_equivalent(mutant)


def report(groups: list[Group], sample: int, seed: int, results: Path) -> None:
    """Print the survivors, and a row of figures for each group."""
    known, rows = _read(results), []
    for group in groups:
        drawn = _sample(group, sample, seed)
        done = [(m, known[m.key]) for m in drawn if _valid(known.get(m.key), m, group)]
        left = [m for m, line in done if line["verdict"] == "survived"]
        survivors = [m for m in left if not group.is_equivalent(m)]
        for m in sorted(survivors, key=lambda m: (m.file, m.line)):
            print(f"{m.file}:{m.line} {m.where}: {m.change}")
        noticed, same = len(done) - len(left), len(left) - len(survivors)
        share = f"{100 * noticed / (len(done) - same):.0f} %" if len(done) > same else ""
        rows.append((group.name, len(done), noticed, same, len(survivors), share))
    print("\n| group | mutants run | noticed | equivalent | survivors | noticed of others |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("groups", nargs="*", help="names of groups; default: all")
    parser.add_argument("--sample", type=int, default=50, help="mutants of each group; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--results", type=Path, default=ROOT / "build/mutants.jsonl")
    parser.add_argument("--report", action="store_true", help="only print the results so far")
    given = parser.parse_args()
    content = yaml.safe_load((ROOT / "scripts/mutants.yaml").read_text())
    groups = [
        Group(name, content["equivalent"], **fields) for name, fields in content["groups"].items()
    ]
    if unknown := set(given.groups) - {group.name for group in groups}:
        parser.error(f"unknown {', '.join(unknown)}; valid: {', '.join(g.name for g in groups)}")
    groups = [group for group in groups if not given.groups or group.name in given.groups]
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell ignores SIGINT
        signal.signal(number, signal.default_int_handler)
    try:
        if not given.report:
            run(groups, given.sample, given.seed, given.results, content["preload"])
    except KeyboardInterrupt:
        print("interrupted; the same command continues")
    report(groups, given.sample, given.seed, given.results)


if __name__ == "__main__":
    main()
