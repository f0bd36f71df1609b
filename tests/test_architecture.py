"""The structure that docs/architecture.md describes, measured on the source."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PACKAGES = (
    "rulesafe_core",
    "rulesafe_locks",
    "rulesafe_render",
    "rulesafe_sim",
    "rulesafe_data",
    "planner_node",
    "teleop_node",
    "vq_memory_node",
    "policy_node",
    "h1_2_bridge",
    "h1_2_sim",
    "rulesafe_design",
    "rulesafe_reader",
    "rulesafe_demos",
    "rulesafe_eval",
    "rulesafe_ros",
    "rulesafe_cli",
)
"""From the lowest to the highest: a package imports only those before it."""

STUDIES = ROOT / "studies/rulesafe_studies"

ROBOT_COMPUTER = {"rulesafe_core", "h1_2_bridge"}
"""What a robot's computer installs, beside the message packages."""

LARGEST_SHARE = 0.15
SCENE = {"physics.py", "articulations.py", "sapien_images.py", "sapien_import.py"}
MESSAGES = {"sensor_msgs", "std_msgs", "trajectory_msgs", "rulesafe_interfaces"}
MESSAGES |= {"unitree_hg", "unitree_go", "tf2_msgs", "control_msgs"}

MODULES = {
    ".".join(path.relative_to(SOURCE).parts[1:])[: -len(".py")].removesuffix(".__init__"): path
    for path in sorted(SOURCE.glob("*/*/**/*.py"))
    if path.relative_to(SOURCE).parts[0] in PACKAGES
}
"""Name of each module -> its file."""

INTEGRATIONS = {
    path.parent.name: sorted(path.parent.rglob("*.py"))
    for path in sorted(ROOT.glob("integrations/*/*/__init__.py"))
    if path.parent.name != "tests"
}
"""Package of each distribution in integrations/ -> its files."""


def imported(path: Path) -> set[str]:
    """Dotted names of all that a file imports, in functions and for type checkers too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


@cache
def imports() -> dict[str, set[str]]:
    """Return what each module imports; reading them all takes seconds, so only where it is used."""
    return {module: imported(path) for module, path in MODULES.items()}


def top(name: str) -> str:
    return name.partition(".")[0]


def test_every_package_has_its_place():
    made_of_messages = {"rulesafe_interfaces", "control_msgs", "tf2_msgs"}
    made_of_messages |= {"unitree_go", "unitree_hg"}
    assert {path.name for path in SOURCE.iterdir()} == {*PACKAGES, *made_of_messages}
    assert len(MODULES) > 300


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_point_down(package):
    below = set(PACKAGES[: PACKAGES.index(package) + 1])
    upward = {
        (module, name)
        for module, names in imports().items()
        for name in names
        if top(module) == package and top(name) in PACKAGES and top(name) not in below
    }
    assert upward == set()


def test_no_package_imports_an_integration():
    used = {(module, name) for module, names in imports().items() for name in names}
    assert {(module, name) for module, name in used if top(name) in INTEGRATIONS} == set()


@pytest.mark.parametrize("package", INTEGRATIONS)
def test_integrations_import_the_product_and_themselves(package):
    """Neither the command line nor another integration, unless they require it; with absolute
    names."""
    names = {name for path in INTEGRATIONS[package] for name in imported(path)}
    project = (INTEGRATIONS[package][0].parents[1] / "pyproject.toml").read_text("utf-8")
    required = {each for each in INTEGRATIONS if f'"{each.replace("_", "-")}"' in project}
    assert {top(name) for name in names} & {*INTEGRATIONS, "rulesafe_cli"} <= {package, *required}


def test_no_modules_import_each_other():
    """Whether at import time, in a function or for a type checker."""
    graph = {module: (names & set(MODULES)) - {module} for module, names in imports().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_no_package_is_larger_than_its_share():
    lines: dict[str, int] = dict.fromkeys(PACKAGES, 0)
    for module, path in MODULES.items():
        lines[top(module)] += len(path.read_text("utf-8").splitlines())
    total = sum(lines.values())
    large = {name: count for name, count in lines.items() if count > LARGEST_SHARE * total}
    assert large == {}, f"of {total} lines"


def test_the_figure_shows_the_imports():
    specification = spec_from_file_location("package_figure", ROOT / "scripts/package_figure.py")
    script = module_from_spec(specification)
    specification.loader.exec_module(script)
    titles = re.findall(r"<title>(\w+)&#45;&gt;(\w+)</title>", script.FIGURE.read_text("utf-8"))
    assert set(titles) == script.arrows(), "call scripts/package_figure.py"


def test_class_names_are_unique():
    """A reader who searches for a public class finds one definition."""
    homes: dict[str, list[str]] = {}
    integrations = {str(path): path for paths in INTEGRATIONS.values() for path in paths}
    for module, path in (MODULES | integrations).items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("__init__.py")), ids=lambda p: p.parent.name)
def test_init_files_hold_a_docstring_and_no_code(path):
    body = ast.parse(path.read_text("utf-8")).body
    assert len(body) <= 1
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


@pytest.mark.parametrize("module", MODULES)
def test_few_modules_import_ros_or_sapien(module):
    path, names = MODULES[module], {top(name) for name in imports()[module]}
    speaks_ros = re.search(r"(^|_)(node|convert|ros)\.py$", path.name)
    assert speaks_ros or not names & {"rclpy", *MESSAGES}
    assert path.name in SCENE or "sapien" not in names
    assert path.name in SCENE or "rulesafe_sim.sapien_import" not in imports()[module]


def test_commands_do_not_import_the_command_line():
    users = {module for module, names in imports().items() if "rulesafe_cli" in map(top, names)}
    assert {top(module) for module in users} == {"rulesafe_cli"}


def test_studies_use_the_public_interface_and_no_module_uses_them():
    users = {module for module, names in imports().items() if "rulesafe_studies" in map(top, names)}
    assert users == set()
    private = re.compile(r"\._(?!_)")
    for path in sorted(STUDIES.rglob("*.py")):
        assert not {name for name in imported(path) if private.search(name)}, path
        used = {
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Attribute) and private.match(f".{node.attr}")
        }
        assert not {name for name in used if not re.match(r"(self|cls|robot)\._\w+$", name)}, path


def test_the_bridge_needs_only_the_core():
    used = {
        top(name)
        for module, names in imports().items()
        if top(module) in ROBOT_COMPUTER
        for name in names
    }
    assert used & set(PACKAGES) <= ROBOT_COMPUTER
    assert not used & {"sapien", "torch", "gymnasium"}


def test_what_the_view_shows_needs_no_ros():
    """Neither itself nor anything that it imports: the page and its server are tested without."""
    names = ("board", "guard", "model", "options")
    names += ("sources", "web")
    code = "\n".join(f"import rulesafe_ros.view.{name}" for name in names)
    code += "\nimport sys; print({'rclpy', 'sapien', 'torch'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "set()\n", result.stderr
