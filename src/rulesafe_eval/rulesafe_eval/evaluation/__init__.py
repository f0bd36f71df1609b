"""`rulesafe eval`: policies, the expert and oracles on the same episodes, counted and compared.

docs/evaluation.md tells what is measured, and what results.json holds.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe eval` with these arguments; the exit code."""
    import tyro  # here, since every worker process imports this package

    from rulesafe_eval.evaluation.commands import SUBCOMMANDS, evaluate

    if argv and argv[0] in SUBCOMMANDS:
        code: int | None = tyro.cli(
            SUBCOMMANDS[argv[0]], prog=f"rulesafe eval {argv[0]}", args=argv[1:]
        )
    else:
        code = tyro.cli(evaluate, prog="rulesafe eval", args=argv)
    return code or 0
