"""How nodes are started.

Beside `rulesafe_sim` and not in it, for that imports Gymnasium and NumPy, half of the time in which
a node cannot answer yet.
"""

import os
import signal
from collections.abc import Callable
from importlib import import_module


def starter(module: str) -> Callable[[], int]:
    """What runs the `main` of a node's module; its exit code.

    Importing a node takes seconds, in which a launch whose other nodes failed may already end it.
    Until the node can answer itself, a SIGINT ends the process at once and without a word: raised
    as an exception, it would come out of any line of any library, and some make another of it.
    """

    def start() -> int:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(0))
        main: Callable[[], int] = import_module(module).main
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return main()

    return start
