"""`rulesafe bag`: what a graph said, recorded, looked at, played, made datasets and films of.

docs/bags.md tells how.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe bag` with these arguments; the exit code."""
    from rulesafe_eval.arguments import call_one, without_ros
    from rulesafe_eval.bag.commands import SUBCOMMANDS

    about = "Recordings of a ROS 2 graph. Example: rulesafe bag record --out bag"
    return call_one(SUBCOMMANDS, "rulesafe bag", about, without_ros(argv))
