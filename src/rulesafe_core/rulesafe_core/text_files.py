"""Read text files: bounded in size and nesting, and without characters that control a terminal.

All readers of files that a user names go through `read_bytes`, `read_text`, `parse_json` or
`strict_yaml`. The limits apply before anything is parsed.
"""

import codecs
import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, fromstring

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import open_descriptor

MAX_BYTES = 4_000_000
"""Maximum size of a text file; the largest ones in use have some 100 kB."""

MAX_DEPTH = 64
"""Maximum nesting of lists, mappings and XML elements."""

MAX_JSON_BYTES = 64_000_000
"""Maximum size of a JSON file, which may hold the results of many episodes."""

MAX_YAML_BYTES = 1_000_000
"""Maximum size of a YAML file, whose parser is slower."""

MAX_YAML_VALUES = 100_000
"""Maximum number of values in a YAML file. An alias counts as a copy, and a text of more than 100
characters as several values."""

MAX_MESSAGE = 4_000
"""Maximum number of characters of an error message."""

_XML_ENCODING = re.compile(
    rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']"
    rb"((?:us-)?ascii|iso-8859-\d+|latin-?\d|(?:windows-|cp)125\d|gbk|gb2312|gb18030|big5|shift_jis"
    rb"|euc-(?:jp|kr))[\"']",
    re.IGNORECASE,
)
"""An XML declaration with another encoding than UTF-8. UTF-16 is known by its byte order mark."""


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file of at most `limit` bytes; never wait for a pipe or a device.

    Raises:
        RuleSafeError: the path is not a regular file, or the file is too large.
        OSError: the file does not exist or cannot be opened.
    """
    with open_regular(path) as file:
        size, content = os.fstat(file.fileno()).st_size, b""
        if size <= limit:
            content = file.read(limit + 1)
    if size > limit or len(content) > limit:
        raise RuleSafeError(f"{path} is larger than the limit of {limit} bytes")
    return content


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; never wait for a pipe or a device.

    Raises:
        RuleSafeError: the path is not a regular file.
        OSError: the file does not exist or cannot be opened.
    """
    return os.fdopen(open_descriptor(path, os.O_RDONLY), "rb")


def xml_encoding(content: bytes) -> str:
    """Return the encoding of XML by its byte order mark or its declaration, otherwise UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    declared = _XML_ENCODING.match(content)
    return declared[1].decode() if declared else "UTF-8"


def read_text(
    path: Path, limit: int = MAX_BYTES, encoding_of: Callable[[bytes], str] = lambda _: "UTF-8"
) -> str:
    """Read a file of text without control characters; see `read_bytes`. `encoding_of` returns the
    encoding of a content.

    Raises:
        RuleSafeError: the file cannot be read, or its content is not valid.
        FileNotFoundError: the file does not exist.
    """
    try:
        content = read_bytes(path, limit)
        text = content.decode(encoding := encoding_of(content))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RuleSafeError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, LookupError) as error:
        raise RuleSafeError(f"{path} is not {encoding} text: {error}") from error
    if (bad := control_character(text)) is not None:
        line = text.count("\n", 0, bad) + 1
        raise RuleSafeError(f"{path}, line {line}: control character {_name(text[bad])}")
    return text


def control_character(text: str) -> int | None:
    """Return the position of the first control character, except tab, line break and page break, or
    of half a surrogate pair, which no file and no terminal can encode."""
    if text.isprintable():
        return None
    bad = (
        i
        for i, c in enumerate(text)
        if unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r\f"
    )
    return next(bad, None)


def printable(text: str) -> str:
    """Return text for a terminal: control characters are replaced by their names."""
    if control_character(text) is None:
        return text
    return "".join(c if control_character(c) is None else f"<{_name(c)}>" for c in text)


def shown_error(error: BaseException) -> str:
    """Return an error message for a terminal: printable and of limited length."""
    text = printable(str(error))
    return text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]} ..."


def _name(character: str) -> str:
    return f"U+{ord(character):04X}"


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raise ValueError if it is invalid, too deeply nested, or has a key twice."""
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    check_values(data)
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice!r:.60} occurs twice")
    return found


def read_json(path: Path, what: str, limit: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON object, with control characters in its texts replaced by their names.

    Raises:
        RuleSafeError: it is invalid or not an object; the message describes the file as `what`.
        FileNotFoundError: the file does not exist.
    """
    text = read_text(path, limit)
    try:
        data = cleaned(parse_json(text))
    except ValueError as error:
        raise RuleSafeError(f"{path} is not {what}: {error}") from error
    if not isinstance(data, dict):
        raise RuleSafeError(f"{path} is not {what}: it must be an object, not {data!r:.60}")
    return data


def parse_xml(text: str) -> Element:
    """Parse XML of at most MAX_BYTES characters, without a DOCTYPE, whose entities may expand.

    Raises:
        ParseError: the text is not valid XML.
        RuleSafeError: the text is too long, nested too deeply, or has a DOCTYPE.
    """
    if len(text) > MAX_BYTES or "<!DOCTYPE" in text:
        raise RuleSafeError(f"XML must have at most {MAX_BYTES} characters and no DOCTYPE")
    level = [root := fromstring(text)]
    for _ in range(MAX_DEPTH):
        level = [child for element in level for child in element]
        if not level:
            return root
    raise RuleSafeError(f"XML elements are nested deeper than {MAX_DEPTH} levels")


def check_values(data: Any, limit: int = 10**9) -> None:
    """Raise ValueError for parsed data with more than `limit` values (a text counts once more for
    every 100 characters), or nested too deeply."""
    level, count = [data], 0
    for _ in range(MAX_DEPTH):
        following: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                following += value.values()
                count += sum(len(key) // 100 for key in value if isinstance(key, str))
            elif isinstance(value, str):
                count += len(value) // 100
            elif isinstance(value, list):
                following += value
            if count + len(following) > limit:
                raise ValueError(f"more than {limit} values")
        if not following:
            return
        count += len(following)
        level = following
    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")


def cleaned(data: Any) -> Any:
    """Return parsed data with the control characters in texts replaced by their names."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, dict):
        return {cleaned(key): cleaned(value) for key, value in data.items()}
    return [cleaned(value) for value in data] if isinstance(data, list) else data


def sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
