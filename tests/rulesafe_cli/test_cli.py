"""The `rulesafe` command, in process and in a separate process."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import degrees
from pathlib import Path

import pytest

from rulesafe_cli import cli
from rulesafe_cli.arguments import arguments_of
from rulesafe_cli.cli import main
from rulesafe_cli.completion import candidates
from rulesafe_cli.table import COMMANDS, INTEGRATIONS, Command
from rulesafe_core.files import exclusive_output
from rulesafe_locks.plans import opens_door, shortest_plan
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.safes import SAFES, load_safe

ROOT = Path(__file__).parents[2]
PYTHON_PATH = os.pathsep.join(path for path in sys.path if path)


def rulesafe(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "rulesafe_cli.cli", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        check=False,
        **options,
    )


def test_solve_prints_the_numbered_steps(capsys):
    assert main(["rules", "solve", "rule_020"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "8 steps"
    assert [line.split()[0] for line in lines[:-1]] == [f"{number}." for number in range(1, 9)]
    assert lines[0].split(maxsplit=2) == ["1.", "handle+", "open the handle"]
    assert opens_door(load_rule("rule_020"), [line.split()[1] for line in lines[:-1]])


def test_list_has_every_rule_in_every_format(capsys):
    for output in ("table", "markdown", "json"):
        assert main(["rules", "list", "--format", output]) == 0
        text = capsys.readouterr().out
        assert all(rule_id in text for rule_id in RULES)
    listed = json.loads(text)
    assert [entry["id"] for entry in listed] == list(RULES)
    assert all(entry["plan"] == shortest_plan(load_rule(entry["id"])) for entry in listed)


@pytest.mark.parametrize(
    ("rule_id", "parts"),
    [
        (
            "rule_004",
            [
                "The closed knob cannot be turned",
                "H+ K+ D  (3 steps)",
                "the door; in some states also the closed knob",
            ],
        ),
        (
            "rule_020",
            ["the last two digits", "H+ K+ H- K- H+ K+ H- D", "12 before", "memory needed"],
        ),
        ("rule_017", ["4 states from which nothing opens the door", "K+ K- K+ K- K+"]),
        ("rule_004", ["memory none: all closed: move the handle; handle open: move the knob"]),
    ],
)
def test_show_tells_instruction_plan_and_memory(capsys, rule_id, parts):
    assert main(["rules", "show", rule_id]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(part.split()) in text for part in parts)


def test_safes_are_listed_and_shown(capsys):
    assert main(["safes", "list"]) == 0
    text = capsys.readouterr().out
    assert all(safe_id in text for safe_id in SAFES)
    assert main(["safes", "show", "safe_03"]) == 0
    text = capsys.readouterr().out
    safe = load_safe("safe_03")
    assert f"hinge on the {safe.hinge}" in text
    (row,) = (line for line in text.splitlines() if "range (deg)" in line)
    cells = [float(cell) for cell in row.replace("│", " ").split()[-3:]]
    assert cells == pytest.approx([degrees(part.range) for part in safe.parts.values()])


def test_a_safe_s_file_can_be_copied(capsys, tmp_path):
    assert main(["safes", "show", "safe_03", "--format", "yaml"]) == 0
    copy = tmp_path / "mine.yaml"
    copy.write_text(capsys.readouterr().out, encoding="utf-8")
    assert replace(load_safe(copy), id="safe_03") == load_safe("safe_03")
    assert main(["safes", "show", str(copy)]) == 0
    assert "mine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        (["rules", "solve", "rule_021"], "rule_001, "),
        (["rules", "show", "1"], "rule_001, "),
        (["safes", "show", "safe_11"], "safe_01, "),
        (["tune"], ", ".join(command.name for command in COMMANDS)),
    ],
)
def test_errors_are_one_line_with_the_valid_names_and_exit_code_2(capsys, arguments, valid):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("rulesafe: unknown ") and f"{arguments[-1]!r}; valid: {valid}" in err


SONG = """
def sing(verses: int = 1) -> int:
    \"\"\"Sing a song.

    Args:
        verses: Number of verses.
    \"\"\"
    print("la " * verses)
    return 3
"""


def test_an_installed_distribution_adds_a_subcommand(installed, capsys):
    points = "[rulesafe.commands]\nrules sing = song:sing\nrules list = song:sing\n"
    installed("song", SONG, points)
    assert main(["rules", "sing", "--verses", "2"]) == 3
    assert capsys.readouterr().out == "la la \n"
    assert {"sing", "list"} <= set(candidates("rulesafe rules "))
    assert candidates("rulesafe rules sing --v") == ["--verses"]
    assert main(["rules", "list"]) == 0  # a built-in subcommand is not replaced
    assert "rule_001" in capsys.readouterr().out


def test_a_subcommand_that_cannot_be_imported_is_one_error(installed, capsys):
    installed("broken", "import no_such_package", "[rulesafe.commands]\nrules hum = broken:hum\n")
    assert main(["rules", "hum"]) == 2
    assert "'broken:hum' cannot be imported" in capsys.readouterr().err
    assert main(["rules", "list"]) == 0  # others are not affected


def test_a_known_subcommand_that_is_not_installed_names_its_distribution(monkeypatch, capsys):
    monkeypatch.setitem(INTEGRATIONS, "rules sing", "rulesafe_song")
    assert main(["rules", "sing", "--verses", "2"]) == 2
    assert "pip install ./integrations/rulesafe_song" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["rules"], ["rules", "sing"], ["rules", "solve"]])
def test_wrong_usage_exits_with_2(arguments):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2


def test_help_lists_each_command_with_an_example(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert f"  {command.name} " in text and f"  {command.example}\n" in text
        assert command.example.startswith(f"rulesafe {command.name}")
    assert main([]) == 2
    assert capsys.readouterr().out == text


def test_help_names_all_subcommands_or_ends_with_dots():
    for command in (command for command in COMMANDS if command.subcommands):
        listed = next(part for part in re.split("[:;] ", command.help) if " | " in part).split(
            " | "
        )
        names = [name.split()[1] for name in command.functions() if " " in name]
        assert set(listed) - {"..."} <= set(names)
        assert "..." in listed or set(listed) == set(names)


@pytest.mark.parametrize(
    "arguments",
    [
        *("rules", "rules list", "rules show", "rules solve", "rules verify"),
        *("safes", "safes list", "safes show"),
        *("demos", "demos generate", "demos render", "demos replay", "demos stats"),
        *("memory", "memory train", "memory tokens", "memory plot"),
    ],
)
def test_each_help_has_an_example(capsys, arguments):
    with pytest.raises(SystemExit) as exit_:
        main([*arguments.split(), "--help"])
    assert exit_.value.code == 0
    assert f"Example: rulesafe {arguments}" in capsys.readouterr().out


def test_version_is_that_of_the_project(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("rulesafe ")


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Adds a command whose module has this source, with `function`."""

    def add(source):
        (tmp_path / "added_command.py").write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "added_command", raising=False)
        added = Command("added", "a test", "rulesafe added", "added_command:function")
        monkeypatch.setattr(cli, "COMMANDS", (*COMMANDS, added))

    return add


def test_the_options_of_a_command_are_its_function_s_arguments(command, capsys):
    command("def function(name: str, seed: int = 0) -> int:\n    print(name, seed)\n    return 7\n")
    assert main(["added", "--name", "rule_001", "--seed", "3", "--ros-args", "-r", "a:=b"]) == 7
    assert capsys.readouterr().out == "rule_001 3\n"


def test_flags_may_stand_between_positional_words(command, capsys):
    command(
        "from tyro.conf import Positional\n"
        "def function(words: Positional[tuple[str, ...]], show_args: bool = False) -> int:\n"
        "    print(words, show_args)\n"
        "    return 7\n"
    )
    assert main(["added", "file.launch.xml", "--show-args", "rule:=rule_001"]) == 7
    assert capsys.readouterr().out == "('file.launch.xml', 'rule:=rule_001') True\n"


@pytest.mark.parametrize("given", [["--allow-module", "mine"], ["--allow-module=mine"]])
def test_modules_are_allowed_in_both_forms_of_an_option(command, monkeypatch, capsys, given):
    command("import os\n\ndef function():\n    print(os.environ['RULESAFE_ALLOW_MODULES'])\n")
    monkeypatch.setenv("RULESAFE_ALLOW_MODULES", "other")
    assert not main(["added", *given])
    assert capsys.readouterr().out == "mine,other\n"
    assert main(["added", "--allow-module"]) == 2
    assert "--allow-module needs the name" in capsys.readouterr().err


def test_interrupt_exits_with_130(command, capsys):
    command("def function():\n    raise KeyboardInterrupt\n")
    assert main(["added"]) == 130
    assert capsys.readouterr().err == ""


def test_a_missing_package_is_one_line(command, capsys):
    command("import no_such_package\n")
    assert main(["added"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no_such_package" in error and "make setup" in error


def test_a_bug_ends_with_what_to_do(command, capsys):
    command("def function():\n    return 1 // 0\n")
    assert main(["added"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2].startswith("ZeroDivisionError") and "rulesafe doctor" in lines[-1]


@pytest.mark.parametrize("arguments", [["solve", "rule_020"], ["list"], ["show", "rule_001"]])
def test_a_reader_that_goes_away_is_no_traceback(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "rulesafe_cli.cli", "rules", *arguments],
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": PYTHON_PATH},
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_as_a_process():
    done = rulesafe("rules", "solve", "rule_001")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "3 steps"
    assert rulesafe("rules", "solve", "rule_000").returncode == 2


def test_light_commands_import_nothing_heavy():
    program = (
        "import sys; from rulesafe_cli.cli import main; main(['rules', 'list']); "
        "print(sorted({'scipy', 'sapien', 'ompl', 'rclpy', 'torch', 'matplotlib', 'pinocchio'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_no_unexpected_error(monkeypatch, capsys, number):
    def write(argv):
        raise OSError(number, os.strerror(number), "out\x1b.svg")

    monkeypatch.setattr(cli, "_dispatch", write)
    assert cli.main(["doctor"]) == 2
    message = f"rulesafe: cannot write out<U+001B>.svg: {os.strerror(number)}\n"
    assert capsys.readouterr().err == message


@pytest.mark.parametrize("name", ["x" * 5000, "/proc/x", "x\x1b"])
def test_errors_of_the_operating_system_are_one_line(monkeypatch, capsys, name):
    monkeypatch.setattr(cli, "_dispatch", lambda argv: Path(name, "y").mkdir())
    assert cli.main(["doctor"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("rulesafe: ") and error.count("\n") == 1 and len(error) < 300
    assert "\x1b" not in error


@pytest.mark.parametrize(("stream", "code"), [(">&-", 0), ("2>&-", 0), ("> /dev/full", 2)])
def test_a_standard_stream_that_cannot_be_written_to_is_no_traceback(stream, code, tmp_path):
    errors = tmp_path / "errors"
    errors.touch()
    words = f"{sys.executable} -m rulesafe_cli.cli rules list {stream}"
    done = subprocess.run(
        words if stream.startswith("2") else f"{words} 2> {errors}",
        shell=True,
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        check=False,
        capture_output=True,
    )
    assert done.returncode == code
    assert len(errors.read_text().splitlines()) == (code != 0)


ENDLESS = """
import os, sys, time
from pathlib import Path
from rulesafe_cli import cli
from rulesafe_data.engines import run

def work(job):
    started = Path(sys.argv[1], str(job))
    started.with_suffix(".new").write_text(str(os.getpid()))
    started.with_suffix(".new").rename(started)
    time.sleep(10_000)

if __name__ == "__main__":
    cli._dispatch = lambda argv: run(work, [1, 2], print, workers=2)
    sys.exit(cli.main([]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_with_its_workers(tmp_path, number):
    (tmp_path / "program.py").write_text(ENDLESS)
    files = [tmp_path / "1", tmp_path / "2"]
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores SIGHUP
    )
    while not all(file.exists() for file in files):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    assert process.communicate()[1] == "" and process.returncode == 128 + number
    for file in files:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)


def test_commands_with_the_same_output_exclude_each_other(tmp_path, capsys):
    out = tmp_path / "new" / "tokens.parquet"
    words = ["memory", "tokens", "nothing", "--model", "nothing", "--out", str(out)]
    with exclusive_output(out, "rulesafe memory tokens"):
        assert main(words) == 2
        assert f"{out} is in use: another `rulesafe memory tokens`" in capsys.readouterr().err
    assert main(words) == 2
    assert "no model 'nothing'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_every_output_of_a_command_is_locked():
    """The lock is that of the parameter `out`."""
    for command in COMMANDS:
        for name, function in command.functions().items():
            for argument in arguments_of(function):
                assert argument.owner is function or argument.name != "out", name


def test_an_argument_with_a_control_character_is_refused(tmp_path, capsys):
    """Names of files are printed, and would control the terminal."""
    folder = tmp_path / "d\x1b]0;x\x07"
    assert main(["demos", "generate", "--out", str(folder)]) == 2
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "has a control character" in captured.err and not folder.exists()
