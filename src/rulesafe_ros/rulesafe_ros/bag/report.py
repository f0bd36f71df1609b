"""The output of `rulesafe bag info`."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from rulesafe_data.bags import metadata
from rulesafe_data.bags.files import data_files
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.reading import Bag
from rulesafe_data.bags.repair import Repaired, unfinished

YEAR_2000 = 946684800 * 10**9
"""Start of the year 2000, ns since 1970; earlier times are simulated times."""


def describe(bag: Bag) -> Iterator[str]:
    """Yield the lines of a bag's description: a summary and a table of its topics."""
    found = bag.metadata
    start, end = found.span
    seconds = (end - start) / 1e9
    size = sum((bag.folder / file.path).stat().st_size for file in found.files)
    files = f"{len(found.files)} file{'s' * (len(found.files) > 1)}"
    yield f"{bag.path}: {found.storage}, {files}, {size / 1e6:.1f} MB"
    yield f"{found.messages} messages in {seconds:.1f} s, from {_time(start)} to {_time(end)}"
    counts, dropped = found.counts, found.dropped
    rows = [("topic", "type", "messages", "Hz", "lost", "QoS")]
    for name, topic in sorted(found.topics.items()):
        lost = "?" if dropped is None else str(dropped.get(name, 0))
        rate = f"{counts[name] / seconds:.1f}" if seconds else "-"
        rows.append((name, topic.type, str(counts[name]), rate, lost, _qos_text(topic)))
    yield from _aligned(rows)
    if dropped is None:
        yield "lost: not counted by the recorder"
    for name in sorted(set(dropped or {}) - set(found.topics)):
        yield f"lost: {(dropped or {})[name]} of {name}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table, with text aligned to the left and numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, kind, *numbers, qos in rows:
        cells = [name.ljust(widths[0]), kind.ljust(widths[1])]
        cells += [text.rjust(width) for text, width in zip(numbers, widths[2:5], strict=True)]
        yield "  ".join((*cells, qos)).rstrip()


def _qos_text(topic: Topic) -> str:
    kinds = {
        f"{offer.reliability.name.lower()}{', latched' if is_latched(offer) else ''}"
        for offer in topic.offered
    }
    return "; ".join(sorted(kinds)).replace("_", " ")


def _time(nanoseconds: int) -> str:
    if nanoseconds < YEAR_2000:
        return f"{nanoseconds / 1e9:.1f} s"
    return datetime.fromtimestamp(nanoseconds / 1e9).strftime("%Y-%m-%d %H:%M:%S")


def find_missing(folder: Path) -> list[str]:
    """Return a line for each missing part of a bag; none if it is complete."""
    if not data_files(folder):
        return []
    lines = [f"{path.name} has no index" for path in unfinished(folder)]
    if not (folder / metadata.NAME).is_file():
        lines.append(f"{metadata.NAME} is missing")
    return lines


def describe_repair(result: Repaired) -> Iterator[str]:
    """Yield the lines of a repair: unreadable parts of the original, and the new files."""
    yield from map(str, result.damage)
    for name, count in result.messages.items():
        yield f"{name}: {count} messages copied" if count else f"{name}: no readable messages"
    yield f"wrote {result.folder}; the original is unchanged"
