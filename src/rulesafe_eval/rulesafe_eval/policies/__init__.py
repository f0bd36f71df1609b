"""`rulesafe policy`: policies with and without memory, trained and described.

docs/policies.md tells what they are.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe policy` with these arguments; the exit code."""
    import tyro

    from rulesafe_eval.policies.commands import SUBCOMMANDS

    code: int | None = tyro.extras.subcommand_cli_from_dict(
        SUBCOMMANDS,
        prog="rulesafe policy",
        description="Policies that learn from demonstrations. Example: rulesafe policy train demos "
        "--policy dp3 --size tiny --memory vq --out vq",
        args=argv,
    )
    return code or 0
