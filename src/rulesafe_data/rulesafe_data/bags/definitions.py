"""Read message definitions from the .msg files of installed packages."""

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
"""Separator between the definitions of a message and of its nested messages."""


def prefixes() -> tuple[Path, ...]:
    """Return the install prefixes of ROS packages and of this Python environment."""
    listed = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return tuple(Path(prefix) for prefix in (*listed, sys.prefix) if prefix)


@lru_cache(maxsize=256)
def definition(kind: str, places: Sequence[Path] | None = None) -> str:
    """Return the definition of a message and of all nested messages (ros2msg encoding).

    Args:
        kind: message type, such as sensor_msgs/msg/JointState.
        places: tuple of install prefixes; default: `prefixes()`.

    Raises:
        RuleSafeError: a definition is not installed or invalid.
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
    """Yield the types of nested messages."""
    try:
        fields = get_types_from_msg(text, kind)[kind][1]
    except (TypesysError, KeyError) as error:
        raise RuleSafeError(f"the definition of {kind} is invalid: {error}") from error
    for _, description in fields:
        yield from _message_types(description)


def _message_types(description: Any) -> Iterator[str]:
    node, inner = description
    if node == Nodetype.NAME:
        yield inner
    elif node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
        yield from _message_types(inner[0])
