"""Rigid transforms as 4x4 matrices.

A variable named `pose_a_in_b` maps coordinates in frame a to coordinates in frame b. Lengths are in
metres, angles in radians, quaternions in the order w, x, y, z.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from transforms3d.axangles import axangle2mat
from transforms3d.euler import euler2mat, mat2euler
from transforms3d.quaternions import mat2quat, quat2mat

Transform = NDArray[np.float64]  # (4, 4)
Vec3 = tuple[float, float, float]


def from_parts(rotation: ArrayLike, xyz: ArrayLike) -> Transform:
    """Build a transform from a rotation matrix (3, 3) and a translation (3,)."""
    transform = np.eye(4)
    transform[:3, :3] = rotation
    transform[:3, 3] = xyz
    return transform


def from_xyz_rpy(xyz: ArrayLike = (0, 0, 0), rpy: Sequence[float] = (0, 0, 0)) -> Transform:
    """Build a transform from a URDF <origin>: translation and fixed-axis roll, pitch, yaw."""
    return from_parts(euler2mat(*rpy, axes="sxyz"), xyz)


def to_rpy(transform: Transform) -> tuple[float, float, float]:
    """Return the rotation of a transform as fixed-axis roll, pitch, yaw."""
    return mat2euler(transform[:3, :3], axes="sxyz")


def from_xyz_quat(xyz: ArrayLike, quat_wxyz: ArrayLike) -> Transform:
    """Build a transform from a translation and a unit quaternion (w, x, y, z)."""
    return from_parts(quat2mat(np.asarray(quat_wxyz, float)), xyz)


def to_quat_wxyz(transform: Transform) -> NDArray[np.float64]:
    """Return the rotation of a transform as a unit quaternion (w, x, y, z)."""
    return mat2quat(transform[:3, :3])


def about_axis(axis: ArrayLike, angle: float, point: ArrayLike = (0, 0, 0)) -> Transform:
    """Build the rotation by an angle about the line through `point` along `axis`."""
    point = np.asarray(point, float)
    rotation = axangle2mat(np.asarray(axis, float), angle)
    return from_parts(rotation, point - rotation @ point)


def inverse(transform: Transform) -> Transform:
    """Invert a rigid transform."""
    rotation = transform[:3, :3].T
    return from_parts(rotation, -rotation @ transform[:3, 3])


def apply(transform: Transform, points: ArrayLike) -> NDArray[np.float64]:
    """Map points (..., 3) by a transform."""
    return np.asarray(points, float) @ transform[:3, :3].T + transform[:3, 3]


def rotation_between(source: ArrayLike, target: ArrayLike) -> NDArray[np.float64]:
    """Return the smallest rotation (3, 3) that turns direction `source` into `target`."""
    a = np.asarray(source, float) / np.linalg.norm(source)
    b = np.asarray(target, float) / np.linalg.norm(target)
    axis = np.cross(a, b)
    sine = np.linalg.norm(axis)
    cosine = float(a @ b)
    if sine > 1e-12:
        return axangle2mat(axis / sine, float(np.arctan2(sine, cosine)))
    if cosine > 0:
        return np.eye(3)
    helper = np.eye(3)[np.argmin(np.abs(a))]
    return axangle2mat(np.cross(a, helper), np.pi)
