"""Conversion of ROS messages for the evaluator."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus


def failures(message: DiagnosticArray) -> list[tuple[str, int, str]]:
    """Return key, value and reason of each error that names an episode.

    The key is `episode`, with its number, or `episode_started`, with the stamp of its start in ns,
    since a policy does not know the number.
    """
    found = []
    for status in message.status:
        values = {value.key: value.value for value in status.values}
        for key in ("episode", "episode_started"):
            if status.level == DiagnosticStatus.ERROR and values.get(key, "").isdigit():
                found.append((key, int(values[key]), f"{status.name}: {status.message}"))
    return found
