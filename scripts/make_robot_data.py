"""Make src/rulesafe_core/rulesafe_core/data/h1_2.json from a table of the manufacturer's values.

    python scripts/make_robot_data.py h1_2_kinematics.json

The table holds every link and joint of unitree_ros' h1_2.urdf with, per mesh, its bounding boxes
and convex volume in the link frame. Values are copied unchanged; robot.py replaces some of them
(the hands' masses) and gives the reasons.
"""

import json
import sys
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parents[1] / "src/rulesafe_core/rulesafe_core/data/h1_2.json"

META = {
    "robot": "Unitree H1-2 with Inspire DFX hands",
    "licence": "BSD-3-Clause (unitree_ros, Copyright (c) 2016-2022 HangZhou YuShu TECHNOLOGY "
    'CO.,LTD. ("Unitree Robotics"))',
    "units": "m, kg, kg m^2, rad, N m, rad/s; rpy about fixed axes as in URDF; "
    "inertia [ixx, ixy, ixz, iyy, iyz, izz] about the centre of mass in link axes",
    "mesh": "size of the visual mesh in its link frame: aabb [min, max]; obb extents (ascending), "
    "center and axes (columns of a rotation); volume of the convex hull in m^3",
    "note": "masses and inertias are the manufacturer's; robot.py replaces those of the hands",
}


def distil(table: dict[str, Any]) -> dict[str, Any]:
    """Return the content of h1_2.json from the manufacturer's table."""
    robot = table["h1_2_dfx"]
    source = {"source": table["_meta"]["sources"]["body_and_dfx_hand"]}
    return {
        "_meta": source | META,
        "links": {name: distil_link(name, link) for name, link in robot["links"].items()},
        "joints": {name: distil_joint(joint) for name, joint in robot["joints"].items()},
    }


def distil_link(name: str, link: dict[str, Any]) -> dict[str, Any]:
    """Return the inertial values of a link and the size of its visual mesh, if it has them."""
    result: dict[str, Any] = {}
    if link.get("mass"):
        if any(link["com_rpy"]):
            raise SystemExit(f"{name}: com_rpy is {link['com_rpy']}; only zero is supported")
        result |= {"mass": link["mass"], "com": link["com_xyz"]}
        result["inertia"] = [link["inertia"][k] for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
    for mesh in link.get("visual", [])[:1]:
        result["mesh"] = {
            "aabb": [mesh["aabb_min_link"], mesh["aabb_max_link"]],
            "obb": {
                "extents": mesh["obb_extents"],
                "center": mesh["obb_center_link"],
                "axes": mesh["obb_R_link"],
            },
            "volume": mesh["convex_volume_m3"],
        }
    return result


def distil_joint(joint: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a joint that the robot description uses."""
    kept = ("parent", "child", "origin_xyz", "origin_rpy", "type", "axis", "limit", "mimic")
    return {key: joint[key] for key in kept if key in joint}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    data = distil(json.loads(Path(sys.argv[1]).read_text()))
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size} bytes")
