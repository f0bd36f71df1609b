"""Custom cameras from a YAML file: poses, angles of view or sizes of "head" and "front".

    head: {xyz_m: [0.1, 0.0, 0.7], rpy_rad: [0, 0.6, -0.3], fovy_rad: 1.2, width: 320, height: 240}
    front: {width: 320, height: 240}

Missing keys have the values of cameras.HEAD and cameras.FRONT. Poses are those of the camera's body
frame (x forward, y left, z up) in the pelvis frame, or in the frame of `link`.
"""

from dataclasses import dataclass, replace
from math import pi
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import FileRegistry
from rulesafe_core.settings import setting
from rulesafe_core.strict_yaml import build, check_keys, read_yaml
from rulesafe_core.transforms import Vec3
from rulesafe_sim.cameras import FRONT, HEAD, CameraConfig

CAMERA_FILES = FileRegistry("rulesafe.cameras", "file of cameras")


@dataclass(frozen=True)
class _Entry:
    xyz: Vec3 | None = setting(None, unit="m")
    rpy: Vec3 | None = setting(None, unit="rad")
    fovy: float | None = setting(None, "", 0.05, pi - 0.05, "rad")
    width: int | None = setting(None, "", 16, 2048)
    height: int | None = setting(None, "", 16, 2048)
    link: str | None = None


def camera_file(name: str) -> Path:
    """Return the YAML file of cameras that a name refers to.

    Args:
        name: the path of a YAML file, or an entry point of the group "rulesafe.cameras" or
            `module:attribute` whose value is such a path.

    Raises:
        RuleSafeError: the name is unknown.
    """
    return CAMERA_FILES.file(name)


def load_cameras(path: Path) -> tuple[CameraConfig, CameraConfig]:
    """Read the head and front camera from a file. Raises RuleSafeError with the file and key."""
    data = read_yaml(path)
    defaults = {camera.name: camera for camera in (HEAD, FRONT)}
    check_keys(data, tuple(defaults), path.name, optional=tuple(defaults))
    head, front = (_camera(camera, data.get(name, {}), path) for name, camera in defaults.items())
    if (head.width, head.height) != (front.width, front.height):
        raise RuleSafeError(
            f"{path.name}: the images of both cameras must have the same size in a dataset, not "
            f"{head.width}x{head.height} and {front.width}x{front.height}"
        )
    return head, front


def _camera(nominal: CameraConfig, data: object, path: Path) -> CameraConfig:
    entry = build(_Entry, data, f"{path.name}: {nominal.name}")
    given = {name: value for name, value in vars(entry).items() if value is not None}
    return replace(nominal, **given)
