"""The simulation node with cameras that wait while a file exists, and fail if it has a text.

python -m tests.ros.held_cameras FILE --ros-args ...
"""

import sys
import time
from pathlib import Path

from rulesafe_sim import node
from rulesafe_sim.observer import Views

HOLD = Path(sys.argv.pop(1))
take = Views.take


def held(views, joints, *names):
    while HOLD.exists():
        if text := HOLD.read_text("utf-8"):
            raise RuntimeError(text)
        time.sleep(0.01)
    return take(views, joints, *names)


if __name__ == "__main__":
    Views.take = held
    sys.exit(node.main())
