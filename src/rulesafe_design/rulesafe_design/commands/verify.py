"""`rulesafe rules verify`: what is proved of a program, a lock file or a rule; is it sound?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands.rule_tables import in_lines, short
from rulesafe_design.commands.rule_words import bound_in_words, figures_in_words
from rulesafe_design.compiler import compile_program
from rulesafe_design.sandbox import Refused
from rulesafe_design.verify import (
    MAX_STEPS,
    behaviour,
    check_plan,
    check_use,
    known_digests,
)
from rulesafe_design.verify import verify as verify_program
from rulesafe_locks.automata import automaton_of, difference, smallest
from rulesafe_locks.lock_files import ID, Bound, LockFile, dump_lock, find_lock, read_lock
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.proofs import Proof, prove
from rulesafe_locks.rules import RULES, load_rule

Files = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]

SUFFIXES = (".py", ".json")
VALID = ".py programs, .json locks, folders of them, ids of rules"


class Mismatch(RuleSafeError):
    """A lock file says of itself what is not so; `kind`: "facts" or "automaton"."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Verdict:
    """What was found out about a file."""

    path: Path
    refused: str = ""
    """Why, with the kind in front; empty: it is sound."""
    lock: LockFile | None = None
    same_as: str = ""
    """The id of a known rule that behaves alike."""
    proof: Proof | None = field(default=None, repr=False)

    def line(self) -> str:
        """In one line."""
        if self.lock is None or self.proof is None:
            return f"{self.path}: refused, {self.refused}"
        found = (
            f"{self.proof.steps} steps, {self.proof.states} states, bits {self.proof.bits:.3g}, "
            f"{self._compiled()}"
        )
        same = f"; the same as {self.same_as}" if self.same_as else ""
        return f"{self.path}: sound: {found}{same}"

    def _compiled(self) -> str:
        if self.lock is None or not self.lock.program:
            return "it has no program"
        return bound_in_words(self.lock.bound)

    def lines(self) -> dict[str, str]:
        """By topic."""
        if self.lock is None or self.proof is None:
            return {"refused": self.refused}
        proof = self.proof
        return {
            "compiled": self._compiled(),
            "plan": f"{short(proof.plan)}  ({proof.steps} steps)",
            **figures_in_words(proof),
            "same as": self.same_as or "no rule that is known",
        }


def verify(
    files: Files,
    plan: str | None = None,
    max_steps: int = MAX_STEPS,
    out: Path | None = None,
    description: str = "",
) -> int:
    """Verify programs, lock files and rules; exit code 1 if one of them is refused.

    A .py file holds `check_lock`: it is compiled in a sandbox, never run outside of it, and proved.
    Of a .json file the program is compiled anew and compared with the automaton, and what it says
    about itself with a new proof.

    Example: rulesafe rules verify my_lock.py --plan "knob+,handle+,door+" --out my_lock.json
        --description "Open the knob, then the handle."

    Args:
        files: Programs (.py), locks (.json), folders of them, or ids of rules.
        plan: Events, joined by commas, that are claimed to open the door of the one file.
        max_steps: Longer shortest plans are refused.
        out: Make a lock of the one program. Its name without .json becomes the rule's id.
        description: The instruction that goes with it.
    """
    paths = _found(files)
    if plan is not None and len(paths) != 1:
        raise RuleSafeError(f"--plan is for one file, not for {len(paths)}")
    if out and (len(paths) != 1 or paths[0].suffix != ".py"):
        raise RuleSafeError("--out is for one .py file")
    claimed = None if plan is None else [event.strip() for event in plan.split(",")]
    if out:
        _check_out(out, description)
    known = _known()
    verdicts = []
    for path in paths:
        verdict = judge(path, known, claimed, max_steps)
        verdicts.append(verdict)
        if len(paths) > 1:
            print(verdict.line(), flush=True)
    refused = sum(bool(verdict.refused) for verdict in verdicts)
    if len(paths) > 1:
        print(f"{len(verdicts) - refused} sound, {refused} refused")
        return 1 if refused else 0
    (verdict,) = verdicts
    Console(highlight=False).print(in_lines({str(paths[0]): "", **verdict.lines()}))
    if out and verdict.lock:
        _write(out, verdict.lock, description)
    return 1 if refused else 0


def judge(path: Path, known: dict[str, str], plan: Sequence[str] | None, max_steps: int) -> Verdict:
    """The verdict on a .py or .json file or a rule's id. A file that cannot be read is refused too.

    `known`: digests of locks with their names, to which a sound one is added.
    """
    try:
        if path.suffix == ".py":
            lock = _of_program(path, plan, max_steps)
        else:
            lock = read_lock(path) if path.suffix == ".json" else _of_rule(str(path))
            _check_lock(lock, max_steps)
            if plan is not None:
                check_plan(lock.rule, list(plan))
    except (Refused, Mismatch) as error:
        return Verdict(path, f"{error.kind}: {error}")
    except RuleSafeError as error:
        return Verdict(path, f"file: {error}")
    name = known.setdefault(behaviour(lock.automaton), str(path))
    same_as = "" if name in (lock.id, str(path)) else name
    return Verdict(path, lock=lock, same_as=same_as, proof=prove(lock.rule))


def _of_program(path: Path, plan: Sequence[str] | None, max_steps: int) -> LockFile:
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleSafeError(f"cannot read the program {path}: {error}") from error
    found = verify_program(source, plan, max_steps=max_steps)
    facts, origin = found.proof.facts, {"by": "hand"}
    return LockFile("", "", found.automaton, source, found.bound, origin, facts)


def _of_rule(rule_id: str) -> LockFile:
    """The lock of an id; one of the twenty is put into the form of the others."""
    found = find_lock(rule_id)
    if found is not None:
        return found
    rule = load_rule(rule_id)
    lock = smallest(automaton_of(rule))
    return LockFile(rule.id, rule.description, lock, facts=prove(rule).facts)


def _check_lock(lock: LockFile, max_steps: int) -> None:
    """Errors: Refused where a lock cannot be used or its program not compiled; Mismatch where its
    facts are not what is proved, or its automaton is not what its program does."""
    check_use(lock.rule, max_steps)
    proved = prove(lock.rule).facts
    wrong = [name for name in {**lock.facts, **proved} if lock.facts.get(name) != proved.get(name)]
    if wrong:
        said = "; ".join(
            f"{name} is {lock.facts.get(name, 'missing')} there, {proved.get(name, 'unknown')} "
            "by the proof"
            for name in wrong
        )
        raise Mismatch("facts", said)
    if lock.program:
        compiled = compile_program(lock.program)
        moves = difference(compiled.automaton, lock.automaton)
        if moves is not None:
            after = ", ".join(moves) or "no move"
            raise Mismatch("automaton", f"program and automaton differ after: {after}")
        if _promises_more(lock.bound, compiled.bound):
            raise Mismatch(
                "automaton",
                f"it is said to be {bound_in_words(lock.bound)}; found: "
                f"{bound_in_words(compiled.bound)}",
            )


def _promises_more(said: Bound | None, found: Bound | None) -> bool:
    if found is None:
        return False
    return said is None or said.events > found.events or said.states > found.states


def _found(files: Sequence[Path]) -> list[Path]:
    """The files that are meant. RuleSafeError where there is none."""
    found: list[Path] = []
    for file in files:
        inside = sorted(p for p in file.glob("*") if p.suffix in SUFFIXES) if file.is_dir() else []
        is_file = file.is_file() and file.suffix in SUFFIXES
        if not inside and not is_file and not _is_rule(str(file)):
            raise RuleSafeError(f"{file} is nothing to verify; valid: {VALID}")
        found += inside or [file]
    if not found:
        raise RuleSafeError(f"no file is named; valid: {VALID}")
    return list(dict.fromkeys(found))


def _is_rule(name: str) -> bool:
    return name in RULES or (not name.endswith(".json") and find_lock(name) is not None)


def _known() -> dict[str, str]:
    """Digests of the twenty and of all sets with their ids; of equivalent ones the first's."""
    ids = dict.fromkeys((*RULES, *(rule for rules in rule_sets().values() for rule in rules)))
    return known_digests(list(ids)[::-1])


def _check_out(out: Path, description: str) -> None:
    if not description.strip():
        raise RuleSafeError("a lock needs an instruction: --description TEXT")
    if out.suffix != ".json" or not ID.fullmatch(out.stem) or out.stem in RULES:
        raise RuleSafeError(
            f"--out is {out}; valid: ID.json with an id of lower-case letters, digits and "
            "underscores, a letter first, that is none of the twenty's"
        )
    if out.exists():
        raise RuleSafeError(f"{out} is there already: remove it, or take another name")


def _write(out: Path, lock: LockFile, description: str) -> None:
    from rulesafe_core.files import write_atomically

    named = replace(lock, id=out.stem, description=description.strip())
    write_atomically(out, dump_lock(named).encode())
    print(f"wrote {out}; try it: rulesafe rules show {out}")
