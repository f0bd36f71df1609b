"""`rulesafe topic`: the topics of a graph, their messages and rates."""

import sys
import time
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.signals import collected_signals, exit_code
from rulesafe_ros.graph import command

Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TOPIC")]


def list_() -> None:
    """List the topics with their types, and how many write and read each.

    Example: rulesafe topic list
    """
    with command.connected() as client:
        client.wait_for_discovery(client.published)
        rows, domain = client.topic_infos(), client.domain
    if not rows:
        raise RuleSafeError(f"nobody is heard in {domain}: does a launch run, with this domain?")
    head = ("topic", "type", "publishers", "subscribers")
    print(command.columns([head, *((*row[:2], str(row[2]), str(row[3])) for row in rows)]))


def echo(
    topic: Name,
    once: bool = False,
    count: int = 0,
    seconds: float = 0.0,
    full_length: bool = False,
) -> int:
    """Print a topic's messages as YAML, until Ctrl-C; it may appear later.

    Of a latched topic the last message comes at once. Exit code 1 where none came.

    Example: rulesafe topic echo /memory/tokens --once

    Args:
        topic: Its name.
        once: End after one message.
        count: End after so many messages; 0: never.
        seconds: End after so long, waiting included; 0: never.
        full_length: Print long arrays and texts in full; else the first 128 elements.
    """
    from rulesafe_ros.graph.plain import SHOWN, to_yaml

    wanted, end = 1 if once else count or inf, _end(seconds)
    shown = 0

    def take(message: Any) -> None:
        nonlocal shown
        if shown < wanted:
            shown += 1
            print(f"{to_yaml(message, None if full_length else SHOWN)}---", flush=True)

    with collected_signals() as came, command.connected() as client:

        def ended() -> bool:
            return bool(came) or time.monotonic() > end

        found = client.find(topic, ended, _say)
        client.listen(found, take)
        client.spin_until(lambda: shown >= wanted or ended())
    if not shown and not came:
        _say(f"no message on {found.name} within {seconds:g} s")
        return 1
    return exit_code(came)


def hz(topic: Name, window: float = 5.0, seconds: float = 0.0) -> int:
    """Print, each second, at what rate messages come (of wall time), until Ctrl-C.

    Example: rulesafe topic hz /joint_states

    Args:
        topic: Its name.
        window: Seconds, the last ones, whose messages are counted.
        seconds: End after so long, waiting included; 0: never.
    """

    end = _end(seconds)
    times: deque[float] = deque()
    with collected_signals() as came, command.connected() as client:

        def ended() -> bool:
            return bool(came) or time.monotonic() > end

        found = client.find(topic, ended, _say)
        client.listen(found, lambda _: times.append(time.monotonic()), raw=True)
        over = False
        while not over:  # once at least, however long it took to find the topic
            over = client.spin_until(ended, 1.0)
            while times and times[0] < time.monotonic() - window:
                times.popleft()
            print(rate(list(times)), flush=True)
    return exit_code(came)


def rate(times: list[float]) -> str:
    """Return the rate of messages that came at these times (s, sorted), as text."""
    if len(times) < 2:
        return f"no rate yet, messages: {len(times)}"
    gaps = [after - before for before, after in pairwise(times)]
    mean = (len(times) - 1) / max(times[-1] - times[0], 1e-9)
    least, most = 1e3 * min(gaps), 1e3 * max(gaps)
    return f"{mean:.1f} Hz, {least:.1f} to {most:.1f} ms apart, {len(times)} messages"


def _end(seconds: float) -> float:
    return time.monotonic() + seconds if seconds > 0 else inf


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {"list": list_, "echo": echo, "hz": hz}
