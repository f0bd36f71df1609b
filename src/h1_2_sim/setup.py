"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "h1_2_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="Simulated robot with Unitree's message interface, to test the bridge with",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["robot_side_node = rulesafe_core.start:node"],
        "rulesafe.nodes": ["robot_side_node = h1_2_sim.node:main"],
    },
    zip_safe=False,
)
