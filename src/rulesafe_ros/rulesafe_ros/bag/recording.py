"""What to record, and how."""

from dataclasses import dataclass
from pathlib import Path

from rulesafe_data.bags.writing import Splitting
from rulesafe_ros.bag.selection import Selection


@dataclass(frozen=True)
class Recording:
    """What to record, and how.

    Attributes:
        folder: of the bag; made.
        selection: the topics.
        compression: one of `files.COMPRESSIONS`.
        splitting: into files.
        clock: whose time messages get: wall, this machine's; sim, that of /clock.
        seconds: of wall time after which it ends; 0: at Ctrl-C.
    """

    folder: Path
    selection: Selection = Selection()
    compression: str = "zstd"
    splitting: Splitting = Splitting()
    clock: str = "wall"
    seconds: float = 0.0
