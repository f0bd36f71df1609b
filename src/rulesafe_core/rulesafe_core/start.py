"""How nodes are started: the function behind each node's executable."""

import os
import signal
import sys
from importlib.metadata import entry_points
from pathlib import Path

from rulesafe_core.errors import missing_package

NODES = "rulesafe.nodes"
"""Group of the entry points from a node's executable to its `main`."""


def node() -> int:
    """Run the node that this executable is named after; its exit code, 2 if a package is missing.

    Importing a node takes seconds, in which a launch whose other nodes failed may already end it.
    Until the node can answer itself, a SIGINT ends the process at once and without output: raised
    as an exception, it would come out of any line of any library, and some make another of it.
    """
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(0))
    # A sourced workspace comes before the packages of the environment.
    entry = next(iter(entry_points(group=NODES, name=Path(sys.argv[0]).name)))
    try:
        main = entry.load()
    except ModuleNotFoundError as error:
        print(f"{entry.name}: {missing_package(error)}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: int = main()
    return code
