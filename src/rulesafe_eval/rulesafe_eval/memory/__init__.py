"""`rulesafe memory`: memories of past joint positions trained, applied, drawn and measured.

docs/memory.md tells what they are.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe memory` with these arguments; the exit code."""
    import tyro

    from rulesafe_eval.memory.commands import SUBCOMMANDS

    code: int | None = tyro.extras.subcommand_cli_from_dict(
        SUBCOMMANDS,
        prog="rulesafe memory",
        description="Memories of joint positions. Example: rulesafe memory tokens demos "
        "--model rule_001_rule_020 --out tokens.parquet",
        args=argv,
    )
    return code or 0
