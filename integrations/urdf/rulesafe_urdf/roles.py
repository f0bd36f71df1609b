"""Which joints of a URDF are those of door, knob and handle, and where its front is."""

import math
from collections.abc import Iterable

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_urdf.layout import DIRECTIONS, Layout, bounds_of
from rulesafe_urdf.source import TURNING, SourceJoint, UrdfSource, rest_position

KNOB_NAMES = ("knob", "dial", "key", "lock", "button")
HANDLE_NAMES = ("handle", "lever", "wheel", "crank", "switch", "spoke")
PARALLEL = 0.95
"""Cosine of the angle between the axis of a part and the direction that it should have."""

UPWARDS = {"+z": 1.0, "+y": 0.2, "-y": 0.1}
"""Directions that may be up in a URDF, and a factor on the size of a door that hangs so."""


def find_door(source: UrdfSource) -> tuple[str, SourceJoint, float]:
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


def _door_size(source: UrdfSource, joint: SourceJoint, up: str) -> float:
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


def _names(source: UrdfSource, joint: SourceJoint) -> str:
    child = source.links[joint.child]
    meaning = child.meaning
    return f"{joint.name} {child.name} {meaning}".lower() if not meaning else meaning.lower()


def _closed(source: UrdfSource, door: SourceJoint) -> float:
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


def find_front(source: UrdfSource, up: str, door: SourceJoint, closed: float) -> str:
    """Return the horizontal direction in which the closed door's panel looks: away from the case;
    if the panel is in its middle, to the side on which the door opens, or on which the parts are.
    """
    poses = source.poses({door.name: closed})
    turning = [j for j in source.joints if j.kind in TURNING and j.name != door.name]
    below = set().union(*(source.below(joint.child) for joint in turning))
    of_door = source.below(door.child)

    def points(names: Iterable[str]) -> np.ndarray:
        pieces = [p.moved(poses[n]).vertices for n in names for p in source.links[n].solid]
        return np.concatenate(pieces) if pieces else np.zeros((0, 3))

    panel, rest = points(sorted(of_door - below)), points(sorted(set(poses) - of_door - below))
    if not len(panel):
        raise RuleSafeError(
            f"the only candidate for the door is the link {door.child}, which has no geometry "
            "beside its parts; valid: a door with a vertical axis, +z, +y or -y of the root link"
        )
    flat = [d for d in DIRECTIONS if abs(np.dot(DIRECTIONS[d], DIRECTIONS[up])) < 0.5]
    thin = min(flat, key=lambda d: float(np.ptp(panel @ DIRECTIONS[d])))
    axis = np.array(DIRECTIONS[thin])
    centre = (panel.min(0) + panel.max(0)) / 2
    other = (rest.min(0) + rest.max(0)) / 2 if len(rest) else centre
    ahead = float((centre - other) @ axis)
    parts = points(sorted(below))
    if abs(ahead) <= 0.05 * float(np.ptp(rest @ axis) if len(rest) else 0.0):
        up_room, down_room = door.upper - closed, closed - door.lower
        if up_room != down_room:
            poses = source.poses({door.name: closed + (0.1 if up_room > down_room else -0.1)})
            ahead = float((points(sorted(of_door - below)).mean(0) - panel.mean(0)) @ axis)
        elif len(parts):
            ahead = float((parts.mean(0) - centre) @ axis)
    opposite = {"+": "-", "-": "+"}[thin[0]] + thin[1]
    return thin if ahead >= 0 else opposite


def find_turners(bare: Layout, notes: list[str]) -> dict[str, SourceJoint]:
    """Return the joints of knob and handle: those that turn about the direction of the front."""
    source, door = bare.source, bare.joint("door")
    found = []
    half = np.array((bare.door_width, bare.door_height)) / 2
    for joint in source.joints:
        if joint.name == door.name or joint.kind == "fixed":
            continue
        below = source.below(joint.child)
        if door.child in below:
            notes.append(f"{joint.name} carries the door; it is fixed")
            continue
        if not any(source.links[name].solid for name in below):
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
            corners = np.concatenate([piece.vertices for piece in one.pieces("knob")])[:, 1:]
            away = np.linalg.norm(corners - one.axis_on_door("knob"), axis=1)
            found.append((joint, float(away.max())))
            if joint.child not in source.below(door.child):
                notes.append(f"{joint.name} is attached to the case; here it moves with the door")
    return _roles(source, found, notes)


def _roles(source: UrdfSource, found, notes: list[str]) -> dict[str, SourceJoint]:
    def called(joint: SourceJoint, words: tuple[str, ...]) -> bool:
        return any(word in _names(source, joint) for word in words)

    by_reach = [joint for joint, _ in sorted(found, key=lambda each: -each[1])]
    handles = [j for j in by_reach if called(j, HANDLE_NAMES)]
    others = [j for j in by_reach if j not in handles]
    knobs = [j for j in others if called(j, KNOB_NAMES)]
    unnamed = [j for j in others if j not in knobs]
    if not handles:
        spare = unnamed or (knobs if len(knobs) > 1 else [])
        if spare and (len(by_reach) > 1 or (spare is unnamed and not knobs)):
            handles = spare[:1]
            notes.append(
                f"{handles[0].name} ({handles[0].child}) is the handle: it reaches furthest"
            )
    if not knobs or knobs[0] in handles:
        left = [j for j in by_reach if j not in handles[:1]]
        knobs = left[:1]
        if knobs and not called(knobs[0], KNOB_NAMES):
            notes.append(f"{knobs[0].name} ({knobs[0].child}) is the knob")
    roles = {"knob": knobs[:1], "handle": handles[:1]}
    used = [joint for joints in roles.values() for joint in joints]
    for joint in by_reach:
        if joint not in used:
            notes.append(f"{joint.name} ({joint.child}) is neither knob nor handle; it is fixed")
    return {part: joints[0] for part, joints in roles.items() if joints}
