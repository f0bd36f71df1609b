"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_cli"

setup(
    name=NAME,
    version="0.1.0",
    description="The rulesafe command and its benchmarks",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["rulesafe = rulesafe_cli.cli:main"],
    },
    zip_safe=False,
)
