"""`rulesafe eval`: policies, the expert and oracles on the same episodes, counted and compared.

docs/evaluation.md tells what is measured, and what results.json holds.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe eval` with these arguments; the exit code."""
    # Here, since every worker process imports this package.
    from rulesafe_eval.arguments import call, call_one, help_of, listed
    from rulesafe_eval.evaluation.commands import SUBCOMMANDS, evaluate

    if argv and argv[0] in SUBCOMMANDS:
        return call_one(SUBCOMMANDS, "rulesafe eval", "", argv)
    about = f"{help_of(evaluate)}\n\nOf what was played:\n{listed(SUBCOMMANDS, 'rulesafe eval')}"
    code: int | None = call(evaluate, "rulesafe eval", argv, about)
    return code or 0
