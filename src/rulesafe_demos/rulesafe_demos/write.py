"""Task programs written by a language model: requested, run in the sandbox, recorded, and requested
again with the reason of the failure.

Files of a run::

    verdict.json            all tries, failures by kind, tokens
    program.py              the program that opened the safe, if one did
    try_0/                  program.py; film.mp4 and sheet.png with a video
    exchanges/              every exchange with the model, for `--replay`
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from planner_node.decompose import decompose
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.text_files import read_json
from rulesafe_core.versions import versions
from rulesafe_data.files import write_json
from rulesafe_demos import prompt
from rulesafe_demos.program import ProgramRun, run_program
from rulesafe_demos.remote import SandboxedProgram
from rulesafe_design.answers import BadAnswer, parse_program
from rulesafe_design.exchanges import FOLDER
from rulesafe_design.files import run_folder
from rulesafe_design.models import LanguageModel, ModelError, ModelRequest, Reply
from rulesafe_design.prompts import quoted
from rulesafe_locks.plans import shortest_plan
from rulesafe_locks.rules import load_rule
from rulesafe_sim.randomisation import load_split
from rulesafe_sim.safes import load_safe

FORMAT = 1

VERDICT = "verdict.json"
PROGRAM = "program.py"
RUN_FILES = (VERDICT, PROGRAM, "try_*/*", f"{FOLDER}/*.json")
"""All files of a run's folder."""


@dataclass(frozen=True)
class ProgramTask:
    """The task of the program."""

    rule: str
    safe: str
    seed: int = 0
    split: str = "nominal"


class Decompose:
    """Replies with the decomposition of the rule's shortest plan; no language model."""

    name = "decompose"

    def __init__(self, task: ProgramTask):
        self.origin = {"by": self.name}
        self._program = decompose(shortest_plan(load_rule(task.rule)), load_safe(task.safe))

    def complete(self, request: ModelRequest) -> Reply:
        return Reply(json.dumps({"program": self._program}))


@dataclass(frozen=True)
class ProgramAttempt:
    """One reply and its outcome."""

    number: int
    opened: bool
    kind: str  # kind of failure, see docs/programs.md; empty if the safe was opened
    reason: str
    outcome: str = ""  # summary line of the episode; empty if nothing was run
    events: tuple[str, ...] = ()  # such as "knob+"
    tokens_in: int | None = None  # None if the endpoint did not report it
    tokens_out: int | None = None
    failed_requests: dict[str, int] = field(default_factory=dict)


def write(
    task: ProgramTask, model: LanguageModel, out: Path, repairs: int, film: bool
) -> list[ProgramAttempt]:
    """Request programs until one opens the safe, at most `repairs` times after the first.

    Raises:
        RuleSafeError: for an unknown rule, safe or split; for a folder with another task or foreign
            files, which is not changed; and if the model does not reply. Earlier tries are kept.
    """
    load_split(task.split)
    first = prompt.opening(load_rule(task.rule), load_safe(task.safe))
    with run_folder(
        out, RUN_FILES, lambda path: _compare(path, task, model), "rulesafe demos write"
    ):
        _note(out, task, model, [])  # marks the folder, and removes the result of an earlier run
        (out / PROGRAM).unlink(missing_ok=True)
        return _converse(task, model, first, out, repairs, film)


def _converse(
    task: ProgramTask,
    model: LanguageModel,
    first: prompt.Messages,
    out: Path,
    repairs: int,
    film: bool,
) -> list[ProgramAttempt]:
    messages = first
    tries: list[ProgramAttempt] = []
    programs: list[str] = []
    for number in range(repairs + 1):
        try:
            reply = model.complete(ModelRequest(messages, prompt.SCHEMA, 1, number))
        except ModelError as error:
            failed = ProgramAttempt(
                number, False, error.kind, str(error), failed_requests=dict(error.retries)
            )
            _note(out, task, model, [*tries, failed])
            raise
        done, answer = _attempt(task, reply, number, programs, out, film)
        tries.append(_with_costs(done, reply))
        _note(out, task, model, tries)
        if done.opened:
            write_atomically(out / PROGRAM, programs[-1].encode())
            break
        messages += (("assistant", quoted(reply.text)), ("user", answer))
    return tries


def _attempt(
    task: ProgramTask, reply: Reply, number: int, programs: list[str], out: Path, film: bool
) -> tuple[ProgramAttempt, str]:
    """Return the outcome of a reply, and the feedback to the model. Extends `programs`."""
    try:
        program = parse_program(reply)
        if program in programs:
            earlier = programs.index(program)
            raise BadAnswer("repeated", f"this program was already tried in try {earlier}")
    except BadAnswer as error:
        return ProgramAttempt(number, False, error.kind, str(error)), prompt.refused(
            error.kind, str(error)
        )
    programs.append(program)
    folder = out / f"try_{number}"
    write_atomically(folder / "program.py", program.encode())
    played = run_program(
        SandboxedProgram(program),
        task.rule,
        task.safe,
        task.seed,
        task.split,
        folder if film else None,
    )
    done = _tried(number, played)
    return done, prompt.feedback(played, done.kind, done.reason)


def _tried(number: int, played: ProgramRun) -> ProgramAttempt:
    result, ending = played.result, played.ending
    return ProgramAttempt(
        number,
        result.success,
        "" if result.success else ending.kind or "closed",
        "" if result.success else ending.reason or result.reason,
        result.outcome,
        tuple(change.event for change in result.events),
    )


def _with_costs(done: ProgramAttempt, reply: Reply) -> ProgramAttempt:
    return replace(
        done,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        failed_requests=dict(reply.retries),
    )


def _compare(path: Path, task: ProgramTask, model: LanguageModel) -> None:
    """Raise RuleSafeError if the verdict in a folder is on another task or model."""
    there = read_json(path, "a verdict")
    if any(there.get(key) != value for key, value in _asked(task, model).items()):
        raise RuleSafeError(
            f"{path.parent} has tries of {there.get('rule')} on {there.get('safe')} by "
            f"{there.get('model')}, or with another seed or split; use another --out"
        )


def _asked(task: ProgramTask, model: LanguageModel) -> dict[str, Any]:
    return {**asdict(task), "model": model.name}


def _note(out: Path, task: ProgramTask, model: LanguageModel, tries: list[ProgramAttempt]) -> None:
    """Write verdict.json."""
    failed: Counter[str] = Counter()
    for one in tries:
        failed.update(one.failed_requests)
    content = {
        "format": FORMAT,
        "versions": versions(),
        **_asked(task, model),
        "written_by": "a decomposition of the rule's shortest plan; no language model"
        if model.name == Decompose.name
        else "a language model",
        "opened": bool(tries) and tries[-1].opened,
        "failures": dict(Counter(one.kind for one in tries if not one.opened)),
        "failed_requests": dict(failed),
        "tokens_in": _total(one.tokens_in for one in tries),
        "tokens_out": _total(one.tokens_out for one in tries),
        "tries": [asdict(one) for one in tries],
    }
    write_json(out / VERDICT, content)


def _total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known counts, or None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
