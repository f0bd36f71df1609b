#!/usr/bin/env python3
"""Export our scene for other simulators: robot, safe, stand, room, cameras, lights and motion.

    python studies/peers/scene.py build/peers/scene

writes robot.urdf and safe.urdf, in which links are merged as in our simulation, with capsules as
<capsule> (which SAPIEN's loader reads, and which are one collision shape), and scene.json
with everything else. Lengths in m, angles in rad, quaternions w, x, y, z.
"""

import json
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rulesafe_core.body import Body, joint_position
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.transforms import from_xyz_rpy, to_quat_wxyz
from rulesafe_core.urdf import to_urdf
from rulesafe_sim.bodies import ROBOT
from rulesafe_sim.physics import Groups, robot_group
from rulesafe_sim.room import WALL, WOOD
from rulesafe_sim.simulation import HOME_ACTION, LOWER, UPPER, Simulation
from rulesafe_sim.stand import FLOOR_Z

RULE, SAFE, SEED = "rule_001", "safe_01", 0
FRAMES = 400  # of 0.1 s; longer measurements repeat the motion


def motion() -> np.ndarray:
    """Return targets (FRAMES, 13) at 10 Hz, rad: sine waves about the initial posture, in front of
    the safe and slower than the velocity limits."""
    reach = np.where(np.arange(13) < 7, 0.15, 0.1)
    center = np.clip(HOME_ACTION, LOWER + reach, UPPER - reach)
    # Integer numbers of periods, so that the motion can be repeated.
    periods = 10 + np.arange(13) * 1.5 // 1
    phase = 2 * np.pi * np.arange(1, FRAMES + 1)[:, None] * periods / FRAMES
    return center + reach * np.sin(phase)


def with_capsules(urdf: str) -> str:
    """Return the URDF with each cylinder that is followed by two spheres as a capsule."""
    root = ET.fromstring(urdf)
    for link in root.iter("link"):
        for role in ("visual", "collision"):
            elements = link.findall(role)
            kinds = [element.find("geometry")[0].tag for element in elements]
            for i in range(len(kinds) - 2):
                if kinds[i : i + 3] == ["cylinder", "sphere", "sphere"]:
                    elements[i].find("geometry")[0].tag = "capsule"
                    for end in elements[i + 1 : i + 3]:
                        link.remove(end)
    return ET.tostring(root, encoding="unicode")


def without_mimics(body: Body) -> Body:
    """Return the body without mimic rules: the motion has a target for each joint, since our robot
    drives them all."""
    return replace(body, joints=tuple(replace(joint, mimic=None) for joint in body.joints))


def pose(transform: np.ndarray) -> dict[str, list[float]]:
    """Return a transform (4, 4) as position `p`, m, and quaternion `q`, wxyz."""
    return {"p": transform[:3, 3].tolist(), "q": to_quat_wxyz(transform).tolist()}


def cameras() -> list[dict[str, Any]]:
    """Return the two cameras; a pose is that of a camera's body frame (x forward, z up)."""
    return [
        {
            "name": config.name,
            "pose": pose(from_xyz_rpy(config.xyz, config.rpy)),
            "size": [config.width, config.height],
            "fovy": config.fovy,
            "clip": [config.near, config.far],
        }
        for config in reversed(DEFAULT_CAMERAS.cameras)
    ]


def lights(simulation: Simulation) -> list[dict[str, Any]]:
    """Return the directional lights and the ambient light of the scene."""
    found = simulation.bodies.render_scene().lights
    center, distance = np.array(found.shadow_center), 2.0
    return [
        {
            "color": color,
            "direction": direction,
            "position": (center - distance * np.array(direction)).tolist(),
            "shadow": number == 0,
            "shadow_scale": found.shadow_half,
            "shadow_near": 0.1,
            "shadow_far": 4.0,
            "shadow_map_size": found.shadow_size,
        }
        for number, (direction, color) in enumerate(found.directional)
    ] + [{"ambient": found.ambient}]


def boxes(simulation: Simulation) -> dict[str, list[dict[str, Any]]]:
    """Return the boxes of the stand and of the room."""
    stand = [
        {"half_size": (np.array(s.size) / 2).tolist(), "color": s.material.color, **pose(s.pose)}
        for s in simulation.bodies.stand.links[0].shapes
    ]
    half, height, thick = 2.6, 2.8, 0.02  # as in room.add_room
    middle, flat = FLOOR_Z + height / 2, [1.0, 0.0, 0.0, 0.0]
    room = [{"p": [0.6, 0, FLOOR_Z - thick], "half_size": [half, half, thick], "color": WOOD}]
    for xy, size in (
        ((0.6 + half, 0), (thick, half)),
        ((0.6, half), (half, thick)),
        ((0.6, -half), (half, thick)),
    ):
        room.append({"p": [*xy, middle], "half_size": [*size, height / 2], "color": WALL})
        wider = [s + 0.01 if s == thick else s for s in size]
        skirting = {"p": [*xy, FLOOR_Z + 0.05], "half_size": [*wider, 0.05]}
        room.append(skirting | {"color": (0.75, 0.74, 0.72)})
    return {"stand": stand, "room": [{"q": flat} | each for each in room]}


def export(folder: Path) -> dict[str, Any]:
    """Write the scene into a folder, created if missing; return the content of scene.json."""
    folder.mkdir(parents=True, exist_ok=True)
    simulation = Simulation()
    simulation.reset(RULE, SAFE, SEED)
    physics, robot = simulation.config.physics, simulation.bodies.robot.body
    for name, body in (("robot", without_mimics(robot)), ("safe", simulation.bodies.safe_body)):
        (folder / f"{name}.urdf").write_text(with_capsules(to_urdf(body)))
    joints = [ROBOT.joint(name) for name in simulation._robot.names]
    gains = [physics.gains[j.mimic.joint if j.mimic else j.name] for j in joints]
    targets = motion()
    named = [dict(zip(ACTION_JOINTS, row.tolist(), strict=True)) for row in targets]
    content = {
        "rule": RULE,
        "safe": SAFE,
        "seed": SEED,
        "timestep": physics.timestep,
        "control_hz": physics.control_hz,
        "frame_hz": physics.frame_hz,
        "position_iterations": physics.position_iterations,
        "friction": physics.friction,
        "actions": targets.tolist(),  # (FRAMES, 13)
        "joints": [joint.name for joint in joints],  # J = 19
        "targets": [[joint_position(joint, row) for joint in joints] for row in named],
        "start": simulation._robot.positions.tolist(),  # (J,)
        "stiffness": [gain.stiffness for gain in gains],
        "damping": [gain.damping for gain in gains],
        "effort": [joint.force_limit for joint in simulation._robot.joints.values()],
        "armature": [gain.armature for gain in gains],
        "groups": {link.name: robot_group(link.name) for link in robot.links},
        "safe_group": Groups.SAFE,
        "pose_safe": pose(simulation.pose_safe_in_pelvis),
        "cameras": cameras(),
        "lights": lights(simulation),
        **boxes(simulation),
    }
    (folder / "scene.json").write_text(json.dumps(content))
    return content


if __name__ == "__main__":
    export(Path(sys.argv[1]))
