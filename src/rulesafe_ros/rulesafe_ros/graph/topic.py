"""`rulesafe topic`: list topics, and print their messages and rates."""

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_ros.graph import command

Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TOPIC")]


def list_() -> None:
    """List the topics with their types and numbers of publishers and subscribers.

    Example: rulesafe topic list
    """
    with command.connected() as client:
        client.wait_for_discovery(client.published)
        rows, domain = client.topic_infos(), client.domain
    if not rows:
        raise RuleSafeError(f"no topics in {domain}; check that nodes run in this domain")
    head = ("topic", "type", "publishers", "subscribers")
    print(command.columns([head, *((*row[:2], str(row[2]), str(row[3])) for row in rows)]))


def echo(
    topic: Name,
    once: bool = False,
    count: int = 0,
    seconds: float = 0.0,
    full_length: bool = False,
) -> int:
    """Print a topic's messages as YAML until Ctrl-C; wait for a publisher if there is none.

    The last message of a latched topic is printed at once. The exit code is 1 without a message.

    Example: rulesafe topic echo /memory/tokens --once

    Args:
        topic: Name of the topic.
        once: Stop after one message.
        count: Number of messages to print; 0: no limit.
        seconds: Duration, including the wait for a publisher; 0: no limit.
        full_length: Print arrays and texts completely, not only their first 128 elements.
    """
    from rulesafe_ros.graph.plain import MAX_LENGTH, to_yaml

    limit = 1 if once else count or inf
    shown = 0

    def print_message(message: Any) -> None:
        nonlocal shown
        if shown < limit:
            shown += 1
            print(f"{to_yaml(message, None if full_length else MAX_LENGTH)}---", flush=True)

    with collected_signals() as signals, command.connected() as client:
        ended = _ended(signals, seconds)
        found = client.find(topic, ended, _report)
        client.listen(found, print_message)
        client.spin_until(lambda: shown >= limit or ended())
    if not shown and not signals:
        _report(f"no message on {found.name} within {seconds:g} s")
        return 1
    return exit_code(signals)


def hz(topic: Name, window: float = 5.0, seconds: float = 0.0) -> int:
    """Print the rate of messages (in wall time) every second, until Ctrl-C.

    Example: rulesafe topic hz /joint_states

    Args:
        topic: Name of the topic.
        window: Seconds over which the rate is computed.
        seconds: Duration, including the wait for a publisher; 0: no limit.
    """
    times: deque[float] = deque()
    with collected_signals() as signals, command.connected() as client:
        ended = _ended(signals, seconds)
        found = client.find(topic, ended, _report)
        client.listen(found, lambda _: times.append(time.monotonic()), raw=True)
        over = False
        while not over:  # at least once, even if finding the topic took all the time
            over = client.spin_until(ended, 1.0)
            while times and times[0] < time.monotonic() - window:
                times.popleft()
            print(rate(list(times)), flush=True)
    return exit_code(signals)


def rate(times: list[float]) -> str:
    """Return the rate of messages with these arrival times (s, sorted) as text."""
    if len(times) < 2:
        return f"no rate yet ({len(times)} messages)"
    gaps = [after - before for before, after in pairwise(times)]
    mean = (len(times) - 1) / max(times[-1] - times[0], 1e-9)
    least, most = 1e3 * min(gaps), 1e3 * max(gaps)
    return f"{mean:.1f} Hz, {least:.1f} to {most:.1f} ms apart, {len(times)} messages"


def _ended(signals: Sequence[int], seconds: float) -> Callable[[], bool]:
    """Return a function that returns whether there was a signal, or `seconds` (0: no limit) have
    passed from now on."""
    end = time.monotonic() + seconds if seconds > 0 else inf
    return lambda: bool(signals) or time.monotonic() > end


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "echo": echo, "hz": hz}
