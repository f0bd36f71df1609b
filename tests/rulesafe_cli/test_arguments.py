"""Helps and hints of commands that tyro reads."""

from pathlib import Path

import pytest

from policy_node.commands import describe, train
from policy_node.families import FAMILIES
from rulesafe_cli.arguments import arguments_of
from rulesafe_cli.cli import main
from rulesafe_eval.commands import SUBCOMMANDS
from vq_memory_node.memory import MEMORIES

ROOT = Path(__file__).parents[2]


def run(capsys, *words):
    """Exit code and complete output of a command line that ends early."""
    with pytest.raises(SystemExit) as end:
        main(list(words))
    out, err = capsys.readouterr()
    return end.value.code, out + err


def test_help_of_eval_has_its_subcommands_with_line_and_example(capsys):
    code, text = run(capsys, "eval", "--help")
    assert code == 0 and "Args:" not in text
    for name, function in SUBCOMMANDS.items():
        assert f"rulesafe eval {name}: {function.__doc__.splitlines()[0]}" in text
        assert f"Example: rulesafe eval {name} " in text


@pytest.mark.parametrize(
    "words", ["eval", "demos generate", "demos render", "policy train", "memory train"]
)
def test_helps_name_values_without_none(capsys, words):
    code, text = run(capsys, *words.split(), "--help")
    assert code == 0 and "{None" not in text
    assert "PATH" in text or "INT" in text


@pytest.mark.parametrize("function", [train, describe])
def test_policies_and_memories_are_shown_with_the_names_of_other_packages(function):
    values = {argument.name: argument.metavar for argument in arguments_of(function)}
    assert values["policy"] == f"{{{','.join(FAMILIES.builtin)}}}|module:NAME"
    assert values["memory"] == f"{{{','.join(MEMORIES.builtin)}}}|module:NAME"


def test_the_help_shows_them(capsys):
    assert (
        "--policy {dp3,bc,skills,two_level,rdt,cogact,pi0}|module:NAME"
        in run(capsys, "policy", "train", "-h")[1]
    )
    assert (
        "--policy {dp3,bc,skills,two_level,rdt,cogact,pi0}|module:NAME"
        in run(capsys, "policy", "describe", "-h")[1]
    )


def test_a_switch_without_a_default_has_the_options_of_the_help(capsys):
    options = {argument.name: argument.options for argument in arguments_of(train)}["safe_frame"]
    assert options == ("--safe-frame", "--no-safe-frame")
    assert ", ".join(options) in run(capsys, "policy", "train", "--help")[1]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("eval --rule rule_020", "--rules"),
        ("eval --policy expert --rule=rule_020", "--rules"),
        ("demos generate --rule rule_020 --out x", "--rules"),
        ("demos program --rules rule_020 --safe safe_01", "--rule"),
        ("rules show --fromat json rule_001", "--format"),
    ],
)
def test_the_option_that_is_meant_is_one_of_the_command_that_was_typed(capsys, words, option):
    code, text = run(capsys, *words.split())
    command = "rulesafe eval" if words.startswith("eval") else f"rulesafe {words.split(' --')[0]}"
    assert code == 2 and text.rstrip().endswith(f"do you mean {option}?")
    assert f"{command} has no option --" in text and f"{command} --help" in text
    assert "rulesafe generate" not in text


def test_an_option_that_is_like_none_is_named_all_the_same(capsys):
    code, text = run(capsys, "eval", "--policy", "expert", "--zzz", "1")
    assert code == 2 and "rulesafe eval has no option --zzz: see rulesafe eval --help" in text
