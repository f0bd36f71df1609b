"""Compare the renderer with SAPIEN's images of ten safes in the splits nominal and shifted.

The reference images, `tests/rulesafe_render/sapien`, are those of revision 15e4aa4e, in which
SAPIEN rendered with the project's shaders on Mesa's Vulkan driver: `scenes.json` has the scene
variations and joint positions (rad, of the expert in an episode), NAME.png the image, and
NAME_depth.png the depth along the optical axis in units of 0.1 mm.

    python scripts/compare_renderers.py side_by_side.png

prints the differences and draws renderer, SAPIEN, and four times the difference side by side.

Known differences: SAPIEN's shadow camera shows depths of 0.1 m to 4 m. It omits shadows on the
floor beyond (safe_09_shifted_front), and near the light it cuts the right wall, whose rest casts a
triangle (safe_06_shifted_head). Here shadows have no depth limit, and the room casts none. Single
pixels at silhouettes show the surface behind, since the edge rules of the rasterisers differ.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rulesafe_sim.bodies import EpisodeBodies, Joints, load_robot
from rulesafe_sim.observer import Views
from rulesafe_sim.safes import load_safe
from rulesafe_sim.variation import Variation

REFERENCE = Path(__file__).parents[1] / "tests/rulesafe_render/sapien"
VISIBLE = 8
"""Difference of a channel (of 255) from which a pixel is counted."""
FAR = 1.0
"""Position error (mm) from which a pixel is counted."""


class Comparison(NamedTuple):
    """Difference of an image to SAPIEN's."""

    name: str
    image: NDArray[np.uint8]  # (H, W, 3)
    reference: NDArray[np.uint8]  # (H, W, 3)
    position_error: NDArray[np.float64]  # (H, W) mm

    @property
    def mean(self) -> float:
        """Mean difference of the channels, of 255."""
        return float(self._difference.mean())

    @property
    def visible(self) -> float:
        """Percentage of pixels in which a channel differs by more than VISIBLE."""
        return 100 * float((self._difference.max(axis=-1) > VISIBLE).mean())

    @property
    def far(self) -> float:
        """Percentage of pixels with a position error above FAR."""
        return 100 * float((self.position_error > FAR).mean())

    @property
    def row(self) -> NDArray[np.uint8]:
        """The images and four times their difference, side by side (H, 3 W, 3)."""
        larger = np.clip(4 * self._difference, 0, 255).astype(np.uint8)
        return np.hstack([self.image, self.reference, larger])

    @property
    def _difference(self) -> NDArray[np.int16]:
        return np.abs(self.image.astype(np.int16) - self.reference)


def scenes() -> list[dict[str, Any]]:
    """Return the scenes of the reference images."""
    return json.loads((REFERENCE / "scenes.json").read_text("ascii"))


def compare(scene: dict[str, Any]) -> Comparison:
    """Render a scene and return the difference to the reference image."""
    name, camera = scene["name"], scene["camera"]
    variation = Variation.from_dict(scene["variation"])
    positions = np.array(list(scene["robot_joints"].values()), np.float32)
    joints = Joints(
        robot_joints=tuple(scene["robot_joints"]),
        robot_positions=positions,
        robot_velocities=np.zeros_like(positions),
        safe_positions=np.array(scene["safe_positions"], np.float32),
    )
    rig = Views(EpisodeBodies(load_robot(), load_safe(scene["safe"]), variation)).take(joints)
    with Image.open(REFERENCE / f"{name}.png") as image:
        reference = np.asarray(image)
    with Image.open(REFERENCE / f"{name}_depth.png") as image:
        depth = np.asarray(image).astype(float) / 10
    matrix = rig.intrinsics(camera)
    rows, columns = np.indices(depth.shape)
    x, y = (columns - matrix[0, 2]) / matrix[0, 0], (rows - matrix[1, 2]) / matrix[1, 1]
    error = np.abs(1000 * rig.depth(camera) - depth) * np.sqrt(1 + x * x + y * y)
    return Comparison(name, rig.rgb(camera), reference, error)


def main(arguments: list[str]) -> None:
    """Print the differences; draw a figure into the file of the first argument, if any."""
    found = [compare(scene) for scene in scenes()]
    print(f"{'':25} mean  >{VISIBLE} (%)  position error: median  99th (mm)  >{FAR:g} mm (%)")
    for each in found:
        median, high = np.percentile(each.position_error, (50, 99))
        print(
            f"{each.name:25} {each.mean:4.2f}  {each.visible:6.2f} {median:23.3f} {high:10.3f} "
            f"{each.far:11.3f}"
        )
    print(f"{'all':25} {np.mean([each.mean for each in found]):4.2f}")
    if arguments:
        rows = [each.row for each in found]
        pairs = [np.hstack(rows[i : i + 2]) for i in range(0, len(rows), 2)]
        Image.fromarray(np.vstack(pairs)).save(arguments[0])


if __name__ == "__main__":
    main(sys.argv[1:])
