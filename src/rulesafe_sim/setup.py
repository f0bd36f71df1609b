"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_sim"

setup(
    name=NAME,
    version="0.1.0",
    description="Rules, safes, robot, scene and Gymnasium environment of RuleSafe",
    maintainer="The RuleSafe authors",
    maintainer_email="maintainers@rulesafe.dev",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*", "rulesafe_start"]),
    package_data={NAME: ["**/*.yaml", "**/*.json", "**/*.vert", "**/*.frag", "**/*.glsl"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={"console_scripts": ["sim_node = rulesafe_sim.start:sim_node"]},
    zip_safe=False,
)
