"""Generate locks with a model: request, parse, verify, return faults to the model, write locks.

All files are a function of the replies, so a killed run continues from its exchanges to the same
files. OUT contains locks/ (a set of lock files), report.json, request.json and, if the model
records them (`exchanges.Recorded`), exchanges/. Example::

    report = generate(Grammar(seed=0), Path("my_locks"), count=10, config=Config(name="mine"))
    report.accepted
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting
from rulesafe_design import answers, prompts, sandbox
from rulesafe_design.answers import SCHEMA, Answer, BadAnswer, parse_answer
from rulesafe_design.difficulty import CELLS, Cell, cell_of
from rulesafe_design.exchanges import FOLDER
from rulesafe_design.files import run_folder, write_text
from rulesafe_design.models import LanguageModel, ModelError, ModelRequest
from rulesafe_design.reports import ACCEPTED, Prices, Report
from rulesafe_design.sandbox import Refused
from rulesafe_design.splits import assign
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_design.verify import MAX_STEPS, Verified, known_digests, verify
from rulesafe_locks.lock_files import ID, LockFile, dump_lock
from rulesafe_locks.lock_sets import expand_rules

LOCKS = "locks"
REQUEST = "request.json"
REPORT = "report.json"
RUN_FILES = (REQUEST, REPORT, f"{LOCKS}/*.json", f"{FOLDER}/*.json")
"""Every file of OUT."""
MAY_GROW = ("count", "attempts")
"""The settings that may grow when a run is continued."""

KINDS = {
    "surplus": "there are enough locks of its difficulty",
    "description": "another lock, which behaves differently, has the same description",
    **answers.KINDS,
    **sandbox.KINDS,
}
"""Why a reply gives no lock."""

ADVICE = {
    "duplicate": "Write another lock, with another rule.",
    "trivial": "The door must be locked at the start and come free by moves.",
    "shut": "Follow your plan through the program by hand: after which move does it go wrong?",
    "plan": "Correct the program, or the plan, so that both do what the description says.",
    "refusal": "This is a puzzle about a toy safe in a simulation; nothing else is asked for.",
}
"""Advice that is sent to a model in addition to the error message."""


@dataclass(frozen=True)
class Config(Settings):
    """How locks are generated."""

    name: str = setting("lock", "Ids are <name>_001, <name>_002, ...")
    repairs: int = setting(3, "Most corrections of each lock, after the first reply.", 0)
    per_cell: int | None = setting(None, "Most locks in a cell of difficulty; None: any.", 1)
    max_steps: int = setting(MAX_STEPS, "Locks with longer shortest plans are refused.", 2)
    attempts: int | None = setting(
        None, "Most conversations, which may grow later; None: 2 * count + 20.", 1
    )
    unlike: str = setting("all", "Rules, as of `expand_rules`, that no lock may be equivalent to.")
    prices: Prices = Prices()
    limits: ProgramLimits = ProgramLimits()  # of the sandbox

    def __post_init__(self) -> None:
        super().__post_init__()
        if not ID.fullmatch(f"{self.name}_001") or self.name == "rule":
            raise RuleSafeError(
                f"{self.name!r} cannot begin ids; valid: lower-case letters, digits and "
                "underscores, a letter first, and not rule, which the twenty have"
            )


def generate(model: LanguageModel, out: Path, count: int, config: Config = Config()) -> Report:
    """Let a model write locks until `count` are accepted or the attempts are used up.

    Called again with the same arguments, it continues the run; `count` and `attempts` may be larger
    then. An endpoint without a reply ends the run: the report has the reason and all results.

    Raises:
        RuleSafeError: The folder belongs to another request, is in use, or holds other files (it is
            not changed then); `unlike` has an unknown rule; the disk is full.
    """
    if count < 1:
        raise RuleSafeError(f"{count} locks are wanted; valid: 1 or more")
    unlike = expand_rules(config.unlike)
    known = known_digests(unlike)
    request = _request(model, count, config, unlike)
    with run_folder(
        out, RUN_FILES, lambda path: _compare(path, request), "rulesafe rules generate"
    ):
        write_text(out / REQUEST, _json(request))
        run = _Run(model, out, count, config, known)
        try:
            run.all()
        except ModelError as error:
            run.report.stopped = str(error)
            run.report.retries.update(error.retries)
        except KeyboardInterrupt:
            run.report.stopped = "interrupted"
            raise
        except RuleSafeError as error:
            run.report.stopped = str(error)
            raise
        finally:
            write_text(out / REPORT, _json(run.report.as_json()))
        for lock in assign(run.report.locks):
            run.write(lock)
        return run.report


class _Run:
    """One generation under way."""

    def __init__(
        self, model: LanguageModel, out: Path, count: int, config: Config, known: dict[str, str]
    ):
        self.model, self.out, self.config = model, out, config
        self.report = Report(count, config.prices)
        self.known = known
        self.cells: Counter[Cell | None] = Counter()
        self.missed: Counter[Cell | None] = Counter()

    def all(self) -> None:
        """Hold conversations until there are enough locks."""
        wanted = self.report.count
        attempts = _attempts(wanted, self.config)
        slow = 0.1 if sys.stderr.isatty() else 10.0  # a log gets few lines
        with tqdm(total=wanted, unit="lock", dynamic_ncols=True, mininterval=slow) as bar:
            for number in range(1, attempts + 1):
                self.converse(number)
                bar.set_postfix_str(f"{number} asked", refresh=False)
                bar.update(self.report.accepted - bar.n)
                if self.report.accepted == wanted:
                    break

    def converse(self, number: int) -> None:
        """Hold one conversation, which ends with a lock or after the last repair."""
        self.report.asked += 1
        wanted = self.wanted_cell(number)
        taken = [lock.description for lock in self.report.locks]
        messages = prompts.opening(number, wanted, taken, self.config.max_steps)
        for attempt in range(self.config.repairs + 1):
            reply = self.model.complete(ModelRequest(messages, SCHEMA, number, attempt))
            self.report.count_reply(reply, attempt)
            try:
                answer = parse_answer(reply)
                verified = self.verified(answer)
            except (BadAnswer, Refused) as failure:
                kind = failure.kind
                self.report.outcomes[kind] += 1
                advice = ADVICE.get(kind, "")
                if kind == "surplus":
                    advice = f"Write one of this difficulty: {self.wanted_cell(number).name}."
                messages += prompts.repair(
                    reply.text, kind, KINDS.get(kind, ""), str(failure), advice
                )
            else:
                self.accept(answer, verified, number, attempt)
                self.missed[wanted] += cell_of(verified.proof.facts) != wanted
                return
        self.report.failed += 1
        self.missed[wanted] += 1

    def verified(self, answer: Answer) -> Verified:
        """Verify an answer. Errors: Refused, BadAnswer."""
        config = self.config
        verified = verify(answer.program, answer.plan, self.known, config.limits, config.max_steps)
        for lock in self.report.locks:
            if lock.description.casefold() == answer.description.casefold():
                raise BadAnswer("description", f"{lock.id} has this description too")
        cell = cell_of(verified.proof.facts)
        if config.per_cell is not None and self.cells[cell] >= config.per_cell:
            name = cell.name if cell else "this difficulty"
            raise BadAnswer("surplus", f"the lock is good, but there are enough of {name}")
        return verified

    def accept(self, answer: Answer, verified: Verified, number: int, attempt: int) -> None:
        """Write and count an accepted lock."""
        report = self.report
        lock = LockFile(
            id=f"{self.config.name}_{report.accepted + 1:03d}",
            description=answer.description,
            automaton=verified.automaton,
            program=answer.program,
            bound=verified.bound,
            origin={**self.model.origin, "number": number, "repairs": attempt},
            facts=verified.proof.facts,
        )
        self.write(lock)
        report.locks.append(lock)
        report.outcomes[ACCEPTED] += 1
        report.repaired += attempt > 0
        self.known[verified.digest] = lock.id
        self.cells[cell_of(lock.facts)] += 1

    def wanted_cell(self, number: int) -> Cell:
        """Return the emptiest cell; failed conversations about a cell count as locks."""
        config = self.config
        cells = [cell for cell in CELLS if cell.steps <= config.max_steps]
        if config.per_cell is not None:
            cells = [cell for cell in cells if self.cells[cell] < config.per_cell] or cells
        fewest = min(self.cells[cell] + self.missed[cell] for cell in cells)
        emptiest = [cell for cell in cells if self.cells[cell] + self.missed[cell] == fewest]
        return emptiest[number % len(emptiest)]

    def write(self, lock: LockFile) -> None:
        """The lock's file."""
        write_text(self.out / LOCKS / f"{lock.id}.json", dump_lock(lock))


def _attempts(count: int, config: Config) -> int:
    return config.attempts or 2 * count + 20


def _request(
    model: LanguageModel, count: int, config: Config, unlike: Iterable[str]
) -> dict[str, Any]:
    """Return the content of request.json: all that the locks depend on, except the replies."""
    settings = asdict(config)
    del settings["prices"]  # they change no lock
    request = {
        "model": model.name,
        "origin": dict(model.origin),
        "count": count,
        **settings,
        "attempts": _attempts(count, config),
        "unlike": ",".join(unlike),  # sets may change
        "prompts": prompts.prompts_digest(),
    }
    return dict(json.loads(_json(request)))


def _compare(path: Path, wanted: Mapping[str, Any]) -> None:
    """Raise RuleSafeError if a folder's request.json is of another request."""
    try:
        present = dict(json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise RuleSafeError(f"{path} is no request for locks: {error}") from None
    differences = []
    for key in {**present, **wanted}:
        old, new = present.get(key), wanted.get(key)
        grown = key in MAY_GROW and type(old) is int and old < wanted[key]
        if old != new and not grown:
            differences.append(f"{key}: {old!r:.60} there, {new!r:.60} now")
    if differences:
        raise RuleSafeError(
            f"{path.parent} was made for another request; take another --out: only --count and "
            f"--attempts may change, and only grow. {'; '.join(differences)}"
        )


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
