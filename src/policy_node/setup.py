"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "policy_node"

setup(
    name=NAME,
    version="0.1.0",
    description="Policies with and without memory: DP3, RDT, CogACT, pi0; the policy node",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.yaml", "**/*.json", "**/*.safetensors"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": [
            "policy_node = rulesafe_core.start:node",
            "instruction_node = rulesafe_core.start:node",
        ],
        "rulesafe.nodes": [
            "policy_node = policy_node.node:main",
            "instruction_node = policy_node.instruction_node:main",
        ],
    },
    zip_safe=False,
)
