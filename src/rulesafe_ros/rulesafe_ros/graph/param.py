"""`rulesafe param`: list, print and set the parameters of a node."""

from collections.abc import Callable
from typing import Annotated

import tyro
import yaml

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.strict_yaml import parse_yaml
from rulesafe_ros.graph import command

TIMEOUT = 10.0
"""Timeout of the discovery of a node and of its responses, s."""

NodeName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NODE")]
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
Value = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="VALUE")]


def list_(node: NodeName) -> None:
    """Print the parameters of a node and their values as YAML.

    Example: rulesafe param list /sim_node

    Args:
        node: Name of the node.
    """
    with command.connected() as client:
        values = client.parameters(node, TIMEOUT)
    print(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), end="")


def get(node: NodeName, name: Name) -> None:
    """Print the value of a parameter.

    Example: rulesafe param get /sim_node real_time_factor

    Args:
        node: Name of the node.
        name: Name of the parameter.
    """
    with command.connected() as client:
        values = client.parameters(node, TIMEOUT)
    if name not in values:
        raise unknown_name(f"parameter of {node}", name, values)
    print(yaml.safe_dump(values[name], allow_unicode=True).removesuffix("...\n"), end="")


def set_(node: NodeName, name: Name, value: Value) -> None:
    """Set a parameter of a running node, if the node allows it.

    Example: rulesafe param set /sim_node real_time_factor 1.0

    Args:
        node: Name of the node.
        name: Name of the parameter.
        value: New value as YAML: 1, 1.0, true, text.
    """
    try:
        new = parse_yaml(value)
    except ValueError:
        raise RuleSafeError(f"{value!r} is not valid YAML") from None
    with command.connected() as client:
        values = client.parameters(node, TIMEOUT)
        if name not in values:
            raise unknown_name(f"parameter of {node}", name, values)
        client.set_parameter(node, name, new, TIMEOUT)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "get": get, "set": set_}
