"""What a page shows, made of what was heard; written to a board. No ROS here."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex

from rulesafe_core.chunks import SECOND, Chunk
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.urdf import to_urdf
from rulesafe_demos.film.strip import Tokens
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.frames import Frames
from rulesafe_ros.view.history import History, rounded
from rulesafe_sim.safes import SAFES
from vq_memory_node.colours import cluster_colours

BACKWARDS = SECOND // 10
"""ns by which stamps may fall behind the newest before they are of something else that began: a
new simulation, a bag that starts over."""

JOINT_NAMES = (
    *("shoulder pitch", "shoulder roll", "shoulder yaw", "elbow"),
    *("wrist roll", "wrist pitch", "wrist yaw"),
    *("pinky", "ring", "middle", "index", "thumb bend", "thumb turn"),
)
"""ACTION_JOINTS in a person's words."""


def choices(exposed: bool) -> dict[str, Any]:
    """The section `setup`: what the page offers."""
    return {
        "rules": [{"id": rule, "words": load_rule(rule).description} for rule in RULES],
        "safes": list(SAFES),
        "joints": list(JOINT_NAMES),
        "token": exposed,
    }


class Model:
    """Feeds a board. Stamps are ns of the graph's clock.

    Attributes:
        frames: where the links are.
    """

    def __init__(self, board: Board):
        self.frames = Frames()
        self._board = board
        self._started: int | None = None
        self._chunk: Chunk | None = None
        self._newest = 0
        self._history: History | None = None
        self._notices: dict[str, dict[str, Any]] = {}

    def _begin(self, origin: int) -> None:
        self._history, self._chunk = History(origin), None
        self._newest = 0
        self._notices = {}
        self._board.put("notices", [])
        self._board.put("chunk", None)
        self._board.put("sample", None)
        self._board.put("history", {"origin": origin, "rows": []})

    def started(self, stamp: int) -> None:
        """An episode began at this stamp."""
        if stamp != self._started:
            self._started = stamp
            self._begin(stamp)

    def joints(self, stamp: int, positions: Mapping[str, float]) -> None:
        """All joints that were measured, rad; what is not finite is left out."""
        positions = {name: float(p) for name, p in positions.items() if np.isfinite(p)}
        if self._history is None or stamp < self._newest - BACKWARDS:
            began = self._started is not None and self._started <= stamp
            self._begin(self._started if began and self._started is not None else stamp)
        assert self._history is not None
        self._newest = max(stamp, self._newest)
        self.frames.joints(positions)
        shown = {name: round(position, 4) for name, position in positions.items()}
        time = round((stamp - self._history.origin) / SECOND, 3)
        self._board.put("joints", {"time": time, "positions": shown})
        if all(name in positions for name in ACTION_JOINTS):
            measured = np.array([positions[name] for name in ACTION_JOINTS])
            if row := self._history.add(stamp, measured, self._chunk):
                self._board.put("sample", row)

    def history(self) -> dict[str, Any] | None:
        """The section `history` with all rows, for a page that comes late."""
        if self._history is None:
            return None
        return {"origin": self._history.origin, "rows": list(self._history.rows)}

    def chunk(self, chunk: Chunk) -> None:
        """What a policy asks for from now on."""
        if self._history is None:
            return
        self._chunk = chunk
        times = (chunk.times - self._history.origin) / SECOND
        rows = [rounded(row) for row in chunk.rows]
        self._board.put("chunk", {"times": np.round(times, 3).tolist(), "rows": rows})

    def tokens(self, tokens: Tokens, model: str) -> None:
        """A memory's tokens; `model`: the hash of what made them."""
        palette = cluster_colours(tokens.vocabulary)
        values = tokens.reading.values
        self._board.put(
            "tokens",
            {
                "values": values.tolist(),
                "mask": tokens.reading.mask.tolist(),
                "colours": [to_hex(palette[value]) for value in values],
                "vocabulary": tokens.vocabulary,
                "seconds": tokens.seconds,
                "model": model,
            },
        )

    def status(self, status: Mapping[str, Any]) -> None:
        """The lock's state, as `rulesafe_ros.view.convert.status_section` has it."""
        self.frames.status(status)
        self._board.put("status", dict(status))

    def robot(self, urdf: str) -> None:
        """The robot's URDF. A page cannot read mesh files of another machine: a robot with meshes
        is drawn as our primitives, whose links and joints are the same."""
        self.frames.robot(urdf)
        self._board.put("robot", to_urdf(h1_2()) if "<mesh" in urdf else urdf)

    def safe(self, urdf: str) -> None:
        """The URDF of the safe and its stand."""
        self.frames.safe(urdf)
        self._board.put("safe", urdf)

    def notice(self, found: Sequence[tuple[str, str, str]]) -> None:
        """Name, level ("ok", "warning", "error") and words of diagnostics; who is well again
        drops out."""
        for name, level, words in found:
            if level == "ok":
                self._notices.pop(name, None)
            else:
                self._notices[name] = {"name": name, "level": level, "words": words}
        self._board.put("notices", list(self._notices.values()))
