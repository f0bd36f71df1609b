"""`rulesafe service`: the services of a graph, and calls of them."""

from collections.abc import Callable
from typing import Annotated

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.graph import command

FIND = 10.0
"""s within which an existing service is discovered."""


def list_(all_services: bool = False) -> None:
    """List the services with their types.

    Example: rulesafe service list

    Args:
        all_services: Those of every node for its parameters too.
    """
    with command.connected() as client:
        from rulesafe_ros.graph.client_node import STANDARD

        client.wait_for_discovery(client.service_types)
        found, domain = client.service_types(), client.domain
    rows = [
        (name, kind)
        for name, kind in found.items()
        if all_services or name.rsplit("/", 1)[1] not in STANDARD
    ]
    if not rows:
        raise RuleSafeError(f"nobody is heard in {domain}: does a launch run, with this domain?")
    print(command.columns([("service", "type"), *rows]))


def call(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
    request: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="YAML")] = "{}",
    seconds: float = 60.0,
) -> int:
    """Call a service and print its response as YAML; exit code 1 where it says `success: false`.

    Example: rulesafe service call /episode/reset '{rule: rule_007, seed: 3}'

    Args:
        name: Of the service; its type is that of the graph.
        request: Fields of the request; what is left out is zero or empty.
        seconds: How long to wait for the response.
    """
    from rulesafe_ros.graph.plain import fill, read_fields, to_yaml

    fields = read_fields(request)
    with command.connected() as client:
        full = "/" + name.strip("/")
        kind = client.service_class(full, FIND)
        response = client.call(kind, full, fill(kind.Request(), fields), seconds)
    print(to_yaml(response, None), end="")
    return int(getattr(response, "success", True) is False)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "call": call}
