from pathlib import Path

import pytest

from rulesafe_ros.launch.expression import evaluate
from rulesafe_ros.launch.model import LaunchError
from rulesafe_ros.launch.processes import split
from rulesafe_ros.launch.substitutions import Call, Context, parse, substitute


@pytest.fixture
def context(tmp_path):
    return Context({"x": "3", "name": "x", "mode": "sim"}, {"USER": "ann"}, tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain text, 'quotes' and (brackets)", "plain text, 'quotes' and (brackets)"),
        ("$(var x)", "3"),
        ("a$(var x)b$(var x)", "a3b3"),
        ("$(var $(var name))", "3"),
        ("$(var y 7)", "7"),
        ("$(var y '')", ""),
        ("$(var y 'two words')", "two words"),
        ('$(var y "it\'s")', "it's"),
        ("$(env USER)/$(env NOBODY me)", "ann/me"),
        ("\\$(var x)", "$(var x)"),
        ("back\\\\slash", "back\\slash"),
        ("$(eval '$(var x) if True else 4')", "3"),
        ('$(eval \'"$(var mode)" == "sim"\')', "True"),
        ("$(eval \"'$(var mode)' == 'real'\")", "False"),
        ("$(eval 'not False')", "True"),
    ],
)
def test_substitutes(text, expected, context):
    assert substitute(text, context) == expected


def test_dirname_is_the_directory_of_the_launch_file(context, tmp_path):
    assert substitute("$(dirname)/config", context) == f"{tmp_path}/config"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$(command ls)", r"\$\(command\) is not supported; supported: var, env, eval"),
        ("$(anon x)", r"\$\(anon\) is not supported"),
        ("$(var)", "takes 1 to 2 arguments, 0 given"),
        ("$(eval 1 + 2)", "takes 1 arguments, 3 given .*quote"),
        ("$(var x", r"expected '\)' or one space"),
        ("$(var  x)", "expected an argument"),
        ("$(eval '1 + 2)", "unterminated quote '"),
        ("5$", "escape a dollar sign"),
    ],
)
def test_refuses_wrong_syntax(text, message):
    with pytest.raises(LaunchError, match=message):
        parse(text)


def test_unset_variables_are_errors(context):
    with pytest.raises(LaunchError, match="variable 'y' is not set"):
        substitute("$(var y)", context)
    with pytest.raises(LaunchError, match="environment variable 'NOBODY'"):
        substitute("$(env NOBODY)", context)


@pytest.mark.parametrize(
    "expression",
    [
        "1 < 2 <= 2 != 3",
        "2 < 1 or not 'a' in 'cat'",
        "0 and 1",
        "'' or 'default'",
        "'yes' if -3 in (1, 2, -3) else 'no'",
        "'Sim'.lower() == 'sim'",
        "('x', (1, (2,))) != ()",
        "None",
    ],
)
def test_eval_agrees_with_python(expression):
    assert evaluate(expression) == str(eval(expression))


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "().__class__",
        "'{0.__class__}'.format(1)",
        "[x for x in (1, 2)]",
        "lambda: 1",
        "math.__dict__",
        "true",
        "1 +",
        "1 + 1",
        "'a' * 10**10",
        "min(1, 2)",
        "[1]",
        "math.pi",
        "1 < 'a'",
        "(1).lower()",
        "(" * 900,
        "-" * 3000 + "1",
        "x" * 10_000,
    ],
)
def test_eval_refuses(expression):
    with pytest.raises(LaunchError):
        evaluate(expression)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -l 'my file'", [("ls",), ("-l",), ("my file",)]),
        ("$(var x)/bin a", [(Call("var", (("x",),)), "/bin"), ("a",)]),
        ("$(var x) $(env y)", [(Call("var", (("x",),)),), (Call("env", (("y",),)),)]),
        ("--a $(var x)", [("--a",), (Call("var", (("x",),)),)]),
        ("a:=$(var x)b c", [("a:=", Call("var", (("x",),)), "b"), ("c",)]),
        ("  a  ", [("a",)]),
        ("", []),
    ],
)
def test_command_lines_split_at_written_spaces_only(text, expected):
    assert split(parse(text)) == expected


def test_share_directory_of_a_source_package(context, tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>my_robot</name></package>")
    (tmp_path / "launch").mkdir()
    context.directory = tmp_path / "launch"
    assert Path(substitute("$(find-pkg-share my_robot)", context)) == tmp_path
    with pytest.raises(LaunchError, match="package 'your_robot' not found"):
        substitute("$(find-pkg-share your_robot)", context)


def test_share_directory_of_an_installed_package_comes_first(context, tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>my_robot</name></package>")
    prefix = tmp_path / "install"
    (prefix / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages/my_robot").touch()
    context.environment["AMENT_PREFIX_PATH"] = f"/nowhere:{prefix}"
    assert substitute("$(find-pkg-share my_robot)", context) == f"{prefix}/share/my_robot"


def test_substitutions_are_bounded(tmp_path):
    with pytest.raises(LaunchError, match="nested deeper"):
        parse("$(var " * 20_000 + "a" + ")" * 20_000)
    context = Context({"x": "a" * 99_999}, {}, tmp_path)
    with pytest.raises(LaunchError, match="at most 100000"):
        substitute("$(var x)$(var x)", context)
