"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_eval"

setup(
    name=NAME,
    version="0.1.0",
    description="Evaluation: agents, episodes, statistics, reports and the evaluator node",
    maintainer="The RuleSafe authors",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": ["evaluator_node = rulesafe_core.start:node"],
        "rulesafe.nodes": ["evaluator_node = rulesafe_eval.node:main"],
    },
    zip_safe=False,
)
