"""Recordings: the states of one attempt at 10 Hz, precise enough for a bit-identical replay.

A Parquet file with N + 1 rows for N frames: row t is the state at t * 0.1 s and the next action;
the action in the last row is NaN. Columns:

    time             s
    robot_positions  (J,) float32, rad: joints of the scene with mimics; facts["robot_joints"]
    robot_velocities (J,) float32, rad/s
    safe_positions   (3,) float32, rad: knob, handle, door
    action           (13,) float32, rad: ACTION_JOINTS
    part_open        (3,) bool
    part_locked      (3,) bool
    steps_done       number of completed steps of the rule's plan
    contact_force    (C,) float32, N; facts["contact_names"]
    step             the expert's step, from 1; 0 in the last row
    event            event of the step, such as "knob+"; empty in the last row
    attempt          the expert's attempt at the step, from 1; 0 in the last row
    operation        operation of the hand, such as "turn"; empty in the last row

The schema metadata contain the facts (JSON): rule, safe, seed, attempt, split, variation,
resampled, instruction, plan, program, events, steps, retries, success, failure, digest, versions,
and the names of joints and contacts; also lock, a path, if the rule is a user file. Wall times are
stored elsewhere (demo_folder.DemoFolder.note_timing), so that a repeated attempt gives the same
bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import FIXED_POSITIONS
from rulesafe_data.tables import about, read_columns, to_table, write_table
from rulesafe_locks.rules import PARTS
from rulesafe_sim.bodies import Joints
from rulesafe_sim.episode import Activity
from rulesafe_sim.simulation import Simulation

FORMAT = 1

STATE = (
    "robot_positions",
    "robot_velocities",
    "safe_positions",
    "part_open",
    "part_locked",
    "steps_done",
    "contact_force",
)
"""Columns determined by the physics, which a replay must reproduce."""


def snapshot(simulation: Simulation) -> dict[str, Any]:
    """Return the current time and the columns of STATE."""
    joints, state = simulation.joints(), simulation.state()
    return {
        "time": state.time,
        "robot_positions": joints.robot_positions,
        "robot_velocities": joints.robot_velocities,
        "safe_positions": joints.safe_positions,
        "part_open": np.array([state.part_open[part] for part in PARTS]),
        "part_locked": np.array([state.part_locked[part] for part in PARTS]),
        "steps_done": simulation.progress.steps_done,
        "contact_force": np.array(list(state.contact_forces.values()), np.float32),
    }


NO_ACTION = {
    "action": np.full(len(ACTION_JOINTS), np.nan, np.float32),
    "step": 0,
    "event": "",
    "attempt": 0,
    "operation": "",
}


class Recorder:
    """A subscriber that records the frames of an attempt."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.names: dict[str, list[str]] = {}

    def __call__(self, simulation: Simulation, action: NDArray | None, activity: Activity) -> None:
        """Record the state after the reset (`action` is None), or an executed action and the
        resulting state."""
        if action is None:
            self.names = {
                "robot_joints": list(simulation.joints().robot_joints),
                "safe_joints": list(PARTS),
                "action_joints": list(ACTION_JOINTS),
                "contact_names": list(simulation.state().contact_forces),
            }
        else:
            self.rows[-1] |= {"action": np.asarray(action, np.float32), **vars(activity)}
        self.rows.append(snapshot(simulation) | NO_ACTION)


def save(path: Path, rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write a recording atomically; equal rows and facts give equal bytes.

    Args:
        path: the file.
        rows: rows of a `Recorder`; empty for an attempt without states.
        facts: facts of the attempt, JSON.

    Raises:
        RuleSafeError: the disk is full.
    """
    names = rows[0] if rows else ()
    columns = {name: np.stack([np.asarray(row[name]) for row in rows]) for name in names}
    write_table(path, to_table(columns, {"format": FORMAT, **facts}))


@dataclass(frozen=True)
class RecordedAttempt:
    """An attempt read from a recording."""

    facts: Mapping[str, Any]
    columns: Mapping[str, NDArray[Any]]  # each (N + 1, ...)

    @property
    def frames(self) -> int:
        """N, the number of actions."""
        return max(0, len(self.columns.get("time", ())) - 1)

    def joints(self, frame: int) -> Joints:
        """Return the joints at frame 0..N."""
        return Joints(
            tuple(self.facts["robot_joints"]),
            self.columns["robot_positions"][frame],
            self.columns["robot_velocities"][frame],
            self.columns["safe_positions"][frame],
        )

    @property
    def rule_source(self) -> str:
        """Source of the rule for `load_rule`: the path of a user's lock file, or the rule's id."""
        source: str = self.facts.get("lock") or self.facts["rule"]
        return source

    def joint_positions(self) -> NDArray[np.float32]:
        """Return the positions (N, 39) before each action, rad, in the order of ALL_JOINTS."""
        return self._all_joints("robot_positions", FIXED_POSITIONS)

    def joint_velocities(self) -> NDArray[np.float32]:
        """Return the velocities (N, 39) before each action, rad/s, in the order of ALL_JOINTS."""
        return self._all_joints("robot_velocities", {})

    def _all_joints(self, column: str, fixed: Mapping[str, float]) -> NDArray[np.float32]:
        names = self.facts["robot_joints"]
        values = self.columns[column][:-1]
        found = np.empty((len(values), len(ALL_JOINTS)), np.float32)
        for i, name in enumerate(ALL_JOINTS):
            found[:, i] = values[:, names.index(name)] if name in names else fixed.get(name, 0.0)
        return found


def read_facts(path: Path) -> dict[str, Any]:
    """Read the facts of a recording, without its frames; raise RuleSafeError if it is invalid."""
    try:
        facts = about(path)
    except FileNotFoundError:
        raise RuleSafeError(f"the recording {path} does not exist") from None
    if facts.get("format") != FORMAT or "rule" not in facts:
        raise RuleSafeError(f"{path} is not a recording of an attempt in format {FORMAT}")
    return facts


def read(path: Path) -> RecordedAttempt:
    """Read a recording; raise RuleSafeError if it does not exist or is invalid."""
    facts, columns = read_facts(path), read_columns(path)
    if columns and (
        missing := [name for name in (*STATE, "time", "action") if name not in columns]
    ):
        raise RuleSafeError(f"{path} is damaged: it has no {', '.join(missing)}")
    return RecordedAttempt(facts, columns)
