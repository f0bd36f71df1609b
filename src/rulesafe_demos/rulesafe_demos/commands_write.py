"""`rulesafe demos write`: a language model writes the task program."""

from pathlib import Path
from typing import Annotated

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands.model_options import ModelOptions
from rulesafe_design.models import LanguageModel
from rulesafe_sim.episode import DEFAULT_SPLIT

DECOMPOSE = "decompose"


def write(
    rule: str,
    safe: str,
    out: Path,
    model: str = DECOMPOSE,
    options: Annotated[ModelOptions, tyro.conf.arg(name="")] = ModelOptions(),
    repairs: int = 3,
    seed: int = 0,
    split: str = DEFAULT_SPLIT,
    film: bool = True,
) -> int:
    """Let a language model write a task program and correct it until it opens the safe.

    Each program runs in the sandbox, and the model receives the reason of a failure. Exit code 1 if
    no program opened the safe. Replies that are on disk are not requested again. The key of an
    endpoint is read from OPENAI_API_KEY only.

    Example: rulesafe demos write --rule rule_001 --safe safe_02 --out written

    Args:
        rule: Rule of the lock: an id, or the path of a lock file.
        safe: Id of the safe, or the path of a YAML file.
        out: Folder for program.py, verdict.json, try_0/film.mp4 and so on.
        model: Name of the model at the endpoint, or decompose: the program of the rule's shortest
            plan, without a language model.
        options: Options of the language model.
        repairs: Maximum number of corrections after the first program.
        seed: Seed of the randomisation, such as the pose of the safe.
        split: Randomisation of the episode: nominal, varied, shifted or a .yaml file.
        film: Write a video of each try.
    """
    from rulesafe_demos import write as writing

    if repairs < 0:
        raise RuleSafeError(f"repairs must be 0 or more, got {repairs}")
    task = writing.ProgramTask(rule, safe, seed, split)
    writer: LanguageModel
    if model == DECOMPOSE:
        options.check_unused(DECOMPOSE)
        writer = writing.Decompose(task)
    else:
        writer = options.open(model, out)
    done = writing.write(task, writer, out, repairs, film)
    for one in done:
        print(f"try {one.number}: {one.outcome or f'{one.kind}: {one.reason}'}")
    print(f"all tries: {out / 'verdict.json'}")
    if not done[-1].opened:
        return 1
    print(f"successful program: {out / 'program.py'}")
    return 0
