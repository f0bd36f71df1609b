"""Normalisation of joints and actions. numpy only; kept in the checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

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
        """Return normalised values of the same shape (..., 13)."""
        return (values - self.offset) / self.scale

    def decode(self, values: Floats) -> Floats:
        """Return the inverse of `encode`, up to rounding."""
        return values * self.scale + self.offset


def min_max(lower: Floats, upper: Floats, floor: float = FLOOR) -> Scaling:
    """Map lower .. upper to -1 .. 1; to less where they are closer than 2 floor (rad)."""
    offset = (lower.astype(float) + upper) / 2
    scale = np.maximum((upper.astype(float) - lower) / 2, floor)
    return Scaling(offset.astype(np.float32), scale.astype(np.float32))


@dataclass(frozen=True)
class Actions:
    """Normalisation of targets, in rad, to -1 .. 1.

    A joint's complete range is some radians, a hundred times the tolerance of a grasp; its motion
    in the next tenths of a second is not, so the same error of the network is smaller in rad if
    targets are relative.

    Attributes:
        kind: absolute: targets by the range of each joint. relative: targets less the present
            posture, by the range of each step of the chunk.
        scaling: (13,) of absolute targets, (P + 50, 13) of relative ones.
    """

    kind: ActionKind
    scaling: Scaling

    def encode(self, targets: Floats, now: Floats) -> Floats:
        """Normalise targets (B, P + 50, 13) at a posture (B, 13)."""
        return self.scaling.encode(targets - now[:, None] if self.kind == "relative" else targets)

    def decode(self, values: Floats, now: Floats) -> Floats:
        """Return targets (B, 50, 13) of the last 50 steps' values, at a posture (B, 13)."""
        if self.kind == "absolute":
            return self.scaling.decode(values)
        steps = Scaling(self.scaling.offset[-CHUNK:], self.scaling.scale[-CHUNK:])
        return steps.decode(values) + now[:, None]


def fit_absolute(actions: Sequence[Floats]) -> Actions:
    """Fit to each episode's targets (N, 13)."""
    targets = np.concatenate(actions)
    return Actions("absolute", min_max(targets.min(0), targets.max(0)))


def fit_relative(
    joints: Sequence[Floats], actions: Sequence[Floats], past: int, margin: Floats | float = 0.0
) -> Actions:
    """Fit to each episode's joints and targets (N, 13), for steps -past .. 49 at every frame.

    Args:
        margin: (13,), rad, added to the ranges: noise on the joints shifts the targets relative to
            them.
    """
    lower = np.full((past + CHUNK, len(ACTION_JOINTS)), np.inf, np.float32)
    upper = -lower
    for now, targets in zip(joints, actions, strict=True):
        frames = np.arange(len(targets))
        for step in range(past + CHUNK):
            moved = targets[np.clip(frames + step - past, 0, len(targets) - 1)] - now
            lower[step] = np.minimum(lower[step], moved.min(0))
            upper[step] = np.maximum(upper[step], moved.max(0))
    return Actions("relative", min_max(lower - margin, upper + margin))


@dataclass(frozen=True)
class Normaliser:
    """Normalisation that a checkpoint keeps: of joints (also those of a raw memory) and of actions;
    the frame of both before they are scaled, None for the robot's own."""

    joints: Scaling
    actions: Actions
    frame: SafeFrame | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values; a float32 is exact in decimal digits."""
        return {
            "joints": _lists(self.joints),
            "actions": {"kind": self.actions.kind, **_lists(self.actions.scaling)},
            "safe_frame": None if self.frame is None else asdict(self.frame),
        }


def normaliser_from(about: Mapping[str, Any], past: int) -> Normaliser:
    """Make the normaliser that `as_json` described. Errors: RuleSafeError if it is not valid."""
    try:
        kind = about["actions"]["kind"]
        if kind not in get_args(ActionKind):
            raise unknown_name("kind of actions", kind, get_args(ActionKind))
        joints = (len(ACTION_JOINTS),)
        shape = joints if kind == "absolute" else (past + CHUNK, *joints)
        frame = about.get("safe_frame")
        return Normaliser(
            _scaling(about["joints"], joints),
            Actions(kind, _scaling(about["actions"], shape)),
            None if frame is None else SafeFrame(**{k: float(v) for k, v in frame.items()}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RuleSafeError(f"the normaliser is not valid: {error!r}") from error


def _lists(scaling: Scaling) -> dict[str, Any]:
    return {"offset": scaling.offset.tolist(), "scale": scaling.scale.tolist()}


def _scaling(about: Mapping[str, Any], shape: tuple[int, ...]) -> Scaling:
    offset, scale = (np.array(about[name], np.float32) for name in ("offset", "scale"))
    if offset.shape != shape or scale.shape != shape:
        raise RuleSafeError(f"the normaliser is {offset.shape}, {scale.shape}; expected {shape}")
    if not (np.isfinite(offset).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise RuleSafeError("the normaliser must be finite, and its scale above 0")
    return Scaling(offset, scale)
