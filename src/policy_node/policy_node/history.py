"""The last frames of an episode, from which observations are assembled. Needs numpy only.

Evaluation in process and the policy node both use this module, so that a policy receives the same
observation at the same frame. Parts of a frame may be added one by one and in any order; images and
point clouds are needed only at the frames that an observation contains. Example::

    history = ObservationHistory(policy.needs)
    history.push(0, joints, points)
    chunk = policy.infer(history.observation(0, instruction="..."))
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import NO_READING, Needs, Observation
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import Reading

KEPT = 20
"""Frames that are stored in addition to those of one observation, for parts that arrive late."""

POINT_SIZE = 6
"""Values of a point: x, y, z in the pelvis frame (m), r, g, b in 0..1."""


class ObservationHistory:
    """Stores the inputs of the last frames of an episode; frames are numbered at 10 Hz.

    Args:
        needs: observations that the policy requires; other inputs are not stored.
    """

    def __init__(self, needs: Needs) -> None:
        if needs.frames < 1:
            raise RuleSafeError(f"Needs.frames must be at least 1, got {needs.frames}")
        if not 0 <= needs.clouds <= needs.frames:
            raise RuleSafeError(
                f"Needs.clouds must be 0..{needs.frames} (Needs.frames), got {needs.clouds}"
            )
        self.needs = needs
        self.reset()

    def reset(self, first: int = 0) -> None:
        """Discard all frames; the new episode begins with the frame `first`."""
        self._first = first
        self._joints: dict[int, NDArray[np.float32]] = {}
        self._points: dict[int, NDArray[np.float32]] = {}
        self._images: dict[int, dict[str, NDArray[np.uint8]]] = {}

    def window(self, frame: int) -> tuple[int, ...]:
        """Return the numbers of the `needs.frames` frames of an observation at `frame`, oldest
        first. The first frame of the episode is repeated in place of earlier ones."""
        return tuple(
            max(self._first, frame - back) for back in range(self.needs.frames - 1, -1, -1)
        )

    def clouds(self, frame: int) -> tuple[int, ...]:
        """Return the numbers of the frames whose point clouds an observation at `frame` has."""
        return self.window(frame)[self.needs.frames - self.needs.cloud_frames :]

    def push(
        self,
        frame: int,
        joints: NDArray[Any] | None = None,
        points: NDArray[Any] | None = None,
        images: Mapping[str, NDArray[np.uint8]] | None = None,
    ) -> None:
        """Add parts of a frame; later calls can add more parts.

        Args:
            frame: number of the frame.
            joints: (13,) finite, rad, order of ACTION_JOINTS.
            points: (n, 6) with n >= `needs.points`, in the order of farthest-point sampling.
            images: camera name -> (H, W, 3) uint8; another size than that of the camera is changed
                by `CameraConfig.fit`.

        Raises:
            RuleSafeError: points or images have another shape or are not finite; then no part is
                added.
        """
        count = self.needs.points
        new_points = None if points is None or not count else _points(points, count)
        new_images = {}
        if self.needs.images:
            cameras = self.needs.cameras
            new_images = {name: cameras[name].fit(image) for name, image in (images or {}).items()}
        if joints is not None:
            self._joints[frame] = np.array(joints, np.float32)
        if new_points is not None:
            self._points[frame] = new_points
        if new_images:
            self._images.setdefault(frame, {}).update(new_images)
        for parts in (self._joints, self._points, self._images):
            self._discard_old(parts)

    def _discard_old(self, parts: dict[int, Any]) -> None:
        if parts:
            oldest = max(parts) - self.needs.frames - KEPT
            for frame in [frame for frame in parts if frame < oldest]:
                del parts[frame]

    def missing(self, frame: int) -> tuple[str, ...]:
        """Return the parts that an observation at `frame` lacks: "joints", "points", cameras."""
        window = self.window(frame)
        lacking = [] if all(f in self._joints for f in window) else ["joints"]
        if not all(f in self._points for f in self.clouds(frame)):
            lacking.append("points")
        images = self._images.get(frame, {})
        lacking += [camera for camera in self.needs.image_cameras if camera not in images]
        return tuple(lacking)

    def observation(
        self, frame: int, instruction: str = "", memory: Reading = NO_READING
    ) -> Observation:
        """Return the observation at `frame`.

        Raises:
            RuleSafeError: a part is missing, see `missing`.
        """
        if lacking := self.missing(frame):
            raise RuleSafeError(f"the observation at frame {frame} lacks: {', '.join(lacking)}")
        window = self.window(frame)
        clouds = [self._points[f] for f in self.clouds(frame)]
        return Observation(
            joints=np.stack([self._joints[f] for f in window]),
            points=np.stack(clouds) if clouds else None,
            images={camera: self._images[frame][camera] for camera in self.needs.image_cameras},
            instruction=instruction if self.needs.instruction else "",
            memory=memory if self.needs.memory else NO_READING,
        )


def _points(points: NDArray[Any], count: int) -> NDArray[np.float32]:
    values = np.asarray(points)
    if values.ndim != 2 or values.shape[1] != POINT_SIZE or len(values) < count:
        raise RuleSafeError(
            f"a point cloud must have shape (n, {POINT_SIZE}) with n >= {count}, got {values.shape}"
        )
    values = np.array(values[:count], np.float32)
    if not np.isfinite(values).all():
        raise RuleSafeError("a point cloud must have finite values")
    return values
