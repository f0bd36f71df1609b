"""The package as colcon builds it; with pip the root's pyproject.toml describes all packages."""

from setuptools import find_packages, setup

NAME = "rulesafe_eval"

setup(
    name=NAME,
    version="0.1.0",
    description="Evaluation, reports and the rulesafe command",
    maintainer="The RuleSafe authors",
    maintainer_email="maintainers@rulesafe.dev",
    license="Apache-2.0",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["**/*.yaml", "**/*.md", "**/*.html", "**/*.css", "**/*.js", "**/*.svg"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": [
            "rulesafe = rulesafe_eval.cli:main",
            "evaluator_node = rulesafe_eval.start:evaluator_node",
            "robot_side_node = rulesafe_eval.start:robot_side_node",
            "instruction_node = rulesafe_eval.start:instruction_node",
        ]
    },
    zip_safe=False,
)
