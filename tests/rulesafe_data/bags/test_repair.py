"""Bags whose recorder was killed."""

import random
import re
import shutil
import sqlite3
from contextlib import closing

import pytest
import yaml
import zstandard
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.bags import files
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.files import Damage, data_files
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.repair import recording_lock, repair, unfinished
from rulesafe_data.bags.writing import BagWriter, Splitting

ZSTD = re.escape(b"\x28\xb5\x2f\xfd")
"""First bytes of a compressed chunk."""


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


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def damage(path, position: int, value: int | None = None) -> None:
    """Change one byte of a file."""
    raw = bytearray(path.read_bytes())
    raw[position] = raw[position] ^ 0xFF if value is None else value
    path.write_bytes(raw)


def unchanged_repair(bag):
    """Repair a bag, and check that the original is not touched."""
    before = contents(bag)
    try:
        return repair(bag)
    finally:
        assert contents(bag) == before


def test_a_killed_bag_is_refused_and_repaired(killed, string):
    with pytest.raises(RuleSafeError, match=r"rulesafe bag info .*killed --repair"):
        Bag(killed)
    assert [path.name for path in unfinished(killed)] == ["live_2.mcap"]
    result = unchanged_repair(killed)
    assert result.folder == killed.with_name("killed_repaired")
    assert result.messages == {"live_0.mcap": 20, "live_1.mcap": 20, "live_2.mcap": 10}
    assert numbers(result.folder) == list(range(50))
    bag = Bag(result.folder)
    assert bag.metadata.dropped == {"/said": 3}
    assert bag.topics["/said"].offered == string.offered
    with pytest.raises(RuleSafeError, match="complete and undamaged"):
        repair(result.folder)
    with pytest.raises(RuleSafeError, match="exists already"):
        repair(killed)


@pytest.mark.parametrize("bytes_lost", [1, 9, 60, 300])
def test_a_torn_end_costs_the_chunks_that_it_tore(killed, bytes_lost):
    path = killed / "live_2.mcap"
    path.write_bytes(path.read_bytes()[:-bytes_lost])
    found = numbers(unchanged_repair(killed).folder)
    assert found == list(range(len(found)))
    assert len(found) in (42, 46, 50)
    assert (len(found) < 50) == (bytes_lost > 100)


def test_a_damaged_chunk_is_skipped_and_reported(killed):
    path = killed / "live_2.mcap"
    first, second, _ = (found.start() for found in re.finditer(ZSTD, path.read_bytes()))
    assert first < second
    damage(path, second + 20)
    result = unchanged_repair(killed)
    assert numbers(result.folder) == [*range(42), *range(46, 50)]
    assert [(each.file.name, each.start) for each in result.damage] == [("live_2.mcap", None)]


def test_a_damaged_length_costs_the_chunks_up_to_the_next_one_in_the_index(killed, said, string):
    with BagWriter(killed.with_name("two"), flush=3600) as writer:
        writer.add(string)
        for number in range(3):
            writer.write("/said", number, number, said(number))
            writer.flush()
    path = killed.with_name("two") / "two_0.mcap"
    offset = path.read_bytes().index(b"\x06")  # of the first chunk, whose length follows
    damage(path, offset + 4)
    assert numbers(unchanged_repair(path.parent).folder) == [1, 2]


@pytest.mark.parametrize(("size", "damaged"), [(40, ["live_2.mcap"]), (8, [])])
def test_a_file_without_a_complete_chunk_is_left_out(killed, size, damaged):
    """With the first 8 bytes only, a file has the right start and no messages."""
    path = killed / "live_2.mcap"
    path.write_bytes(path.read_bytes()[:size])
    result = unchanged_repair(killed)
    assert result.messages["live_2.mcap"] == 0
    assert [each.file.name for each in result.damage] == damaged
    assert numbers(result.folder) == list(range(40))


def test_where_there_is_nothing_to_repair(killed, tmp_path):
    with recording_lock(killed), pytest.raises(RuleSafeError, match="being recorded"):
        repair(killed)
    with pytest.raises(RuleSafeError, match="nothing to repair"):
        repair(tmp_path)
    for path in list(killed.glob("*.mcap"))[:]:
        path.write_bytes(b"\0" * 40)
    with pytest.raises(RuleSafeError, match="no readable messages"):
        unchanged_repair(killed)
    for path in list(killed.glob("*.mcap")):
        path.write_bytes(b"")
    with pytest.raises(RuleSafeError, match="no readable messages"):
        unchanged_repair(killed)
    assert sorted(path.name for path in killed.parent.iterdir()) == ["killed", "live"]


def test_no_damaged_byte_changes_a_message(write, said, capsys):
    """Each message that is read is one that was written, and each loss is reported."""
    bag = write(12, "damaged", flush=0.0)
    path = bag / "damaged_0.mcap"
    original = path.read_bytes()
    written = {number * 10**8: said(number) for number in range(12)}
    choices = random.Random(1)
    for _ in range(60):
        damage(path, choices.randrange(len(original)), choices.randrange(256))
        try:
            found = Bag(bag)
            read = {message.when: message.data for message in found.messages()}
        except RuleSafeError:
            pass
        else:
            assert read.items() <= written.items()
            assert len(read) == 12 or found.damaged
        path.write_bytes(original)


def test_a_chunk_that_expands_beyond_its_size_is_refused(write):
    """A small file does not fill the memory."""
    bag = write(1, "bomb", compression="zstd")
    path = bag / "bomb_0.mcap"
    raw = path.read_bytes()
    head = raw.index(b"\x06") + 9 + 16  # after opcode, length and times of the chunk
    path.write_bytes(raw[:head] + (1 << 40).to_bytes(8, "little") + raw[head + 8 :])
    found = Bag(bag)
    assert list(found.messages()) == []
    (part,) = found.damaged
    assert isinstance(part, Damage) and "at most" in part.reason


def test_many_chunks_that_overlap_in_time_are_refused(write, monkeypatch):
    """Their messages are sorted in RAM."""
    bag = write(50, "overlapping", flush=0.0)
    path = bag / "overlapping_0.mcap"
    summary = make_reader(path.open("rb")).get_summary()
    assert len(summary.chunk_indexes) > 5
    raw, early = path.read_bytes(), (0).to_bytes(8, "little")
    for index in summary.chunk_indexes:  # each chunk may have a message from the beginning
        stated = index.message_start_time.to_bytes(8, "little")
        offset = index.chunk_start_offset.to_bytes(8, "little")
        raw = raw.replace(
            stated + index.message_end_time.to_bytes(8, "little") + offset,
            early + index.message_end_time.to_bytes(8, "little") + offset,
        )
    crc = raw.rindex(files.MAGIC) - 4
    path.write_bytes(raw[:crc] + bytes(4) + raw[crc + 4 :])
    assert len(list(Bag(bag).messages())) == 50
    monkeypatch.setattr(files, "WAITING_LIMIT", 100)
    found = Bag(bag)
    assert 0 < len(list(found.messages())) < 50
    assert found.damaged and all("overlap" in part.reason for part in found.damaged)


@pytest.mark.parametrize("change", ["text", "count", "files", "missing"])
def test_wrong_metadata_of_undamaged_files_are_repaired(write, change):
    bag = write(6, "bag")
    path = bag / "metadata.yaml"
    text = path.read_text()
    wrong = {
        "text": "[[[",
        "count": text.replace("message_count: 6", "message_count: 99999"),
        "files": text.replace("- bag_0.mcap", "- other_0.mcap"),
        "missing": None,
    }[change]
    path.unlink()
    if wrong is not None:
        assert wrong != text
        path.write_text(wrong)
    if change == "text":
        with pytest.raises(RuleSafeError, match="--repair` copies the bag and writes it again"):
            Bag(bag)
    result = unchanged_repair(bag)
    assert not result.damage and numbers(result.folder) == list(range(6))
    with pytest.raises(RuleSafeError, match="complete and undamaged"):
        repair(result.folder)


def complete_records(folder) -> list[tuple]:
    """Return all fields of the messages of a bag, in the order of its files."""
    found = []
    for path in data_files(folder):
        with path.open("rb") as stream:
            for schema, channel, message in make_reader(stream).iter_messages():
                times = message.log_time, message.publish_time, message.sequence
                topic = channel.topic, schema.name, schema.data, channel.metadata
                found.append((*times, message.data, *topic))
    return found


def test_a_repaired_message_is_the_original_one_with_its_times(killed):
    records = complete_records(unchanged_repair(killed).folder)
    assert records == complete_records(killed.with_name("live"))
    assert [record[:2] for record in records] == [(i * 10**8, i) for i in range(50)]


def test_more_than_ten_files_keep_their_order(tmp_path, string, said):
    writer = BagWriter(tmp_path / "live", splitting=Splitting(seconds=1.0), flush=3600)
    writer.add(string)
    for number in range(13):
        writer.write("/said", number * 10**9, number, said(number))
    writer.flush()
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    writer.close()
    names = [f"live_{number}.mcap" for number in range(13)]
    assert [path.name for path in data_files(tmp_path / "killed")] == names
    result = repair(tmp_path / "killed")
    assert list(result.messages.items()) == [(name, 1) for name in names]
    assert [file.path for file in Bag(result.folder).metadata.files] == names
    assert [record[1] for record in complete_records(result.folder)] == list(range(13))


def test_messages_of_a_damaged_topic_are_counted(killed):
    """The first chunk of a file contains its topics."""
    path = killed / "live_2.mcap"
    damage(path, path.read_bytes().index(b"\x28\xb5\x2f\xfd") + 20)
    result = unchanged_repair(killed)
    assert result.messages["live_2.mcap"] == 0
    assert "8 messages whose topic is in a damaged part" in [d.reason for d in result.damage]


def test_counts_of_lost_messages_are_written_each_time_they_grow(tmp_path, string, said):
    writer = BagWriter(tmp_path / "live", flush=0.0)
    writer.add(string)
    for lost in (1, 2, 5):  # the recorder changes its own dictionary
        writer.dropped["/said"] = lost
        writer.write("/said", lost, lost, said(lost))
    shutil.copytree(tmp_path / "live", tmp_path / "killed")
    writer.close()
    assert Bag(repair(tmp_path / "killed").folder).metadata.dropped == {"/said": 5}


def own_numbers(path) -> list[int]:
    """As `numbers`, with the reader of this project."""
    bag = Bag(path)
    return [int(MessageDecoder(bag)(message).data[:6]) for message in bag.messages()]


@pytest.mark.parametrize("storage", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize(
    "compression", [CompressionMode.NONE, CompressionMode.FILE, CompressionMode.MESSAGE]
)
def test_bags_of_others_without_metadata_are_copied(storage, compression, foreign):
    bag = foreign(storage, compression)
    with pytest.raises(RuleSafeError, match="complete and undamaged"):
        repair(bag)
    (bag / "metadata.yaml").unlink()
    with pytest.raises(RuleSafeError, match=r"foreign has no metadata.yaml .*--repair` copies"):
        Bag(bag)
    result = unchanged_repair(bag)
    assert not result.damage and numbers(result.folder) == list(range(30))


def test_a_decompressed_file_is_copied_once(foreign):
    bag = foreign(StoragePlugin.MCAP, CompressionMode.FILE)
    (bag / "metadata.yaml").unlink()
    (packed,) = bag.glob("*.mcap.zstd")
    with packed.open("rb") as source, packed.with_suffix("").open("wb") as target:
        zstandard.ZstdDecompressor().copy_stream(source, target)
    assert numbers(repair(bag).folder) == list(range(30))


def test_a_damaged_compressed_message_is_skipped_and_reported(foreign):
    bag = foreign(StoragePlugin.SQLITE3, CompressionMode.MESSAGE)
    (bag / "metadata.yaml").unlink()
    with closing(sqlite3.connect(bag / "foreign.db3")) as file:
        broken = zstandard.FRAME_HEADER + 40 * b"\xff"
        file.execute("UPDATE messages SET data = ? WHERE timestamp = ?", (broken, 3 * 10**8))
        file.commit()
    result = repair(bag)
    assert numbers(result.folder) == [*range(3), *range(4, 30)]
    (part,) = result.damage
    assert part.reason.startswith("a message of 300000000 ns: ")


@pytest.mark.parametrize("name", ["foreign.db3", "foreign.mcap.zstd"])
def test_damaged_files_of_others_are_reported(name, foreign):
    storage = StoragePlugin.SQLITE3 if name.endswith("db3") else StoragePlugin.MCAP
    mode = CompressionMode.NONE if name.endswith("db3") else CompressionMode.FILE
    bag = foreign(storage, mode)
    path = bag / name
    path.write_bytes(b"\0" * 200 + path.read_bytes()[200:])
    with pytest.raises(RuleSafeError, match=f"no readable messages: .*{name}"):
        repair(bag)


@pytest.mark.parametrize("storage", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize("change", ["folder", "storage"])
def test_a_bag_is_read_or_repaired_but_not_called_undamaged(storage, change, foreign):
    """Recorders that state the folder in the paths, or no storage."""
    bag = foreign(storage)
    about = yaml.safe_load((bag / "metadata.yaml").read_text())
    information = about["rosbag2_bagfile_information"]
    if change == "folder":
        name = f"foreign/{information['relative_file_paths'][0]}"
        information["relative_file_paths"] = [name]
        information["files"][0]["path"] = name
    else:
        information["storage_identifier"] = ""
    (bag / "metadata.yaml").write_text(yaml.safe_dump(about))
    try:
        assert own_numbers(bag) == list(range(30))
    except RuleSafeError as error:
        assert "--repair` copies" in str(error)
        assert numbers(repair(bag).folder) == list(range(30))
    else:
        with pytest.raises(RuleSafeError, match="complete and undamaged"):
            repair(bag)


def test_a_single_file_is_a_bag(write, tmp_path):
    (file,) = write(6).glob("*.mcap")
    alone = file.rename(tmp_path / "alone.mcap")
    assert own_numbers(alone) == list(range(6))
    with pytest.raises(RuleSafeError, match=r"alone\.mcap is complete and undamaged"):
        repair(alone)
    alone.write_bytes(alone.read_bytes()[:-100])
    with pytest.raises(RuleSafeError, match=r"alone\.mcap is unfinished .*alone\.mcap --repair`"):
        Bag(alone)
    result = repair(alone)
    assert result.folder == tmp_path / "alone_repaired"
    assert numbers(result.folder) == list(range(6))
