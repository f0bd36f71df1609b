"""`rulesafe param`: the parameters of a node."""

from collections.abc import Callable
from typing import Annotated

import tyro
import yaml

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_ros.graph import command

PATIENCE = 10.0
"""s within which an existing node is discovered, and answers."""

NodeName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NODE")]
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
Value = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="VALUE")]


def list_(node: NodeName) -> None:
    """List the parameters of a node with their values, as YAML.

    Example: rulesafe param list /sim_node

    Args:
        node: Its name.
    """
    with command.connected() as client:
        values = client.parameters(node, PATIENCE)
    print(yaml.safe_dump(values, sort_keys=False, allow_unicode=True), end="")


def get(node: NodeName, name: Name) -> None:
    """Print the value of a parameter.

    Example: rulesafe param get /sim_node real_time_factor

    Args:
        node: Its name.
        name: Of the parameter.
    """
    with command.connected() as client:
        values = client.parameters(node, PATIENCE)
    if name not in values:
        raise unknown_name(f"parameter of {node}", name, values)
    print(yaml.safe_dump(values[name], allow_unicode=True).removesuffix("...\n"), end="")


def set_(node: NodeName, name: Name, value: Value) -> None:
    """Change a parameter of a running node, where the node lets it change.

    Example: rulesafe param set /sim_node real_time_factor 1.0

    Args:
        node: Its name.
        name: Of the parameter.
        value: As YAML has it: 1, 1.0, true, text.
    """
    try:
        new = yaml.safe_load(value)
    except yaml.YAMLError:
        raise RuleSafeError(f"no YAML: {value!r}") from None
    with command.connected() as client:
        values = client.parameters(node, PATIENCE)
        if name not in values:
            raise unknown_name(f"parameter of {node}", name, values)
        client.set_parameter(node, name, new, PATIENCE)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "get": get, "set": set_}
