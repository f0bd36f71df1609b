"""`rulesafe demos write`: a model writes the task program."""

from pathlib import Path
from typing import Annotated

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.commands.model_options import ModelOptions
from rulesafe_design.models import LanguageModel

DECOMPOSE = "decompose"


def write(
    rule: str,
    safe: str,
    out: Path,
    model: str = DECOMPOSE,
    options: Annotated[ModelOptions, tyro.conf.arg(name="")] = ModelOptions(),
    repairs: int = 3,
    seed: int = 0,
    split: str = "nominal",
    film: bool = True,
) -> int:
    """Let a language model write a task program, run it in the sandbox and tell the model what
    went wrong, until the door is open; exit code 1 where it stays shut.

    Called again with the same words it does not ask again for replies that are on disk. The key of
    an endpoint comes from OPENAI_API_KEY alone.

    Example: rulesafe demos write --rule rule_001 --safe safe_02 --out written

    Args:
        rule: The lock's rule: an id, or the path of a lock's file.
        safe: The safe's id, or the path of a YAML file.
        out: Folder for program.py, verdict.json, and try_0/film.mp4 and so on.
        model: The model's name at the endpoint, or decompose: the rule's shortest plan written out,
            without any model.
        options: Of the model.
        repairs: Times that the model is told what went wrong.
        seed: What varies from episode to episode: the place of the safe and more, by the split.
        split: What the episodes differ in: nominal, train, shifted or a .yaml file.
        film: Without it there are no pictures, and no Vulkan is needed.
    """
    from rulesafe_demos import write as writing

    if repairs < 0:
        raise RuleSafeError(f"repairs is {repairs}; valid: 0 or more")
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
    print(f"all of it: {out / 'verdict.json'}")
    if not done[-1].opened:
        return 1
    print(f"the program that opened it: {out / 'program.py'}")
    return 0
