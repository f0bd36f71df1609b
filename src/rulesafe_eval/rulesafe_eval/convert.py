"""Conversion of ROS messages for the evaluator."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus


def failures(message: DiagnosticArray) -> list[tuple[str, int, str]]:
    """Return (key, value, reason) of each error status in /diagnostics that names an episode.

    With the key `episode`, the value is the episode's number. With `episode_started`, which the
    policy node publishes because it has no episode number, it is the stamp of the start, ns.
    """
    found = []
    for status in message.status:
        values = {value.key: value.value for value in status.values}
        for key in ("episode", "episode_started"):
            if status.level == DiagnosticStatus.ERROR and values.get(key, "").isdigit():
                found.append((key, int(values[key]), f"{status.name}: {status.message}"))
    return found
