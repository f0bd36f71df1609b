"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "h1_2_bridge"

setup(
    name=NAME,
    version="0.1.0",
    description="The real Unitree H1-2 on the simulation's topics, with what keeps it safe",
    maintainer="The RuleSafe authors",
    maintainer_email="maintainers@rulesafe.dev",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.json"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": [
            "h1_2_bridge = h1_2_bridge.start:h1_2_bridge",
            "h1_2_bridge_supervisor = h1_2_bridge.start:h1_2_bridge_supervisor",
            "camera_points = h1_2_bridge.start:camera_points",
        ]
    },
    zip_safe=False,
)
