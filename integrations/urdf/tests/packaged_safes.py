"""Safes from MuJoCo models that other projects publish: assembled from their files, as URDF.

    pip install --no-deps --target packages \
        metaworld==3.1.1 robosuite==1.5.2 gymnasium-robotics==1.4.2
    python integrations/urdf/tests/packaged_safes.py OUT --packages packages

Requires mujoco. The files of the packages are read, not copied into this project:

- `metaworld_safe`: the safe doorlockB of Meta-World, with the lock lever of its doorlockA and its
  dial on the door.
- `robosuite_door`: robosuite's door_lock, a door with a latch lever in a frame.
- `adroit_door`: the door with a latch lever of the Adroit hand tasks (gymnasium-robotics).
- `kitchen_microwave`: the microwave of Franka Kitchen (gymnasium-robotics), without knob and
  handle.
"""

import argparse
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

CONVERTER = Path(__file__).resolve().parents[1] / "rulesafe_urdf/mjcf_to_urdf.py"
METAWORLD = "metaworld/assets/objects"
ADROIT = "gymnasium_robotics/envs/assets/adroit_hand"
KITCHEN = "gymnasium_robotics/envs/assets/kitchen_franka"


def read(path: Path, meshes: Path, textures: Path | None = None) -> ET.Element:
    """Read an MJCF file; file names become absolute, relative to the folders of meshes and
    textures."""
    root = ET.parse(path).getroot()
    for element in root.iter():
        if "file" in element.attrib:
            folder = (textures or meshes) if element.tag == "texture" else meshes
            element.set("file", str((folder / element.get("file", "")).resolve()))
    return root


def model(world: list[ET.Element], settings: list[ET.Element]) -> ET.Element:
    """Return a model of bodies, with the assets and defaults of other files."""
    root = ET.Element("mujoco")
    for each in settings:
        root.extend(e for e in each if e.tag in ("compiler", "asset", "default"))
    ET.SubElement(root, "worldbody").extend(world)
    return root


def body(root: ET.Element, name: str) -> ET.Element:
    return next(each for each in root.iter("body") if each.get("name") == name)


def metaworld_safe(packages: Path) -> ET.Element:
    folder = packages / METAWORLD
    names = ("doorlockA", "doorlockB", "dial", "doorlock_dependencies", "dial_dependencies")
    files = {name: read(folder / f"assets/{name}.xml", folder) for name in names}
    door = body(files["doorlockB"], "door_link")
    of_lock = body(files["doorlockA"], "door_link")
    door.append(next(geom for geom in of_lock.iter("geom") if geom.get("mesh") == "lock_base"))
    door.append(body(of_lock, "lock_link"))
    dial = files["dial"].find("body")
    # On the front of the door, which looks to -y; the dial turns about its z axis.
    dial.attrib.update(name="dial", pos="0.1 -0.01 -0.06", quat="0.70710678 0.70710678 0 0")
    door.append(dial)
    world = [body(files["doorlockB"], "doorlockB")]
    return model(world, [files[name] for name in names[3:]])


def robosuite_door(packages: Path) -> ET.Element:
    folder = packages / "robosuite/models/assets/objects"
    root = read(folder / "door_lock.xml", folder)
    # robosuite's door opens by 0.4 rad, less than an open safe.
    body(root, "door").find("joint").set("range", "0 1.57")
    ET.SubElement(root, "compiler", angle="radian")  # as in robosuite's base.xml
    return root


def adroit_door(packages: Path) -> ET.Element:
    folder = packages / ADROIT
    resources = folder / "resources"
    root = read(folder / "adroit_door.xml", folder)
    settings = read(folder / "adroit_assets.xml", resources / "meshes", resources / "textures")
    return model([body(root, "frame")], [settings])


def kitchen_microwave(packages: Path) -> ET.Element:
    folder = packages / KITCHEN / "kitchen_assets"
    meshes = folder.parent / "franka_assets/meshes"
    items = folder / "item_assets"
    settings = read(items / "microwave_asset.xml", meshes, folder / "textures")
    chain = read(items / "microwave_chain.xml", meshes)
    return model([body(chain, "microroot")], [settings])


PACKAGED: dict[str, Callable[[Path], ET.Element]] = {
    "metaworld_safe": metaworld_safe,
    "robosuite_door": robosuite_door,
    "adroit_door": adroit_door,
    "kitchen_microwave": kitchen_microwave,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, required=True, help="folder of the packages")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, assemble in PACKAGED.items():
        mjcf = given.out / f"{name}.xml"
        ET.ElementTree(assemble(given.packages)).write(mjcf)
        command = [sys.executable, str(CONVERTER), str(mjcf), str(given.out / f"{name}.urdf")]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
