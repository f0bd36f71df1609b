"""What a policy sees: pictures, cloud and joint positions of a simulation, rendered when asked.

Example::

    simulation = Simulation(render=True)
    simulation.reset("rule_001", "safe_01", seed=0)
    observer = Observer(simulation)  # a new one after each reset: it belongs to the scene
    observer.observe(("head_rgb", "joint_positions"))
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.cloud import SAMPLERS, PointSampler, Workspace, sample_cloud
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_sim.cameras import FRONT, HEAD, CameraConfig, CameraRig, shifted
from rulesafe_sim.physics import has_renderer
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.visuals import build_room

CAMERA_OF = {"head_rgb": "head", "front_rgb": "front", "points": "head"}
"""The camera behind each rendered observation; the cloud is what the head camera sees."""

OBSERVATIONS = (*CAMERA_OF, "joint_positions", "all_joint_positions")
"""Every key that `Observer.observe` knows."""


class Observer:
    """Puts room, lights and cameras into a simulation's scene, as its variation has them, and makes
    observations of it.

    Make it after `Simulation.reset`, once for each reset. In a simulation without rendering it
    gives joint positions only.

    Args:
        cameras: must hold "head" and "front"; their sizes are the pictures' sizes.
        workspace: box of the pelvis frame that the cloud is cropped to; the same for all seeds,
            since the safe's true pose is privileged.
        sampler: how the cloud is thinned, see `cloud.SAMPLERS`.
    """

    def __init__(
        self,
        simulation: Simulation,
        cameras: Sequence[CameraConfig] = (HEAD, FRONT),
        workspace: Workspace = Workspace(),
        sampler: PointSampler = SAMPLERS["farthest"],
    ):
        if not hasattr(simulation, "scene"):
            raise RuleSafeError("the simulation has no scene yet: call reset() first")
        self._simulation = simulation
        self._scene = simulation.scene
        self._workspace, self._sampler = workspace, sampler
        self._rig: CameraRig | None = None
        if has_renderer(self._scene):
            variation = simulation.variation
            build_room(self._scene, variation.lighting, variation.colours)
            self._rig = CameraRig(self._scene, shifted(cameras, variation.cameras))

    @property
    def rig(self) -> CameraRig:
        """The cameras. Errors: RuleSafeError in a simulation without rendering."""
        if self._rig is None:
            raise RuleSafeError(
                f"{', '.join(CAMERA_OF)} need a simulation that renders: Simulation(render=True)"
            )
        return self._rig

    def observe(
        self, keys: Iterable[str] = OBSERVATIONS, instant: int | None = None
    ) -> dict[str, NDArray[Any]]:
        """The observations of these keys at this instant, in new arrays.

        `head_rgb`, `front_rgb` (224, 224, 3) uint8; `points` (1024, 6) float32: x, y, z in the
        pelvis frame (m) and r, g, b in 0..1; `joint_positions` (13,) and `all_joint_positions`
        (39,) float32, rad. Each camera that is needed takes one picture. `instant`: the control
        step that the scene shows, where joints of the past were put into it (`Simulation.show`);
        it seeds the cloud. Pictures and clouds depend on reset, joints and instant alone, bit by
        bit.

        Errors: RuleSafeError for an unknown key, and once the simulation was reset.
        """
        keys = tuple(keys)
        for key in keys:
            if key not in OBSERVATIONS:
                raise unknown_name("observation", key, OBSERVATIONS)
        if self._simulation.scene is not self._scene:
            raise RuleSafeError("the simulation was reset: make a new Observer for the new scene")
        cameras = {CAMERA_OF[key] for key in keys if key in CAMERA_OF}
        if cameras:
            self._simulation.show_links()
            self.rig.take(*sorted(cameras))
        if instant is None:
            instant = round(self._simulation.time * self._simulation.config.physics.control_hz)
        return {key: self._one(key, instant) for key in keys}

    def _one(self, key: str, instant: int) -> NDArray[Any]:
        if key == "points":
            return self._cloud(instant)
        if key in CAMERA_OF:
            return self.rig.rgb(CAMERA_OF[key])
        state = self._simulation.state()
        wanted = state.action_positions if key == "joint_positions" else state.joint_positions
        return wanted.astype(np.float32)

    def _cloud(self, instant: int) -> NDArray[np.float32]:
        pixels = self.rig.cloud_pixels(CAMERA_OF["points"])
        # A generator of its own for each instant: the cloud depends on seed and time alone, not
        # on how often somebody looked.
        rng = np.random.default_rng((self._simulation.seed, instant))
        return sample_cloud(pixels.points, pixels.colors, rng, self._workspace, self._sampler)
