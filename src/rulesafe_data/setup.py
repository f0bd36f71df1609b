"""Package description for colcon; pip uses the pyproject.toml at the root for all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_data"

setup(
    name=NAME,
    version="0.1.0",
    description="Datasets, bags and recordings on disk, resumable jobs and progress bars",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    zip_safe=False,
)
