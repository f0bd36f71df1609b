"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "h1_2_bridge"

setup(
    name=NAME,
    version="0.1.0",
    description="Bridge between the Unitree H1-2 and the simulation's topics, with safety limits",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.json"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": [
            "h1_2_bridge = rulesafe_core.start:node",
            "h1_2_bridge_supervisor = rulesafe_core.start:node",
            "camera_points = rulesafe_core.start:node",
        ],
        "rulesafe.nodes": [
            "h1_2_bridge = h1_2_bridge.node:main",
            "h1_2_bridge_supervisor = h1_2_bridge.supervisor_node:main",
            "camera_points = h1_2_bridge.camera_points_node:main",
        ],
    },
    zip_safe=False,
)
