"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "vq_memory_node"

setup(
    name=NAME,
    version="0.1.0",
    description="VQ-Memory: past joint states as a few discrete tokens; the memory node",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.json", "**/*.safetensors"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["vq_memory_node = rulesafe_core.start:node"],
        "rulesafe.nodes": ["vq_memory_node = vq_memory_node.node:main"],
    },
    zip_safe=False,
)
