import pytest

from rulesafe_ros.launch.model import LaunchError
from rulesafe_ros.launch.parse import parse_file
from rulesafe_ros.launch.resolve import resolve
from rulesafe_ros.launch.substitutions import Context


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("<arg name='a'/>\n<composable_node/>", 3, "element <composable_node> is not supported"),
        ("<node exec='a'>\n  <group/>\n</node>", 3, "<group> is not supported in <node>"),
        ("<include file='a'><let name='b' value='c'/></include>", 2, "<let> is not supported"),
        ("<node exec='a'\n respawn='true'/>", 2, "attribute 'respawn' is not supported"),
        ("<include file='a'><arg name='b' default='c'/></include>", 2, "'default' is not supp"),
        ("<choice value='a'/>", 2, "<choice> is not supported in <launch>"),
        ("\n\n<node pkg='a'/>", 4, "attribute 'exec' is missing"),
        ("<let name='a' value='$(command ls)'/>", 2, r"\$\(command\) is not supported"),
        ("<let name='a' value='$(var b'/>", 2, "attribute value="),
        ("<group if='1' unless='1'/>", 2, "cannot be combined"),
        ("<executable cmd='a'/>", 2, "element <executable> is not supported"),
        ("<node exec='a' on_exit='restart'/>", 2, "valid: shutdown"),
        ("<node exec='a' sigterm_timeout='-1'/>", 2, "expected seconds"),
        ("<node exec='a'><param name='b'/></node>", 2, "'name' and 'value'"),
        ("<node exec='a'><param from='b' name='c'/></node>", 2, "either 'from'"),
        ("<node exec='a'><param name='b' value='1' type='double'/></node>", 2, "valid: bool, fl"),
        ("<arg name='a'/>\nwords", 3, "unexpected text 'words'"),
        ("<arg name='a'>", 3, "mismatched tag"),
    ],
)
def test_refuses_by_name_and_line(body, line, message, bench):
    path = bench.write(body)
    with pytest.raises(LaunchError, match=message) as caught:
        parse_file(path)
    assert str(caught.value).startswith(f"{path}:{line}:")


@pytest.mark.parametrize("fan, depth, message", [(5, 12, "more than 50000 el"), (1, 60, "nested")])
def test_includes_are_bounded(bench, fan, depth, message):
    """Five includes of five includes, and so on, are a quarter of a billion."""
    for level in range(depth):
        body = f"<include file='$(dirname)/{level + 1}.launch.xml'/>" * fan
        bench.write(
            body if level < depth - 1 else "<let name='a' value='b'/>", f"{level}.launch.xml"
        )
    root = parse_file(bench.directory / "0.launch.xml")
    with pytest.raises(LaunchError, match=message):
        resolve(root, Context({}, {}, bench.directory), bench.directory)


def test_refuses_what_is_no_launch_file(bench):
    path = bench.directory / "a.launch.xml"
    path.write_text("<robot/>")
    with pytest.raises(LaunchError, match="<robot> is not supported as the outermost"):
        parse_file(path)
    path.write_text("<!DOCTYPE a [<!ENTITY b 'c'>]><launch/>")
    with pytest.raises(LaunchError, match="DOCTYPE"):
        parse_file(path)
    with pytest.raises(LaunchError, match="No such file"):
        parse_file(bench.directory / "b.launch.xml")
    with pytest.raises(LaunchError, match="only XML"):
        parse_file(bench.directory / "b.launch.py")


def test_a_refused_file_starts_nothing(bench):
    status, output = bench.run("<node exec='touch' args='started'/>\n<log message='a'/>")
    assert status == 2
    assert "main.launch.xml:3: element <log> is not supported" in output
    assert not (bench.directory / "started").exists()
