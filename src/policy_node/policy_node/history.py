"""The last frames of an episode, and the observation made of them. numpy alone.

The runner in process and the policy's node both make their observations here, so that a policy sees
the same at the same frame. Parts of a frame may come one by one and in any order, and pictures or
clouds only at the frames that a policy will be shown. Example::

    history = History(policy.needs)
    history.push(0, joints, points)
    chunk = policy.infer(history.observation(0, instruction="..."))
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import CAMERAS, NOTHING, Needs, Observation
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import Reading

KEPT = 20
"""Frames that are kept besides those of one observation: parts of a frame may come this late."""

POINT = 6
"""Values of a point: x, y, z in the pelvis frame (m), r, g, b in 0..1."""


class ObservationHistory:
    """What was seen at the last frames of one episode; frames are counted at 10 Hz.

    Args:
        needs: of the policy; what it does not ask for is not kept.
    """

    def __init__(self, needs: Needs) -> None:
        if needs.frames < 1:
            raise RuleSafeError(f"a policy needs at least 1 frame, not {needs.frames}")
        if not 0 <= needs.clouds <= needs.frames:
            raise RuleSafeError(f"a policy needs 0..{needs.frames} clouds, not {needs.clouds}")
        self.needs = needs
        self.reset()

    def reset(self, first: int = 0) -> None:
        """Forgets everything; the episode begins with the frame `first`."""
        self._first = first
        self._joints: dict[int, NDArray[np.float32]] = {}
        self._points: dict[int, NDArray[np.float32]] = {}
        self._images: dict[int, dict[str, NDArray[np.uint8]]] = {}

    def window(self, frame: int) -> tuple[int, ...]:
        """The `needs.frames` frames that an observation at `frame` shows, oldest first: before the
        episode's first frame that one is repeated."""
        return tuple(
            max(self._first, frame - back) for back in range(self.needs.frames - 1, -1, -1)
        )

    def clouds(self, frame: int) -> tuple[int, ...]:
        """Those of them whose clouds are shown."""
        return self.window(frame)[self.needs.frames - self.needs.cloud_frames :]

    def push(
        self,
        frame: int,
        joints: NDArray[Any] | None = None,
        points: NDArray[Any] | None = None,
        images: Mapping[str, NDArray[np.uint8]] | None = None,
    ) -> None:
        """Takes what is known of a frame; later calls add to it.

        Args:
            frame: its number.
            joints: (13,) rad, order of ACTION_JOINTS.
            points: (n, 6) with n >= `needs.points`, in the order of farthest-point sampling.
            images: by camera, (H, W, 3) uint8.

        Errors: RuleSafeError for a wrong shape, or what is not finite; nothing is taken then.
        """
        kept_joints = None if joints is None else _joints(joints)
        count = self.needs.points
        kept_points = None if points is None or not count else _points(points, count)
        kept_images = {}
        if self.needs.images:
            kept_images = {camera: _image(camera, p) for camera, p in (images or {}).items()}
        if kept_joints is not None:
            self._joints[frame] = kept_joints
        if kept_points is not None:
            self._points[frame] = kept_points
        if kept_images:
            self._images.setdefault(frame, {}).update(kept_images)
        for parts in (self._joints, self._points, self._images):
            self._forget(parts)

    def _forget(self, parts: dict[int, Any]) -> None:
        if parts:
            oldest = max(parts) - self.needs.frames - KEPT
            for frame in [frame for frame in parts if frame < oldest]:
                del parts[frame]

    def missing(self, frame: int) -> tuple[str, ...]:
        """What an observation at `frame` still lacks: of "joints", "points" and the cameras."""
        window = self.window(frame)
        lacking = [] if all(f in self._joints for f in window) else ["joints"]
        if not all(f in self._points for f in self.clouds(frame)):
            lacking.append("points")
        if self.needs.images:
            seen = self._images.get(frame, {})
            lacking += [camera for camera in CAMERAS if camera not in seen]
        return tuple(lacking)

    def observation(
        self, frame: int, instruction: str = "", memory: Reading = NOTHING
    ) -> Observation:
        """What the policy is shown at `frame`. Errors: RuleSafeError where parts are missing."""
        if lacking := self.missing(frame):
            raise RuleSafeError(f"nothing was seen at frame {frame} of: {', '.join(lacking)}")
        window = self.window(frame)
        clouds = [self._points[f] for f in self.clouds(frame)]
        images = {}
        if self.needs.images:
            images = {camera: self._images[frame][camera] for camera in CAMERAS}
        return Observation(
            joints=np.stack([self._joints[f] for f in window]),
            points=np.stack(clouds) if clouds else None,
            images=images,
            instruction=instruction if self.needs.instruction else "",
            memory=memory if self.needs.memory else NOTHING,
        )


def _joints(joints: NDArray[Any]) -> NDArray[np.float32]:
    values = np.array(joints, np.float32)
    if values.shape != (len(ACTION_JOINTS),) or not np.isfinite(values).all():
        raise RuleSafeError(
            f"a frame has {len(ACTION_JOINTS)} finite joint positions in rad, got {values}"
        )
    return values


def _points(points: NDArray[Any], count: int) -> NDArray[np.float32]:
    values = np.asarray(points)
    if values.ndim != 2 or values.shape[1] != POINT or len(values) < count:
        raise RuleSafeError(f"a cloud has shape (n, {POINT}) with n >= {count}, got {values.shape}")
    values = np.array(values[:count], np.float32)
    if not np.isfinite(values).all():
        raise RuleSafeError("a cloud must be finite")
    return values


def _image(camera: str, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if camera not in CAMERAS:
        raise unknown_name("camera", camera, CAMERAS)
    values = np.asarray(picture)
    if values.ndim != 3 or values.shape[2] != 3 or values.dtype != np.uint8:
        raise RuleSafeError(
            f"a picture is (H, W, 3) uint8, got {values.shape} {values.dtype} of {camera}"
        )
    return values
