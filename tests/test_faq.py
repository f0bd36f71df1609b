"""docs/faq.md speaks of errors that there are: each text is one that the code can say."""

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FAQ = (ROOT / "docs/faq.md").read_text("utf-8")
ERRORS = re.findall(r"^### `(.+)`$", FAQ, re.M)
HOLE = "\0"
"""Stands for a value in a text."""


@lru_cache(maxsize=1)
def texts():
    """Every text of the code, with HOLEs, blanks made one, and the lines of the set-up's script."""
    found = []
    for path in ROOT.glob("src/*/*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else HOLE for p in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    found += (ROOT / "scripts/setup.sh").read_text("utf-8").splitlines()
    return [" ".join(re.sub(r"\$\(.*?\)|\$\w+", HOLE, text).split()) for text in found]


@pytest.mark.parametrize("error", ERRORS)
def test_the_error_is_one_of_the_code(error):
    assert said(error), error


def test_another_error_is_not():
    assert not said("the robot has ... flown away")


def said(error):
    words = [re.escape(part.strip()) for part in error.split("...") if part.strip()]
    pattern = re.compile(".*".join(words).replace(r"\ ", " "))
    return any(pattern.search(text.replace(HOLE, "")) for text in texts())


def test_each_error_has_an_answer():
    answers = re.split(r"^### .*$", FAQ, flags=re.M)[1:]
    assert len(ERRORS) >= 20
    for answer in answers:
        assert len(answer.split("\n## ")[0].split()) > 8, answer
