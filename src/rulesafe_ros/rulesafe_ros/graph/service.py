"""`rulesafe service`: list the services of a graph, and call them."""

from collections.abc import Callable
from typing import Annotated

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.graph import command

DISCOVERY_TIMEOUT = 10.0
"""Timeout of the discovery of a service, s."""


def list_() -> None:
    """List the services and their types, without the parameter services of every node.

    Example: rulesafe service list
    """
    with command.connected() as client:
        from rulesafe_ros.graph.client_node import NODE_SERVICES

        def services() -> list[tuple[str, str]]:
            found = client.service_types().items()
            return [each for each in found if each[0].rsplit("/", 1)[1] not in NODE_SERVICES]

        client.wait_for_discovery(services)
        rows, domain = services(), client.domain
    if not rows:
        raise RuleSafeError(f"no services in {domain}; check that nodes run in this domain")
    print(command.columns([("service", "type"), *rows]))


def call(
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
    request: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="YAML")] = "{}",
    seconds: float = 60.0,
) -> int:
    """Call a service and print its response as YAML; exit code 1 for `success: false`.

    Example: rulesafe service call /episode/reset '{rule: rule_007, seed: 3}'

    Args:
        name: Name of the service; its type is read from the graph.
        request: Fields of the request; omitted fields are zero or empty.
        seconds: Timeout of the response.
    """
    from rulesafe_ros.graph.plain import fill, read_fields, to_yaml

    fields = read_fields(request)
    with command.connected() as client:
        full = "/" + name.strip("/")
        kind = client.service_class(full, DISCOVERY_TIMEOUT)
        response = client.call(kind, full, fill(kind.Request(), fields), seconds)
    print(to_yaml(response, None), end="")
    return int(getattr(response, "success", True) is False)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "call": call}
