"""Objects by name: built-in, of an installed package, or as module:attribute."""

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import FileRegistry, Registry, is_reference

MEMORIES = Registry("rulesafe.memories", "memory", {"vq": "built-in vq", "raw": "built-in raw"})
SAFES = FileRegistry("rulesafe.safes", "safe")


@pytest.fixture
def package(tmp_path, installed):
    """An installed distribution with a memory and what is said to be a safe."""
    (tmp_path / "broken_package.py").write_text("raise OSError('no such device')\n")
    installed(
        "grip_package",
        "class Grip: ...\n",
        "[rulesafe.memories]\n"
        "grip = grip_package:Grip\n"
        "raw = grip_package:Grip\n"
        "broken = broken_package:GRIP\n"
        "[rulesafe.safes]\n"
        "vault = grip_package:Grip\n",
    )


def test_a_builtin_name_takes_precedence(package):
    assert MEMORIES.load("raw") == "built-in raw"


@pytest.mark.parametrize("name", ["grip", "grip_package:Grip"])
def test_an_object_of_another_package_is_loaded(package, name):
    assert MEMORIES.load(name).__name__ == "Grip"


def test_names_are_the_builtin_and_the_installed_ones(package):
    assert MEMORIES.names() == ["vq", "raw", "broken", "grasps", "grip"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vault", r"unknown memory 'vault'; valid: vq, raw, broken, grasps, grip, module:NAME$"),
        ("grip_package:LOOSE", r"unknown attribute of grip_package 'LOOSE'; valid: Grip$"),
        ("no_package:GRIP", r"'no_package:GRIP' cannot be imported: No module named 'no_package'"),
        ("broken", r"(?s)'broken_package:GRIP' cannot be imported:.*\nOSError: no such device$"),
    ],
)
def test_an_error_says_what_is_valid(package, name, message):
    with pytest.raises(RuleSafeError, match=message):
        MEMORIES.load(name)


def test_a_file_must_be_one(package):
    assert str(SAFES.file("own.yaml")) == "own.yaml"
    with pytest.raises(
        RuleSafeError, match=r"^safe 'vault' refers to .*Grip.*; valid: the path of a"
    ):
        SAFES.file("vault")


def test_the_help_shows_builtin_names_and_the_form_of_a_reference():
    assert MEMORIES.metavar == "{vq,raw}|module:NAME"
    assert SAFES.metavar == "module:NAME"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a:B", True), ("a.b:C", True), ("a", False), ("runs/a:b", False), ("a:", False)],
)
def test_a_reference_has_a_module_and_an_attribute(name, expected):
    assert is_reference(name) is expected
