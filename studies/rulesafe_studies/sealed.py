"""Sealed evaluations: poses and locks are derived from a secret key, which is published afterwards
(docs/submit.md).

The commitment, the SHA-256 of the key, is published first. It determines the key, and does not
reveal it. All that is derived from a key are two numbers of 48 bits, which JSON stores exactly::

    digest(purpose) = HMAC-SHA256(key, "rulesafe sealed 1: " + purpose)
    number(purpose) = the first 6 bytes of digest(purpose), big-endian
    seed of episode 0 of each rule = 2**32 + number("seed")
    seed of the lock grammar = number("locks")

HMAC (RFC 2104) is a pseudorandom function, so that neither the commitment nor published episodes
help to compute the key. A file of a lock contains the number of the grammar, which determines all
locks. The locks are sampled as those of `sampled_test`:
`PER_CELL` of each cell of difficulty, with the same limits of steps and memory, verified in the
sandbox. None is equivalent to one of the twenty rules or of the shipped set `sampled`.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_text
from rulesafe_data.run_folder import results_folder
from rulesafe_design.difficulty import CELLS
from rulesafe_design.generate import Config, generate
from rulesafe_design.grammar import Grammar
from rulesafe_design.splits import HARD_STEPS, is_hard
from rulesafe_eval.agents import load_agent
from rulesafe_eval.commands_verify import print_differences
from rulesafe_eval.conclusion import conclude
from rulesafe_eval.request import (
    EXECUTE,
    EXECUTION,
    EvaluationRequest,
    ResultsFolder,
    Setup,
    make_request,
)
from rulesafe_eval.results import evaluate as run_episodes
from rulesafe_eval.submission import obstacle, read_submission
from rulesafe_locks.lock_files import LockFile, dump_lock
from rulesafe_sim.episodes import plan_episodes

SEALED_SEEDS = 2**32
"""Seeds from this one on are those of keys; the product uses smaller ones."""

KEY_BYTES = 32
"""Minimum length of a key: the length of HMAC-SHA256's output, which RFC 2104, section 3, states as
the minimum."""

PER_CELL = 3
"""Number of locks of each cell of difficulty, as in `sampled_test`."""

ATTEMPTS = 10_000
"""Maximum number of samples of the grammar; some hundred are needed."""

LIMITED = ("time", "memory", "crash", "output")
"""Outcomes of samples that depend on the machine; the grammar's programs have none of them."""

LOCKS = "locks"
"""Folder of the locks in a directory of results."""

ALL = "sealed"
"""Name of the set of all locks of the key in a list of rules."""


@dataclass(frozen=True)
class SealedKey:
    """A secret key, its commitment, seed and locks."""

    secret: bytes = field(repr=False)

    @property
    def commitment(self) -> str:
        """The hexadecimal SHA-256 of the key."""
        return hashlib.sha256(self.secret).hexdigest()

    @property
    def seed(self) -> int:
        """The seed of the first episode of each rule; larger than those of demonstrations."""
        return SEALED_SEEDS + self._number("seed")

    @cached_property
    def locks(self) -> dict[str, LockFile]:
        """The locks by id. Sampling them takes up to a minute."""
        cells = [cell for cell in CELLS if cell.steps < HARD_STEPS]
        config = Config(
            name=_prefix(self.commitment),
            per_cell=PER_CELL,
            max_steps=HARD_STEPS - 1,
            attempts=ATTEMPTS,
            unlike="all,sampled",
        )
        with TemporaryDirectory() as folder:
            model = Grammar(self._number("locks"))
            report = generate(model, Path(folder), PER_CELL * len(cells), config)
        if late := sum(report.outcomes[kind] for kind in LIMITED):
            raise RuleSafeError(
                f"{late} samples exceeded the limits of the sandbox, so that other locks would be "
                "sampled than on a faster or idle machine: run the same command again"
            )
        if report.stopped or report.accepted < report.count:
            raise RuleSafeError(
                f"only {report.accepted} of {report.count} locks were sampled: "
                f"{report.stopped or f'{ATTEMPTS} samples were not enough'}"
            )
        return {lock.id: lock for lock in report.locks if not is_hard(lock)}

    def _number(self, purpose: str) -> int:
        message = f"rulesafe sealed 1: {purpose}".encode()
        return int.from_bytes(hmac.digest(self.secret, message, "sha256")[:6], "big")

    def write_locks(self, rules: Iterable[str], folder: Path) -> dict[str, str]:
        """Write the files of the sealed rules among `rules`; return their paths by id.

        Raises:
            RuleSafeError: a sealed rule is not one of this key.
        """
        paths: dict[str, str] = {}
        for rule in sealed_rules(rules, self.commitment):
            if rule not in self.locks:
                raise RuleSafeError(
                    f"{rule} is not a lock of the key; valid: {', '.join(self.locks)}"
                )
            path = folder / f"{rule}.json"
            write_atomically(path, dump_lock(self.locks[rule]).encode())
            paths[rule] = str(path.absolute())
        return paths

    def rule_names(self, rules: str) -> list[str]:
        """Return comma-separated rules as a list, in which "sealed" stands for all locks of the
        key."""
        names: list[str] = []
        for name in rules.split(","):
            names += self.locks if name.strip() == ALL else [name.strip()]
        return names

    def make_request(
        self,
        directory: Path,
        names: Sequence[str],
        safes: str,
        episodes: int,
        setup: Setup,
        actor: Mapping[str, Any],
    ) -> EvaluationRequest:
        """Return the request of a sealed evaluation.

        Args:
            directory: directory of the results. The request has the paths of the locks in its
                folder LOCKS; `write_locks` writes them.
            names: the rules, as returned by `rule_names`.
            safes: safes, comma-separated; all: those of the split `nominal`.
            episodes: number of episodes of each rule.
            setup, actor: as for `request.make_request`.
        """
        with TemporaryDirectory() as folder:
            paths = self.write_locks(names, Path(folder))
            given = ",".join(paths.get(name, name) for name in names)
            plan = plan_episodes(given, safes, episodes=episodes)
            found = make_request(setup, actor, plan)
        # Named without a folder, so that results in different directories are comparable.
        own = {path: f"{rule}.json" for rule, path in paths.items()}
        files = {own.get(path, path): digest for path, digest in found.files.items()}
        place = (directory / LOCKS).absolute()
        locks = dict(found.locks) | {rule: str(place / f"{rule}.json") for rule in paths}
        request = replace(
            found, files=files, locks=locks, seed=self.seed, commitment=self.commitment
        )
        _check_files(asdict(request))
        return request


def read_key(path: Path) -> SealedKey:
    """Read a key: hexadecimal digits, at least 64.

    Raises:
        RuleSafeError: the file does not exist, or has no key. The message does not contain it.
    """
    form = f"{2 * KEY_BYTES} or more hexadecimal digits, as of: openssl rand -hex {KEY_BYTES}"
    try:
        text = read_text(path).strip()
    except FileNotFoundError:
        raise RuleSafeError(f"the key file {path} does not exist; it contains {form}") from None
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        raise RuleSafeError(f"{path} has no key; valid: {form}") from None
    if len(secret) < KEY_BYTES:
        raise RuleSafeError(f"the key in {path} has only {2 * len(secret)} digits; valid: {form}")
    return SealedKey(secret)


def sealed_rules(rules: Iterable[str], commitment: str) -> list[str]:
    """Return the rules that are locks of the key with a commitment."""
    return [rule for rule in rules if rule.startswith(f"{_prefix(commitment)}_")]


def _prefix(commitment: str) -> str:
    """Return the prefix of the ids of the locks, which differs by key."""
    return f"sealed_{commitment[:8]}"


def _check_files(request: Mapping[str, Any]) -> None:
    """Raise RuleSafeError if a request has files besides the locks of its key."""
    sealed = sealed_rules(request["rules"], request["commitment"])
    names = {f"{rule}.json" for rule in sealed}
    others = {
        "commitment": "",
        "rules": [rule for rule in request["rules"] if rule not in sealed],
        "files": {name: digest for name, digest in request["files"].items() if name not in names},
        "locks": {rule: path for rule, path in request["locks"].items() if rule not in sealed},
    }
    if reason := obstacle({**request, **others}):
        raise RuleSafeError(f"the evaluation cannot be sealed: {reason}")


def unseal(content: dict[str, Any], key: SealedKey, folder: Path) -> None:
    """Compare a submission with its key and write its locks, so that it can be verified.

    Args:
        content: as returned by `read_submission`; `request.locks` is set.
        key: the published key.
        folder: folder to which the locks are written.

    Raises:
        RuleSafeError: the submission is not sealed; the commitment is that of another key; the seed
            or a lock is not that of the key; or the submission uses other files.
    """
    request = content["request"]
    commitment = request.get("commitment", "")
    if not commitment:
        raise RuleSafeError("the submission is not sealed: use rulesafe eval verify")
    if commitment != key.commitment:
        raise RuleSafeError(
            f"the key has the commitment {key.commitment}, and the submission {commitment}"
        )
    if request["seed"] != key.seed:
        raise RuleSafeError(
            f"the seed of the key is {key.seed}, but is stated as {request['seed']}"
        )
    _check_files(request)
    request["locks"] = key.write_locks(request["rules"], folder)
    for rule, path in request["locks"].items():
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if (stated := request["files"].get(f"{rule}.json")) != digest:
            raise RuleSafeError(
                f"{rule}: the SHA-256 of its file is {digest}, but is stated as {stated}"
            )


Key = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="KEY_FILE")]
Submission = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SUBMISSION")]


def commitment(key_file: Key) -> None:
    """Print the commitment of a secret key: the SHA-256 that is published before the key.

    Args:
        key_file: File with 64 or more hexadecimal digits, as of: openssl rand -hex 32.
    """
    print(read_key(key_file).commitment)


def evaluate(
    policy: str,
    key_file: Path,
    out: Path | None = None,
    rules: str = ALL,
    safes: str = "all",
    episodes: int = 10,
    execute: int = EXECUTE,
    execution: Literal["newest", "blended"] = EXECUTION,
    films: int = 2,
    workers: int = 1,
) -> None:
    """Evaluate a policy on locks and poses that are derived from a secret key.

    Args:
        policy, out, execute, execution, films, workers: As for `rulesafe eval`.
        key_file: File with the secret key. Results contain its SHA-256 only.
        rules: Rules and rule sets, comma-separated; sealed: the 27 locks of the key.
        safes: Safes, comma-separated, which the episodes use in turn; all: the ten of `nominal`.
        episodes: Number of episodes per rule.
    """
    folder, key = results_folder(out), read_key(key_file)
    print(f"commitment {key.commitment}", flush=True)
    name = str(Path(policy).absolute()) if Path(policy).is_dir() else policy
    setup = Setup(name, execute, execution)
    agent, facts = load_agent(setup)
    agent.close()  # the workers load it again
    names = key.rule_names(rules)
    request = key.make_request(folder, names, safes, episodes, setup, facts)
    results = ResultsFolder(folder)
    with results.exclusive_lock():
        results.settle(request)
        key.write_locks(names, folder / LOCKS)
    conclude(folder, run_episodes(request, folder, workers), films, workers)


def verify(submission: Submission, key_file: Path, workers: int = 1) -> int:
    """Compare a sealed submission with its key, and verify it as `rulesafe eval verify`.

    Args:
        submission: submission.json, or the directory of an evaluation that contains it.
        key_file: File with the published key.
        workers: Number of parallel processes.
    """
    content, key = read_submission(submission), read_key(key_file)
    with TemporaryDirectory() as folder:
        unseal(content, key, Path(folder))
        print(f"commitment {key.commitment}", flush=True)
        return print_differences(content, workers)
