"""Images of ten scenes are those stored in image_hashes.json, with each kernel and on each machine.

If images change on purpose, increase `rulesafe_core.versions.RENDERER` and run
`python tests/rulesafe_render/test_image_hashes.py`. The poses are stored rounded, since sines and
cosines differ between mathematics libraries.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.versions import RENDERER
from rulesafe_render.renderer import CameraRig
from rulesafe_sim.bodies import EpisodeBodies, load_robot
from rulesafe_sim.randomisation import SPLITS
from rulesafe_sim.safes import load_safe
from rulesafe_sim.variation import Variation

FILE = Path(__file__).with_name("image_hashes.json")
PLACEMENT = SPLITS["nominal"].randomisation.placement.left_hinge
SAFES = tuple(f"safe_{number:02d}" for number in range(1, 11))


def hash_images(safe: str, poses: dict[str, list[float]], kernel: str) -> dict[str, str]:
    """Render a safe with both cameras and return a hash of colours, positions and links each."""
    bodies = EpisodeBodies(load_robot(), load_safe(safe), Variation(PLACEMENT))
    rig = CameraRig(bodies.render_scene(), DEFAULT_CAMERAS, bodies.robot.mounts, kernel)
    still = np.eye(4)
    for moved in (False, True):  # the second time with what the cameras keep
        placed = [np.array([*poses.get(link, still[:3].ravel()), 0, 0, 0, 1]) for link in rig.links]
        matrices = np.reshape(placed, (-1, 4, 4))
        if not moved:
            matrices[[rig.links.index("knob"), rig.links.index("handle")], 0, 3] += 0.05
        rig.take(matrices)
    found = {}
    for name in rig.names:
        content = (rig.rgb(name), rig.cloud_pixels(name).points, rig.link_numbers(name))
        parts = b"".join(np.ascontiguousarray(part).tobytes() for part in content)
        found[name] = hashlib.sha256(parts).hexdigest()[:32]
    return found


def test_images_are_those_stored(kernel):
    stored = json.loads(FILE.read_text())
    assert stored["renderer"] == RENDERER
    assert tuple(stored["hashes"]) == SAFES
    for safe, hashes in stored["hashes"].items():
        assert hash_images(safe, stored["poses"], kernel) == hashes, safe


def write() -> None:
    """Store hashes and poses: an arm in front of a safe with its door ajar."""
    from rulesafe_sim.simulation import Simulation

    simulation = Simulation()
    simulation.reset("rule_001", SAFES[0], 0)
    bodies = EpisodeBodies(load_robot(), load_safe(SAFES[0]), Variation(PLACEMENT))
    joints = replace(simulation.joints(), safe_positions=np.array([0.7, 0.4, 0.5], np.float32))
    poses = {
        link: np.round(pose[:3], 6).ravel().tolist()
        for link, pose in bodies.link_poses(joints).items()
    }
    hashes = {safe: hash_images(safe, poses, "") for safe in SAFES}
    lines = [f'    "{link}": {json.dumps(pose)}' for link, pose in poses.items()]
    FILE.write_text(
        f'{{\n  "renderer": "{RENDERER}",\n  "hashes": {json.dumps(hashes, indent=4)},\n'
        '  "poses": {\n' + ",\n".join(lines) + "\n  }\n}\n"
    )


if __name__ == "__main__":
    write()
