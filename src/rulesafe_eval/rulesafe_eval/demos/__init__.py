"""`rulesafe demos`: demonstrations of the expert, recorded, rendered, replayed and counted.

docs/demos.md tells how they are made and what they hold.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe demos` with these arguments; the exit code."""
    from rulesafe_eval.arguments import call_one
    from rulesafe_eval.demos.commands import SUBCOMMANDS

    about = "Demonstrations. Example: rulesafe demos generate --rules rule_001 --out demos"
    return call_one(SUBCOMMANDS, "rulesafe demos", about, argv)
