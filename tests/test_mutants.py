"""scripts/mutants.py: its changes, its settings, and a run that can be interrupted."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SETTINGS = yaml.safe_load((ROOT / "scripts/mutants.yaml").read_text())


@pytest.fixture
def mutations(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import mutations

    return mutations


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("x = 0 <= y", ["0 < y", "0 > y", "1"]),
        ("x = y and z and w", ["y or z or w", "z and w", "y and w", "y and z"]),
        ("x = abs(-y)", ["-y", "y"]),
        ("x = min(y, key=len)", ["max(y, key=len)", "min(y)"]),
        ("x = y + 0.5", ["y - 0.5", "1.0"]),
        ("x.y = not z", ["pass", "z"]),
        ("x += 1", ["pass", "2"]),
        ("raise ValueError(1 + 1)", ["pass"]),
        ("x: list[1] = f'{1 + 1}' + 'text'", []),
        ("if x:\n    y", ["False", "True"]),
    ],
)
def test_each_kind_of_change(mutations, line, changes):
    body = "\n    ".join(line.splitlines())
    source = f'def f():\n    """é 1"""\n    {body}\n'.encode()
    found = mutations.mutants_of("a.py", source)
    assert [each.text.removeprefix("(").removesuffix(")") for each in found] == changes
    for each in found:
        changed = source[: each.begin] + each.text.encode() + source[each.end :]
        compile(changed, "a.py", "exec")
        assert each.where == "f" and changed.startswith('def f():\n    """é 1"""'.encode())


def test_the_settings_name_existing_files_tests_and_mutants(mutations):
    for group in SETTINGS["groups"].values():
        for path in (*group["files"], *group["tests"]):
            assert (ROOT / path).is_file(), path
        for test in group.get("deselect", ()):
            path, name = test.split("[")[0].split("::")
            assert f"def {name}(" in (ROOT / path).read_text(), test
    for place, changes in SETTINGS["equivalent"].items():
        file, where = place.split()
        found = {
            m.change
            for m in mutations.mutants_of(file, (ROOT / file).read_bytes())
            if m.where == where
        }
        assert not changes.keys() - found, f"{place}: these mutants do not exist any more"
        assert all(reason.strip() for reason in changes.values())


def test_a_run_reports_survivors_continues_and_changes_no_file(tmp_path):
    files = {
        "scripts/mutants.py": (ROOT / "scripts/mutants.py").read_text(),
        "scripts/mutations.py": (ROOT / "scripts/mutations.py").read_text(),
        "scripts/mutants.yaml": yaml.dump(
            {
                "preload": [],
                "groups": {"all": {"files": ["src/one/sized.py"], "tests": ["tests/test_a.py"]}},
                "equivalent": {"src/one/sized.py small": {"3 -> 4": "a reason"}},
            }
        ),
        "src/one/sized.py": "def small(x):\n    return x < 3\n",
        "tests/test_a.py": "from sized import small\n\ndef test():\n    assert not small(9)\n",
        "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['ros', 'render', 'episode']\n",
        ".gitignore": "build/\n__pycache__/\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = [sys.executable, str(tmp_path / "scripts/mutants.py")]

    def run() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    first = run()
    assert "all 3/3" in first and "| all | 3 | 1 | 1 | 1 | 50 % |" in first, first
    assert "src/one/sized.py:2 small: x < 3 -> x <= 3" in first
    assert all((tmp_path / name).read_text() == text for name, text in files.items())
    results = tmp_path / "build/mutants.jsonl"
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join(lines[:1]))  # as if it had been interrupted
    again = run()
    assert "all 2/2" in again and "50 %" in again
    test = tmp_path / "tests/test_a.py"
    test.write_text(test.read_text() + "    assert not small(3)\n")
    third = run()
    assert "all 1/1: noticed" in third and "| all | 3 | 2 | 1 | 0 | 100 % |" in third
