"""Checks of Python, its packages, programs, memory and disk, video encoding and the sandbox."""

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path

from rulesafe_ros.doctor.report import FAIL, OK, WARN, Item, ok_if

PYTHON = ((3, 10), (3, 14))
"""The lowest supported version, and the first unsupported one."""

MEMORY, DISK, CORES = 4.0, 2.0, 2
"""Recommended free memory (GiB), free disk space (GiB) and number of processor cores."""

SETUP = "make setup (in the source tree) installs it"


def python() -> Item:
    """Check the version of Python and the platform."""
    version, kind = sys.version_info[:2], f"{platform.system()} {platform.machine()}"
    return ok_if(
        PYTHON[0] <= version < PYTHON[1] and kind == "Linux x86_64",
        f"Python {platform.python_version()} on {kind}, in {sys.prefix}",
        "RuleSafe runs on Python 3.10 to 3.13 on x86-64 Linux: PYTHON=python3.11 make setup",
    )


def packages() -> Item:
    """Check the installed requirements of the distribution and their versions."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires("rulesafe") or []
        own = metadata.version("rulesafe")
    except metadata.PackageNotFoundError:
        return Item(WARN, "rulesafe is not installed: it runs from the source tree", SETUP)
    wrong, missing_extras = [], set()
    for requirement in map(Requirement, lines):
        extra = _extra(requirement)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        found = _version(requirement.name)
        if found and not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} {found} does not meet {requirement.specifier}")
        elif not found and extra:
            missing_extras.add(extra)
        elif not found:
            wrong.append(f"{requirement.name} is not installed")
    if wrong:
        return Item(FAIL, "; ".join(wrong), "make setup, or pip install -c constraints.txt -e .")
    found = f"rulesafe {own} with all requirements"
    if missing_extras:
        found += f"; extras not installed: {', '.join(sorted(missing_extras))}"
    return Item(OK, found)


def _extra(requirement: object) -> str:
    marker = str(getattr(requirement, "marker", None) or "")
    return marker.rpartition("extra == ")[2].strip("\"'") if "extra ==" in marker else ""


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def programs() -> Item:
    """Check the programs: `dot` draws automata, the others build message packages."""
    wanted = {"dot": "graphviz", "cmake": "cmake", "ninja": "ninja-build", "c++": "g++"}
    missing = {program for program in wanted if not shutil.which(program)}
    return ok_if(
        not missing,
        f"not found: {', '.join(sorted(missing))}" if missing else "dot, cmake, ninja, c++",
        f"sudo apt-get install {' '.join(sorted(wanted[program] for program in missing))}",
        bad=WARN,
    )


def room() -> Item:
    """Check free memory, free disk space in the working directory, and processor cores."""
    memory = _available_gib()
    disk = shutil.disk_usage(Path.cwd()).free / 2**30
    cores = len(os.sched_getaffinity(0))
    return ok_if(
        memory >= MEMORY and disk >= DISK and cores >= CORES,
        f"{cores} cores, {memory:.1f} GiB of memory and {disk:.0f} GiB of disk free",
        f"Recommended: {CORES} cores, {MEMORY:g} GiB of memory and {DISK:g} GiB of disk. Close "
        "other programs, free disk space, or disable the cameras (cameras:=false)",
        bad=WARN,
    )


def _available_gib() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 2**20
    return 0.0


def video() -> Item:
    """Check the video encoder."""
    try:
        import av

        av.codec.Codec("libx264", "w")
    except Exception as error:
        return Item(
            FAIL, f"no H.264 encoder: {error}", f"pip install -c constraints.txt av; {SETUP}"
        )
    return Item(OK, f"H.264 encoder of PyAV {av.__version__}")


def sandbox() -> Item:
    """Check the layers of the sandbox for untrusted programs."""
    try:
        from rulesafe_design.sandbox import restrictions

        found = restrictions()
    except Exception as error:
        return Item(FAIL, str(error), "sudo apt-get install libseccomp2; a container must allow it")
    inactive = [name for name, holds in found.items() if not holds]
    return ok_if(
        not inactive,
        f"inactive: {', '.join(inactive)}" if inactive else ", ".join(found),
        "sudo apt-get install libseccomp2; a container must allow seccomp. Until then, verify only "
        "programs from a trusted source: docs/programs.md",
        bad=WARN,
    )
