"""The command `rulesafe doctor`."""

from rulesafe_core.errors import unknown_name


def doctor(only: str = "") -> int:
    """Check whether this machine can run RuleSafe, and print a remedy for each problem.

    The checks start a few short processes and change nothing. The exit code is 1 if a check fails;
    `warn` marks limitations.

    Example: rulesafe doctor

    Args:
        only: Checks to run, comma-separated, as printed in the list; empty: all.
    """
    from rulesafe_ros.doctor.checks import CHECKS
    from rulesafe_ros.doctor.report import FAIL, as_line, summary

    names = only.split(",") if only else list(CHECKS)
    for name in names:
        if name not in CHECKS:
            raise unknown_name("check", name, CHECKS)
    items = {}
    for name in names:
        items[name] = CHECKS[name]()
        print(as_line(name, items[name]), flush=True)
    print(summary(items))
    return int(any(item.verdict == FAIL for item in items.values()))
