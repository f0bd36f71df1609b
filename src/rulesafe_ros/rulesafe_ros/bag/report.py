"""What `rulesafe bag info` prints."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from rulesafe_data.bags import metadata
from rulesafe_data.bags.mending import Mended, pieces, unfinished
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.qos import is_latched
from rulesafe_data.bags.reading import Bag

YEAR_2000 = 946684800 * 10**9
"""ns; times before that are a simulation's."""


def describe(bag: Bag) -> Iterator[str]:
    """A bag as lines: what it is, and a table of its topics."""
    found = bag.metadata
    start, end = found.span
    seconds = (end - start) / 1e9
    size = sum((bag.path / piece.path).stat().st_size for piece in found.pieces)
    files = f"{len(found.pieces)} file{'s' * (len(found.pieces) > 1)}"
    yield f"{bag.path}: {found.storage}, {files}, {size / 1e6:.1f} MB"
    yield f"{found.messages} messages in {seconds:.1f} s, from {_time(start)} to {_time(end)}"
    counts, dropped = found.counts, found.dropped
    rows = [("topic", "type", "messages", "Hz", "lost", "offered")]
    for name, topic in sorted(found.topics.items()):
        lost = "?" if dropped is None else str(dropped.get(name, 0))
        rate = f"{counts[name] / seconds:.1f}" if seconds else "-"
        rows.append((name, topic.type, str(counts[name]), rate, lost, _offered(topic)))
    yield from _aligned(rows)
    if dropped is None:
        yield "lost: its recorder did not count"
    for name in sorted(set(dropped or {}) - set(found.topics)):
        yield f"lost: {(dropped or {})[name]} of {name}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as lines: text to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for name, kind, *numbers, offered in rows:
        cells = [name.ljust(widths[0]), kind.ljust(widths[1])]
        cells += [text.rjust(width) for text, width in zip(numbers, widths[2:5], strict=True)]
        yield "  ".join((*cells, offered)).rstrip()


def _offered(topic: Topic) -> str:
    kinds = {
        f"{offer.reliability.name.lower()}{', latched' if is_latched(offer) else ''}"
        for offer in topic.offered
    }
    return "; ".join(sorted(kinds)).replace("_", " ")


def _time(nanoseconds: int) -> str:
    if nanoseconds < YEAR_2000:
        return f"{nanoseconds / 1e9:.1f} s"
    return datetime.fromtimestamp(nanoseconds / 1e9).strftime("%Y-%m-%d %H:%M:%S")


def open_files(folder: Path) -> list[str]:
    """What is wrong with an unfinished bag of MCAP files, a line each; none if it is whole."""
    found = pieces(folder)
    if not found:
        return []
    lines = [f"{path.name} has no index" for path in unfinished(folder)]
    if not (folder / metadata.NAME).is_file():
        lines.append(f"{metadata.NAME} is missing")
    return lines


def mended(folder: Path, result: Mended) -> str:
    """What came of mending, as a line."""
    parts = [f"{name}: index written" for name in result.files]
    parts += [f"{name}: not one whole chunk, removed" for name in result.removed]
    parts.append(f"{result.lost} bytes of a torn end left out" if result.lost else "no torn end")
    return f"{folder}: " + "; ".join(parts)
