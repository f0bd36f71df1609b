"""Tests of messages as plain data."""

import pytest
import yaml

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.graph.plain import fill, read_fields, to_yaml
from rulesafe_ros.graph.topic import rate

messages = pytest.importorskip("trajectory_msgs.msg", reason="ROS 2 is not installed")
CameraInfo = pytest.importorskip("sensor_msgs.msg").CameraInfo
String = pytest.importorskip("std_msgs.msg").String


def test_filled_fields_are_printed():
    fields = {
        "header": {"frame_id": "pelvis", "stamp": {"sec": 3}},
        "joint_names": ["knob"],
        "points": [{"positions": [1, 2.5], "time_from_start": {"nanosec": 7}}],
    }
    found = yaml.safe_load(to_yaml(fill(messages.JointTrajectory(), fields)))
    assert list(found) == ["header", "joint_names", "points"]
    assert found["header"] == {"stamp": {"sec": 3, "nanosec": 0}, "frame_id": "pelvis"}
    assert found["points"][0]["positions"] == [1.0, 2.5]
    assert found["points"][0]["time_from_start"] == {"sec": 0, "nanosec": 7}
    assert yaml.safe_load(to_yaml(fill(CameraInfo(), {"k": range_of(9)})))["k"] == range_of(9)


def range_of(count):
    return [float(number) for number in range(count)]


def test_long_values_are_shortened_by_default():
    point = messages.JointTrajectoryPoint(positions=range_of(200))
    shown = yaml.safe_load(to_yaml(point))["positions"]
    assert shown == [*range_of(128), "..."]
    assert yaml.safe_load(to_yaml(point, None))["positions"] == range_of(200)
    assert yaml.safe_load(to_yaml(String(data="x" * 200)))["data"] == "x" * 128 + "..."


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"colour": 1}, "unknown field 'colour'; valid: header, joint_names, points"),
        ({"header": {"stamp": {"s": 1}}}, "'header.stamp.s'; valid: sec, nanosec"),
        ({"points": [{"pose": 1}]}, "'points[0].pose'; valid: positions"),
        ({"header": 3}, "field header must be std_msgs/Header, not 3"),
        ({"header": {"stamp": {"nanosec": -1}}}, "header.stamp.nanosec must be uint32, not -1"),
        ({"header": {"stamp": {"sec": True}}}, "header.stamp.sec must be int32, not True"),
        ({"joint_names": [3]}, "joint_names must be sequence<string>, not [3]"),
    ],
)
def test_invalid_field_values_are_errors(fields, message):
    """The error is raised in Python; in the middleware it would end the process."""
    with pytest.raises(RuleSafeError) as error:
        fill(messages.JointTrajectory(), fields)
    assert message in str(error.value)


def test_fields_are_yaml():
    assert read_fields("") == {}
    for text in ("{a", "[1]", "word"):
        with pytest.raises(RuleSafeError) as error:
            read_fields(text)
        assert "\n" not in str(error.value)


def test_the_rate_is_computed_from_the_gaps():
    assert rate([1.0, 1.1, 1.2, 1.4]) == "7.5 Hz, 100.0 to 200.0 ms apart, 4 messages"
    assert rate([1.0]).startswith("no rate")
