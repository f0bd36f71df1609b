"""The command `rulesafe doctor`."""

from rulesafe_core.errors import unknown_name


def doctor(only: tuple[str, ...] = ()) -> int:
    """Check whether this machine can run RuleSafe, and print a remedy for each problem.

    The checks start a few short processes and change nothing. The exit code is 1 if a check fails;
    `warn` marks limitations.

    Example: rulesafe doctor

    Args:
        only: Names of the checks to run, as printed in the list; default: all.
    """
    from rulesafe_ros.doctor.checks import CHECKS
    from rulesafe_ros.doctor.report import FAIL, as_line, summary

    for name in only:
        if name not in CHECKS:
            raise unknown_name("check", name, CHECKS)
    items = {}
    for name in only or CHECKS:
        items[name] = CHECKS[name]()
        print(as_line(name, items[name]), flush=True)
    print(summary(items))
    return int(any(item.verdict == FAIL for item in items.values()))
