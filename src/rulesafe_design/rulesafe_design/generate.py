"""Locks from a model: ask, read, verify, tell the model what is wrong, keep what is proved.

Everything is a function of the replies, so a run that was killed goes on from its exchanges to the
same files. OUT holds locks/ (a set of lock files), report.json, request.json and, where the model
records them (`exchanges.Recorded`), exchanges/. Example::

    report = generate(Grammar(seed=0), Path("my_locks"), count=10, config=Config(name="mine"))
    report.accepted
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rulesafe_design import answers, prompts, sandbox
from rulesafe_design.answers import SCHEMA, Answer, BadAnswer, parse_answer
from rulesafe_design.difficulty import CELLS, Cell, cell_of
from rulesafe_design.files import alone, write_atomically
from rulesafe_design.models import Model, ModelError, Request
from rulesafe_design.reports import ACCEPTED, Prices, Report
from rulesafe_design.sandbox import Limits, Refused
from rulesafe_design.splits import assign
from rulesafe_design.verify import MAX_STEPS, Verified, known_digests, verify
from rulesafe_sim.errors import RuleSafeError
from rulesafe_sim.lock_files import ID, LockFile, dump_lock

LOCKS = "locks"
REQUEST = "request.json"
REPORT = "report.json"

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
"""What may help a model, beside the message."""


@dataclass(frozen=True)
class Config:
    """How locks are generated."""

    name: str = "lock"
    """Ids are <name>_001, <name>_002, ..."""
    repairs: int = 3
    """Times that a model is told what is wrong, for each lock."""
    per_cell: int | None = None
    """Locks of one cell of difficulty at most; None: as they come."""
    max_steps: int = MAX_STEPS
    """Locks with longer shortest plans are refused."""
    attempts: int | None = None
    """Conversations at most; None: twice the locks that are wanted, and 20."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Who writes: "by", and "model" or "seed". Every lock file says so."""
    prices: Prices = Prices()
    limits: Limits = Limits()
    """Of the sandbox."""

    def __post_init__(self) -> None:
        if not ID.fullmatch(f"{self.name}_001") or self.name == "rule":
            raise RuleSafeError(
                f"{self.name!r} cannot begin ids; valid: lower-case letters, digits and "
                "underscores, a letter first, and not rule, which the twenty have"
            )
        least = {"repairs": 0, "per_cell": 1, "max_steps": 2, "attempts": 1}
        for key, low in least.items():
            value = getattr(self, key)
            if value is not None and value < low:
                raise RuleSafeError(f"{key} is {value}; valid: {low} or more")


def generate(model: Model, out: Path, count: int, config: Config = Config()) -> Report:
    """Lets a model write locks until `count` are accepted or the attempts are used up.

    Called again with the same words it goes on where it stopped; `count` may be larger then. An
    endpoint that stays without reply ends the run: the report says so and has what was reached.

    Errors: RuleSafeError for a folder of another request or in use, and on a full disk.
    """
    if count < 1:
        raise RuleSafeError(f"{count} locks are wanted; valid: 1 or more")
    with alone(out):
        _pin(out / REQUEST, model, count, config)
        run = _Run(model, out, count, config)
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
            write_atomically(out / REPORT, _json(run.report.as_json()))
        for lock in assign(run.report.locks):
            run.write(lock)
        return run.report


class _Run:
    """One generation under way."""

    def __init__(self, model: Model, out: Path, count: int, config: Config):
        self.model, self.out, self.config = model, out, config
        self.report = Report(count, config.prices)
        self.known = known_digests()
        self.cells: Counter[Cell | None] = Counter()
        self.missed: Counter[Cell | None] = Counter()

    def all(self) -> None:
        """Conversations until there are enough locks."""
        wanted = self.report.count
        attempts = self.config.attempts or 2 * wanted + 20
        slow = 0.1 if sys.stderr.isatty() else 10.0  # a log gets few lines
        with tqdm(total=wanted, unit="lock", dynamic_ncols=True, mininterval=slow) as bar:
            for number in range(1, attempts + 1):
                self.converse(number)
                bar.set_postfix_str(f"{number} asked", refresh=False)
                bar.update(self.report.accepted - bar.n)
                if self.report.accepted == wanted:
                    break

    def converse(self, number: int) -> None:
        """One conversation: a lock, or as many failures as there are tries."""
        self.report.asked += 1
        wanted = self.wanted_cell(number)
        taken = [lock.description for lock in self.report.locks]
        messages = prompts.opening(number, wanted, taken, self.config.max_steps)
        for attempt in range(self.config.repairs + 1):
            reply = self.model.complete(Request(messages, SCHEMA, number, attempt))
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
        """The verdict on an answer. Errors: Refused, BadAnswer."""
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
        """Keep a lock."""
        report = self.report
        lock = LockFile(
            id=f"{self.config.name}_{report.accepted + 1:03d}",
            description=answer.description,
            automaton=verified.automaton,
            program=answer.program,
            bound=verified.bound,
            origin={**self.config.origin, "number": number, "repairs": attempt},
            facts=verified.proof.facts,
        )
        self.write(lock)
        report.locks.append(lock)
        report.outcomes[ACCEPTED] += 1
        report.repaired += attempt > 0
        self.known[verified.digest] = lock.id
        self.cells[cell_of(lock.facts)] += 1

    def wanted_cell(self, number: int) -> Cell:
        """The emptiest cell; one that was asked for in vain counts as less empty."""
        config = self.config
        cells = [cell for cell in CELLS if cell.steps <= config.max_steps]
        if config.per_cell is not None:
            cells = [cell for cell in cells if self.cells[cell] < config.per_cell] or cells
        fewest = min(self.cells[cell] + self.missed[cell] for cell in cells)
        emptiest = [cell for cell in cells if self.cells[cell] + self.missed[cell] == fewest]
        return emptiest[number % len(emptiest)]

    def write(self, lock: LockFile) -> None:
        """The lock's file."""
        write_atomically(self.out / LOCKS / f"{lock.id}.json", dump_lock(lock))


def _pin(path: Path, model: Model, count: int, config: Config) -> None:
    """Enters into a folder what it is made for. RuleSafeError where that is something else."""
    settings = asdict(config)
    del settings["prices"]  # they change no lock
    wanted = {"model": model.name, "count": count, **settings, "prompts": prompts.prompts_digest()}
    wanted = json.loads(_json(wanted))
    if path.exists():
        try:
            there = dict(json.loads(path.read_text("utf-8")))
        except (ValueError, TypeError) as error:
            raise RuleSafeError(f"{path} is no request for locks: {error}") from None
        differences = [
            f"{key}: {there.get(key)!r:.60} there, {wanted.get(key)!r:.60} now"
            for key in {**there, **wanted}
            if there.get(key) != wanted.get(key)
            and not (key == "count" and isinstance(there.get(key), int) and there[key] < count)
        ]
        if differences:
            raise RuleSafeError(
                f"{path.parent} was made for another request; take another --out, or a larger "
                f"--count alone. {'; '.join(differences)}"
            )
    elif any(not file.name.startswith(".") for file in path.parent.iterdir()):
        raise RuleSafeError(f"{path.parent} is not empty and holds no {path.name}")
    write_atomically(path, _json(wanted))


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
