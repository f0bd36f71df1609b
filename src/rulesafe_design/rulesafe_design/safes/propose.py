"""Propose the mapping of a URDF to a safe, from joint types, names, semantics and geometry."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import degrees, inf, pi, radians

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.safes.fit import fitted, measure, sample, scales
from rulesafe_design.safes.grasps import gripped_grasps
from rulesafe_design.safes.layout import DIRECTIONS, Layout, bounds_of
from rulesafe_design.safes.mapping import DoorMapping, SafeMapping, TurnerMapping
from rulesafe_design.safes.source import TURNING, Source, SourceJoint, rest_position

KNOB_NAMES = ("knob", "dial", "key", "lock", "button")
HANDLE_NAMES = ("handle", "lever", "wheel", "crank", "switch", "spoke")
PARALLEL = 0.95  # cosine, between the axis of a part and the direction that it should have

EASY_RANGE = radians(60)
"""Range of knob or handle for parts that turn further; a stop limits them to it."""

LARGEST_EASY_RANGE = radians(75)
DOOR_OPENS = radians(34.2)
DOOR_CLOSES = radians(7.2)
UPWARDS = {"+z": 1.0, "+y": 0.2, "-y": 0.1}
"""Directions that may be up in a URDF, and a factor on the size of a door that hangs so."""

LARGEST_SIDE = 0.45  # m, of a safe that is not scaled
SCALED_SIDE = 0.40  # m, of one that is
SMALLEST_SIDE = 0.24


@dataclass
class Proposal:
    """A mapping, and what the user should know about it."""

    mapping: SafeMapping
    layout: Layout
    notes: list[str] = field(default_factory=list)


def propose(source: Source) -> Proposal:
    """Propose the mapping of a URDF.

    Raises:
        RuleSafeError: it has no door, or a part cannot be operated.
    """
    notes: list[str] = []
    up, door, closed = _door(source)
    if up != "+z":
        notes.append(f"the hinge is vertical if {up} is up")
    front = _front(source, up, door, closed)
    bare = Layout(source, up, front, 1.0, {"door": door.name}, {"door": closed})
    turners = _turners(bare, notes)
    joints = {"door": door.name} | {part: joint.name for part, joint in turners.items()}
    rest = {"door": closed} | {part: rest_position(joint) for part, joint in turners.items()}
    scale = _scale(Layout(source, up, front, 1.0, joints, rest), notes)
    layout = Layout(source, up, front, scale, joints, rest)
    found = {part: _turner(layout, part, notes) for part in turners}
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


def _door(source: Source) -> tuple[str, SourceJoint, float]:
    """Return the direction that is up, the joint of the door, and its closed position (rad)."""
    found = [
        (_door_size(source, joint, up) * prior, up, joint)
        for up, prior in UPWARDS.items()
        for joint in source.joints
        if joint.kind in TURNING
    ]
    size, up, door = max(found, key=lambda each: each[0], default=(0.0, "", None))
    if size > 0 and door is not None:
        return up, door, _closed(source, door)
    raise RuleSafeError(
        "it has no door: no revolute joint with a vertical axis has geometry; joints: "
        + (", ".join(f"{j.name} ({j.kind})" for j in source.joints) or "none")
    )


def _door_size(source: Source, joint: SourceJoint, up: str) -> float:
    pose = source.poses()[joint.child]
    if abs(pose[:3, :3] @ np.array(joint.axis) @ DIRECTIONS[up]) < PARALLEL:
        return 0.0
    pieces = [p for name in source.below(joint.child) for p in source.links[name].solid]
    if not pieces:
        return 0.0
    low, high = bounds_of(pieces)
    sides = np.sort(high - low)
    called = _names(source, joint)
    factor = 100.0 if "door" in called else 1.0
    if any(word in called for word in KNOB_NAMES + HANDLE_NAMES):
        factor *= 1e-4
    return float(sides[1] * sides[2]) * factor


def _names(source: Source, joint: SourceJoint) -> str:
    child = source.links[joint.child]
    meaning = child.meaning
    return f"{joint.name} {child.name} {meaning}".lower() if not meaning else meaning.lower()


def _closed(source: Source, door: SourceJoint) -> float:
    """Return the position at which the box around the complete object is smallest."""

    def size(position: float) -> float:
        poses = source.poses({door.name: position})
        points = [
            piece.moved(poses[name]).vertices
            for name, link in source.links.items()
            for piece in link.solid
        ]
        stacked = np.concatenate(points)
        return float(np.prod(np.ptp(stacked, axis=0)))

    ends = [rest_position(door), *(e for e in (door.lower, door.upper) if math.isfinite(e))]
    sizes = [size(end) * (1.0 if i == 0 else 1.02) for i, end in enumerate(ends)]
    return float(ends[int(np.argmin(sizes))])


def _front(source: Source, up: str, door: SourceJoint, closed: float) -> str:
    """Return the horizontal direction in which the closed door's panel looks."""
    poses = source.poses({door.name: closed})
    turning = [j for j in source.joints if j.kind in TURNING and j.name != door.name]
    below = set().union(*(source.below(joint.child) for joint in turning))
    of_door = source.below(door.child)

    def points(names: Iterable[str]) -> np.ndarray:
        pieces = [p.moved(poses[n]).vertices for n in names for p in source.links[n].solid]
        return np.concatenate(pieces) if pieces else np.zeros((0, 3))

    panel, rest = points(sorted(of_door - below)), points(sorted(set(poses) - of_door - below))
    if not len(panel):
        raise RuleSafeError(f"the door {door.child} has no geometry of its own")
    flat = [d for d in DIRECTIONS if abs(np.dot(DIRECTIONS[d], DIRECTIONS[up])) < 0.5]
    thin = min(flat, key=lambda d: float(np.ptp(panel @ DIRECTIONS[d])))
    axis = np.array(DIRECTIONS[thin])
    centre = (panel.min(0) + panel.max(0)) / 2
    other = (rest.min(0) + rest.max(0)) / 2 if len(rest) else centre
    ahead = float((centre - other) @ axis)
    parts = points(sorted(below))
    if len(parts) and abs(ahead) < 0.05 * float(np.ptp(rest @ axis) if len(rest) else 0.0):
        ahead = float((parts.mean(0) - centre) @ axis)
    opposite = {"+": "-", "-": "+"}[thin[0]] + thin[1]
    return thin if ahead >= 0 else opposite


def _turners(bare: Layout, notes: list[str]) -> dict[str, SourceJoint]:
    """Return the joints of knob and handle: those that turn about the direction of the front."""
    source, door = bare.source, bare.joint("door")
    found = []
    half = np.array((bare.door_width, bare.door_height)) / 2
    for joint in source.joints:
        if joint.name == door.name or joint.kind == "fixed":
            continue
        pieces = [p for name in source.below(joint.child) for p in source.links[name].solid]
        if not pieces:
            continue
        one = Layout(
            source,
            bare.up,
            bare.front,
            1.0,
            {"door": door.name, "knob": joint.name},
            dict(bare.closed) | {"knob": rest_position(joint)},
        )
        low, high = bounds_of(one.pieces("knob"))
        if joint.kind == "prismatic":
            notes.append(f"{joint.name} slides ({joint.child}); it is fixed")
        elif abs(one.axis("knob")[1][0]) < PARALLEL:
            notes.append(f"{joint.name} does not turn about the front's direction; it is fixed")
        elif (abs((low + high)[1:] / 2) > half).any() or high[0] < 0.0:
            notes.append(f"{joint.name} ({joint.child}) is not on the door's front; it is fixed")
        else:
            found.append((joint, float(np.max(high[1:] - low[1:]))))
            if joint.child not in source.below(door.child):
                notes.append(f"{joint.name} is attached to the case; here it moves with the door")
    return _roles(source, found, notes)


def _roles(source: Source, found, notes: list[str]) -> dict[str, SourceJoint]:
    def called(joint: SourceJoint, words: tuple[str, ...]) -> bool:
        return any(word in _names(source, joint) for word in words)

    by_size = [joint for joint, _ in sorted(found, key=lambda each: -each[1])]
    handles = [j for j in by_size if called(j, HANDLE_NAMES)]
    others = [j for j in by_size if j not in handles]
    knobs = [j for j in others if called(j, KNOB_NAMES)]
    unnamed = [j for j in others if j not in knobs]
    if not handles:
        spare = unnamed or (knobs if len(knobs) > 1 else [])
        if spare and (len(by_size) > 1 or (spare is unnamed and not knobs)):
            handles = spare[:1]
            notes.append(f"{handles[0].name} ({handles[0].child}) is the handle: it is the largest")
    if not knobs or knobs[0] in handles:
        left = [j for j in by_size if j not in handles[:1]]
        knobs = left[:1]
        if knobs and not called(knobs[0], KNOB_NAMES):
            notes.append(f"{knobs[0].name} ({knobs[0].child}) is the knob")
    roles = {"knob": knobs[:1], "handle": handles[:1]}
    used = [joint for joints in roles.values() for joint in joints]
    for joint in by_size:
        if joint not in used:
            notes.append(f"{joint.name} ({joint.child}) is neither knob nor handle; it is fixed")
    return {part: joints[0] for part, joints in roles.items() if joints}


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
