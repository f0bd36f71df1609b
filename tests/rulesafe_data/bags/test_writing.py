"""What we write is read by libraries that are not ours."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosHistory, QosReliability, QosTime

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.background import BackgroundWriter
from rulesafe_data.bags.metadata import read
from rulesafe_data.bags.qos import DEFAULT, from_plain, to_plain, to_text
from rulesafe_data.bags.writing import BagWriter, Splitting

LATCHED = DEFAULT._replace(durability=QosDurability.TRANSIENT_LOCAL)


@pytest.fixture
def bag(tmp_path, string, tokens, serialise, said):
    """A bag of two topics, one of them of our own type and latched."""
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_JAZZY).types
    header = types["std_msgs/msg/Header"](
        stamp=types["builtin_interfaces/msg/Time"](sec=3, nanosec=5), frame_id=""
    )
    with BagWriter(tmp_path / "bag") as bag:
        bag.add(string)
        bag.add(tokens)
        for number in range(30):
            bag.write("/said", 10**9 + number, number, said(number))
        raw = serialise(
            tokens.type,
            header=header,
            tokens=np.array([3, 1, 2], np.uint16),
            mask=np.array([False, True, True]),
            vocabulary_size=4,
            stride=20,
            window=50,
            model_hash="abc",
        )
        bag.write("/memory/tokens", 2 * 10**9, 5, raw)
    return tmp_path / "bag"


def test_rosbags_reads_it(bag, string, said):
    with AnyReader([bag]) as reader:
        assert reader.message_count == 31
        by_topic = {c.topic: c for c in reader.connections}
        offered = by_topic["/memory/tokens"].ext.offered_qos_profiles
        assert [o.durability for o in offered] == [QosDurability.TRANSIENT_LOCAL]
        assert by_topic["/said"].ext.offered_qos_profiles[0].reliability == QosReliability.RELIABLE
        assert by_topic["/said"].digest == string.type_hash
        messages = list(reader.messages())
        assert [bytes(raw) for _, _, raw in messages[:30]] == [said(i) for i in range(30)]
        connection, when, raw = messages[-1]
        content = reader.deserialize(raw, connection.msgtype)
        assert (when, content.tokens.tolist(), content.header.stamp.sec) == (
            2 * 10**9,
            [3, 1, 2],
            3,
        )


def test_mcap_reads_it_and_knows_our_types(bag, tokens):
    with (bag / "bag_0.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        decoded = [
            (schema.name, schema.encoding, message.log_time, message.publish_time, content)
            for schema, _, message, content in reader.iter_decoded_messages()
        ]
        channels = {c.topic: c for c in reader.get_summary().channels.values()}
    name, encoding, when, published, content = decoded[-1]
    assert (name, encoding) == ("rulesafe_interfaces/msg/MemoryTokens", "ros2msg")
    assert (when, published, list(content.mask)) == (2 * 10**9, 5, [False, True, True])
    about = channels["/memory/tokens"].metadata
    assert from_plain(about["offered_qos_profiles"]) == (LATCHED,)
    assert about["topic_type_hash"] == tokens.type_hash


def test_metadata_has_what_ros2_bag_asks_for(bag):
    """The fields that rosbag2 of Jazzy reads without asking whether they are there."""
    content = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert (content["version"], content["storage_identifier"]) == (9, "mcap")
    assert content["relative_file_paths"] == ["bag_0.mcap"]
    assert content["duration"]["nanoseconds"] == 10**9
    assert content["starting_time"]["nanoseconds_since_epoch"] == 10**9
    assert content["message_count"] == 31
    assert content["files"][0]["message_count"] == 31
    assert (content["compression_format"], content["compression_mode"]) == ("", "")
    assert all(isinstance(value, str) for value in content["custom_data"].values())
    topic = content["topics_with_message_count"][1]
    assert topic["message_count"] == 1
    assert topic["topic_metadata"]["serialization_format"] == "cdr"
    assert topic["topic_metadata"]["offered_qos_profiles"][0] == {
        "history": "unknown",
        "depth": 0,
        "reliability": "reliable",
        "durability": "transient_local",
        "deadline": {"sec": 9223372036, "nsec": 854775807},
        "lifespan": {"sec": 9223372036, "nsec": 854775807},
        "liveliness": "automatic",
        "liveliness_lease_duration": {"sec": 9223372036, "nsec": 854775807},
        "avoid_ros_namespace_conventions": False,
    }


def test_qos_of_older_bags_is_numbers():
    driver = DEFAULT._replace(
        history=QosHistory.KEEP_LAST,
        depth=5,
        reliability=QosReliability.BEST_EFFORT,
        deadline=QosTime(0, 10**8),
    )
    offered = (driver, LATCHED)
    assert from_plain(to_plain(offered)) == offered
    assert from_plain(to_text(offered)) == offered
    numbers = to_plain(offered[:1])[0] | {
        **{"history": 1, "reliability": 2, "durability": 2, "liveliness": 1}
    }
    assert from_plain(json.dumps([numbers])) == offered[:1]
    with pytest.raises(RuleSafeError, match="offered_qos_profiles"):
        from_plain([{"history": 1}])


def test_a_bag_is_split_by_time_and_every_file_stands_alone(write, said):
    bag = write(45, splitting=Splitting(seconds=2.0))
    assert [(p.path, p.messages) for p in read(bag).files] == [
        ("bag_0.mcap", 45),  # metadata.yaml does not say which topics are in which file
        ("bag_1.mcap", 0),
        ("bag_2.mcap", 0),
    ]
    with AnyReader([bag]) as reader:
        assert [bytes(raw) for _, _, raw in reader.messages()] == [said(i) for i in range(45)]
    with (bag / "bag_2.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        texts = [content.data[:6] for *_, content in reader.iter_decoded_messages()]
    assert texts == [f"{i:06d}" for i in range(40, 45)]


def test_a_megabyte_is_a_million_bytes(tmp_path, string):
    """20 messages of 50 kB fill a file; 2**20 bytes would hold another one."""
    with BagWriter(tmp_path / "bag", "none", Splitting(megabytes=1.0), flush=0.0) as bag:
        bag.add(string)
        for number in range(21):
            bag.write("/said", number, number, bytes(50_000))
    with (tmp_path / "bag/bag_0.mcap").open("rb") as stream:
        assert len(list(make_reader(stream).iter_messages())) == 20


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_every_compression_is_read_by_others(write, compression, said):
    with AnyReader([write(20, compression=compression)]) as reader:
        assert [bytes(raw) for _, _, raw in reader.messages()] == [said(i) for i in range(20)]


def test_what_cannot_be_written_is_refused(tmp_path, write, said):
    write(1)
    with pytest.raises(RuleSafeError, match="exists already"):
        BagWriter(tmp_path / "bag")
    with pytest.raises(RuleSafeError, match="none, lz4, zstd"):
        BagWriter(tmp_path / "other", compression="rar")
    with (
        BagWriter(tmp_path / "third") as bag,
        pytest.raises(RuleSafeError, match="unknown topic"),
    ):
        bag.write("/unheard", 0, 0, said(0))


def test_what_waits_too_long_is_dropped_and_counted(tmp_path, string, said):
    writer = BackgroundWriter(BagWriter(tmp_path / "bag"), limit=10 * len(said(0)))
    writer.add(string)
    taken = sum(writer.write("/said", i, i, said(i)) for i in range(3000))
    assert taken + writer.overruns["/said"] == 3000
    assert writer.overruns["/said"] > 0, "the queue must have been too short for this"
    writer.dropped({"/said": writer.overruns["/said"]})
    found = writer.close()
    assert found.messages == taken
    assert read(tmp_path / "bag").dropped == {"/said": 3000 - taken}


def test_a_full_disk_is_said_and_leaves_what_was_written(tmp_path):
    """A limit on the size of files stands for the disk."""
    code = f"""
import resource, signal
from pathlib import Path
from rulesafe_data.bags.background import BackgroundWriter
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.writing import BagWriter
from rulesafe_core.errors import RuleSafeError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
writer = BackgroundWriter(BagWriter(Path({str(tmp_path / "bag")!r}), "none", flush=0.0))
writer.add(Topic("/said", "std_msgs/msg/String", definition="string data"))
for number in range(1000):
    writer.write("/said", number, number, bytes(100))
try:
    writer.close()
except RuleSafeError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}
    )
    assert "cannot write" in result.stdout, result.stderr
    assert f"rulesafe bag info {tmp_path / 'bag'} --repair" in result.stdout
    from rulesafe_data.bags.repair import repair

    assert repair(tmp_path / "bag").messages["bag_0.mcap"] > 100
