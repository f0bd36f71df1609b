"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "planner_node"

setup(
    name=NAME,
    version="0.1.0",
    description="Inverse kinematics, motion planning and task programs that open the safes",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["planner_node = rulesafe_core.start:node"],
        "rulesafe.nodes": ["planner_node = planner_node.node:main"],
    },
    zip_safe=False,
)
