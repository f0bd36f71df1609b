"""Options of a recording."""

from dataclasses import dataclass
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.writing import Splitting
from rulesafe_ros.bag.selection import Selection


@dataclass(frozen=True)
class RecordingOptions:
    """Options of a recording.

    Attributes:
        folder: folder of the bag, which is created.
        selection: the topics to record.
        compression: one of `files.COMPRESSIONS`.
        splitting: when to start a new file.
        clock: source of the message times: wall, the system clock; sim, /clock.
        seconds: duration in wall time, s; 0: until Ctrl-C.

    Raises:
        RuleSafeError: `seconds` is negative.
    """

    folder: Path
    selection: Selection = Selection()
    compression: str = "zstd"
    splitting: Splitting = Splitting()
    clock: str = "wall"
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.seconds < 0:
            raise RuleSafeError(f"the duration is {self.seconds:g} s; valid: 0 or more")
