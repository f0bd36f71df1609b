"""Goals of an arm movement: where points and axes of the hand must lie.

Example::

    goals = Goals(
        [PointConstraint("tips on the knob", PINCH_POINT, knob_point, box=(0.002, 0.002, 0.002))],
        [AxisConstraint("approach", HAND_AXES[:, 0], into_the_door, angle=0.2)],
    )

Positions are in m, angles in rad. Points and axes of the hand are in the frame of the hand's base,
targets in the pelvis frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.transforms import Transform

ANGLE_SCALE = 0.1
"""Metres per radian, to compare distances with angles: the tips are about 0.1 m from the wrist."""

INNER = 0.9
"""Factor on the tolerances that the solver uses, so that its error at convergence does not exceed
the true tolerances."""

RELATIONS = ("parallel", "antiparallel", "perpendicular")


def _vector(name: str, what: str, value: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(value, np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise RuleSafeError(f"constraint {name!r}: {what} must be three finite numbers")
    return vector


@dataclass(frozen=True)
class PointConstraint:
    """Require a point of the hand to lie in a box around a target.

    Args:
        hand_point: (3,) in the hand's base frame.
        target: (3,) in the pelvis frame, the middle of the box.
        box: half sizes along the columns of `axes`, each above 0.
        axes: (3, 3) rotation, the box's axes in the pelvis frame.
    """

    name: str
    hand_point: NDArray[np.float64]
    target: NDArray[np.float64]
    box: tuple[float, float, float] = (0.001, 0.001, 0.001)
    axes: NDArray[np.float64] = field(default_factory=lambda: np.eye(3))

    def __post_init__(self) -> None:
        _vector(self.name, "hand_point", self.hand_point)
        _vector(self.name, "target", self.target)
        if not (np.asarray(self.box) > 0).all() or len(self.box) != 3:
            raise RuleSafeError(f"constraint {self.name!r}: box must be three lengths above 0 m")


@dataclass(frozen=True)
class AxisConstraint:
    """Require an axis of the hand to be parallel, antiparallel or perpendicular to a target axis.

    Args:
        hand_axis: (3,) unit, in the hand's base frame.
        target_axis: (3,) unit, in the pelvis frame.
        angle: largest deviation, rad, above 0.
    """

    name: str
    hand_axis: NDArray[np.float64]
    target_axis: NDArray[np.float64]
    angle: float
    relation: Literal["parallel", "antiparallel", "perpendicular"] = "parallel"

    def __post_init__(self) -> None:
        for what in ("hand_axis", "target_axis"):
            axis = _vector(self.name, what, getattr(self, what))
            if abs(np.linalg.norm(axis) - 1) > 1e-6:
                raise RuleSafeError(f"constraint {self.name!r}: {what} must have length 1")
        if self.relation not in RELATIONS:
            raise unknown_name("relation", self.relation, RELATIONS)
        if not self.angle > 0:
            raise RuleSafeError(f"constraint {self.name!r}: angle must be above 0 rad")


class Residual(NamedTuple):
    """Violation of one constraint by a posture.

    `excess` is the amount beyond the tolerance, 0 where the constraint is met: in m for a point,
    in rad for an axis.
    """

    name: str
    excess: float
    unit: Literal["m", "rad"]

    @property
    def size(self) -> float:
        """The excess in m; angles are scaled by ANGLE_SCALE so that residuals can be compared."""
        return self.excess if self.unit == "m" else ANGLE_SCALE * self.excess

    def __str__(self) -> str:
        if self.unit == "m":
            return f"{self.name!r} by {1000 * self.excess:.0f} mm"
        return f"{self.name!r} by {np.degrees(self.excess):.0f} deg"


_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])  # components of a cross product's factors


def cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cross product along the last axis (3,).

    np.cross would take longer than all other work of a solver step.
    """
    return a[..., _NEXT] * b[..., _AFTER] - a[..., _AFTER] * b[..., _NEXT]


def _skew(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix (3, 3) whose product with x is the cross product of the vector with x."""
    x, y, z = vector.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


class Goals:
    """All constraints of one arm movement; each must be met within its own tolerance."""

    def __init__(self, points: Sequence[PointConstraint], axes: Sequence[AxisConstraint] = ()):
        if not points and not axes:
            raise RuleSafeError("an arm movement needs at least one constraint")
        self.points, self.axes = tuple(points), tuple(axes)
        self._hand_axes = np.array([a.hand_axis for a in axes]).reshape(-1, 3)
        sense = [-1.0 if a.relation == "antiparallel" else 1.0 for a in axes]
        self._target_axes = np.reshape([a.target_axis for a in axes], (-1, 3)).T * sense
        self._next, self._after = self._target_axes[_NEXT], self._target_axes[_AFTER]
        centre = [np.pi / 2 if a.relation == "perpendicular" else 0.0 for a in axes]
        boxes = np.array([p.box for p in points]).reshape(-1)
        angles = np.array([a.angle for a in axes])
        scale = ANGLE_SCALE
        self._middle = np.concatenate([np.zeros(len(boxes)), scale * np.array(centre)])
        self._tolerance = np.concatenate([boxes, scale * angles])
        self.low = self._middle - INNER * self._tolerance
        self.high = self._middle + INNER * self._tolerance

    def linearise(
        self, pose: tuple[NDArray, NDArray], jacobian: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the constraint values (m,), to lie between `low` and `high`, and their Jacobian.

        Args:
            pose: rotation and translation of the hand in the pelvis frame.
            jacobian: (6, n) of the hand's frame, along the pelvis axes.

        Returns:
            Values (m,) and derivatives (m, n) by the joints. A point has three rows (m), an axis
            has one (its angle, scaled to m).
        """
        rotation, translation = pose
        linear, angular = jacobian[:3], jacobian[3:]
        values, rows = np.empty(len(self.low)), np.empty((len(self.low), jacobian.shape[1]))
        for i, point in enumerate(self.points):  # rarely more than one
            arm = rotation @ point.hand_point
            where = slice(3 * i, 3 * i + 3)
            values[where] = point.axes.T @ (arm + translation - point.target)
            rows[where] = point.axes.T @ (linear - _skew(arm) @ angular)
        axes, targets = (self._hand_axes @ rotation.T).T, self._target_axes  # (3, a)
        # Cross products, with precomputed factors: `cross` would take a third of a solver step.
        across = axes.take(_NEXT, 0) * self._after - axes.take(_AFTER, 0) * self._next
        sine = np.sqrt(np.add.reduce(across * across))
        first = 3 * len(self.points)
        values[first:] = ANGLE_SCALE * np.arctan2(sine, np.add.reduce(axes * targets))
        rows[first:] = (-ANGLE_SCALE * across / np.maximum(sine, 1e-9)).T @ angular
        return values, rows

    def excess(self, values: NDArray[np.float64]) -> float:
        """Return the sum of how far values of `linearise` lie outside their tolerances, m."""
        beyond = np.abs(values - self._middle) - self._tolerance
        return float(np.add.reduce(np.maximum(beyond, 0.0)))

    def residuals(self, pose_hand_in_pelvis: Transform) -> tuple[Residual, ...]:
        """Return the residuals of all constraints for a pose of the hand: points, then axes."""
        pose = pose_hand_in_pelvis[:3, :3], pose_hand_in_pelvis[:3, 3]
        values, _ = self.linearise(pose, np.zeros((6, 1)))
        beyond = np.maximum(np.abs(values - self._middle) - self._tolerance, 0.0)
        points = beyond[: 3 * len(self.points)].reshape(-1, 3)
        angles = beyond[3 * len(self.points) :] / ANGLE_SCALE
        return (
            *(
                Residual(p.name, float(np.linalg.norm(b)), "m")
                for p, b in zip(self.points, points, strict=True)
            ),
            *(Residual(a.name, float(b), "rad") for a, b in zip(self.axes, angles, strict=True)),
        )


def pose_goals(pose_hand_in_pelvis: Transform, box: float = 0.002, angle: float = 0.03) -> Goals:
    """Return goals that keep the hand's base at a pose, within `box` (m) and `angle` (rad)."""
    rotation, eye = pose_hand_in_pelvis[:3, :3], np.eye(3)
    point = PointConstraint("position", np.zeros(3), pose_hand_in_pelvis[:3, 3], (box, box, box))
    return Goals(
        [point],
        [AxisConstraint(f"{n} axis", eye[i], rotation[:, i], angle) for i, n in enumerate("xyz")],
    )
