"""The subcommands of `rulesafe bridge`. What they need is imported when they run."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from h1_2_bridge.network import use_interface
from rulesafe_core.errors import RuleSafeError

if TYPE_CHECKING:
    from h1_2_bridge.client_node import BridgeClient

SETTLE = 2.0
"""s in which discovery comes to rest, before a check listens, and while a bridge may still refuse
to engage: who writes its topic and has no name yet is a stranger to it."""


def _client(network_interface: str = "") -> AbstractContextManager["BridgeClient"]:
    """A client that prints the bridge's states, on the robot's interface too if one is named."""
    from h1_2_bridge.client_node import BridgeClient
    from rulesafe_core.client_node import connected

    use_interface(network_interface)
    return connected(lambda: BridgeClient(lambda text: print(text, flush=True)))


def check(seconds: float = 5.0, network_interface: str = "") -> int:
    """Walk through the list before a robot is engaged: pass or fail, and what to do.

    Sends nothing. The exit code is 0 if nothing failed, else 1.

    Example: rulesafe bridge check --network-interface eth0

    Args:
        seconds: How long to listen.
        network_interface: The robot's, as in the launch file; empty: only this machine's nodes.
    """
    from h1_2_bridge.checks import findings
    from h1_2_bridge.findings import FAIL, as_text

    with _client(network_interface) as client:
        client.spin_for(SETTLE)
        print(f"listening for {seconds:g} s ...", flush=True)
        found = findings(client.listen(seconds))
    print(as_text(found))
    return int(any(finding.verdict == FAIL for finding in found))


STOPPED = ("DAMPING", "FAULT")
"""States that a bridge leaves only by a reset."""


def engage(wait: float = 10.0) -> None:
    """Take over the arm where it stands; returns when chunks are followed.

    The arm does not move by itself: its measured posture is commanded, with a weight that rises
    from 0 to 1.

    Example: rulesafe bridge engage

    Args:
        wait: Seconds to wait for a bridge that is IDLE (or HOLDING: it goes on) and for its hands.
    """
    with _client() as client:
        client.wait_for(("IDLE", "HOLDING", "ENGAGING", "ACTIVE"), wait, final=STOPPED, hands=True)
        _call_settled(client, "/bridge/engage")
        client.wait_for(("ACTIVE", "HOLDING"), 60.0, final=STOPPED)


def _call_settled(client: "BridgeClient", name: str) -> None:
    end = time.monotonic() + SETTLE
    while True:
        try:
            client.call(name)
            return
        except RuleSafeError:
            if time.monotonic() > end:
                raise
            client.spin_for(SETTLE / 10)


def disengage() -> None:
    """Let the arm go: the weight falls to exactly 0; returns when it is there.

    Example: rulesafe bridge disengage
    """
    with _client() as client:
        client.call("/bridge/disengage")
        client.wait_for(("IDLE", "DISCONNECTED"), 60.0)


def stop() -> None:
    """Stop at once: the motors brake and no longer bear anything, so the arm sinks.

    The remote's buttons and the emergency stop are faster than a program that has to start.

    Example: rulesafe bridge stop
    """
    with _client() as client:
        print(client.call("/bridge/stop"))


def reset() -> None:
    """After a stop or a fault: let go of the robot, then be IDLE.

    Example: rulesafe bridge reset
    """
    with _client() as client:
        client.call("/bridge/reset")
        client.wait_for(("IDLE", "DISCONNECTED"), 60.0)


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "check": check,
    "engage": engage,
    "disengage": disengage,
    "stop": stop,
    "reset": reset,
}
