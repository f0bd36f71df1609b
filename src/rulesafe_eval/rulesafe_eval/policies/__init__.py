"""`rulesafe policy`: policies with and without memory, trained and described.

docs/policies.md tells what they are.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe policy` with these arguments; the exit code."""
    from rulesafe_eval.arguments import call_one
    from rulesafe_eval.policies.commands import SUBCOMMANDS

    about = (
        "Policies that learn from demonstrations. Example: rulesafe policy train demos "
        "--policy dp3 --size tiny --memory vq --out vq"
    )
    return call_one(SUBCOMMANDS, "rulesafe policy", about, argv)
