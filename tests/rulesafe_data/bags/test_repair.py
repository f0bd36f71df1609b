"""Bags whose recorder was killed."""

import shutil

import pytest
from rosbags.highlevel import AnyReader

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.repair import recording_lock, repair, unfinished
from rulesafe_data.bags.writing import BagWriter, Splitting


@pytest.fixture
def killed(tmp_path, string, said):
    """A bag as a killed recorder leaves it: three files, the last without an end, and a copy of
    what was in each chunk of that."""
    writer = BagWriter(tmp_path / "live", splitting=Splitting(seconds=2.0), flush=3600)
    writer.add(string)
    writer.dropped = {"/said": 3}
    for number in range(50):
        writer.write("/said", number * 10**8, number, said(number))
        if number in (41, 45, 49):
            writer.flush()
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    writer.close()
    return tmp_path / "killed"


def numbers(bag) -> list[int]:
    with AnyReader([bag]) as reader:
        found = [
            reader.deserialize(raw, connection.msgtype) for connection, _, raw in reader.messages()
        ]
    return [int(message.data[:6]) for message in found]


def test_a_killed_bag_is_refused_and_repaired(killed, string):
    with pytest.raises(RuleSafeError, match=r"rulesafe bag info .*killed --mend"):
        Bag(killed)
    assert [path.name for path in unfinished(killed)] == ["live_2.mcap"]
    result = repair(killed)
    assert (result.files, result.removed, result.messages) == (("live_2.mcap",), (), 50)
    assert numbers(killed) == list(range(50))
    bag = Bag(killed)
    assert bag.metadata.dropped == {"/said": 3}
    assert bag.topics["/said"].offered == string.offered
    assert unfinished(killed) == []
    assert repair(killed).files == ()


@pytest.mark.parametrize("bytes_lost", [1, 9, 60, 300])
def test_a_torn_end_costs_the_chunks_that_it_tore(killed, bytes_lost):
    path = killed / "live_2.mcap"
    path.write_bytes(path.read_bytes()[:-bytes_lost])
    repair(killed)
    found = numbers(killed)
    assert found == list(range(len(found)))
    assert len(found) in (42, 46, 50)
    assert (len(found) < 50) == (bytes_lost > 100)


def test_a_damaged_byte_costs_what_follows(killed):
    path = killed / "live_2.mcap"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    path.write_bytes(raw)
    repair(killed)
    found = numbers(killed)
    assert found == list(range(len(found)))
    assert 40 <= len(found) < 50


def test_a_file_without_a_whole_chunk_goes(killed):
    path = killed / "live_2.mcap"
    path.write_bytes(path.read_bytes()[:40])
    result = repair(killed)
    assert (result.removed, result.messages) == (("live_2.mcap",), 40)
    assert not path.exists()
    assert numbers(killed) == list(range(40))


def test_where_there_is_nothing_to_repair(killed, tmp_path):
    with recording_lock(killed), pytest.raises(RuleSafeError, match="being recorded"):
        repair(killed)
    with pytest.raises(RuleSafeError, match="nothing to repair"):
        repair(tmp_path)
    for path in list(killed.glob("*.mcap"))[:]:
        path.write_bytes(b"")
    with pytest.raises(RuleSafeError, match="no complete chunk"):
        repair(killed)
