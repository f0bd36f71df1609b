"""Normalisation of joints and actions, which is stored in the checkpoint. Needs numpy only."""

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
"""Minimum scale, rad: otherwise the noise of a joint that hardly moves would be amplified."""


@dataclass(frozen=True)
class Scaling:
    """The map x -> (x - offset) / scale, and its inverse; both (..., 13) float32, rad."""

    offset: Floats
    scale: Floats

    def encode(self, values: Floats) -> Floats:
        """Return the normalised values (..., 13)."""
        return (values - self.offset) / self.scale

    def decode(self, values: Floats) -> Floats:
        """Return the inverse of `encode`, up to rounding."""
        return values * self.scale + self.offset


def min_max(lower: Floats, upper: Floats) -> Scaling:
    """Return the scaling that maps lower .. upper (rad) to -1 .. 1, with a scale of at least
    FLOOR."""
    offset = (lower.astype(float) + upper) / 2
    scale = np.maximum((upper.astype(float) - lower) / 2, FLOOR)
    return Scaling(offset.astype(np.float32), scale.astype(np.float32))


@dataclass(frozen=True)
class Actions:
    """Normalisation of actions, in rad, to -1 .. 1.

    The range of a joint is a few radians, a hundred times the tolerance of a grasp. The range of
    its motion in the next tenths of a second is much smaller. Therefore the same error of the
    network is smaller in rad if actions are relative.

    Attributes:
        kind: "absolute": joint positions, normalised by the range of each joint. "relative":
            differences to the current posture, normalised by the range of each step of the chunk.
        scaling: (13,) of absolute actions, (P + 50, 13) of relative ones.
    """

    kind: ActionKind
    scaling: Scaling

    def encode(self, targets: Floats, now: Floats) -> Floats:
        """Normalise actions (B, P + 50, 13), rad, at the current posture (B, 13), rad."""
        return self.scaling.encode(targets - now[:, None] if self.kind == "relative" else targets)

    def decode(self, values: Floats, now: Floats) -> Floats:
        """Return actions (B, 50, 13), rad, from the normalised values of the last 50 steps at the
        current posture (B, 13), rad."""
        if self.kind == "absolute":
            return self.scaling.decode(values)
        steps = Scaling(self.scaling.offset[-CHUNK:], self.scaling.scale[-CHUNK:])
        return steps.decode(values) + now[:, None]


def fit_absolute(actions: Sequence[Floats]) -> Actions:
    """Return the normalisation of absolute actions.

    Args:
        actions: one array (N, 13) per episode, rad.
    """
    targets = np.concatenate(actions)
    return Actions("absolute", min_max(targets.min(0), targets.max(0)))


def fit_relative(
    joints: Sequence[Floats], actions: Sequence[Floats], past: int, margin: Floats | float = 0.0
) -> Actions:
    """Return the normalisation of relative actions, given joints and actions of each episode
    (N, 13), rad, for steps -past .. 49 of every frame.

    Args:
        margin: (13,), rad, by which ranges are extended, since noise on the joints shifts them.
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
    """Normalisation of joints (also those of a raw memory) and actions. If there is a safe frame,
    both are transformed to it before they are scaled."""

    joints: Scaling
    actions: Actions
    frame: SafeFrame | None = None

    def as_json(self) -> dict[str, Any]:
        """Return JSON values, from which float32 numbers are restored exactly."""
        return {
            "joints": _lists(self.joints),
            "actions": {"kind": self.actions.kind, **_lists(self.actions.scaling)},
            "safe_frame": None if self.frame is None else asdict(self.frame),
        }


def normaliser_from(about: Mapping[str, Any], past: int) -> Normaliser:
    """Return the normaliser from the values of `as_json`; raise RuleSafeError if invalid."""
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
    with np.errstate(over="ignore"):  # infinite values are refused
        offset, scale = (np.array(about[name], np.float32) for name in ("offset", "scale"))
    if offset.shape != shape or scale.shape != shape:
        shapes = f"{offset.shape}, {scale.shape}"
        raise RuleSafeError(f"the normaliser has offset and scale {shapes}; expected {shape}")
    if not (np.isfinite(offset).all() and np.isfinite(scale).all() and (scale > 0).all()):
        raise RuleSafeError("the normaliser must have finite offsets and finite scales above 0")
    return Scaling(offset, scale)
