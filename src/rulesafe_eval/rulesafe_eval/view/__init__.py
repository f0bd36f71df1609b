"""`rulesafe view`: what goes on, live, on a page in the browser and in Foxglove.

docs/view.md tells what is to be seen, and who may press the buttons.
"""


def main(argv: list[str]) -> int:
    """Run `rulesafe view` with these arguments; the exit code."""
    import tyro

    from rulesafe_eval.arguments import without_ros
    from rulesafe_eval.view.commands import view

    # Not by arguments.call, which takes no None: it is a value here, of --foxglove-port.
    code: int | None = tyro.cli(view, prog="rulesafe view", args=without_ros(argv))
    return code or 0
