"""Entry point of the node executables.

This module imports only what it needs to handle SIGINT; all other imports are in `node`.
"""

import os
import signal
import sys

NODES = "rulesafe.nodes"
"""Entry-point group that maps the name of a node's executable to its `main`."""


def node() -> int:
    """Run the node named like this executable; return its exit code (2: a package is missing, or it
    cannot start).

    Importing a node takes seconds, and a launch may already stop it during that time. Until the
    node installs its own handler, SIGINT ends the process with code 130 and without output: a
    KeyboardInterrupt during imports could be raised inside any library, and some libraries turn it
    into another exception.
    """
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    from importlib.metadata import entry_points
    from pathlib import Path

    from rulesafe_core.errors import RuleSafeError, missing_package
    from rulesafe_core.ros_environment import check_environment

    # The packages of a sourced workspace precede those of the Python environment.
    entry = next(iter(entry_points(group=NODES, name=Path(sys.argv[0]).name)))
    try:
        check_environment()
        main = entry.load()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code: int = main()
    except RuleSafeError as error:
        print(f"{entry.name}: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"{entry.name}: {missing_package(error)}", file=sys.stderr)
        return 2
    return code
