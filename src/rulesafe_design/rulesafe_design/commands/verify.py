"""`rulesafe rules verify`: verify programs, lock files and rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.text_files import read_text
from rulesafe_design.commands.rule_tables import compact_plan, topic_table
from rulesafe_design.commands.rule_text import bound_text, proof_topics
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
from rulesafe_locks.lock_files import (
    ID,
    Bound,
    LockFile,
    check_short,
    dump_lock,
    find_lock,
    parse_lock,
    read_lock,
)
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.proofs import Proof, prove
from rulesafe_locks.rules import RULES, load_rule

Files = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]

SUFFIXES = (".py", ".json")
VALID = ".py programs, .json lock files, folders of these, ids of rules"


class Mismatch(RuleSafeError):
    """The content of a lock file is wrong. `kind`: "facts" or "automaton"."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a file."""

    path: Path
    refused: str = ""
    """The reason why the file is rejected, after the kind of error; empty if it is valid."""
    lock: LockFile | None = None
    same_as: str = ""
    """The id of a known rule with the same behaviour; empty if there is none."""
    proof: Proof | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return the result in one line."""
        if self.lock is None or self.proof is None:
            return f"{self.path}: refused, {self.refused}"
        found = (
            f"{self.proof.steps} steps, {self.proof.states} states, bits {self.proof.bits:.3g}, "
            f"{self._compiled()}"
        )
        same = f"; same as {self.same_as}" if self.same_as else ""
        return f"{self.path}: valid: {found}{same}"

    def _compiled(self) -> str:
        if self.lock is None or not self.lock.program:
            return "no program"
        return bound_text(self.lock.bound)

    def topics(self) -> dict[str, str]:
        """Return the details of the result, by topic."""
        if self.lock is None or self.proof is None:
            return {"refused": self.refused}
        proof = self.proof
        return {
            "compiled": self._compiled(),
            "plan": f"{compact_plan(proof.plan)}  ({proof.steps} steps)",
            **proof_topics(proof),
            "same as": self.same_as or "no known rule",
        }


def verify(
    files: Files,
    plan: str | None = None,
    max_steps: int = MAX_STEPS,
    out: Path | None = None,
    description: str = "",
    short_instruction: str = "",
) -> int:
    """Verify programs, lock files and rules. The exit code is 1 if any of them is refused.

    A .py file defines `check_lock`. It is compiled to an automaton in a sandbox, and the automaton
    is verified. For a .json file, the program is compiled again and compared with the automaton in
    the file, and the facts in the file are compared with a new proof.

    Example: rulesafe rules verify my_lock.py --plan "knob+,handle+,door+" --out my_lock.json
        --description "Open the knob, then the handle."

    Args:
        files: Programs (.py), lock files (.json), folders of these, or ids of rules.
        plan: Events, separated by commas, that must open the door. Only with one file.
        max_steps: Maximum number of steps of a shortest plan; locks with longer plans are refused.
        out: Lock file to write for the program. Its name without .json becomes the id of the rule.
            Only with one program.
        description: The instruction of the lock in --out.
        short_instruction: The same instruction in at most 40 tokens, for --out; see docs/rules.md.
    """
    paths = _expand(files)
    if plan is not None and len(paths) != 1:
        raise RuleSafeError(f"--plan needs exactly one file, not {len(paths)}")
    if out and (len(paths) != 1 or paths[0].suffix != ".py"):
        raise RuleSafeError("--out needs exactly one .py file")
    events = None if plan is None else [event.strip() for event in plan.split(",")]
    if out:
        _check_out(out, description)
        check_short(short_instruction)
    known = _all_known_digests()
    verdicts = []
    for path in paths:
        verdict = judge(path, known, events, max_steps)
        verdicts.append(verdict)
        if len(paths) > 1:
            print(verdict.summary(), flush=True)
    refused = sum(bool(verdict.refused) for verdict in verdicts)
    if len(paths) > 1:
        print(f"{len(verdicts) - refused} valid, {refused} refused")
        return 1 if refused else 0
    (verdict,) = verdicts
    Console(markup=False, highlight=False).print(
        topic_table({str(paths[0]): "", **verdict.topics()})
    )
    if out and verdict.lock:
        _write(out, replace(verdict.lock, short_instruction=short_instruction), description)
    return 1 if refused else 0


def judge(path: Path, known: dict[str, str], plan: Sequence[str] | None, max_steps: int) -> Verdict:
    """Return the verdict on a .py or .json file or the id of a rule; unreadable files are refused.

    `known` maps the digests of locks to their names; the digest of a valid lock is added.
    """
    try:
        if path.suffix == ".py":
            lock = _lock_of_program(path, plan, max_steps)
        else:
            lock = read_lock(path) if path.suffix == ".json" else _lock_of_rule(str(path))
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


def _lock_of_program(path: Path, plan: Sequence[str] | None, max_steps: int) -> LockFile:
    source = read_text(path)
    found = verify_program(source, plan, max_steps=max_steps)
    facts, origin = found.proof.facts, {"by": "hand"}
    return LockFile("", "", found.automaton, source, found.bound, origin, facts)


def _lock_of_rule(rule_id: str) -> LockFile:
    """Return the lock of a rule; one of the twenty rules is converted to a lock file."""
    found = find_lock(rule_id)
    if found is not None:
        return found
    rule = load_rule(rule_id)
    lock = smallest(automaton_of(rule))
    short, facts = rule.short_instruction, prove(rule).facts
    return LockFile(rule.id, rule.description, lock, facts=facts, short_instruction=short)


def _check_lock(lock: LockFile, max_steps: int) -> None:
    """Check a lock file.

    Raises:
        Refused: The lock is not usable, or its program cannot be compiled.
        Mismatch: The facts in the lock file differ from the proof, which is computed again, or the
            automaton in the file differs from the program.
    """
    check_use(lock.rule, max_steps)
    proved = prove(lock.rule).facts
    wrong = [name for name in {**lock.facts, **proved} if lock.facts.get(name) != proved.get(name)]
    if wrong:
        differences = "; ".join(
            f"{name} is {lock.facts.get(name, 'missing')} in the file, "
            f"{proved.get(name, 'unknown')} in the proof"
            for name in wrong
        )
        raise Mismatch("facts", differences)
    if lock.program:
        compiled = compile_program(lock.program)
        moves = difference(compiled.automaton, lock.automaton)
        if moves is not None:
            after = ", ".join(moves) or "no move"
            raise Mismatch("automaton", f"the program and the automaton differ after: {after}")
        if _claims_more(lock.bound, compiled.bound):
            raise Mismatch(
                "automaton",
                f"the file claims {bound_text(lock.bound)}; the compiled automaton is "
                f"{bound_text(compiled.bound)}",
            )


def _claims_more(claimed: Bound | None, found: Bound | None) -> bool:
    if found is None:
        return False
    return claimed is None or claimed.events > found.events or claimed.states > found.states


def _expand(files: Sequence[Path]) -> list[Path]:
    """Return the files and rule ids, with folders expanded; raise RuleSafeError if invalid."""
    found: list[Path] = []
    for file in files:
        inside = sorted(p for p in file.glob("*") if p.suffix in SUFFIXES) if file.is_dir() else []
        is_file = file.is_file() and file.suffix in SUFFIXES
        if not inside and not is_file and not _is_rule(str(file)):
            raise RuleSafeError(f"{file} cannot be verified; valid: {VALID}")
        found += inside or [file]
    if not found:
        raise RuleSafeError(f"no file given; valid: {VALID}")
    return list(dict.fromkeys(found))


def _is_rule(name: str) -> bool:
    return name in RULES or (not name.endswith(".json") and find_lock(name) is not None)


def _all_known_digests() -> dict[str, str]:
    """Return the digests of the twenty rules and all sets, mapped to the first equivalent id."""
    ids = dict.fromkeys((*RULES, *(rule for rules in rule_sets().values() for rule in rules)))
    return known_digests(list(ids)[::-1])


def _check_out(out: Path, description: str) -> None:
    if not description.strip():
        raise RuleSafeError("a lock needs an instruction; give --description TEXT")
    if not description.strip().isprintable():
        raise RuleSafeError(f"--description is {description!r}; valid: one line of text")
    if out.suffix != ".json" or not ID.fullmatch(out.stem) or out.stem in RULES:
        raise RuleSafeError(
            f"--out is {out}; valid: ID.json with an id of lower-case letters, digits and "
            "underscores that begins with a letter and is not one of the twenty rules"
        )
    if out.exists():
        raise RuleSafeError(f"{out} already exists; remove it, or use another name")


def _write(out: Path, lock: LockFile, description: str) -> None:
    from rulesafe_core.files import write_atomically

    named = replace(lock, id=out.stem, description=description.strip())
    text = dump_lock(named)
    try:
        parse_lock(text)
    except RuleSafeError as error:
        raise RuleSafeError(f"{out} was not written, it could not be read: {error}") from None
    write_atomically(out, text.encode())
    print(f"wrote {out}; show it with: rulesafe rules show {out}")
