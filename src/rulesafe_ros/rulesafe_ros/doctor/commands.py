"""The command `rulesafe doctor`."""

from rulesafe_core.errors import unknown_name


def doctor(only: tuple[str, ...] = ()) -> int:
    """Check what RuleSafe needs of this machine, with the remedy for each fault.

    Starts a few small processes and changes nothing. The exit code is 1 if a check fails; `warn`
    marks limitations.

    Example: rulesafe doctor

    Args:
        only: Names of checks, as they are printed; all if none is given.
    """
    from rulesafe_ros.doctor.checks import CHECKS
    from rulesafe_ros.doctor.report import FAIL, as_line, closing

    for name in only:
        if name not in CHECKS:
            raise unknown_name("item", name, CHECKS)
    items = {}
    for name in only or CHECKS:
        items[name] = CHECKS[name]()
        print(as_line(name, items[name]), flush=True)
    print(closing(items))
    return int(any(item.verdict == FAIL for item in items.values()))
