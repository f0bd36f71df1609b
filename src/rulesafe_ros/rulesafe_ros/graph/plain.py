"""Messages and requests as plain data, to be written and read as YAML.

The fields of a message are those that it reports itself, so that ROS is not imported.
"""

from array import array
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import yaml

from rulesafe_core.errors import RuleSafeError, unknown_name

SHOWN = 128
"""Largest number of elements of an array, and of characters of a text, as in `ros2 topic echo`."""

MORE = "..."
"""In place of the rest."""


def to_yaml(message: Any, limit: int | None = SHOWN) -> str:
    """Return a message as YAML, its fields in order; see `to_plain`."""
    text: str = yaml.safe_dump(
        to_plain(message, limit), sort_keys=False, allow_unicode=True, width=1_000_000
    )
    return text


def to_plain(value: Any, limit: int | None = SHOWN) -> Any:
    """Return a message, or the value of a field, as dictionaries, lists, numbers and texts.

    Args:
        value: the message or value.
        limit: number of elements and characters after which MORE replaces the rest; None: no limit.
    """
    if hasattr(value, "get_fields_and_field_types"):
        names = value.get_fields_and_field_types()
        return {name: to_plain(getattr(value, name), limit) for name in names}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (str, bytes, array, np.ndarray, list, tuple)):
        longer = limit is not None and len(value) > limit
        shown = value[:limit] if longer else value
        if isinstance(shown, str):
            return shown + MORE if longer else shown
        return [to_plain(each, limit) for each in shown] + ([MORE] if longer else [])
    return value


def read_fields(text: str) -> dict[str, Any]:
    """Read the fields of a request from YAML. Errors: RuleSafeError if it is invalid."""
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise RuleSafeError(f"no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise RuleSafeError(f"fields are given as '{{name: value}}', not as {text!r}")
    return found


def fill(message: Any, fields: Mapping[str, Any], within: str = "") -> Any:
    """Set fields of a message, and of messages within it; return the message.

    Args:
        message: the message.
        fields: plain data by field; other fields are unchanged.
        within: prefix of the fields in errors, such as "pose.".

    Raises:
        RuleSafeError: a field does not exist, or cannot have the value.
    """
    kinds: dict[str, str] = message.get_fields_and_field_types()
    message._check_fields = True  # else a wrong value would end the process, in the middleware
    for name, value in fields.items():
        if name not in kinds:
            raise unknown_name("field", f"{within}{name}", kinds or ("(none)",))
        slot = message.SLOT_TYPES[list(kinds).index(name)]
        made = _made(getattr(message, name), slot, kinds[name], value, f"{within}{name}")
        try:
            setattr(message, name, made)
        except (AssertionError, TypeError, ValueError, OverflowError):
            raise _refused(f"{within}{name}", kinds[name], value) from None
    return message


def _made(now: Any, slot: Any, kind: str, value: Any, where: str) -> Any:
    """Return a value as the field's setter takes it; `now`: the field's present value."""
    inner = getattr(slot, "value_type", None)  # of an array
    if inner is not None and isinstance(value, list):
        if hasattr(inner, "namespaces"):
            message = getattr(import_module(".".join(inner.namespaces)), inner.name)
            return [_message(message(), kind, v, f"{where}[{i}]") for i, v in enumerate(value)]
        return [_scalar(inner, each) for each in value]
    if hasattr(now, "get_fields_and_field_types"):
        return _message(now, kind, value, where)
    return _scalar(slot, value)


def _message(message: Any, kind: str, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _refused(where, kind, value)
    return fill(message, value, f"{where}.")


def _scalar(slot: Any, value: Any) -> Any:
    kind = getattr(slot, "typename", "")
    number = isinstance(value, int) and not isinstance(value, bool)
    if kind in ("float", "double") and number:
        return float(value)
    if kind == "octet" and number and 0 <= value < 256:
        return bytes([value])
    if isinstance(value, bool) and kind != "boolean":
        return None  # Python takes it for a number, which is not what was meant
    return value


def _refused(where: str, kind: str, value: Any) -> RuleSafeError:
    return RuleSafeError(f"field {where} takes {kind}, not {value!r}")
