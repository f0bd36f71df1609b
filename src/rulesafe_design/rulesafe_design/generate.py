"""Generate locks with a model: request, parse and verify answers, send errors back, write locks.

All files are a function of the replies, so a killed run continues from its exchanges and produces
the same files. OUT contains locks/ (a set of lock files), report.json, request.json and, if the
model records them (`exchanges.RecordedModel`), exchanges/. Example::

    report = generate(Grammar(seed=0), Path("my_locks"), count=10, config=Config(name="mine"))
    report.accepted
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting
from rulesafe_core.text_files import read_json
from rulesafe_design import answers, prompts, sandbox
from rulesafe_design.answers import SCHEMA, Answer, BadAnswer, parse_answer
from rulesafe_design.difficulty import CELLS, Cell, cell_of
from rulesafe_design.exchanges import FOLDER
from rulesafe_design.files import run_folder, write_text
from rulesafe_design.models import LanguageModel, ModelError, ModelRequest
from rulesafe_design.reports import ACCEPTED, Prices, Report
from rulesafe_design.sandbox import Refused
from rulesafe_design.splits import assign, assign_by_behaviour
from rulesafe_design.verdicts import ProgramLimits
from rulesafe_design.verify import MAX_STEPS, VerifiedLock, known_digests, verify
from rulesafe_locks.lock_files import ID, LockFile, dump_lock, find_lock
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import Rule
from rulesafe_locks.proofs import prove

LOCKS = "locks"
REQUEST = "request.json"
REPORT = "report.json"
RUN_FILES = (REQUEST, REPORT, f"{LOCKS}/*.json", f"{FOLDER}/*.json")
"""Patterns of all files in OUT."""
MAY_GROW = ("count", "attempts")
"""The settings that may be increased when a run is continued."""

KINDS = {
    "surplus": "there are enough locks of this difficulty",
    "description": "another lock, which behaves differently, has the same description",
    **answers.KINDS,
    **sandbox.KINDS,
}
"""The reasons why a reply gives no accepted lock."""

ADVICE = {
    "duplicate": "Write another lock, with another rule.",
    "trivial": "The door must be locked at the start and come free by moves.",
    "shut": "Follow your plan through the program by hand: after which move does it go wrong?",
    "plan": "Correct the program, or the plan, so that both do what the description says.",
    "refusal": "This is a puzzle about a toy safe in a simulation; nothing else is asked for.",
}
"""Advice that is sent to the model in addition to the error message, by kind."""


@dataclass(frozen=True)
class Config(Settings):
    """The settings of a generation."""

    name: str = setting("lock", "Prefix of the lock ids: <name>_001, <name>_002, ...")
    repairs: int = setting(
        3, "Maximum number of repairs per conversation, after the first reply.", 0
    )
    per_cell: int | None = setting(
        None, "Maximum number of locks per cell of difficulty; None: no limit.", 1
    )
    max_steps: int = setting(MAX_STEPS, "Maximum number of steps of a shortest plan.", 2)
    attempts: int | None = setting(
        None, "Maximum number of conversations; None: 2 * count + 20.", 1
    )
    unlike: str = setting("all", "Rules (see `expand_rules`) that no lock may be equivalent to.")
    prices: Prices = Prices()
    limits: ProgramLimits = ProgramLimits()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not ID.fullmatch(f"{self.name}_001") or self.name == "rule":
            raise RuleSafeError(
                f"{self.name!r} is not a valid id prefix; valid: lower-case letters, digits and "
                "underscores, beginning with a letter; rule is reserved"
            )


def generate(model: LanguageModel, out: Path, count: int, config: Config = Config()) -> Report:
    """Generate locks with a model until `count` are accepted or all attempts are used.

    A call with the same arguments continues the run; `count` and `attempts` may be larger. If a
    request fails, the run ends, and the report contains the reason and the results so far.

    Raises:
        RuleSafeError: The folder belongs to another request, is locked, or contains other files
            (it is not changed then); `unlike` has an unknown rule; a file cannot be written.
    """
    if count < 1:
        raise RuleSafeError(f"the number of locks is {count}; valid: 1 or more")
    unlike = expand_rules(config.unlike)
    digests = known_digests(unlike).items()
    known = {digest: f"{rule}: {unlike[rule].description}" for digest, rule in digests}
    request = _request(model, count, config, unlike)
    with run_folder(
        out, RUN_FILES, lambda path: _compare(path, request), "rulesafe rules generate"
    ):
        write_text(out / REQUEST, _json(request))
        run = _Run(model, out, count, config, known, by_cell(unlike.values()))
        try:
            run.run_conversations()
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
        split = assign if model.origin["by"] == "sampled" else assign_by_behaviour
        for lock in split(run.report.locks):
            run.write(lock)
        return run.report


class _Run:
    """The state of a running generation."""

    def __init__(
        self,
        model: LanguageModel,
        out: Path,
        count: int,
        config: Config,
        known: dict[str, str],
        unlike: Mapping[Cell | None, Sequence[str]],
    ):
        self.model, self.out, self.config = model, out, config
        self.report = Report(count, config.prices)
        self.known, self.unlike = known, unlike
        self.cells: Counter[Cell | None] = Counter()
        self.missed: Counter[Cell | None] = Counter()

    def run_conversations(self) -> None:
        """Run conversations until there are enough locks or all attempts are used."""
        wanted = self.report.count
        attempts = _attempts(wanted, self.config)
        interval_s = 0.1 if sys.stderr.isatty() else 10.0  # fewer lines in log files
        with tqdm(total=wanted, unit="lock", dynamic_ncols=True, mininterval=interval_s) as bar:
            for number in range(1, attempts + 1):
                self.run_conversation(number)
                bar.set_postfix_str(f"{number} conversations", refresh=False)
                bar.update(self.report.accepted - bar.n)
                if self.report.accepted == wanted:
                    break

    def run_conversation(self, number: int) -> None:
        """Run one conversation, which ends with a lock or after the last repair."""
        self.report.conversations += 1
        wanted = self.wanted_cell(number)
        alike = (lock for lock in self.report.locks if cell_of(lock.facts) == wanted)
        taken = [*self.unlike.get(wanted, ()), *(lock.description for lock in alike)]
        messages = prompts.opening(number, wanted, taken, self.config.max_steps)
        for attempt in range(self.config.repairs + 1):
            reply = self.model.complete(ModelRequest(messages, SCHEMA, number, attempt))
            self.report.count_reply(reply, attempt)
            try:
                answer = parse_answer(reply)
                verified = self.verify_answer(answer)
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

    def verify_answer(self, answer: Answer) -> VerifiedLock:
        """Verify an answer; raise Refused or BadAnswer if it is not accepted."""
        config = self.config
        verified = verify(answer.program, answer.plan, self.known, config.limits, config.max_steps)
        for lock in self.report.locks:
            if lock.description.casefold() == answer.description.casefold():
                raise BadAnswer("description", f"{lock.id} already has this description")
            if answer.short_instruction and lock.short_instruction == answer.short_instruction:
                raise BadAnswer("description", f"{lock.id} already has this short instruction")
        cell = cell_of(verified.proof.facts)
        if config.per_cell is not None and self.cells[cell] >= config.per_cell:
            name = cell.name if cell else "this difficulty"
            raise BadAnswer("surplus", f"the lock is valid, but there are enough locks of {name}")
        return verified

    def accept(self, answer: Answer, verified: VerifiedLock, number: int, attempt: int) -> None:
        """Write an accepted lock and add it to the report."""
        report = self.report
        lock = LockFile(
            id=f"{self.config.name}_{report.accepted + 1:03d}",
            description=answer.description,
            automaton=verified.automaton,
            program=answer.program,
            bound=verified.bound,
            origin={**self.model.origin, "number": number, "repairs": attempt},
            facts=verified.proof.facts,
            short_instruction=answer.short_instruction,
        )
        self.write(lock)
        report.locks.append(lock)
        report.outcomes[ACCEPTED] += 1
        report.repaired += attempt > 0
        self.known[verified.digest] = f"{lock.id}: {lock.description}"
        self.cells[cell_of(lock.facts)] += 1

    def wanted_cell(self, number: int) -> Cell:
        """Return the cell with the fewest locks and failed conversations."""
        config = self.config
        cells = [cell for cell in CELLS if cell.steps <= config.max_steps]
        if config.per_cell is not None:
            cells = [cell for cell in cells if self.cells[cell] < config.per_cell] or cells
        fewest = min(self.cells[cell] + self.missed[cell] for cell in cells)
        emptiest = [cell for cell in cells if self.cells[cell] + self.missed[cell] == fewest]
        return emptiest[number % len(emptiest)]

    def write(self, lock: LockFile) -> None:
        """Write the file of a lock."""
        write_text(self.out / LOCKS / f"{lock.id}.json", dump_lock(lock))


def by_cell(rules: Iterable[Rule]) -> dict[Cell | None, list[str]]:
    """Return the descriptions of rules by their difficulty."""
    found: dict[Cell | None, list[str]] = {}
    for rule in rules:
        lock = find_lock(rule.id)
        facts = lock.facts if lock else prove(rule).facts
        found.setdefault(cell_of(facts), []).append(rule.description)
    return found


def _attempts(count: int, config: Config) -> int:
    return config.attempts or 2 * count + 20


def _request(
    model: LanguageModel, count: int, config: Config, unlike: Iterable[str]
) -> dict[str, Any]:
    """Return the content of request.json: everything except the replies that affects the locks."""
    settings = asdict(config)
    del settings["prices"]  # prices do not affect the locks
    request = {
        "model": model.name,
        "origin": dict(model.origin),
        "count": count,
        **settings,
        "attempts": _attempts(count, config),
        "unlike": ",".join(unlike),  # the ids, because sets may change
        "prompts": prompts.prompts_digest(),
    }
    return dict(json.loads(_json(request)))


def _compare(path: Path, wanted: Mapping[str, Any]) -> None:
    """Raise RuleSafeError if the request.json of a folder is from another request."""
    present = read_json(path, "a valid request.json; use another --out")
    differences = []
    for key in {**present, **wanted}:
        old, new = present.get(key), wanted.get(key)
        grown = key in MAY_GROW and type(old) is int and old < wanted[key]
        if old != new and not grown:
            differences.append(f"{key}: was {old!r:.60}, now {new!r:.60}")
    if differences:
        raise RuleSafeError(
            f"{path.parent} was made for another request; take another --out. Only --count and "
            f"--attempts may change, and only increase. {'; '.join(differences)}"
        )


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
