from pathlib import Path

import pytest
import yaml

from rulesafe_cli.cli import main
from rulesafe_ros.launch.commands import known_arguments
from rulesafe_ros.launch.model import LaunchError, Process, Shutdown, Timer


def echoes(steps):
    """Return the output of the resolved `echo` commands."""
    return [" ".join(step.command[1:]) for step in steps if isinstance(step, Process)]


def test_arguments_defaults_and_let(bench):
    body = """
      <arg name="a"/>
      <arg name="b" default="$(var a)2"/>
      <let name="c" value="$(var b)3"/>
      <executable cmd="echo $(var a) $(var b) $(var c)"/>"""
    assert echoes(bench.resolve(body, a="1")) == ["1 12 123"]
    assert echoes(bench.resolve(body, a="1", b="x", c="overwritten")) == ["1 x x3"]


def test_conditions(bench):
    body = """
      <arg name="a" default="true"/>
      <executable cmd="echo if" if="$(var a)"/>
      <executable cmd="echo unless" unless="$(var a)"/>
      <group if="$(eval 'not $(var b)')"><executable cmd="echo group"/></group>"""
    assert echoes(bench.resolve(body, b="True")) == ["if"]
    assert echoes(bench.resolve(body, a="0", b="0")) == ["unless", "group"]
    with pytest.raises(LaunchError, match=r"main.launch.xml:4: .*'maybe' is not valid; valid"):
        bench.resolve(body, a="maybe", b="0")


def test_choices(bench):
    body = '<arg name="a"><choice value="x"/><choice value="y"/></arg>'
    assert bench.resolve(body, a="y") == []
    with pytest.raises(LaunchError, match="a:=z is not valid; valid: x, y"):
        bench.resolve(body, a="z")


def test_groups_scope_variables_and_environment_by_default(bench):
    body = """
      <let name="a" value="1"/>
      <group {}><let name="a" value="2"/><set_env name="A" value="2"/><unset_env name="HOME"/>
        <executable cmd="echo $(var a) $(env A) $(env HOME unset)"/></group>
      <executable cmd="echo $(var a) $(env A none) $(env HOME unset)"/>"""
    inside, outside = "2 2 unset", "1 none /nowhere"
    assert echoes(bench.resolve(body.format(""))) == [inside, outside]
    assert echoes(bench.resolve(body.format('scoped="true"'))) == [inside, outside]
    assert echoes(bench.resolve(body.format('scoped="false"'))) == [inside, inside]


def test_includes_share_variables_with_the_including_file(bench):
    bench.write(
        """<arg name="a" default="1"/><arg name="b" default="1"/>
        <let name="c" value="set inside"/>
        <executable cmd="echo $(var a) $(var b) $(var outer) $(dirname)"/>""",
        "part.launch.xml",
    )
    body = """
      <let name="outer" value="seen"/>
      <{0}><include file="$(dirname)/part.launch.xml"><arg name="a" value="2"/></include></{0}>
      <executable cmd="echo $(var a gone) $(var b gone) $(var c gone)"/>"""
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


def test_timers_use_the_final_values_of_variables(bench):
    body = """
      <let name="a" value="1"/>
      <timer period="$(eval 2*30)"><shutdown reason="late: $(var a)"/></timer>
      <let name="a" value="2"/>"""
    assert bench.resolve(body) == [Timer(60.0, [Shutdown("late: 2")])]
    with pytest.raises(LaunchError, match="is not a number of seconds"):
        bench.resolve('<timer period="soon"/>')


def test_executable_attributes(bench):
    (process,) = bench.resolve(
        """<executable cmd="echo a" name="x" cwd="$(dirname)" launch-prefix="env -i" output="screen"
             on_exit="shutdown" sigterm_timeout="1.5"><env name="A" value="$(env HOME)"/>
           </executable>""",
        sigkill_timeout="2",
    )
    assert process.name == "x-1"
    assert process.command == ("env", "-i", "echo", "a")
    assert process.environment["A"] == "/nowhere"
    assert process.directory == str(bench.directory)
    assert (process.output, process.on_exit) == ("screen", "shutdown")
    assert (process.sigterm_timeout, process.sigkill_timeout) == (1.5, 2.0)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('<executable cmd="no_such_program"/>', "program 'no_such_program' not found"),
        ('<executable cmd="echo" output="paper"/>', "output 'paper' is not valid; valid: screen"),
        ('<executable cmd="echo" cwd="/no/such"/>', "no directory '/no/such'"),
        ('<node pkg="rulesafe_sim" exec="x"/>', "no executable 'x' in package .*valid: .*sim_node"),
        ('<node exec="echo" name="a b"/>', "'a b' is not a valid node name"),
        ('<node exec="echo" namespace="//"/>', "not a valid namespace"),
        ('<node exec="echo"><param from="no.yaml"/></node>', "no parameter file 'no.yaml'"),
        ('<executable cmd="echo $(var nothing)"/>', "variable 'nothing' is not set"),
    ],
)
def test_refuses_bad_values_by_line(element, message, bench):
    with pytest.raises(LaunchError, match=f"main.launch.xml:3: .*{message}"):
        bench.resolve(f"\n{element}")


def test_node_command_is_that_of_launch_ros(bench):
    (bench.directory / "a.yaml").write_text("{}")
    (process,) = bench.resolve(
        """<node exec="echo" name="n" namespace="ns" args="--fast $(var x)/y" ros_args="-r a:=b">
             <param name="p" value="1"/><param name="q" value="two"/>
             <param from="$(dirname)/a.yaml"/><param name="p" value="3"/>
             <remap from="c" to="d"/></node>""",
        x="5 6",
    )
    inline = [word for word in process.command if "launch_params_" in word]
    assert process.command == (
        "echo", "--fast", "5 6/y", "--ros-args", "-r", "a:=b",
        "--ros-args", "-r", "__node:=n", "-r", "__ns:=/ns", "--params-file", inline[0],
        "--params-file", f"{bench.directory}/a.yaml", "--params-file", inline[1], "-r", "c:=d",
    )  # fmt: skip
    contents = [yaml.safe_load(Path(path).read_text()) for path in inline]
    assert contents[0] == {"/ns/n": {"ros__parameters": {"p": 1, "q": "two"}}}
    assert contents[1] == {"/ns/n": {"ros__parameters": {"p": 3}}}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('value="5"', 5),
        ('value="5.0"', 5.0),
        ('value="true"', True),
        ('value="text"', "text"),
        ('value="two words"', "two words"),
        ("""value="'5'" """, "5"),
        (r"""value="\'5\'" """, "'5'"),
        ('value="[1, 2]"', [1, 2]),
        ('value="$(var five)"', 5),
        ("""value="'$(var five)'" """, 5),
        ('value="$(var five)" type="str"', "5"),
        ('value="$(var five)" type="float"', 5.0),
        ('value="[$(var five), 6]"', [5, 6]),
        ('value="$(var list)" type="list_of_int"', [1, 2]),
        ('value="[1, 2]" type="list_of_int"', [1, 2]),
        ('value="rule_$(var five)"', "rule_5"),
    ],
)
def test_parameter_types(attributes, expected, bench):
    (process,) = bench.resolve(
        f'<node exec="echo"><param name="a.b" {attributes}/></node>', five="5", list="[1, 2]"
    )
    value = process.parameters["a.b"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    "attributes",
    [
        'value=""',
        'value="{a: 1}"',
        'value="[1, two]"',
        'value="[]"',
        'value="text" type="int"',
        'value="$(var word)" type="bool"',
        'value="[1.5]" type="list_of_int"',
        'value="5" type="list_of_int"',
    ],
)
def test_refuses_values_that_are_no_parameters(attributes, bench):
    with pytest.raises(LaunchError, match=r"main.launch.xml:2: <param>: attribute 'value'"):
        bench.resolve(f'<node exec="echo"><param name="a" {attributes}/></node>', word="text")


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


def test_print_runs_nothing(bench, capsys):
    body = """<executable cmd="touch $(var there)" on_exit="shutdown"/>
      <node exec="touch" name="n"><param name="p" value="x"/></node>
      <timer period="2"><shutdown reason="enough"/></timer>"""
    path = bench.write(f'<let name="there" value="{bench.directory}/a b"/>{body}')
    assert main(["launch", "--print", str(path)]) == 0
    output = capsys.readouterr().out
    assert f"[touch-1] touch '{bench.directory}/a b'  # the launch ends with this process" in output
    assert "    p = 'x'" in output
    assert "after 2 s:\n    shutdown: enough" in output
    assert not (bench.directory / "a b").exists()


def test_package_and_file_name_a_launch_file_as_for_ros2_launch(tmp_path, monkeypatch, capsys):
    package = tmp_path / "src/my_robot"
    (package / "launch").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>my_robot</name></package>")
    echo = '<launch><arg name="a"/><executable cmd="echo $(var a)"/></launch>'
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
    (tmp_path / "memory.launch.xml").write_text("<launch><executable cmd='echo mine'/></launch>")
    assert main(["launch", "memory.launch.xml", "--print"]) == 0
    assert "echo mine" in capsys.readouterr().out
