"""Convert decoded messages to the sections of the page, and write them to a board."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.chunks import SECOND, Chunk
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.urdf import to_urdf
from rulesafe_core.urdf_reader import read_kinematics
from rulesafe_data.films.colours import cluster_colours
from rulesafe_data.films.strip import Tokens
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.boxes import without_meshes
from rulesafe_ros.view.sources import image_source
from rulesafe_sim.safes import SAFES
from teleop_node.keys import HELP_TEXT

BACKWARDS = SECOND // 10
"""Largest backward step of the stamps, ns; after a larger one, the history is reset."""

JOINT_NAMES = (
    *("shoulder pitch", "shoulder roll", "shoulder yaw", "elbow"),
    *("wrist roll", "wrist pitch", "wrist yaw"),
    *("pinky", "ring", "middle", "index", "thumb bend", "thumb turn"),
)
"""Labels of ACTION_JOINTS on the page."""


HISTORY_STEP = 0.095
"""Minimum time between two rows of the history, s; shorter than a frame, since stamps jitter."""

HISTORY_LENGTH = 1200
"""Maximum number of rows of the history: two minutes."""

HistoryRow = list[float | None]
"""Time in s, 13 positions and 13 targets (None: no target), rad."""


class JointHistory:
    """Joint positions and targets of an episode that started at `origin` (ns), for the plots."""

    def __init__(self, origin: int):
        self.origin = origin
        self.rows: list[HistoryRow] = []

    def add(
        self, stamp: int, positions: NDArray[np.float64], chunk: Chunk | None
    ) -> HistoryRow | None:
        """Add positions (13,), rad, at `stamp` (ns); return the row, or None if none is due."""
        time = round((stamp - self.origin) / SECOND, 3)
        last = self.rows[-1][0] if self.rows else None
        if last is not None and time - last < HISTORY_STEP:
            return None
        row: HistoryRow = [time, *rounded(positions), *targets(chunk, stamp, len(positions))]
        self.rows.append(row)
        del self.rows[:-HISTORY_LENGTH]
        return row


def rounded(values: NDArray[np.float64]) -> list[float]:
    """Return the values rounded to 0.1 mrad."""
    return [round(value, 4) for value in values.tolist()]


def targets(chunk: Chunk | None, stamp: int, width: int) -> HistoryRow:
    """Return the target of each joint at `stamp` (ns), rad; None outside the chunk."""
    if chunk is None or not chunk.times[0] <= stamp <= chunk.end:
        return [None] * width
    rows = [np.interp(stamp, chunk.times, column) for column in chunk.steps.T]
    return list(rounded(np.array(rows)))


def choices(exposed: bool, cameras: CameraSet = DEFAULT_CAMERAS) -> dict[str, Any]:
    """Return the section `setup`: rules, safes, joint labels and cameras."""
    return {
        "rules": [{"id": rule, "description": load_rule(rule).description} for rule in RULES],
        "safes": list(SAFES),
        "joints": list(JOINT_NAMES),
        "cameras": {image_source(camera.name): camera.name for camera in cameras},
        "token": exposed,
    }


class ViewModel:
    """Converts ROS messages to sections of the page and writes them to a `Board`.

    Stamps are in ns of the ROS clock (/clock or system time).
    """

    def __init__(self, board: Board):
        self._board = board
        self._started: int | None = None
        self._chunk: Chunk | None = None
        self._newest = 0
        self._history: JointHistory | None = None
        self._notices: dict[str, dict[str, Any]] = {}

    def _begin(self, origin: int) -> None:
        self._history, self._chunk = JointHistory(origin), None
        self._newest = 0
        self._notices = {}
        self._board.put("notices", [])
        self._board.put("teleoperation", None)
        self._board.put("chunk", None)
        self._board.put("sample", None)
        self._board.put("history", {"origin": origin, "rows": []})

    def started(self, stamp: int) -> None:
        """Start an episode at this stamp."""
        if stamp != self._started:
            self._started = stamp
            self._begin(stamp)

    def joints(self, stamp: int, positions: Mapping[str, float]) -> None:
        """Show the measured joint positions, rad; positions that are not finite are skipped."""
        positions = {name: float(p) for name, p in positions.items() if np.isfinite(p)}
        if self._history is None or stamp < self._newest - BACKWARDS:
            in_episode = self._started is not None and self._started <= stamp
            self._begin(self._started if in_episode and self._started is not None else stamp)
        assert self._history is not None
        self._newest = max(stamp, self._newest)
        shown = {name: round(position, 4) for name, position in positions.items()}
        time = round((stamp - self._history.origin) / SECOND, 3)
        self._board.put("joints", {"time": time, "positions": shown})
        if all(name in positions for name in ACTION_JOINTS):
            measured = np.array([positions[name] for name in ACTION_JOINTS])
            if row := self._history.add(stamp, measured, self._chunk):
                self._board.put("sample", row)

    def history(self) -> dict[str, Any] | None:
        """Return the section `history` with all rows, for a page that was just opened."""
        if self._history is None:
            return None
        return {"origin": self._history.origin, "rows": list(self._history.rows)}

    def chunk(self, chunk: Chunk) -> None:
        """Show an action chunk."""
        if self._history is None:
            return
        self._chunk = chunk
        times = (chunk.times - self._history.origin) / SECOND
        rows = [rounded(row) for row in chunk.steps]
        self._board.put("chunk", {"times": np.round(times, 3).tolist(), "rows": rows})

    def tokens(self, tokens: Tokens, model: str) -> None:
        """Show memory tokens; `model` is the hash of the memory's tokenizer."""
        palette = cluster_colours(tokens.vocabulary)
        values = tokens.values
        self._board.put(
            "tokens",
            {
                "values": values.tolist(),
                "mask": tokens.mask.tolist(),
                "colours": [to_hex(palette[value]) for value in values],
                "vocabulary": tokens.vocabulary,
                "seconds": tokens.seconds,
                "model": model,
            },
        )

    def status(self, status: Mapping[str, Any]) -> None:
        """Show the state of the episode; see `rulesafe_ros.view.convert.status_section`."""
        self._board.put("status", dict(status))

    def robot(self, urdf: str) -> None:
        """Show a robot's URDF.

        A browser cannot read mesh files, so a robot with meshes is drawn with RuleSafe's primitive
        shapes, which have the same links and joints.
        """
        read_kinematics(urdf)  # raises an error for an invalid URDF
        self._board.put("robot", to_urdf(h1_2()) if "<mesh" in urdf else urdf)

    def safe(self, urdf: str) -> None:
        """Show the URDF of the safe and its support."""
        read_kinematics(urdf)
        self._board.put("safe", without_meshes(urdf))

    def notice(self, diagnostics: Sequence[tuple[str, str, str]]) -> None:
        """Show diagnostics (name, level, text); the level "ok" removes a notice. The status of
        teleop_node has a section of its own, with the keys."""
        for name, level, text in diagnostics:
            if name == "teleop_node":
                self._board.put("teleoperation", {"status": text, "keys": HELP_TEXT})
            if level == "ok":
                self._notices.pop(name, None)
            else:
                self._notices[name] = {"name": name, "level": level, "text": text}
        self._board.put("notices", list(self._notices.values()))
