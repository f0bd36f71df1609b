"""Names and frames of the cameras in ROS."""

from rulesafe_core.transforms import Transform, from_xyz_rpy
from rulesafe_sim.variation import Cameras

CAMERAS = ("head", "front")


def optical_frame(camera: str) -> str:
    return f"{camera}_camera_optical_frame"


def camera_frames(shifts: Cameras) -> list[tuple[str, str, Transform]]:
    """Return the cameras' optical frames for `rulesafe_core.urdf.with_frames`.

    The head camera is mounted on the torso. The front camera is fixed in the room, whose frame is
    that of the pelvis.
    """
    # Imported here: rendering is needed only if images are published.
    from rulesafe_sim.cameras import FRONT, HEAD, OPTICAL_IN_BODY, shifted

    return [
        (link, optical_frame(camera.name), from_xyz_rpy(camera.xyz, camera.rpy) @ OPTICAL_IN_BODY)
        for link, camera in zip(
            ("torso_link", "pelvis"), shifted((HEAD, FRONT), shifts), strict=True
        )
    ]
