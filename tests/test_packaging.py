"""The tree is one pip distribution and several colcon packages: they must say the same."""

import ast
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import setuptools
import yaml
from catkin_pkg.package import parse_package

from rulesafe_core import plugins
from rulesafe_core.errors import EXTRAS

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONAL = PROJECT["project"]["optional-dependencies"]
MANIFESTS = [ROOT / "package.xml", *sorted(ROOT.glob("src/*/package.xml"))]
SETUPS = sorted(ROOT.glob("src/*/setup.py"))
MESSAGES = ("rulesafe_interfaces", "control_msgs", "tf2_msgs", "unitree_go", "unitree_hg")
UNITREE = MESSAGES[1:]

NODES = {
    name: target.split(".")[0]
    for name, target in PROJECT["project"]["entry-points"]["rulesafe.nodes"].items()
}
"""A node's executable -> its package."""

RUN_A_NODE = """
import signal, subprocess, sys, time
import rclpy
from sensor_msgs.msg import JointState

node = subprocess.Popen([sys.argv[1], "--ros-args", "-p", "cameras:=false"])
try:
    rclpy.init()
    listener = rclpy.create_node("listener")
    heard = []
    listener.create_subscription(JointState, "/joint_states", heard.append, 10)
    end = time.monotonic() + 300
    while not heard and node.poll() is None and time.monotonic() < end:
        rclpy.spin_once(listener, timeout_sec=0.1)
    print(*(heard[0].name if heard else []))
finally:
    node.send_signal(signal.SIGINT)
    node.wait(120)
"""


def setup_arguments(path, monkeypatch):
    """What a setup.py passes to setup()."""
    arguments = {}
    monkeypatch.setattr(setuptools, "setup", lambda **given: arguments.update(given))
    monkeypatch.chdir(path.parent)
    runpy.run_path(str(path))
    return arguments


def owner(name, target):
    """The package that installs an entry point."""
    return NODES.get(name, target.split(".")[0])


def test_every_package_has_a_manifest():
    names = {path.parent.name for path in MANIFESTS[1:]}
    assert names == {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert {path.parent.name for path in SETUPS} == names - set(MESSAGES)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.parent.name)
def test_manifest_is_valid(path):
    warnings = []
    package = parse_package(str(path), warnings=warnings)  # raises on what catkin_pkg rejects
    assert warnings == []
    assert package.version == PROJECT["project"]["version"]
    assert package.licenses == ["Apache-2.0"]
    assert package.name == (path.parent.name if path != MANIFESTS[0] else "rulesafe")


@pytest.mark.parametrize("name", MESSAGES)
def test_interfaces_are_of_the_same_version(name):
    text = (ROOT / "src" / name / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["version"] == PROJECT["project"]["version"]


def test_the_citation_is_of_the_same_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == PROJECT["project"]["version"]
    assert cited["license"] == PROJECT["project"]["license"]


@pytest.mark.parametrize("path", SETUPS, ids=lambda path: path.parent.name)
def test_setup_agrees_with_the_distribution(path, monkeypatch):
    arguments = setup_arguments(path, monkeypatch)
    name = path.parent.name
    assert arguments["name"] == name
    assert arguments["version"] == PROJECT["project"]["version"]
    data = PROJECT["tool"]["setuptools"]["package-data"]
    assert arguments["package_data"][name] == data.get(name, [])
    project = PROJECT["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    own = {
        group: {f"{key} = {value}" for key, value in entries.items() if owner(key, value) == name}
        for group, entries in groups.items()
    }
    declared = arguments["entry_points"]
    assert {group: set(entries) for group, entries in declared.items()} == own
    assert (path.parent / "resource" / name).is_file()


ROSDEP = {"PIL": "python3-pil"} | {
    name: f"python3-{name}"
    for name in (
        *("aiohttp", "graphviz", "matplotlib", "msgpack", "numpy", "packaging", "pymodbus"),
        *("rich", "scipy", "sklearn", "torch", "tqdm", "transforms3d", "yaml", "zmq"),
    )
}
"""Name of a module -> its rosdep key, which selects a package of Ubuntu 24.04. Keys that use pip
(python3-gymnasium-pip) are left out: there, pip refuses to install outside an environment."""

PIP = {
    "pinocchio": "pin",
    "RestrictedPython": "restrictedpython",
    "sklearn": "scikit-learn",
    "zmq": "pyzmq",
    "tensorboardX": "tensorboardx",
} | {
    name: name
    for name in (
        *("av", "coal", "daqp", "graphviz", "gymnasium", "numcodecs"),
        *(
            "msgpack",
            "ompl",
            "openai",
            "pyarrow",
            "pymodbus",
            "pyseccomp",
            "rich",
            *("lz4", "mcap", "rosbags", "zstandard"),
            "safetensors",
            "sapien",
        ),
        *("tokenizers", "toppra", "torch", "transformers", "trimesh", "tyro"),
        "websockets",
    )
}
"""Name of a module that is not required by ROS 2 -> of its distribution."""


@pytest.mark.parametrize("path", SETUPS, ids=lambda path: path.parent.name)
def test_manifest_declares_what_is_imported_and_nothing_else(path):
    name = path.parent.name
    imported = set()
    for source in (path.parent / name).rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.split(".")[0])
    if name in NODES.values():
        imported.add("rulesafe_core")  # which starts its nodes
    imported -= {name, *sys.stdlib_module_names}
    by_pip = {PIP[module] for module in imported & (PIP.keys() - ROSDEP.keys())}
    expected = {ROSDEP.get(module, module) for module in imported - (PIP.keys() - ROSDEP.keys())}
    manifest = path.with_name("package.xml")
    assert {depend.name for depend in parse_package(str(manifest)).exec_depends} == expected
    assert from_pip(manifest) == by_pip
    declared = PROJECT["project"]["dependencies"] + [
        line for extra in ("llm", "learn", "robot", "bags", "view") for line in OPTIONAL[extra]
    ]
    required = {PIP[module] for module in imported & PIP.keys()}
    assert required <= {re.split("[<>=]", line)[0] for line in declared}


def from_pip(manifest):
    """Return the distributions that a package.xml lists in a comment, unknown to rosdep."""
    said = re.search(r"from pip: (.*)\. See", manifest.read_text())
    return set(said[1].split(", ") if said else ())


def test_the_documentation_installs_what_rosdep_does_not_know():
    text = (ROOT / "docs/ros.md").read_text("utf-8").replace("\\\n", "")
    section = text.split("### With an installed ROS 2\n")[1].split("\n### ")[0]
    named = re.findall(r"^pip install -c constraints.txt (.*)", section, re.MULTILINE)
    listed = {name for line in named for name in line.split("#")[0].split()} - {"'setuptools<81'"}
    listed -= {re.split("[<>=]", line)[0] for line in OPTIONAL["integrations"]}
    assert listed == set().union(*map(from_pip, MANIFESTS))


def test_the_root_declares_what_the_launch_files_need():
    texts = [path.read_text() for path in ROOT.glob("launch/*.launch.xml")]
    used = {name for text in texts for name in re.findall(r'pkg="(\w+)"', text)}
    used |= {name for text in texts for name in re.findall(r"find-pkg-share (\w+)", text)}
    ours = {path.parent.name for path in SETUPS} | {"rulesafe_interfaces"}
    frontend = {"launch", "launch_ros", "launch_xml", "ros2launch"}
    declared = {depend.name for depend in parse_package(str(MANIFESTS[0])).exec_depends}
    assert used - {"rulesafe"} <= ours and declared == ours | frontend


def test_a_missing_module_is_installed_by_the_extra_that_its_error_names():
    manifests = [parse_package(str(path.with_name("package.xml"))) for path in SETUPS]
    depends = {depend.name for manifest in manifests for depend in manifest.exec_depends}
    ours = {path.parent.name for path in MANIFESTS}
    ros = {name for name in depends - ours if not name.startswith("python3-")}
    assert ros == {module for module, extra in EXTRAS.items() if extra == "ros"}
    for module, extra in EXTRAS.items():
        declared = {re.split("[<>=]", line)[0] for line in OPTIONAL[extra]}
        assert extra == "ros" or PIP.get(module, module) in declared


def test_what_installed_integrations_require_is_locked():
    setup = (ROOT / "scripts/setup.sh").read_text()
    names = re.search(r"^readonly integrations=\((.*)\)", setup, re.MULTILINE)[1].split()
    files = [ROOT / "integrations" / name / "pyproject.toml" for name in names]
    projects = [tomllib.loads(path.read_text())["project"] for path in files]
    required = {line for project in projects for line in project["dependencies"]}
    ours = {"rulesafe", *(project["name"] for project in projects)}
    assert required - ours - set(PROJECT["project"]["dependencies"]) == set(
        OPTIONAL["integrations"]
    )


def test_integrations_and_studies_are_of_the_same_version():
    files = [*ROOT.glob("integrations/*/pyproject.toml"), ROOT / "studies/pyproject.toml"]
    versions = {tomllib.loads(path.read_text())["project"]["version"] for path in files}
    assert len(files) > 8 and versions == {PROJECT["project"]["version"]}


def test_every_data_file_is_packaged():
    """What lies in a package and is no source must match a pattern of the package data."""
    left_out = []
    for name, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        package = ROOT / "src" / name / name
        packaged = {path for pattern in patterns for path in package.glob(pattern)}
        left_out += [
            str(path.relative_to(ROOT))
            for path in package.rglob("*")
            if path.is_file() and path.suffix not in (".py", ".cpp", ".h") and path not in packaged
            if "__pycache__" not in path.parts
        ]
    assert left_out == []


def test_entry_points_of_integrations_are_known():
    """The error for a missing name says which distribution has it."""
    found = {group: {} for group in plugins.INTEGRATIONS}
    for path in sorted(ROOT.glob("integrations/*/pyproject.toml")):
        points = tomllib.loads(path.read_text())["project"].get("entry-points", {})
        for group in points.keys() & plugins.INTEGRATIONS.keys():
            found[group] |= dict.fromkeys(points[group], path.parent.name)
    assert found == plugins.INTEGRATIONS


def test_dependencies_are_pinned():
    pins = {
        re.split("[=; ]", line)[0]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    declared = PROJECT["project"]["dependencies"] + [
        name for extra in OPTIONAL.values() for name in extra
    ]
    assert {re.split("[<>=; ]", name)[0] for name in declared} <= pins


def packaged_files():
    """The files of the Python packages as an installation has them."""
    packages = [ROOT / "rulesafe", *(path.with_name(path.parent.name) for path in SETUPS)]
    files = {
        str(path.relative_to(package.parent))
        for package in packages
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shared = [path for name in ("launch", "config") for path in ROOT.glob(f"{name}/**/*")]
    shared = [path for path in shared if path.suffix and path.suffix != ".pyc"]
    shared.append(ROOT / "package.xml")
    return files | {f"rulesafe_ros/share/rulesafe/{path.relative_to(ROOT)}" for path in shared}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that `python -m build` makes: the archive of the sources, and of that the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    built = subprocess.run(
        command,
        cwd=copy_of_the_tree(folder),
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.colcon
def test_the_wheel_and_the_source_archive_are_complete(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == packaged_files()
    with tarfile.open(next(wheel.parent.glob("*.tar.gz"))) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    folders = {name: f"src/{name}" for name in (path.parent.name for path in SETUPS)}
    written = {
        f"{folders.get(name.split('/')[0], '.')}/{name}".removeprefix("./")
        for name in names
        if not name.endswith(".so")
    }
    assert written <= sources
    assert {f"src/{name}/CMakeLists.txt" for name in MESSAGES} <= sources
    assert not any(name.startswith("tests/") for name in sources)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """installed(COMMAND, ...): what a command prints in an environment with the wheel, without a
    compiler on the PATH.

    Third-party packages are those of this environment; nothing of the repository can be imported.
    """
    folder = tmp_path_factory.mktemp("installed")
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "--disable-pip-version-check"]
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
    variables = clean_environment() | {"PATH": str(environment / "bin")}
    subprocess.run([*pip, "install", *options, str(wheel)], check=True, env=variables)
    (site,) = environment.glob("lib/python*/site-packages")
    third_party = [path for path in sys.path if "site-packages" in path]
    (site / "third_party.pth").write_text("\n".join(third_party))

    def run(command, *arguments):
        done = subprocess.run(
            [str(environment / "bin" / command), *arguments],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert str(ROOT) not in done.stdout.replace(sys.prefix, "")
        return done.stdout

    return run


RENDER = """
import sys
import gymnasium
import rulesafe_render

assert rulesafe_render.__file__.startswith(sys.prefix)
environment = gymnasium.make("rulesafe:RuleSafe-v1", observations=("head",))
image = environment.reset(seed=0)[0]["head"]
print(image.shape, image.std() > 10)
"""

IMPORT_ALL = """
import importlib, sys
import gymnasium

environment = gymnasium.make("rulesafe:RuleSafe-v1")
print(environment.reset(seed=0)[0]["joint_positions"].shape)
for name in sys.argv[1:]:
    assert importlib.import_module(name).__file__.startswith(sys.prefix), name
"""


@pytest.mark.colcon
def test_the_wheel_works_outside_the_repository(installed):
    assert installed("rulesafe", "--version") == f"rulesafe {PROJECT['project']['version']}\n"
    assert "door+" in installed("rulesafe", "rules", "solve", "rule_020")
    assert "safe_03" in installed("rulesafe", "safes", "show", "safe_03")
    names = ["rulesafe", *(path.parent.name for path in SETUPS)]
    assert installed("python", "-c", IMPORT_ALL, *names) == "(13,)\n"


@pytest.mark.colcon
def test_the_wheel_renders_on_other_machines_without_a_compiler(wheel, installed):
    """Its tag names the glibc that it requires, as PyPI demands."""
    tag = rf"rulesafe-[\d.]+-py3-none-manylinux_2_\d+_{platform.machine()}\.whl"
    assert re.fullmatch(tag, wheel.name)
    assert installed("python", "-c", RENDER) == "(224, 224, 3) True\n"


@pytest.mark.colcon
def test_the_wheel_s_launch_files_are_found_by_name(installed):
    by_name = installed("rulesafe", "launch", "sim_evaluation.launch.xml", "--print")
    assert "/environment/bin/sim_node " in by_name
    assert "/site-packages/rulesafe_ros/share/rulesafe/config/sim_node.yaml" in by_name
    for file in sorted(ROOT.glob("launch/*.launch.xml")):
        required = ["policy:=dp3_rule_001"] if file.name.startswith("policy") else []
        assert "[" in installed("rulesafe", "launch", "rulesafe", file.name, "--print", *required)


@pytest.mark.colcon
@pytest.mark.parametrize("name", UNITREE)
@pytest.mark.parametrize("official", [True, False])
def test_the_official_messages_are_used_where_they_are(name, official, tmp_path):
    """Ours carry a mark, by which the official ones are told apart."""
    share = tmp_path / "prefix/share" / name
    share.mkdir(parents=True)
    (share / "package.xml").write_text("<package/>")
    if not official:
        (share / "made_by_rulesafe").touch()
    environment = {**clean_environment(), "AMENT_PREFIX_PATH": str(tmp_path / "prefix")}
    command = [
        "cmake",
        "-S",
        str(ROOT / "src" / name),
        "-B",
        str(tmp_path / "build"),
        "-G",
        "Ninja",
    ]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert (f"the official {name} in {tmp_path / 'prefix'} is used" in result.stdout) == official
    rules = (tmp_path / "build/build.ninja").read_text()
    assert (f"{name}__rosidl_generator_py" not in rules) == official


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """ros2_ws of a copy of the tree, after `colcon build` with this environment's Python."""
    copy = copy_of_the_tree(tmp_path_factory.mktemp("colcon"))
    colcon = [str(Path(sys.prefix, "bin", "colcon")), "build"]
    colcon += ["--event-handlers", "console_cohesion+"]
    colcon += ["--cmake-args", f"-DCMAKE_PROJECT_INCLUDE={Path(__file__).with_name('unity.cmake')}"]
    # Only few of the installed modules are imported: Python compiles those then.
    sparing = {"CMAKE_GENERATOR": "Ninja", "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        colcon,
        cwd=copy / "ros2_ws",
        env=clean_environment() | sparing,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:]
    return copy / "ros2_ws"


def copy_of_the_tree(folder):
    unwanted = shutil.ignore_patterns(
        *(".*", "build", "install", "log", "runs", "docs", "tests", "__pycache__", "*.egg-info"),
        "*.so",  # they are compiled again
    )
    return Path(shutil.copytree(ROOT, folder / "rulesafe", symlinks=True, ignore=unwanted))


def clean_environment():
    """This process's environment with `.venv` active and no trace of ROS but the profile that keeps
    Fast DDS on loopback."""
    dropped = re.compile(r"PYTHONPATH|LD_LIBRARY_PATH|AMENT_|COLCON_|CMAKE_PREFIX|_ROS_WHEELS")
    environment = {key: value for key, value in os.environ.items() if not dropped.match(key)}
    environment["VIRTUAL_ENV"] = sys.prefix
    environment["PATH"] = f"{sys.prefix}/bin:{environment['PATH']}"
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return environment


def sourced(workspace, command, **options):
    """Run a shell command after sourcing the workspace."""
    return subprocess.run(
        ["bash", "-c", f"source install/setup.bash && {command}"],
        cwd=workspace,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.colcon
def test_colcon_builds_every_package(workspace):
    built = {path.parents[3].name for path in workspace.glob("install/*/share/colcon-core/*/*")}
    assert built == {parse_package(str(path)).name for path in MANIFESTS}
    share = workspace / "install/rulesafe/share/rulesafe"
    assert list(share.glob("launch/*.launch.xml"))
    assert list(share.glob("config/*.yaml"))
    assert list(share.glob("config/*.rviz"))


@pytest.mark.colcon
def test_sourced_workspace_is_what_python_imports(workspace):
    names = ["rulesafe_interfaces.msg", "unitree_hg.msg", "unitree_go.msg"]
    names += [path.parent.name for path in SETUPS]
    code = f"import importlib; [print(importlib.import_module(n).__file__) for n in {names}]"
    result = sourced(workspace, f'python -c "{code}"')
    assert result.returncode == 0, result.stderr
    files = result.stdout.splitlines()
    assert len(files) == len(names)
    assert all(Path(file).is_relative_to(workspace / "install") for file in files)


@pytest.mark.colcon
def test_executables_are_where_ros_looks(workspace):
    for script, target in PROJECT["project"]["scripts"].items():
        package = owner(script, target)
        path = workspace / "install" / package / "lib" / package / script
        assert os.access(path, os.X_OK), path
    command = "install/rulesafe_cli/lib/rulesafe_cli/rulesafe rules solve rule_001"
    result = sourced(workspace, command)
    assert result.returncode == 0, result.stderr
    assert "door+" in result.stdout


@pytest.mark.colcon
@pytest.mark.ros
def test_a_node_runs_from_the_sourced_workspace(workspace, tmp_path):
    script = tmp_path / "run_a_node.py"
    script.write_text(RUN_A_NODE)
    result = sourced(workspace, f"python {script} install/rulesafe_sim/lib/rulesafe_sim/sim_node")
    assert "right_elbow_joint" in result.stdout.split(), result.stderr


def test_continuous_integration_calls_targets_that_exist():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    jobs = workflow["jobs"]
    called = [
        step["run"].removeprefix("make ")
        for j in jobs.values()
        for step in j["steps"][1:]
        if "run" in step
    ]
    assert called and set(called) <= targets
    tested = {
        version
        for job in jobs.values()
        for version in job.get("strategy", {}).get("matrix", {}).get("python", ())
    }
    supported = {
        c.rpartition(" ")[2]
        for c in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", c)
    }
    assert tested == supported


DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def test_the_container_copies_what_its_first_setup_reads():
    """The lists of packages, and the sources of the message packages."""
    before, copies_all, _ = DOCKERFILE.partition("COPY . .\n")
    copied = {
        word for line in re.findall(r"^COPY (.*)", before, re.M) for word in line.split()[:-1]
    }
    assert copies_all and all((ROOT / path).exists() for path in copied)
    assert {"constraints.txt", "requirements.lock", "scripts/setup.sh"} <= copied
    assert {path for path in copied if path.startswith("src/")} == {f"src/{m}" for m in MESSAGES}


@pytest.mark.colcon
def test_the_container_runs():
    if not shutil.which("docker"):
        pytest.skip("Docker is not installed")
    if subprocess.run(["docker", "info"], capture_output=True).returncode:
        pytest.skip("the Docker daemon does not run")
    subprocess.run(["docker", "build", "-t", "rulesafe-test", "."], cwd=ROOT, check=True)
    run = ["docker", "run", "--rm", "rulesafe-test", "rulesafe", "--version"]
    assert PROJECT["project"]["version"] in subprocess.check_output(run, text=True)
