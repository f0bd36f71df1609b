"""Definitions of messages, from the .msg files that every package of messages installs."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import TypesysError, get_types_from_msg

from rulesafe_core.errors import RuleSafeError

RULE = "=" * 80
"""Stands between the definitions of which one is made."""


def prefixes() -> tuple[Path, ...]:
    """Where packages are installed: a ROS installation's, and this Python's own."""
    listed = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return tuple(Path(prefix) for prefix in (*listed, sys.prefix) if prefix)


@lru_cache(maxsize=256)
def definition(kind: str, places: Sequence[Path] | None = None) -> str:
    """The definition of a message and, after it, of all messages that it is made of: a schema of
    the encoding ros2msg.

    Args:
        kind: such as sensor_msgs/msg/JointState.
        places: where packages are installed, a tuple; `prefixes()` if not given.

    Errors: RuleSafeError if one of them is installed nowhere, or is none.
    """
    found = {kind: _text(kind, places)}
    waiting = [kind]
    while waiting:
        name = waiting.pop(0)
        for other in _parts(name, found[name]):
            if other not in found:
                found[other] = _text(other, places)
                waiting.append(other)
    text = found.pop(kind)
    for name, other_text in found.items():
        package, _, short = name.split("/")
        text += f"\n{RULE}\nMSG: {package}/{short}\n{other_text}"
    return text


def _text(kind: str, places: Sequence[Path] | None) -> str:
    package, _, name = kind.partition("/msg/")
    for prefix in prefixes() if places is None else places:
        path = prefix / "share" / package / "msg" / f"{name}.msg"
        if name and path.is_file():
            return path.read_text("utf-8")
    raise RuleSafeError(
        f"no definition of {kind} is installed: source the workspace that has {package or kind}"
    )


def _parts(kind: str, text: str) -> Iterator[str]:
    """Names of the messages that one is made of."""
    try:
        fields = get_types_from_msg(text, kind)[kind][1]
    except (TypesysError, KeyError) as error:
        raise RuleSafeError(f"the definition of {kind} makes no sense: {error}") from error
    for _, description in fields:
        yield from _named(description)


def _named(description: Any) -> Iterator[str]:
    node, inner = description
    if node == Nodetype.NAME:
        yield inner
    elif node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        yield from _named(inner[0])
