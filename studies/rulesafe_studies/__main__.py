"""The commands of the studies: `python -m rulesafe_studies COMMAND ...`."""

import sys
from importlib import import_module

from rulesafe_core.errors import RuleSafeError, unknown_name

COMMANDS = {
    "bench": "bench.commands:bench",
    "benchmarks": "benchmarks:write",
    "collect": "data:collect",
    "eval": "evaluation:evaluate",
    "fsq": "fsq:train_fsq",
    "habits": "habits:write",
    "information": "memory.commands:information",
    "join": "speeds:join",
    "leaderboard": "leaderboard:verify",
    "lock_yield": "lock_yield:count",
    "measure": "memory.commands:measure",
    "moves": "moves.baselines:train",
    "pages": "pages:write",
    "pair_film": "pair_film:draw",
    "reading": "reading.commands:reading",
    "reading_policy": "reading.commands:reading_policy",
    "safes": "safe_sheet:draw",
    "sealed_commitment": "sealed:commitment",
    "sealed_eval": "sealed:evaluate",
    "sealed_verify": "sealed:verify",
    "variations": "variations:draw",
}
"""Name -> module of this package, and the function; its first line is the command's help."""


def main(argv: list[str]) -> int:
    """Run a command line and return its exit code."""
    import tyro

    name, *arguments = argv or ["--help"]
    if name in ("-h", "--help"):
        print(f"usage: python -m rulesafe_studies COMMAND ...\n\ncommands: {', '.join(COMMANDS)}")
        return 0
    try:
        if name not in COMMANDS:
            raise unknown_name("command", name, COMMANDS)
        module, function = COMMANDS[name].split(":")
        command = getattr(import_module(f"rulesafe_studies.{module}"), function)
        code = tyro.cli(command, prog=f"python -m rulesafe_studies {name}", args=arguments)
    except RuleSafeError as error:
        print(f"rulesafe_studies: {error}", file=sys.stderr)
        return 2
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
