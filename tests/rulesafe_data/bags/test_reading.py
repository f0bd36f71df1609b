"""Bags of ours and of others, read without ROS."""

import os

import pytest
import yaml
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags import files
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.definitions import definition
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.writing import Splitting


@pytest.mark.parametrize(
    ("storage", "compression"),
    [
        (StoragePlugin.MCAP, CompressionMode.NONE),
        (StoragePlugin.MCAP, CompressionMode.FILE),
        (StoragePlugin.SQLITE3, CompressionMode.NONE),
        (StoragePlugin.SQLITE3, CompressionMode.MESSAGE),
    ],
)
def test_bags_of_others(foreign, storage, compression, said):
    bag = Bag(foreign(storage, compression))
    assert [message.data for message in bag.messages()] == [said(i) for i in range(30)]
    assert [m.when for m in bag.messages(start=10**9, end=12 * 10**8)] == [10**9, 11 * 10**8]
    decode = MessageDecoder(bag)
    assert decode(next(bag.messages())).data.startswith("000000xx")
    assert bag.metadata.dropped is None


def test_times_and_topics_choose_messages(write, said):
    bag = Bag(write(45, splitting=Splitting(seconds=2.0)))
    some = list(bag.messages(["/said", "/nowhere"], start=19 * 10**8, end=22 * 10**8))
    assert [(m.when, m.published) for m in some] == [
        (n * 10**8, n * 10**8 + 7) for n in (19, 20, 21)
    ]
    assert list(bag.messages(["/nowhere"])) == []
    assert bag.metadata.span == (0, 44 * 10**8)


def test_what_is_no_bag_says_so(tmp_path, write):
    with pytest.raises(RuleSafeError, match="a bag is a folder"):
        Bag(tmp_path / "missing")
    with pytest.raises(RuleSafeError, match="is not a bag"):
        Bag(tmp_path)
    bag = write(5)
    (bag / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 9}")
    with pytest.raises(RuleSafeError, match=r"metadata.yaml is not valid bag metadata"):
        Bag(bag)
    file = write(5, "other") / "metadata.yaml"
    found = yaml.safe_load(file.read_text())
    found["rosbag2_bagfile_information"]["relative_file_paths"] = [{"a": 1}]
    file.write_text(yaml.safe_dump(found))
    with pytest.raises(RuleSafeError, match="relative_file_paths must be a list of texts"):
        Bag(file.parent)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(RuleSafeError, match="a named pipe; valid: a regular file"):
        files.describe(tmp_path / "pipe.mcap")
    with pytest.raises(RuleSafeError, match="a named pipe; valid: a regular file"):
        list(files.records(tmp_path / "pipe.mcap", print))


def test_a_message_that_is_not_of_its_type_is_refused(write):
    bag = Bag(write(1))
    message = next(bag.messages())
    with pytest.raises(RuleSafeError, match=r"message of /said .* as std_msgs/msg/String"):
        MessageDecoder(bag)(type(message)("/said", 0, 0, message.data[:6]))


def test_definitions_are_whole(tmp_path):
    pytest.importorskip("rulesafe_interfaces", reason="ROS 2 is not installed")
    text = definition("rulesafe_interfaces/msg/EpisodeStatus")
    assert text.startswith("# State of the lock")
    parts = [line for line in text.splitlines() if line.startswith("MSG: ")]
    assert sorted(parts) == [
        "MSG: builtin_interfaces/Time",
        "MSG: geometry_msgs/Point",
        "MSG: geometry_msgs/Pose",
        "MSG: geometry_msgs/Quaternion",
        "MSG: std_msgs/Header",
    ]
    with pytest.raises(RuleSafeError, match="source the workspace that has foreign_msgs"):
        definition("foreign_msgs/msg/Thing", (tmp_path,))
