"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_data"

setup(
    name=NAME,
    version="0.1.0",
    description="Demonstrations on disk: the LeRobot v3.0 layout with point clouds beside it",
    maintainer="The RuleSafe authors",
    maintainer_email="maintainers@rulesafe.dev",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={"console_scripts": []},
    zip_safe=False,
)
