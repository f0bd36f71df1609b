"""The checks of `rulesafe doctor`, in order of dependency: later checks rely on earlier ones.

A check is a function without arguments that returns an `Item` and never raises.
"""

from collections.abc import Callable

from rulesafe_ros.doctor import graph, graphics, machine
from rulesafe_ros.doctor.report import Item

CHECKS: dict[str, Callable[[], Item]] = {
    "python": machine.python,
    "packages": machine.packages,
    "programs": machine.programs,
    "room": machine.room,
    "renderer": graphics.renderer,
    "gpu": graphics.gpu,
    "video": machine.video,
    "sandbox": machine.sandbox,
    "environment": graph.environment,
    "ros": graph.ros,
    "shared-memory": graph.shared_memory,
    "domain": graph.domain,
    "discovery": graph.discovery,
    "ports": graph.ports,
}
