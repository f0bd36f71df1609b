"""`rulesafe bridge`: a robot's bridge looked at, engaged, let go and stopped from the command line.

docs/robot.md tells when to call what.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe bridge` with these arguments; the exit code."""
    from rulesafe_eval.arguments import call_one, without_ros
    from rulesafe_eval.bridge.commands import SUBCOMMANDS

    about = "The bridge to a real robot. Example: rulesafe bridge check"
    return call_one(SUBCOMMANDS, "rulesafe bridge", about, without_ros(argv))
