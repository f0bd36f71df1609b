"""`rulesafe memory`: memories of past joint positions trained, applied, drawn and measured.

docs/memory.md tells what they are.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe memory` with these arguments; the exit code."""
    from rulesafe_eval.arguments import call_one
    from rulesafe_eval.memory.commands import SUBCOMMANDS

    about = (
        "Memories of joint positions. Example: rulesafe memory tokens demos "
        "--model rule_001_rule_020 --out tokens.parquet"
    )
    return call_one(SUBCOMMANDS, "rulesafe memory", about, argv)
