from pathlib import Path

import pytest
import yaml

from rulesafe_cli.cli import main
from rulesafe_ros.launch.commands import known_arguments
from rulesafe_ros.launch.model import LaunchError, Process, Shutdown


def echoes(steps):
    """Return the output of the resolved `echo` commands."""
    return [" ".join(step.command[1:-1]) for step in steps if isinstance(step, Process)]


def test_arguments_defaults_and_let(bench):
    body = """
      <arg name="a"/>
      <arg name="b" default="$(var a)2"/>
      <let name="c" value="$(var b)3"/>
      <node exec="echo" args="$(var a) $(var b) $(var c)"/>"""
    assert echoes(bench.resolve(body, a="1")) == ["1 12 123"]
    assert echoes(bench.resolve(body, a="1", b="x", c="overwritten")) == ["1 x x3"]


def test_conditions(bench):
    body = """
      <arg name="a" default="true"/>
      <node exec="echo" args="if" if="$(var a)"/>
      <node exec="echo" args="unless" unless="$(var a)"/>
      <group if="$(eval 'not $(var b)')"><node exec="echo" args="group"/></group>"""
    assert echoes(bench.resolve(body, b="True")) == ["if"]
    assert echoes(bench.resolve(body, a="0", b="0")) == ["unless", "group"]
    with pytest.raises(LaunchError, match=r"main.launch.xml:4: .*'maybe' is not valid; valid"):
        bench.resolve(body, a="maybe", b="0")


def test_choices(bench):
    body = '<arg name="a"><choice value="x"/><choice value="y"/></arg>'
    assert bench.resolve(body, a="y") == []
    with pytest.raises(LaunchError, match="a:=z is not valid; valid: x, y"):
        bench.resolve(body, a="z")


def test_groups_scope_variables_and_environment(bench):
    body = """
      <let name="a" value="1"/>
      <group><let name="a" value="2"/><set_env name="A" value="2"/>
        <node exec="echo" args="$(var a) $(env A)"/></group>
      <node exec="echo" args="$(var a) $(env A none)"/>"""
    assert echoes(bench.resolve(body)) == ["2 2", "1 none"]


def test_includes_share_variables_with_the_including_file(bench):
    bench.write(
        """<arg name="a" default="1"/><arg name="b" default="1"/>
        <let name="c" value="set inside"/>
        <node exec="echo" args="$(var a) $(var b) $(var outer) $(dirname)"/>""",
        "part.launch.xml",
    )
    body = """
      <let name="outer" value="seen"/>
      <{0}><include file="$(dirname)/part.launch.xml"><arg name="a" value="2"/></include></{0}>
      <node exec="echo" args="$(var a gone) $(var b gone) $(var c gone)"/>"""
    included = f"2 1 seen {bench.directory}"
    leaking = body.replace("<{0}>", "").replace("</{0}>", "")
    assert echoes(bench.resolve(leaking)) == [included, "2 1 set inside"]
    assert echoes(bench.resolve(body.format("group"))) == [included, "gone gone gone"]


def test_include_checks_arguments_at_its_line(bench):
    bench.write('<arg name="a"/>', "part.launch.xml")
    include = '<include file="$(dirname)/part.launch.xml">{}</include>'
    with pytest.raises(LaunchError, match=r"main.launch.xml:2: <include>: required argument 'a'"):
        # As in `ros2 launch`, a variable of the including file does not count as a given argument.
        bench.resolve(include.format(""), a="1")
    with pytest.raises(LaunchError, match=r"unknown argument 'b'; .*valid arguments: a"):
        bench.resolve(include.format('<arg name="a" value="1"/><arg name="b" value="2"/>'))
    with pytest.raises(LaunchError, match=r"main.launch.xml:2: .*no launch file"):
        bench.resolve('<include file="nowhere.launch.xml"/>')
    with pytest.raises(LaunchError, match="includes itself"):
        bench.resolve('<include file="$(dirname)/main.launch.xml"/>')


def test_attributes_of_a_process(bench):
    (process,) = bench.resolve(
        """<set_env name="A" value="$(env HOME)"/>
           <node exec="echo" args="a" exec_name="x" output="screen" on_exit="shutdown"
             sigterm_timeout="1.5"/>""",
        sigkill_timeout="2",
    )
    assert process.name == "x-1"
    assert process.command == ("echo", "a", "--ros-args")
    assert process.environment["A"] == "/nowhere"
    assert (process.output, process.on_exit) == ("screen", "shutdown")
    assert (process.sigterm_timeout, process.sigkill_timeout) == (1.5, 2.0)


def test_a_shutdown_has_a_reason(bench):
    assert bench.resolve('<shutdown/><shutdown reason="$(var a)"/>', a="late") == [
        Shutdown("reason not given"),
        Shutdown("late"),
    ]


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('<node exec="no_such_program"/>', "program 'no_such_program' not found"),
        ('<node exec="echo" output="paper"/>', "output 'paper' is not valid; valid: screen"),
        ('<node pkg="rulesafe_sim" exec="x"/>', "no executable 'x' in package .*valid: .*sim_node"),
        ('<node exec="echo" name="a b"/>', "'a b' is not a valid node name"),
        ('<node exec="echo"><param from="no.yaml"/></node>', "no parameter file 'no.yaml'"),
    ],
)
def test_refuses_bad_values_by_line(element, message, bench):
    with pytest.raises(LaunchError, match=f"main.launch.xml:3: .*{message}"):
        bench.resolve(f"\n{element}")


def test_node_command_is_that_of_launch_ros(bench):
    (bench.directory / "a.yaml").write_text("{}")
    (process,) = bench.resolve(
        """<node exec="echo" name="n" args="--fast $(var x)/y">
             <param name="p" value="1"/><param name="q" value="two"/>
             <param from="$(dirname)/a.yaml"/><param name="p" value="3"/></node>""",
        x="5 6",
    )
    inline = [word for word in process.command if "launch_params_" in word]
    assert process.command == (
        "echo", "--fast", "5 6/y", "--ros-args", "-r", "__node:=n", "--params-file", inline[0],
        "--params-file", f"{bench.directory}/a.yaml", "--params-file", inline[1],
    )  # fmt: skip
    contents = [yaml.safe_load(Path(path).read_text()) for path in inline]
    assert contents[0] == {"/**": {"ros__parameters": {"p": 1, "q": "two"}}}
    assert contents[1] == {"/**": {"ros__parameters": {"p": 3}}}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('value="5"', 5),
        ('value="5.0"', 5.0),
        ('value="true"', True),
        ('value="text"', "text"),
        ('value="two words"', "two words"),
        ("""value="'5'" """, "5"),
        ('value="$(var five)"', 5),
        ("""value="'$(var five)'" """, 5),
        ('value="$(var five)" type="str"', "5"),
        ('value="$(var five)" type="float"', 5.0),
        ('value="rule_$(var five)"', "rule_5"),
    ],
)
def test_parameter_types(attributes, expected, bench):
    (process,) = bench.resolve(
        f'<node exec="echo"><param name="a.b" {attributes}/></node>', five="5"
    )
    value = process.parameters["a.b"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('value=""', "value='': '' is not a bool, number or text"),
        ('value="{a: 1}"', "value='{a: 1}': '{a: 1}' is not a bool, number or text"),
        ('value="[1, two]"', "value='[1, two]': '[1, two]' is not a bool, number or text"),
        ('value="5.5" type="int"', "value='5.5': '5.5' is not valid; valid: a whole number"),
        ('value="$(var word)" type="float"', "'$(var word)': '0,3' is not valid; valid: a number"),
        ('value="$(var word)" type="bool"', "'$(var word)': '0,3' is not valid; valid: true, 1"),
    ],
)
def test_refuses_values_that_are_no_parameters(attributes, message, bench):
    """The message names the parameter, and with $(var ...) the argument that sets it."""
    with pytest.raises(LaunchError) as error:
        bench.resolve(f'<node exec="echo"><param name="a" {attributes}/></node>', word="0,3")
    assert "main.launch.xml:2: <param>: parameter 'a', value=" in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize("value", ["true", "1", "false", "0"])
def test_a_bool_may_be_a_digit(value, bench):
    """As for `ros2 launch`, and for the attributes `if` and `unless`."""
    (step,) = bench.resolve(
        '<node exec="echo"><param name="a" value="$(var on)" type="bool"/></node>', on=value
    )
    assert step.parameters["a"] is (value in ("true", "1"))


def test_show_args(bench, capsys):
    bench.write('<arg name="inner" default="$(var a)"/>', "part.launch.xml")
    path = bench.write(
        """<arg name="a" default="1" description="How many."/>
        <arg name="b"><choice value="x"/><choice value="y"/></arg>
        <arg name="c" description="Which"><choice value="x"/></arg>
        <arg name="d" if="$(var a)" default=""/>
        <include file="$(dirname)/part.launch.xml"/>"""
    )
    assert main(["launch", str(path), "--show-args"]) == 0
    assert (
        capsys.readouterr().out
        == """\
Arguments (pass arguments as '<name>:=<value>'):

    'a':
        How many.
        (default: '1')

    'b':
        One of: ['x', 'y']

    'c':
        Which. Valid choices are: ['x']

    'd':*
        no description given
        (default: '')

    'inner':
        no description given
        (default: $(var a))

* argument(s) which are only used if specific conditions occur
"""
    )


def test_command_line_arguments_are_checked_together(bench, capsys):
    path = str(bench.write('<arg name="rule"/><arg name="safe" default="1"/>'))
    assert main(["launch", path, "rul:=1", "see:=2"]) == 2
    message = capsys.readouterr().err
    for part in ("unknown argument 'rul'", "unknown argument 'see'", "required argument 'rule'",
                 "valid arguments: rule, safe"):  # fmt: skip
        assert part in message
    assert main(["launch", path, "rule=1"]) == 2
    assert "malformed launch argument 'rule=1'" in capsys.readouterr().err
    assert main(["launch", path, "rule:=1", "sigterm_timeout:=1"]) == 0


def test_an_argument_that_an_include_sets_has_no_effect(bench, capsys):
    node = '<node exec="echo" args="$(var model)"/>'
    bench.write(f'<arg name="model" default="1"/>{node}', "part.launch.xml")
    include = '<include file="$(dirname)/part.launch.xml">{}</include>'
    sets = include.format('<arg name="model" value="2"/>')
    path = str(bench.write(f'<arg name="rule" default="1"/>{sets}'))
    assert main(["launch", path, "model:=foo"]) == 2
    message = capsys.readouterr().err
    assert "argument 'model' has no effect: an <include> sets it; valid arguments: rule" in message
    path = str(bench.write(include.format("") + sets))  # the first include uses it
    assert main(["launch", "--print", path, "model:=foo"]) == 0


def test_print_runs_nothing(bench, capsys):
    body = """<node exec="touch" args="$(var there)" on_exit="shutdown"/>
      <node exec="touch" name="n"><param name="p" value="x"/></node>
      <shutdown reason="enough"/><node exec="touch" name="late"/>"""
    path = bench.write(f'<let name="there" value="{bench.directory}/a b"/>{body}')
    assert main(["launch", "--print", str(path)]) == 0
    output = capsys.readouterr().out
    assert (
        f"[touch-1] touch '{bench.directory}/a b' --ros-args  # the launch ends with this process"
        in output
    )
    assert "    p = 'x'" in output
    assert output.endswith("\nshutdown: enough\n")
    assert not (bench.directory / "a b").exists()


def test_package_and_file_name_a_launch_file_as_for_ros2_launch(tmp_path, monkeypatch, capsys):
    package = tmp_path / "src/my_robot"
    (package / "launch").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>my_robot</name></package>")
    echo = '<launch><arg name="a"/><node exec="echo" args="$(var a)"/></launch>'
    (package / "launch/up.launch.xml").write_text(echo)
    monkeypatch.chdir(tmp_path)
    assert main(["launch", "my_robot", "up.launch.xml", "a:=1", "--print"]) == 0
    assert "echo 1" in capsys.readouterr().out
    assert main(["launch", "my_robot", "down.launch.xml", "a:=1"]) == 2
    error = capsys.readouterr().err
    assert "valid: up.launch.xml" in error and "rulesafe launch launch/" in error
    assert main(["launch", "your_robot", "up.launch.xml"]) == 2
    error = capsys.readouterr().err
    assert "no package 'your_robot'" in error and "rulesafe launch launch/" in error
    assert main(["launch", str(package / "launch/up.launch.xml"), "up.launch.xml"]) == 2
    assert "malformed launch argument" in capsys.readouterr().err


def test_a_file_name_refers_to_the_package_rulesafe(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["launch", "memory.launch.xml", "--print"]) == 0
    assert "/config/vq_memory_node.yaml" in capsys.readouterr().out
    assert "clusters" in known_arguments(Path("memory.launch.xml"))
    assert main(["launch", "memories.launch.xml"]) == 2
    assert "no 'memories.launch.xml' in" in capsys.readouterr().err
    assert main(["launch", "launch/memory.launch.xml"]) == 2
    assert "or one of bridge.launch.xml, memory.launch.xml" in capsys.readouterr().err
    (tmp_path / "memory.launch.xml").write_text("<launch><node exec='echo' args='mine'/></launch>")
    assert main(["launch", "memory.launch.xml", "--print"]) == 0
    assert "echo mine" in capsys.readouterr().out
