"""The licence of each pinned package is in an allow-list: permissive, or copyleft by file only."""

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"

ALLOWED = {
    *("0BSD", "BSD-2-Clause", "BSD-3-Clause", "BSD License", "3-Clause BSD License"),
    *("Apache-2.0", "Apache 2.0", "Apache Software License", "Apache License, Version 2.0"),
    *("Apache 2.0 License", "Apache-2.0 WITH LLVM-exception", "BSL-1.0", "CC0-1.0", "CNRI-Python"),
    *("ISC License (ISCL)", "MIT", "MIT License", "MIT-CMU", "ZPL-2.1", "Zlib"),
    *("PSF-2.0", "Python Software Foundation License", "Public Domain"),
    *("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "EPL-2.0"),
}

EXCEPTIONS = {
    "apsw": "any licence that the OSI approves, by choice of the user",
    "cmeel-qhull": "no field; Qhull's own permissive licence",
    "docutils": "public domain and BSD; GPL for emacs/, which is not installed",
    "pytest-timeout": "MIT; 'DFSG approved' is a further classifier",
    "setuptools": "no field in some versions; MIT",
}
"""Packages whose metadata state no licence, or more than their installed files have."""

ROS = re.compile(r"ros-.*")
"""Wheels of ROS 2: no field; the package.xml of each states Apache-2.0, BSD or MIT."""


def licences(about: PackageMetadata) -> set[str]:
    """Return the licences that a package states, each of them alone."""
    classifiers = [
        c.split(" :: ")[-1] for c in about.get_all("Classifier") or () if "License ::" in c
    ]
    stated = about.get("License-Expression") or ";".join(classifiers)
    stated = stated or (about.get("License") or "").strip().partition("\n")[0]
    return {part.strip(" ()") if " (" not in part else part.strip() for part in split(stated)}


def split(stated: str) -> list[str]:
    parts = re.split(r";| AND | OR ", stated)
    return [
        each for part in parts for each in (part.split(", ") if "-" in part else [part]) if each
    ]


def pinned() -> list[str]:
    lines = [line for line in CONSTRAINTS.read_text().splitlines() if line[:1] not in ("", "#")]
    wanted = [Requirement(line) for line in lines]
    return sorted({r.name for r in wanted if r.marker is None or r.marker.evaluate()})


def test_every_installed_package_has_an_allowed_licence():
    refused, missing = {}, 0
    for name in pinned():
        try:
            found = licences(metadata(name))
        except PackageNotFoundError:
            missing += 1
            continue
        if name not in EXCEPTIONS and not ROS.fullmatch(name) and not (found and found <= ALLOWED):
            refused[name] = found
    assert not refused
    assert missing < 20, "too few of the pinned packages are installed for this test"


@pytest.mark.parametrize("stated", ["GPL-3.0-only", "MIT AND GPL-2.0", "AGPL-3.0", "Proprietary"])
def test_other_licences_are_refused(stated):
    about = metadata("packaging")
    about.replace_header("License-Expression", stated)
    assert not licences(about) <= ALLOWED


def test_exceptions_are_pinned():
    assert EXCEPTIONS.keys() <= set(pinned())


def test_each_distribution_has_the_text_of_the_licence():
    files = [*ROOT.glob("*/pyproject.toml"), *ROOT.glob("*/*/pyproject.toml")]
    folders = {file.parent for file in files} - {ROOT / "examples/plugin"}
    assert len(folders) > 8
    for folder in folders:
        assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), folder
