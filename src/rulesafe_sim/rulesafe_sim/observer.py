"""Observations of a simulation: images, point cloud and joint positions, computed on request.

Example::

    simulation = Simulation()
    simulation.reset("rule_001", "safe_01", seed=0)
    observer = Observer(simulation)  # create a new one after each reset
    observer.observe(("head", "joint_positions"))
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cameras import DEFAULT_CAMERAS, POINTS, CameraSet
from rulesafe_core.cloud import SAMPLERS, FarthestSampler, PointSampler, Workspace, sample_cloud
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_INDICES
from rulesafe_render.points import farthest_points
from rulesafe_render.renderer import CameraRig
from rulesafe_sim.bodies import EpisodeBodies, Joints
from rulesafe_sim.simulation import Simulation

JOINT_KEYS = ("joint_positions", "all_joint_positions")
"""Observation keys that need no rendering."""


def load_rig(renderer: str) -> type[CameraRig]:
    """Return the class of a renderer's cameras, by its name in `cameras.RENDERERS`."""
    if renderer == "sapien":
        from rulesafe_sim.sapien_images import SapienRig  # its import takes 0.3 s

        return SapienRig
    return CameraRig


class Views:
    """Cameras in the scene of an episode.

    Args:
        bodies: robot, safe and stand of the episode; the variation defines lights, colours and
            camera poses.
        cameras: the cameras.

    Raises:
        RuleSafeError: there is no such link as that of a camera, or the renderer of the cameras is
            "sapien" and there is no Vulkan driver.
    """

    def __init__(self, bodies: EpisodeBodies, cameras: CameraSet = DEFAULT_CAMERAS):
        self._bodies = bodies
        scene, shifted = bodies.render_scene(), bodies.variation.cameras.apply(cameras)
        self.rig = load_rig(cameras.renderer)(scene, shifted, bodies.robot.mounts)

    def take(self, joints: Joints, *names: str) -> CameraRig:
        """Render the named cameras (default: all) with the joints in these positions, and return
        the cameras."""
        poses = self._bodies.link_poses(joints)
        still = np.eye(4)
        self.rig.take([poses.get(link, still) for link in self.rig.links], *names)
        return self.rig


class SceneObserver:
    """Cameras in the scene of an episode, without physics; computes observations from joints.

    Args:
        bodies: robot, safe and stand of the episode.
        seed: seed of the episode, which also seeds the point cloud sampler.
        cameras: the cameras; the first one provides the point cloud.
        workspace: box in the pelvis frame to which the point cloud is cropped. It is the same for
            all seeds, since the true pose of the safe is privileged.
        sampler: point cloud sampler, see `cloud.SAMPLERS`.

    Attributes:
        keys: all observation keys of `observe`.
    """

    def __init__(
        self,
        bodies: EpisodeBodies,
        seed: int,
        cameras: CameraSet = DEFAULT_CAMERAS,
        workspace: Workspace = Workspace(),
        sampler: PointSampler = SAMPLERS["farthest"],
    ):
        self._bodies, self._seed, self._cameras = bodies, seed, cameras
        if isinstance(sampler, FarthestSampler):
            sampler = replace(sampler, select=farthest_points)  # the same points, faster
        self._workspace, self._sampler = workspace, sampler
        self.keys = (*cameras.keys, *JOINT_KEYS)

    @cached_property
    def views(self) -> Views:
        """The cameras. Raises RuleSafeError if there is no such link as that of a camera."""
        return Views(self._bodies, self._cameras)

    @property
    def rig(self) -> CameraRig:
        """The cameras with the images of the last observation."""
        return self.views.rig

    def render(
        self, keys: Iterable[str] | None, joints: Joints, instant: int
    ) -> dict[str, NDArray[Any]]:
        """Compute the observations of a scene in new arrays; each camera renders at most one image.

        Images and point clouds are reproducible: they depend only on the scene, the joints and
        `instant`.

        Args:
            keys: some of `keys`; None: all.
            joints: the joints of robot and safe.
            instant: control steps since the reset, which seed the point cloud sampler.

        Returns:
            `head`, `front`, ... of each camera (224, 224, 3) uint8; `points` (1024, 6)
            float32: x, y, z in the pelvis frame (m) and r, g, b in 0..1; `joint_positions` (13,)
            and `all_joint_positions` (39,) float32, rad.

        Raises:
            RuleSafeError: a key is unknown, or the joints are those of another robot.
        """
        keys = self.keys if keys is None else tuple(keys)
        for key in keys:
            if key not in self.keys:
                raise unknown_name("observation", key, self.keys)
        cameras = {
            self._cameras.depth.name if key == POINTS else key
            for key in keys
            if key in self._cameras.keys
        }
        if cameras:
            self.views.take(joints, *sorted(cameras))
        return {key: self._one(key, joints, instant) for key in keys}

    def _one(self, key: str, joints: Joints, instant: int) -> NDArray[Any]:
        if key == POINTS:
            return self._cloud(instant)
        if key in self._cameras.names:
            return self.rig.rgb(key)
        positions = joints.all_positions()
        return positions[ACTION_INDICES] if key == "joint_positions" else positions

    def _cloud(self, instant: int) -> NDArray[np.float32]:
        pixels = self.rig.cloud_pixels(self._cameras.depth.name)
        # A separate generator for each instant: the point cloud depends on seed and time, not on
        # the number of previous observations.
        rng = np.random.default_rng((self._seed, instant))
        return sample_cloud(pixels.points, pixels.colors, rng, self._workspace, self._sampler)


class Observer(SceneObserver):
    """Observations of a simulation; create a new one after each `Simulation.reset`.

    Args:
        simulation: the simulation; its variation defines lights, colours and camera poses.
        cameras, workspace, sampler: as for `SceneObserver`.

    Raises:
        RuleSafeError: the simulation was not reset.
    """

    def __init__(
        self,
        simulation: Simulation,
        cameras: CameraSet = DEFAULT_CAMERAS,
        workspace: Workspace = Workspace(),
        sampler: PointSampler = SAMPLERS["farthest"],
    ):
        if not hasattr(simulation, "bodies"):
            raise RuleSafeError("the simulation has no scene yet: call reset() first")
        self._simulation = simulation
        super().__init__(simulation.bodies, simulation.seed, cameras, workspace, sampler)

    def observe(self, keys: Iterable[str] | None = None) -> dict[str, NDArray[Any]]:
        """Compute the current observations, see `render`.

        Raises:
            RuleSafeError: a key is unknown, or the simulation was reset.
        """
        simulation = self._simulation
        if simulation.bodies is not self._bodies:
            raise RuleSafeError("the simulation was reset: make a new Observer for the new scene")
        return self.render(keys, simulation.joints(), simulation.controls)
