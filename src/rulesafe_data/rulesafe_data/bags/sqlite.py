"""Read the SQLite file of a bag without its metadata.yaml, for a repair.

The tables are those of rosbag2_storage_sqlite3; older versions have fewer columns and no table
`message_definitions`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcap.records import Channel, Message, Schema

from rulesafe_data.bags.files import HASH_KEY, QOS_KEY, Damage, Report


def records(path: Path, report: Report) -> Iterator[Schema | Channel | Message]:
    """Yield the topics and messages of a file as records of MCAP; report damage."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as file:
            file.row_factory = sqlite3.Row
            known = "SELECT name FROM sqlite_master WHERE type = 'table'"
            definitions: dict[str, tuple[str, str]] = {}
            if "message_definitions" in {row["name"] for row in file.execute(known)}:
                for row in map(dict, file.execute("SELECT * FROM message_definitions")):
                    text = str(row["encoded_message_definition"])
                    definitions[str(row["topic_type"])] = str(row["encoding"]), text
            for row in map(dict, file.execute("SELECT * FROM topics")):
                yield from _topic(row, definitions)
            for row in file.execute("SELECT topic_id, timestamp, data FROM messages ORDER BY 2"):
                topic, when, data = row
                yield Message(topic, when, bytes(data), when, 0)
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        report(Damage(path, 0, f"not readable as SQLite: {error}"))


def _topic(row: dict[str, Any], definitions: dict[str, tuple[str, str]]) -> Iterator[Any]:
    encoding, text = definitions.get(str(row["type"]), ("", ""))
    yield Schema(id=row["id"], name=str(row["type"]), encoding=encoding, data=text.encode())
    about = {
        QOS_KEY: str(row.get("offered_qos_profiles", "")),
        HASH_KEY: str(row.get("type_description_hash", "")),
    }
    yield Channel(row["id"], str(row["name"]), "cdr", about, row["id"])
