"""Tests of recorder and player with real nodes; independent libraries read the bags."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosReliability
from sensor_msgs.msg import Image
from std_msgs.msg import Int32, String

from rulesafe_core import convert
from rulesafe_core.chunks import PERIOD
from rulesafe_core.messages import to_ns
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.repair import repair
from rulesafe_interfaces.msg import MemoryTokens

pytestmark = pytest.mark.ros

LAUNCH = Path(__file__).parents[2] / "launch/record.launch.xml"
PATIENCE = 180.0
ALL = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)


def delivered(publisher) -> None:
    """Wait until every subscriber has acknowledged all messages."""
    assert publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=PATIENCE))


@pytest.fixture
def numbers(client):
    """numbers() -> a publisher of Int32 on /numbers that the recorder has discovered."""
    publisher = client.create_publisher(Int32, "/numbers", ALL)

    def wait():
        client.until_recorded(publisher)
        return publisher

    return wait


def recorded(bag) -> list[int]:
    """Return the numbers in a bag, read by rosbags."""
    with AnyReader([bag]) as reader:
        wanted = [c for c in reader.connections if c.topic == "/numbers"]
        return [reader.deserialize(raw, c.msgtype).data for c, _, raw in reader.messages(wanted)]


def test_a_bag_contains_the_messages_and_the_qos(client, numbers, bag_command, tmp_path):
    latched = client.create_publisher(String, "/instruction", convert.LATCHED_QOS)
    latched.publish(String(data="said before the recorder came"))
    bag = tmp_path / "bag"
    recorder = bag_command("record", "--out", bag, "--exclude", "/left_out", "--split-seconds", 1)
    publisher = numbers()
    best = QoSProfile(depth=9, reliability=ReliabilityPolicy.BEST_EFFORT)
    client.create_publisher(String, "/best_effort", best)
    client.create_publisher(String, "/left_out", 10)
    later = client.create_publisher(MemoryTokens, "/memory/tokens", convert.LATCHED_QOS)
    client.until_recorded(later)
    for number in range(400):
        publisher.publish(Int32(data=number))
        if number == 200:
            time.sleep(1.2)  # the bag continues in another file
    later.publish(MemoryTokens(tokens=[3, 1], mask=[False, True], vocabulary_size=4))
    delivered(publisher)
    delivered(later)
    client.until_subscribed_by("recorder", "/best_effort")
    output = recorder.stop_well()
    assert "lost: none" in output
    assert recorded(bag) == list(range(400))

    with AnyReader([bag]) as reader:  # compares definitions with their hashes
        offered = {c.topic: c.ext.offered_qos_profiles for c in reader.connections}
        assert {c.topic for c in reader.connections} >= {"/instruction", "/memory/tokens"}
        assert "/left_out" not in offered and "/rosout" not in offered
        assert offered["/instruction"][0].durability == QosDurability.TRANSIENT_LOCAL
        assert offered["/memory/tokens"][0].durability == QosDurability.TRANSIENT_LOCAL
        assert offered["/numbers"][0].durability == QosDurability.VOLATILE
        assert offered["/best_effort"][0].reliability == QosReliability.BEST_EFFORT
    files = sorted(bag.glob("*.mcap"))
    assert len(files) > 1
    found = []
    for path in files:
        with path.open("rb") as stream:
            reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
            found += [(c.topic, m) for _, c, _, m in reader.iter_decoded_messages()]
    said = dict(found)
    assert said["/instruction"].data == "said before the recorder came"
    assert list(said["/memory/tokens"].tokens) == [3, 1]


def test_kill_9_costs_at_most_the_last_second(numbers, bag_command, tmp_path):
    bag = tmp_path / "bag"
    recorder = bag_command("record", "--out", bag)
    publisher = numbers()
    for number in range(100):
        publisher.publish(Int32(data=number))
    delivered(publisher)
    time.sleep(3)  # a second, and a margin for a busy machine
    publisher.publish(Int32(data=100))
    recorder.process.kill()
    recorder.process.wait()
    code, output = bag_command("info", bag).wait()
    assert code == 1
    assert "has no index" in output and f"rulesafe bag info {bag} --repair" in output
    repaired = repair(bag).folder
    assert recorded(repaired)[:100] == list(range(100))


def test_lost_messages_are_counted(client, bag_command, tmp_path):
    """The recorder is stopped while the publisher's queue overflows."""
    publisher = client.create_publisher(
        Int32, "/numbers", QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
    )
    bag = tmp_path / "bag"
    recorder = bag_command("record", "--out", bag)
    client.until_recorded(publisher)
    publisher.publish(Int32(data=0))
    delivered(publisher)
    recorder.process.send_signal(signal.SIGSTOP)
    for number in range(1, 20_000):
        publisher.publish(Int32(data=number))
    recorder.process.send_signal(signal.SIGCONT)
    time.sleep(1)
    publisher.publish(Int32(data=20_000))
    delivered(publisher)
    output = recorder.stop_well()
    heard = recorded(bag)
    lost = Bag(bag).metadata.dropped
    assert (heard[0], heard[-1]) == (0, 20_000)
    assert lost["/numbers"] > 0
    assert len(heard) + lost["/numbers"] == 20_001
    assert f"{lost['/numbers']} of /numbers" in output


def test_a_paused_recorder_loses_no_image(client, bag_command, tmp_path):
    """Pause the recorder while the frames of 4 s are published, as on a busy machine."""
    topics = ("/camera/head/image_raw", "/camera/front/image_raw")
    publishers = [client.create_publisher(Image, topic, convert.IMAGE_QOS) for topic in topics]
    bag = tmp_path / "bag"
    recorder = bag_command("record", "--out", bag)
    for publisher in publishers:
        client.until_recorded(publisher)
    recorder.process.send_signal(signal.SIGSTOP)
    pixels = np.zeros((224, 224, 3), np.uint8)
    for frame in range(40):
        for publisher in publishers:
            publisher.publish(convert.to_image(pixels, frame * PERIOD, "head"))
    recorder.process.send_signal(signal.SIGCONT)
    for publisher in publishers:
        delivered(publisher)
    assert "lost: none" in recorder.stop_well()
    found = Bag(bag)
    decode = MessageDecoder(found)
    for topic in topics:
        stamps = [to_ns(decode(message).header.stamp) for message in found.messages([topic])]
        assert stamps == [frame * PERIOD for frame in range(40)]


def test_a_bag_is_played_unchanged(client, numbers, bag_command, tmp_path):
    """A bag is recorded and played; the latched topic reaches a late subscriber."""
    latched = client.create_publisher(String, "/instruction", convert.LATCHED_QOS)
    latched.publish(String(data="open it"))
    first = tmp_path / "first"
    recorder = bag_command("record", "--out", first)
    publisher = numbers()
    chunks = client.create_publisher(String, "/arm_sdk", ALL)
    client.until_recorded(chunks)
    chunks.publish(String(data="moves a robot"))
    for number in range(30):
        publisher.publish(Int32(data=number))
        time.sleep(0.02)
    delivered(publisher)
    delivered(chunks)
    recorder.stop_well()
    for mine in (latched, publisher, chunks):
        client.destroy_publisher(mine)
    client.until(lambda: not client.count_publishers("/numbers"), "an empty graph")

    heard, instructions, clocks = [], [], client.clocks
    client.create_subscription(Int32, "/numbers", lambda m: heard.append(m.data), ALL)
    # The instruction is in the skipped part.
    player = bag_command("play", first, "--clock", 50, "--rate", 0.5, "--loop", "--start", 0.1)
    client.until(lambda: 29 in heard, "the last number")
    late = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    client.create_subscription(String, "/instruction", lambda m: instructions.append(m.data), late)
    client.until(
        lambda: instructions and heard.count(29) >= 2,
        "the instruction, and the last number of the second round",
    )
    assert not client.count_publishers("/arm_sdk")
    output = player.stop_well()
    assert "not played: /arm_sdk (it commands a robot; play it with --commands)" in output
    again = heard[heard.index(29) + 1 :]  # a subscriber may be discovered late in the first round
    played = Bag(first)
    start, stop = played.metadata.span
    assert again[: again.index(29) + 1] == [
        MessageDecoder(played)(m).data for m in played.messages(["/numbers"], start + 10**8)
    ]
    assert set(instructions) == {"open it"}
    assert clocks and start <= clocks[-1] <= stop + 10**9
    assert len(set(clocks)) > 10
    assert not (first / ".recording").exists()


def test_a_bag_in_simulated_time_has_no_pauses(client, start, tmp_path):
    """With the launch file; times are those of /clock, also of messages before the first /clock."""
    bag = tmp_path / "bag"
    latched = client.create_publisher(String, "/instruction", convert.LATCHED_QOS)
    latched.publish(String(data="open it"))
    from rosgraph_msgs.msg import Clock

    clock = client.create_publisher(Clock, "/clock", ALL)
    arguments = (f"out:={bag}", "clock:=sim", "topics:=/instruction /nothing")
    recorder = start("rulesafe_cli.cli", words=("launch", str(LAUNCH), *arguments))
    client.until_recorded(latched)
    client.until_recorded(clock)
    clock.publish(Clock(clock=convert.to_time(7 * 10**9)))
    delivered(clock)
    latched.publish(String(data="open it now"))
    delivered(latched)
    _, output = recorder.stop()
    assert "2 messages of 1 topics" in output
    messages = list(Bag(bag).messages())
    assert [m.when for m in messages] == [7 * 10**9] * len(messages)
    assert len(messages) == 2
    assert np.array_equal([m.topic for m in messages], ["/instruction"] * 2)


SMALL = """
import sys
from rulesafe_cli.cli import main
from rulesafe_ros.bag import record_node

record_node.PENDING_LIMIT, record_node.REPORT_PERIOD = 1000, 0.5
sys.exit(main(["bag", "record", "--topics", "/text", "--clock", "sim", "--out", sys.argv[1]]))
"""


def test_messages_that_wait_for_the_first_clock_have_a_limited_size(client, tmp_path):
    """Without /clock, a recording in simulated time does not fill the memory."""
    publisher = client.create_publisher(String, "/text", ALL)
    bag = tmp_path / "bag"
    command = [sys.executable, "-c", SMALL, str(bag)]
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(iter(recorder.stdout.readline, "")))
    reader.start()

    def lost() -> bool:
        publisher.publish(String(data="x" * 400))
        return any(line.startswith("lost so far") for line in lines)

    try:
        client.until(lost, "lost messages")
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(PATIENCE)
        reader.join()
    assert any("2 messages were not recorded: no message on /clock" in line for line in lines)
    metadata = Bag(bag).metadata
    assert metadata.messages == 0 and metadata.dropped["/text"] > 0


def test_a_bag_is_not_played_with_a_robot_in_the_graph(client, bag_command, tmp_path):
    """Subscribers could not distinguish the two."""
    from rosgraph_msgs.msg import Clock

    bag = tmp_path / "bag"
    clock = client.create_publisher(Clock, "/clock", ALL)
    recorder = bag_command("record", "--out", bag, "--topics", "/clock")
    client.until_recorded(clock)
    clock.publish(Clock(clock=convert.to_time(10**9)))
    delivered(clock)
    time.sleep(1)
    clock.publish(Clock(clock=convert.to_time(2 * 10**9)))
    delivered(clock)
    recorder.stop_well()
    refused = bag_command("play", bag, "--delay", 5)
    while refused.process.poll() is None:
        client.spin_for(0.02)
        assert client.count_publishers("/clock") == 1, "evaluator_node would end"
    code, output = refused.wait()
    assert code == 2
    assert "also publishes /clock; only one node may publish a robot's state" in output
    assert "played" not in output
    client.destroy_publisher(clock)
    alone = bag_command("play", bag, "--rate", 0.02)
    client.until(lambda: client.count_publishers("/clock") == 1, "the player")
    robot = client.create_publisher(Clock, "/clock", ALL)
    code, output = alone.wait()
    assert code == 2, "one that begins later is seen, too"
    assert "only one node may publish a robot's state" in output and robot
