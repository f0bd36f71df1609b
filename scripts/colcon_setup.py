"""Describe the package in the working directory to colcon, for the setup.py files of src.

Package data and entry points are those of the pyproject.toml at the root, which pip uses.
"""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from setuptools import find_packages, setup
from setuptools.config.pyprojecttoml import load_file

PROJECT = load_file(Path(__file__).resolve().parents[1] / "pyproject.toml")
MANIFEST = {element.tag: element.text for element in ElementTree.parse("package.xml").getroot()}
NAME = str(MANIFEST["name"])
GROUPS = {"console_scripts": PROJECT["project"]["scripts"], **PROJECT["project"]["entry-points"]}
NODES = GROUPS["rulesafe.nodes"]


def compiled() -> dict[str, Any]:
    """Return the arguments for a package with libraries in C++."""
    if not Path(NAME, "native").is_dir():
        return {}
    sys.path.insert(0, str(Path(__file__).parent))
    from kernels import BuildKernels, kernels

    return {"ext_modules": kernels("."), "cmdclass": {"build_ext": BuildKernels}}


def entries(group: dict[str, str]) -> list[str]:
    """Return the entry points of this package; a node's script belongs to the node's package."""
    return [
        f"{script} = {target}"
        for script, target in group.items()
        if NODES.get(script, target).startswith(f"{NAME}.")
    ]


setup(
    name=NAME,
    version=MANIFEST["version"],
    description=MANIFEST["description"],
    maintainer=MANIFEST["maintainer"],
    license=MANIFEST["license"],
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: PROJECT["tool"]["setuptools"]["package-data"].get(NAME, [])},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={group: entries(points) for group, points in GROUPS.items()},
    options={  # where `ros2 run` looks for executables
        "develop": {"script_dir": f"$base/lib/{NAME}"},
        "install": {"install_scripts": f"$base/lib/{NAME}"},
    },
    zip_safe=False,
    **compiled(),
)
