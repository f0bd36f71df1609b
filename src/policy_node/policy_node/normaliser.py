"""Joints and actions to numbers a network likes, and back. numpy alone; kept in the checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import CHUNK
from policy_node.safe_frame import SafeFrame
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS

Floats = NDArray[np.float32]
ActionKind = Literal["absolute", "relative"]

FLOOR = 0.02
"""Least scale, rad: a joint that hardly moves must not become mostly noise."""


@dataclass(frozen=True)
class Scaling:
    """(x - offset) / scale, and back. offset, scale (..., 13) float32, rad; scale above 0."""

    offset: Floats
    scale: Floats

    def encode(self, values: Floats) -> Floats:
        """Normalised values of the same shape (..., 13)."""
        return (values - self.offset) / self.scale

    def decode(self, values: Floats) -> Floats:
        """What `encode` made them of, but for rounding."""
        return values * self.scale + self.offset


def min_max(lower: Floats, upper: Floats, floor: float = FLOOR) -> Scaling:
    """Maps lower .. upper to -1 .. 1; less than that where they lie closer than 2 floor (rad)."""
    offset = (lower.astype(float) + upper) / 2
    scale = np.maximum((upper.astype(float) - lower) / 2, floor)
    return Scaling(offset.astype(np.float32), scale.astype(np.float32))


def mean_std(rows: Floats, floor: float = FLOOR) -> Scaling:
    """Maps rows (N, 13) to mean 0 and standard deviation 1, or less below the floor (rad)."""
    wide = rows.astype(float)
    scale = np.maximum(wide.std(0), floor)
    return Scaling(wide.mean(0).astype(np.float32), scale.astype(np.float32))


class Actions(Protocol):
    """How targets become numbers in -1 .. 1, knowing the present posture."""

    @property
    def scaling(self) -> Scaling: ...

    def encode(self, targets: Floats, now: Floats) -> Floats:
        """Targets (B, P + 50, 13), rad, and posture (B, 13), rad, to the same shape."""
        ...

    def decode(self, values: Floats, now: Floats) -> Floats:
        """The last 50 rows' values (B, 50, 13) to targets in rad."""
        ...


@dataclass(frozen=True)
class AbsoluteActions:
    """Targets by the range of each joint: scaling (13,)."""

    scaling: Scaling

    def encode(self, targets: Floats, now: Floats) -> Floats:
        return self.scaling.encode(targets)

    def decode(self, values: Floats, now: Floats) -> Floats:
        return self.scaling.decode(values)


@dataclass(frozen=True)
class RelativeActions:
    """Targets less the present posture, by the range that each row of the chunk has: scaling
    (P + 50, 13).

    A joint's whole range is some radians, a hundred times what a grasp may be off; what it does in
    the next tenths of a second is not, so the same error of the network is a smaller one in rad.
    """

    scaling: Scaling

    def encode(self, targets: Floats, now: Floats) -> Floats:
        return self.scaling.encode(targets - now[:, None])

    def decode(self, values: Floats, now: Floats) -> Floats:
        rows = Scaling(self.scaling.offset[-CHUNK:], self.scaling.scale[-CHUNK:])
        return rows.decode(values) + now[:, None]


ACTIONS: dict[str, type[AbsoluteActions] | type[RelativeActions]] = {
    "absolute": AbsoluteActions,
    "relative": RelativeActions,
}


def fit_absolute(actions: Sequence[Floats]) -> AbsoluteActions:
    """From each episode's targets (N, 13)."""
    rows = np.concatenate(actions)
    return AbsoluteActions(min_max(rows.min(0), rows.max(0)))


def fit_relative(
    joints: Sequence[Floats], actions: Sequence[Floats], past: int, margin: Floats | float = 0.0
) -> RelativeActions:
    """From each episode's joints and targets (N, 13), over every frame's rows -past .. 49, and
    `margin` (13,), rad, more: noise on the joints moves the targets against them."""
    lower = np.full((past + CHUNK, len(ACTION_JOINTS)), np.inf, np.float32)
    upper = -lower
    for now, targets in zip(joints, actions, strict=True):
        frames = np.arange(len(targets))
        for row in range(past + CHUNK):
            moved = targets[np.clip(frames + row - past, 0, len(targets) - 1)] - now
            lower[row] = np.minimum(lower[row], moved.min(0))
            upper[row] = np.maximum(upper[row], moved.max(0))
    return RelativeActions(min_max(lower - margin, upper + margin))


@dataclass(frozen=True)
class Normaliser:
    """What a checkpoint keeps: joints (also the rows of raw memory) and actions; the frame that
    both are in before they are scaled, None for the robot's own."""

    joints: Scaling
    actions: Actions
    frame: SafeFrame | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; a float32 survives being written as decimal digits."""
        kinds: dict[type, str] = {kind: name for name, kind in ACTIONS.items()}
        return {
            "joints": _lists(self.joints),
            "actions": {"kind": kinds[type(self.actions)], **_lists(self.actions.scaling)},
            "safe_frame": None if self.frame is None else asdict(self.frame),
        }


def normaliser_from(about: Mapping[str, Any], past: int) -> Normaliser:
    """From what `as_json` gave. Errors: RuleSafeError if it is not that."""
    try:
        kind = about["actions"]["kind"]
        if kind not in ACTIONS:
            raise unknown_name("kind of actions", kind, ACTIONS)
        joints = (len(ACTION_JOINTS),)
        rows = joints if kind == "absolute" else (past + CHUNK, *joints)
        actions = ACTIONS[kind](_scaling(about["actions"], rows))
        frame = about.get("safe_frame")
        place = None if frame is None else SafeFrame(**{k: float(v) for k, v in frame.items()})
        return Normaliser(_scaling(about["joints"], joints), actions, place)
    except (KeyError, TypeError, ValueError) as error:
        raise RuleSafeError(f"the normaliser is not understood: {error!r}") from error


def _lists(scaling: Scaling) -> dict[str, Any]:
    return {"offset": scaling.offset.tolist(), "scale": scaling.scale.tolist()}


def _scaling(about: Mapping[str, Any], shape: tuple[int, ...]) -> Scaling:
    offset, scale = (np.array(about[name], np.float32) for name in ("offset", "scale"))
    if offset.shape != shape or scale.shape != shape:
        raise RuleSafeError(f"the normaliser is {offset.shape}, {scale.shape}; expected {shape}")
    if not (np.isfinite(offset).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise RuleSafeError("the normaliser must be finite, and its scale above 0")
    return Scaling(offset, scale)
