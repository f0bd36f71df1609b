"""Propose the mapping of a URDF to a safe, from joint types, names, semantics and geometry."""

from dataclasses import dataclass, field
from math import degrees, inf, pi, radians

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_urdf.fit import fitted, measure, sample, scales
from rulesafe_urdf.grasps import gripped_grasps
from rulesafe_urdf.layout import Layout, bounds_of
from rulesafe_urdf.mapping import DoorMapping, SafeMapping, TurnerMapping
from rulesafe_urdf.roles import find_door, find_front, find_turners
from rulesafe_urdf.source import UrdfSource, rest_position

EASY_RANGE = radians(60)
"""Range of knob or handle for parts that turn further; a stop limits them to it."""

LARGEST_EASY_RANGE = radians(75)
DOOR_OPENS = radians(34.2)
DOOR_CLOSES = radians(7.2)
LARGEST_SIDE = 0.45  # m, of a safe that is not scaled
SCALED_SIDE = 0.40  # m, of one that is
SMALLEST_SIDE = 0.24


@dataclass
class Proposal:
    """A mapping, its layout, and notes on what was changed or assumed."""

    mapping: SafeMapping
    layout: Layout
    notes: list[str] = field(default_factory=list)


def propose(source: UrdfSource) -> Proposal:
    """Propose the mapping of a URDF.

    Raises:
        RuleSafeError: it has no door, or a part cannot be operated.
    """
    notes: list[str] = []
    up, door, closed = find_door(source)
    if up != "+z":
        notes.append(f"the hinge is vertical if {up} is up")
    front = find_front(source, up, door, closed)
    bare = Layout(source, up, front, 1.0, {"door": door.name}, {"door": closed})
    turners = find_turners(bare, notes)
    joints = {"door": door.name} | {part: joint.name for part, joint in turners.items()}
    rest = {"door": closed} | {part: rest_position(joint) for part, joint in turners.items()}
    scale = _scale(Layout(source, up, front, 1.0, joints, rest), notes)
    layout = Layout(source, up, front, scale, joints, rest)
    found = {}
    for part, joint in turners.items():
        try:
            found[part] = _turner(layout, part, notes)
        except RuleSafeError as error:
            raise RuleSafeError(f"the {part} ({joint.child}): {error}") from error
    handle = found.get("handle")
    pull = _pull_points(handle)
    for part in ("knob", "handle"):
        if part not in found:
            notes.append(f"the URDF has no {part}: a built-in one is added to the door")
    mapping = SafeMapping(
        title=f"Imported: {source.name}"[:100],
        up=up,  # type: ignore[arg-type]
        front=front,  # type: ignore[arg-type]
        scale=scale,
        door=_door_mapping(layout, pull, notes),
        knob=found.get("knob"),
        handle=handle,
    )
    return Proposal(mapping, layout, notes)


def _pull_points(handle: TurnerMapping | None):
    if handle is None:
        return ((0.04, 0.0, 0.05),)  # of the built-in lever
    _, pull = gripped_grasps(handle.grip) if handle.grip else ((), handle.points)
    return pull


def _scale(layout: Layout, notes: list[str]) -> float:
    low, high = bounds_of([*layout.pieces("body"), *layout.pieces("door")])
    depth, width, height = (high - low).tolist()
    largest = max(width, height)
    if largest <= LARGEST_SIDE and min(width, height) >= SMALLEST_SIDE and depth <= LARGEST_SIDE:
        return 1.0
    scale = min(SCALED_SIDE / largest, LARGEST_SIDE / depth)
    notes.append(
        f"its front is {width:.3g} x {height:.3g} m and its depth {depth:.3g} m: scaled by "
        f"{scale:.3g}, so that the arm reaches its parts"
    )
    return float(f"{scale:.4g}")


def _door_mapping(layout: Layout, pull, notes: list[str]) -> DoorMapping:
    joint, closed = layout.joint("door"), layout.closed["door"]
    point, direction = layout.axis("door")
    side = -1 if point[1] < 0 else 1
    opens = side * (1 if direction[2] > 0 else -1)
    room = joint.upper - closed if opens > 0 else closed - joint.lower
    inwards = closed - joint.lower if opens > 0 else joint.upper - closed
    if room < radians(40):
        hint = "; it opens into the case: is another face the front?" if inwards > room else ""
        raise RuleSafeError(
            f"the door's joint {joint.name} opens outwards by {degrees(room):.0f} deg only; valid: "
            f"40 or more{hint}"
        )
    limit = radians(120)
    range_ = radians(90) if room == inf else min(room, limit)
    if range_ < room:
        notes.append(f"the door opens by {degrees(range_):.0f} deg; a stop limits it")
    return DoorMapping(
        joint=joint.name,
        closed=closed,
        range=range_,
        open_above=round(DOOR_OPENS / range_, 3),
        closed_below=round(DOOR_CLOSES / range_, 3),
        damping=0.5,
        detent=0.0,
        spring=0.0,
        mass=4.0,
        pull_points=pull,
    )


def _turner(layout: Layout, part: str, notes: list[str]) -> TurnerMapping:
    joint, closed = layout.joint(part), layout.closed[part]
    move = layout.turned(part)
    raw = measure(sample(tuple(move(piece) for piece in layout.pieces(part))))
    along, across = scales(raw)
    if (along, across) != (1.0, 1.0):
        notes.append(
            f"the {part} is scaled by {along:g} along and {across:g} across its axis, so that the "
            "hand can pinch it"
        )
    grown = layout.turned(part, along, across)
    outline = measure(sample(tuple(grown(piece) for piece in layout.pieces(part))))
    grip = fitted(outline)
    opens, room = _turn(layout, part, outline.angle)
    if room < radians(20):
        raise RuleSafeError(f"the joint {joint.name} turns by {degrees(room):.0f} deg; valid: 20")
    range_ = room
    if room > LARGEST_EASY_RANGE:
        range_ = EASY_RANGE
        step = 2 * pi / max(outline.symmetry, 1)
        if outline.kind in ("prism", "fluted", "wheel") and radians(40) < step < radians(75):
            range_ = step
        far = "without end" if room == inf else f"by {degrees(room):.0f} deg"
        notes.append(f"the {part} turns {far}; a stop limits it to {degrees(range_):.0f} deg")
    turn, _ = gripped_grasps(grip)
    notes.append(f"the {part} is a {outline.kind}, gripped as a {type(grip).__name__.lower()}")
    return TurnerMapping(
        joint=joint.name,
        closed=closed,
        range=range_,
        open_above=0.7,
        closed_below=0.3,
        damping=0.05,
        detent=0.04,
        spring=0.01 if outline.kind == "lever" and part == "handle" else 0.0,
        mass=0.18 if part == "knob" else 0.25,
        opens=opens,  # type: ignore[arg-type]
        closed_angle=outline.angle,
        along=along,
        across=across,
        rotor_inertia=0.0002,
        symmetry=grip.symmetry,
        points=turn,
        closing=(0.0, 1.0, 0.0),
        approach=(-1.0, 0.0, 0.0),
        grip=grip,
    )


def _turn(layout: Layout, part: str, angle: float) -> tuple[str, float]:
    """Return the direction in which a part opens as seen from the front, and its range (rad)."""
    joint, closed = layout.joint(part), layout.closed[part]
    positive = "counterclockwise" if layout.axis(part)[1][0] > 0 else "clockwise"
    negative = "clockwise" if positive == "counterclockwise" else "counterclockwise"
    rooms = {positive: joint.upper - closed, negative: closed - joint.lower}
    equal = rooms[positive] == rooms[negative] or abs(rooms[positive] - rooms[negative]) < 1e-6
    if equal:
        # A lever turns down: clockwise if it points to the right.
        preferred = "counterclockwise" if np.sin(angle) < -0.1 else "clockwise"
        return preferred, rooms[preferred]
    best = max(("clockwise", "counterclockwise"), key=lambda turn: rooms[turn])
    return best, rooms[best]
