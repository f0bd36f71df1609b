"""Contact forces between the robot and what it may touch, as the physics found them.

Privileged: a real H1-2 has no such sensor, so no policy and no memory may read it.
"""

from collections.abc import Iterable, Mapping
from math import hypot
from typing import Any

from rulesafe_locks.rules import PARTS
from rulesafe_sim.articulations import Articulation

CONTACT_NAMES = (*PARTS, "case", "stand", "self")
"""What the robot may touch: the parts, the safe's fixed body, its stand, and the robot itself."""


class ContactSensor:
    """Reads the forces between a toucher and named others in a SAPIEN scene.

    Args:
        scene: a `sapien.Scene`.
        toucher: the bodies (physical components of the scene's entities) that touch.
        touched: bodies by name; several names may not share one. The toucher's own may be among
            them: their contacts with each other then count once.
    """

    def __init__(self, scene: Any, toucher: Iterable[Any], touched: Mapping[str, Iterable[Any]]):
        self._scene = scene
        self._names = tuple(touched)
        # SAPIEN's objects are told apart by identity, which lasts as long as somebody holds them;
        # to ask each for its entity's number would take four times as long.
        self._toucher = set(toucher)
        self._touched = {body: name for name, bodies in touched.items() for body in bodies}

    def forces(self) -> dict[str, float]:
        """Force (N) on each named thing during the last physics step, 0 before the first.

        For each pair of touching shapes the size of the resultant of its contact points, summed
        over the pairs: a pinch that presses with 5 N from both sides reads 10 N. PhysX reports
        what acts along the contact normals; friction is not in it.
        """
        forces = dict.fromkeys(self._names, 0.0)
        timestep = self._scene.timestep
        for contact in self._scene.get_contacts():
            first, second = contact.bodies
            if first not in self._toucher:
                first, second = second, first
            if first not in self._toucher or second not in self._touched:
                continue
            x = y = z = 0.0
            for point in contact.points:
                dx, dy, dz = point.impulse.tolist()
                x, y, z = x + dx, y + dy, z + dz
            forces[self._touched[second]] += hypot(x, y, z) / timestep
        return forces


def sense_contacts(
    scene: Any, robot: Articulation, safe: Articulation, stand: Any
) -> ContactSensor:
    """A sensor of the robot's contacts with each of CONTACT_NAMES; `stand` is a body."""
    parts = {part: safe.bodies(part) for part in PARTS}
    case, own = safe.bodies("body"), robot.bodies()
    return ContactSensor(scene, own, {**parts, "case": case, "stand": [stand], "self": own})
