"""Images and point clouds of the simulation as ROS messages."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2

from rulesafe_core import convert
from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_sim.variation import Cameras

if TYPE_CHECKING:  # rendering modules are imported only if images are published
    from rulesafe_sim.cameras import CameraRig
    from rulesafe_sim.observer import Observer
    from rulesafe_sim.simulation import Simulation

CAMERAS = ("head", "front")


def optical_frame(camera: str) -> str:
    return f"{camera}_camera_optical_frame"


def camera_frames(shifts: Cameras) -> list[tuple[str, str, Transform]]:
    """Return the cameras' optical frames for `rulesafe_core.urdf.with_frames`.

    The head camera is mounted on the torso. The front camera is fixed in the room, whose frame is
    that of the pelvis.
    """
    from rulesafe_sim.cameras import FRONT, HEAD, OPTICAL_IN_BODY, shifted

    return [
        (link, optical_frame(camera.name), from_xyz_rpy(camera.xyz, camera.rpy) @ OPTICAL_IN_BODY)
        for link, camera in zip(
            ("torso_link", "pelvis"), shifted((HEAD, FRONT), shifts), strict=True
        )
    ]


class CameraTopics:
    """Camera messages of each frame. `observe`: images and point cloud of the observation;
    `film_size` (pixels) above 0: larger images for a video."""

    def __init__(self, *, observe: bool, film_size: int = 0):
        self._observe, self._film_size = observe, film_size
        self._observer: Observer | None = None
        self._film: CameraRig | None = None

    @property
    def needed(self) -> bool:
        """Whether rendering is needed."""
        return self._observe or self._film_size > 0

    def topics(self) -> dict[str, type]:
        """Return the message type of each topic."""
        kinds: dict[str, type] = {}
        if self._observe:
            for name in CAMERAS:
                kinds[f"/camera/{name}/image_raw"] = Image
                kinds[f"/camera/{name}/camera_info"] = CameraInfo
            kinds["/camera/points"] = PointCloud2
        if self._film_size:
            kinds |= {f"/film/{name}/compressed": CompressedImage for name in CAMERAS}
        return kinds

    def reset(self, simulation: "Simulation") -> None:
        """Add room and cameras to a new scene."""
        if not self.needed:
            return
        from rulesafe_sim.cameras import FRONT, HEAD, CameraRig, shifted
        from rulesafe_sim.observer import Observer

        self._observer = Observer(simulation)
        if self._film_size:
            side = self._film_size
            cameras = [replace(camera, width=side, height=side) for camera in (HEAD, FRONT)]
            self._film = CameraRig(simulation.scene, shifted(cameras, simulation.variation.cameras))

    def take(self, time: int) -> dict[str, Any]:
        """Render all cameras; return the messages by topic with the stamp `time` (ns)."""
        messages: dict[str, Any] = {}
        if self._observer and self._observe:
            observation = self._observer.observe(("head_rgb", "front_rgb", "points"))
            for name in CAMERAS:
                frame, rgb = optical_frame(name), observation[f"{name}_rgb"]
                messages[f"/camera/{name}/image_raw"] = convert.to_image(rgb, time, frame)
                messages[f"/camera/{name}/camera_info"] = convert.to_camera_info(
                    self._observer.rig.intrinsics(name), rgb.shape[1], rgb.shape[0], time, frame
                )
            messages["/camera/points"] = convert.to_cloud(observation["points"], time, "pelvis")
        if self._film:
            self._film.take()
            for name in CAMERAS:
                messages[f"/film/{name}/compressed"] = convert.to_jpeg(
                    self._film.rgb(name), time, optical_frame(name)
                )
        return messages
