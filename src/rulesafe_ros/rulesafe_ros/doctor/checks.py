"""The doctor's list, in the order in which things are mended: what comes first, others rest on.

To add one: a function without arguments that gives an `Item` and never raises, and its place.
"""

from collections.abc import Callable

from rulesafe_ros.doctor import graph, graphics, machine
from rulesafe_ros.doctor.report import Item

CHECKS: dict[str, Callable[[], Item]] = {
    "python": machine.python,
    "packages": machine.packages,
    "programs": machine.programs,
    "room": machine.room,
    "vulkan": graphics.vulkan,
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
