"""Contact forces between the robot and the safe, its stand or itself.

They are privileged: the real H1-2 has no such sensor, so no policy or memory may read them.
"""

from collections.abc import Iterable, Mapping
from math import hypot
from typing import Any

from rulesafe_locks.rules import PARTS
from rulesafe_sim.articulations import Articulation

CONTACT_NAMES = (*PARTS, "case", "stand", "self")
"""Objects in contact with the robot: parts, fixed body of the safe, its stand, and the robot."""


class ContactSensor:
    """Measures the contact forces between a set of bodies and named objects in a SAPIEN scene.

    Args:
        scene: a `sapien.Scene`.
        bodies: physical components of the scene's entities.
        objects: bodies of each object by name. A body belongs to one object at most. An object may
            contain some of `bodies`; contacts between these are counted once.
    """

    def __init__(self, scene: Any, bodies: Iterable[Any], objects: Mapping[str, Iterable[Any]]):
        self._scene = scene
        self._names = tuple(objects)
        # SAPIEN's objects are compared by identity, which is stable while a reference is held;
        # comparing entity ids would take four times as long.
        self._bodies = set(bodies)
        self._object_of = {body: name for name, members in objects.items() for body in members}

    def forces(self) -> dict[str, float]:
        """Return the force (N) on each object in the last physics step, 0 before the first.

        It is the sum over all pairs of shapes of the magnitude of the resultant of their contact
        points: a pinch with 5 N from both sides gives 10 N. PhysX reports only normal forces, so
        friction is not included.
        """
        forces = dict.fromkeys(self._names, 0.0)
        timestep = self._scene.timestep
        for contact in self._scene.get_contacts():
            first, second = contact.bodies
            if first not in self._bodies:
                first, second = second, first
            if first not in self._bodies or second not in self._object_of:
                continue
            x = y = z = 0.0
            for point in contact.points:
                dx, dy, dz = point.impulse.tolist()
                x, y, z = x + dx, y + dy, z + dz
            forces[self._object_of[second]] += hypot(x, y, z) / timestep
        return forces


def sense_contacts(
    scene: Any, robot: Articulation, safe: Articulation, stand: Any
) -> ContactSensor:
    """Create a sensor of the robot's contacts with each of CONTACT_NAMES; `stand` is a body."""
    own = robot.bodies()
    objects = (*map(safe.bodies, PARTS), safe.bodies("body"), [stand], own)
    return ContactSensor(scene, own, dict(zip(CONTACT_NAMES, objects, strict=True)))
