"""What is recorded, and how."""

from dataclasses import dataclass
from pathlib import Path

from rulesafe_data.bags.writing import Splitting
from rulesafe_ros.bag.selection import Selection


@dataclass(frozen=True)
class RecordingOptions:
    """What is recorded, and how.

    Attributes:
        folder: of the bag; is made.
        selection: the topics.
        compression: one of `files.COMPRESSIONS`.
        splitting: into files.
        clock: source of the messages' times: wall, this machine's clock; sim, /clock.
        seconds: of wall time after which it ends; 0: at Ctrl-C.
    """

    folder: Path
    selection: Selection = Selection()
    compression: str = "zstd"
    splitting: Splitting = Splitting()
    clock: str = "wall"
    seconds: float = 0.0
