"""The newest command on the command topic, and whether another program published it."""

import numpy as np
import pytest

from h1_2_bridge.command_topic import RECENT, CommandTopic
from h1_2_bridge.motors import WEIGHT_SLOT
from h1_2_bridge.wire import LowCmd, encode_low_cmd


def command(weight: float) -> bytes:
    q = np.zeros(35, np.float32)
    q[WEIGHT_SLOT] = weight
    return encode_low_cmd(LowCmd(0, 6, np.ones(35, np.uint8), q=q))


def test_before_the_first_command_nothing_is_refused():
    topic = CommandTopic()
    assert (topic.weight, topic.foreign, topic.foreign_time) == (0.0, False, None)
    assert topic.refusal(0) == topic.refusal(RECENT // 2) == ""


def test_an_own_command_is_not_from_another_program():
    topic, raw = CommandTopic(), command(0.5)
    topic.sent(raw, 0.5)
    assert not topic.receive(raw, 1)
    assert (topic.weight, topic.foreign, topic.foreign_time) == (0.5, False, None)
    assert topic.refusal(2) == ""


def test_an_own_command_is_recognized_by_its_crc():
    topic, raw = CommandTopic(), command(0.5)
    topic.sent(raw, 0.5)
    assert topic.receive(command(0.25), 1)
    assert not topic.receive(raw, 2), "the own command is still expected"


def test_each_sent_copy_comes_back_once():
    topic, raw = CommandTopic(), command(0.5)
    for _ in range(2):
        topic.sent(raw, 0.5)
    assert [topic.receive(raw, 1) for _ in range(3)] == [False, False, True]
    topic.sent(raw, 0.5)
    assert [topic.receive(raw, 2) for _ in range(2)] == [False, True]


def test_the_crcs_of_the_last_2048_own_commands_are_stored():
    sent = [command(i / 4096) for i in range(2049)]
    for number, foreign in ((2048, False), (2049, True)):
        topic = CommandTopic()
        for raw in sent[:number]:
            topic.sent(raw, 0.5)
        assert topic.receive(sent[0], 1) == foreign, "the oldest CRC is discarded"
        assert not topic.receive(sent[1], 1)


def test_a_bridge_that_does_not_receive_its_own_commands_does_not_expect_them():
    topic, raw = CommandTopic(own=False), command(0.5)
    topic.sent(raw, 0.5)
    assert topic.receive(raw, 1) and topic.foreign


def test_a_command_of_another_program_is_stored_until_the_next_own_one():
    topic = CommandTopic()
    assert topic.receive(command(0.75), 7)
    assert (topic.weight, topic.foreign, topic.foreign_time) == (0.75, True, 7)
    topic.sent(command(0.5), 0.5)
    assert (topic.weight, topic.foreign, topic.foreign_time) == (0.5, False, 7)


@pytest.mark.parametrize(
    ("weight", "stored"), [(1.5, 1), (1, 1), (0.5, 0.5), (-0.5, 0), (np.nan, 0), (np.inf, 0)]
)
def test_weights_are_limited_to_0_and_1(weight, stored):
    topic = CommandTopic()
    assert topic.receive(command(weight), 1)
    assert topic.weight == stored


def test_messages_that_the_robot_ignores_are_ignored():
    topic = CommandTopic()
    wrong = bytearray(command(0.5))
    wrong[100] ^= 1
    for raw in (b"", bytes(wrong), command(0.5)[:-4]):
        assert not topic.receive(raw, 1)
    assert (topic.weight, topic.foreign, topic.foreign_time) == (0.0, False, None)


def test_for_a_second_after_a_command_of_another_program_engaging_is_refused():
    topic = CommandTopic()
    topic.receive(command(0.0), 5)
    for now in (5, 5 + RECENT - 1):
        assert "another program publishes commands" in topic.refusal(now)
    assert topic.refusal(5 + RECENT) == ""
    assert RECENT == 10**9


def test_a_weight_of_another_program_has_no_time_limit():
    topic = CommandTopic()
    topic.receive(command(0.5), 5)
    assert "has weight 0.50 and is not from this bridge" in topic.refusal(60 * RECENT)
    topic.sent(command(0.5), 0.5)
    assert topic.refusal(60 * RECENT) == ""
