"""A sheet of the ten safes: closed, with knob and handle open, and with the door open."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from numpy.typing import NDArray
from PIL import Image

from rulesafe_core.cameras import CameraConfig, looking_at
from rulesafe_core.transforms import apply
from rulesafe_locks.rules import PARTS
from rulesafe_render.renderer import CameraRig
from rulesafe_render.scene import RenderScene, link_meshes
from rulesafe_sim.room import add_room
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.simulation import Simulation
from rulesafe_sim.variation import Variation

EYE = (0.66, 0.14, 0.16)
"""Position of the camera in the frame of the safe (x out of the door), m."""

FOVY = 0.75  # rad
COLUMNS = 6

PHASES: tuple[tuple[str, ...], ...] = ((), ("knob", "handle"), PARTS)
"""Open parts in each image of a safe."""


def images(safe: str, side: int) -> list[NDArray[np.uint8]]:
    """Return an image (side, side, 3) of a safe for each of PHASES, without the robot; rendered
    in double size, so that edges are smooth."""
    simulation = Simulation()
    placement = simulation.split.randomisation.placement.around(load_safe(safe).hinge)
    simulation.reset("rule_001", safe, 0, Variation(placement))
    bodies, joints = simulation.bodies, simulation.joints()
    scene = RenderScene()
    for body in (bodies.safe_body, bodies.stand):
        scene.add_links(link_meshes(body))
    add_room(scene)
    eye, target = apply(bodies.pose_safe_in_pelvis, [EYE, (0, 0, 0)]).tolist()
    camera = CameraConfig("safe", tuple(eye), looking_at(eye, target), FOVY, 2 * side, 2 * side)
    rig, found, still = CameraRig(scene, [camera]), [], np.eye(4)
    for opened in PHASES:
        positions = [simulation.safe.parts[part].range * (part in opened) for part in PARTS]
        shown = replace(joints, safe_positions=np.array(positions, np.float32))
        poses = bodies.link_poses(shown)
        rig.take([poses.get(link, still) for link in rig.links])
        found.append(np.asarray(Image.fromarray(rig.rgb("safe")).reduce(2)))
    return found


def draw(image: Annotated[Path, tyro.conf.Positional], side: int = 240, quality: int = 85) -> None:
    """Draw the ten safes, each closed, with knob and handle open, and with the door open.

    Args:
        image: JPEG file.
        side: Width and height of each image, pixels.
        quality: Quality of the JPEG.
    """
    shown = [each for safe in sorted(SAFES) for each in images(safe, side)]
    rows = [np.hstack(shown[i : i + COLUMNS]) for i in range(0, len(shown), COLUMNS)]
    Image.fromarray(np.vstack(rows)).save(image, quality=quality, optimize=True)
    print(f"{image}: {len(SAFES)} safes, {image.stat().st_size // 1024} kB")
