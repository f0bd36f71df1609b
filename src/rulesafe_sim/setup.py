"""Package description for colcon; pip uses the pyproject.toml at the root for all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="Safes, physics, cameras, Gymnasium environment and simulation node",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.yaml", "**/*.vert", "**/*.frag", "**/*.glsl"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["sim_node = rulesafe_core.start:node"],
        "rulesafe.nodes": ["sim_node = rulesafe_sim.node:main"],
    },
    zip_safe=False,
)
