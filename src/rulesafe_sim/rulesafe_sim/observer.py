"""Observations of a simulation: images, point cloud and joint positions, rendered on request.

Example::

    simulation = Simulation(render=True)
    simulation.reset("rule_001", "safe_01", seed=0)
    observer = Observer(simulation)  # create a new one after each reset
    observer.observe(("head_rgb", "joint_positions"))
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS, CameraSet
from rulesafe_core.cloud import SAMPLERS, PointSampler, Workspace, sample_cloud
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_INDICES
from rulesafe_sim.cameras import CameraRig
from rulesafe_sim.physics import has_renderer
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.visuals import build_room

JOINT_KEYS = ("joint_positions", "all_joint_positions")
"""Observation keys that need no rendering."""


class Observer:
    """Adds room, lights and cameras to the scene of a simulation and computes observations.

    Create a new observer after each `Simulation.reset`. Without rendering, only joint positions are
    available.

    Args:
        simulation: the simulation; its variation defines lights, colours and camera poses.
        cameras: the cameras; the first one provides the point cloud.
        workspace: box in the pelvis frame to which the point cloud is cropped. It is the same for
            all seeds, since the true pose of the safe is privileged.
        sampler: point cloud sampler, see `cloud.SAMPLERS`.

    Attributes:
        keys: all observation keys of `observe`.

    Raises:
        RuleSafeError: the simulation was not reset, or it has no such link as that of a camera.
    """

    def __init__(
        self,
        simulation: Simulation,
        cameras: CameraSet = DEFAULT_CAMERAS,
        workspace: Workspace = Workspace(),
        sampler: PointSampler = SAMPLERS["farthest"],
    ):
        if not hasattr(simulation, "scene"):
            raise RuleSafeError("the simulation has no scene yet: call reset() first")
        self._simulation = simulation
        self._scene = simulation.scene
        self._workspace, self._sampler = workspace, sampler
        self._rig: CameraRig | None = None
        self._camera_of = {camera.key: camera.name for camera in cameras}
        self._camera_of[POINTS] = cameras.depth.name
        self.keys = (*self._camera_of, *JOINT_KEYS)
        if has_renderer(self._scene):
            variation = simulation.variation
            build_room(self._scene, variation.lighting, variation.colours)
            self._rig = CameraRig(self._scene, variation.cameras.apply(cameras), simulation.mounts)

    @property
    def rig(self) -> CameraRig:
        """The cameras. Raises RuleSafeError if the simulation does not render."""
        if self._rig is None:
            rendered = ", ".join(self._camera_of)
            raise RuleSafeError(
                f"{rendered} need a simulation that renders: Simulation(render=True)"
            )
        return self._rig

    def observe(
        self, keys: Iterable[str] | None = None, instant: int | None = None
    ) -> dict[str, NDArray[Any]]:
        """Compute the current observations in new arrays; each camera renders at most one image.

        Images and point clouds are reproducible: they depend only on the reset, the joint positions
        and `instant`.

        Args:
            keys: some of `keys`; None: all.
            instant: control step, which seeds the point cloud sampler. Pass it if the scene shows
                recorded joints (`Simulation.show`); None: the current one.

        Returns:
            `head_rgb`, `front_rgb`, ... of each camera (224, 224, 3) uint8; `points` (1024, 6)
            float32: x, y, z in the pelvis frame (m) and r, g, b in 0..1; `joint_positions` (13,)
            and `all_joint_positions` (39,) float32, rad.

        Raises:
            RuleSafeError: a key is unknown, or the simulation was reset.
        """
        keys = self.keys if keys is None else tuple(keys)
        for key in keys:
            if key not in self.keys:
                raise unknown_name("observation", key, self.keys)
        if self._simulation.scene is not self._scene:
            raise RuleSafeError("the simulation was reset: make a new Observer for the new scene")
        cameras = {self._camera_of[key] for key in keys if key in self._camera_of}
        if cameras:
            self._simulation.show_links()
            self.rig.take(*sorted(cameras))
        if instant is None:
            instant = self._simulation.controls
        return {key: self._one(key, instant) for key in keys}

    def _one(self, key: str, instant: int) -> NDArray[Any]:
        if key == POINTS:
            return self._cloud(instant)
        if key in self._camera_of:
            return self.rig.rgb(self._camera_of[key])
        positions = self._simulation.joint_positions
        if key == "joint_positions":
            positions = positions[ACTION_INDICES]
        return positions.astype(np.float32)

    def _cloud(self, instant: int) -> NDArray[np.float32]:
        pixels = self.rig.cloud_pixels(self._camera_of[POINTS])
        # A separate generator for each instant: the point cloud depends on seed and time, not on
        # the number of previous observations.
        rng = np.random.default_rng((self._simulation.seed, instant))
        return sample_cloud(pixels.points, pixels.colors, rng, self._workspace, self._sampler)
