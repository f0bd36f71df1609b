"""`rulesafe demos`: demonstrations of the expert, recorded, rendered, replayed and counted.

docs/demos.md tells how they are made and what they hold.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe demos` with these arguments; the exit code."""
    import tyro  # here, since every worker process imports this package

    from rulesafe_eval.demos.commands import SUBCOMMANDS

    code: int | None = tyro.extras.subcommand_cli_from_dict(
        SUBCOMMANDS,
        prog="rulesafe demos",
        description="Demonstrations. Example: rulesafe demos generate --rules rule_001 --out demos",
        args=argv,
    )
    return code or 0
