"""Convert messages and requests to plain data and YAML, and back.

The messages report their fields themselves, so that this module does not import ROS.
"""

from array import array
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
import yaml

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.strict_yaml import parse_yaml

MAX_LENGTH = 128
"""Maximum printed elements of an array and characters of a text, as in `ros2 topic echo`."""

ELLIPSIS = "..."
"""Printed in place of further elements or characters."""


def to_yaml(message: Any, limit: int | None = MAX_LENGTH) -> str:
    """Return a message as YAML with its fields in order; see `to_plain`."""
    text: str = yaml.safe_dump(
        to_plain(message, limit), sort_keys=False, allow_unicode=True, width=1_000_000
    )
    return text


def to_plain(value: Any, limit: int | None = MAX_LENGTH) -> Any:
    """Convert a message, or the value of a field, to dictionaries, lists, numbers and text.

    Args:
        value: the message or value.
        limit: maximum number of elements and characters before ELLIPSIS; None: no limit.
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
            return shown + ELLIPSIS if longer else shown
        return [to_plain(each, limit) for each in shown] + ([ELLIPSIS] if longer else [])
    return value


def read_fields(text: str) -> dict[str, Any]:
    """Parse the fields of a request from YAML; raise RuleSafeError if they are invalid."""
    try:
        found = parse_yaml(text) or {}
    except ValueError as error:
        raise RuleSafeError(f"invalid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(found, dict):
        raise RuleSafeError(f"fields must be a mapping such as '{{name: value}}', not {text!r}")
    return found


def fill(message: Any, fields: Mapping[str, Any], within: str = "") -> Any:
    """Set fields of a message and of its nested messages, and return the message.

    Args:
        message: the message.
        fields: values by field name; other fields keep their values.
        within: prefix of field names in errors, such as "pose.".

    Raises:
        RuleSafeError: a field does not exist, or its value has the wrong type.
    """
    kinds: dict[str, str] = message.get_fields_and_field_types()
    message._check_fields = True  # otherwise an invalid value ends the process in the middleware
    for name, value in fields.items():
        if name not in kinds:
            raise unknown_name("field", f"{within}{name}", kinds or ("(none)",))
        slot = message.SLOT_TYPES[list(kinds).index(name)]
        converted = _converted(getattr(message, name), slot, kinds[name], value, f"{within}{name}")
        try:
            setattr(message, name, converted)
        except (AssertionError, TypeError, ValueError, OverflowError):
            raise _invalid_field(f"{within}{name}", kinds[name], value) from None
    return message


def _converted(now: Any, slot: Any, kind: str, value: Any, where: str) -> Any:
    """Convert a value to the type of the field, whose present value is `now`."""
    inner = getattr(slot, "value_type", None)  # the type of an array's elements
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
        raise _invalid_field(where, kind, value)
    return fill(message, value, f"{where}.")


def _scalar(slot: Any, value: Any) -> Any:
    kind = getattr(slot, "typename", "")
    number = isinstance(value, int) and not isinstance(value, bool)
    if kind in ("float", "double") and number:
        return float(value)
    if kind == "octet" and number and 0 <= value < 256:
        return bytes([value])
    if isinstance(value, bool) and kind != "boolean":
        return None  # invalid: bool is a subclass of int, but not a number here
    return value


def _invalid_field(where: str, kind: str, value: Any) -> RuleSafeError:
    return RuleSafeError(f"field {where} must be {kind}, not {value!r}")
