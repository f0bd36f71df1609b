"""Subcommands of `rulesafe bridge`. Their dependencies are imported when they run."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from h1_2_bridge import states
from h1_2_bridge.network import use_interface
from rulesafe_core.errors import RuleSafeError

if TYPE_CHECKING:
    from h1_2_bridge.client_node import BridgeClient

SETTLE = 2.0
"""Time (s) to wait for DDS discovery before recording, and to retry engaging: the bridge rejects it
while a publisher on its command topic has no node name yet."""


def _client(network_interface: str = "") -> AbstractContextManager["BridgeClient"]:
    """Connect a client that prints state changes of the bridge."""
    from h1_2_bridge.client_node import BridgeClient
    from rulesafe_core.client_node import connected

    use_interface(network_interface)
    return connected(lambda: BridgeClient(lambda text: print(text, flush=True)))


def check(seconds: float = 5.0, network_interface: str = "") -> int:
    """Run the checks before engaging a robot and print what to do about failures.

    The command publishes nothing. The exit code is 0 if no check failed, else 1.

    Example: rulesafe bridge check --network-interface eth0

    Args:
        seconds: How long to record messages.
        network_interface: Network interface of the robot, as in the launch file; empty: only nodes
            on this machine.
    """
    from h1_2_bridge.checks import run_checks
    from h1_2_bridge.findings import FAIL, as_text

    with _client(network_interface) as client:
        client.spin_for(SETTLE)
        print(f"recording messages for {seconds:g} s ...", flush=True)
        findings = run_checks(client.listen(seconds))
    print(as_text(findings))
    return int(any(finding.verdict == FAIL for finding in findings))


STOPPED = tuple(state.value for state in states.STOPPED)
"""States that the bridge leaves only after a reset."""


def engage(wait: float = 10.0) -> None:
    """Take control of the arm at its current posture; return when chunks are executed.

    Engaging does not move the arm: the bridge commands the measured posture with a weight that
    rises from 0 to 1. A bridge that is HOLDING resumes.

    Example: rulesafe bridge engage

    Args:
        wait: Seconds to wait for the bridge to be IDLE or HOLDING, its hands and the supervisor.
    """
    with _client() as client:
        if not client.spin_until(lambda: client.state is not None, SETTLE):
            print(f"no message on /bridge/state yet; waiting up to {wait:g} s", flush=True)
        client.wait_for(("IDLE", "HOLDING", "ENGAGING", "ACTIVE"), wait, final=STOPPED, hands=True)
        _call_settled(client, "bridge/engage", wait)
        client.wait_for(("ACTIVE", "HOLDING"), 60.0, final=STOPPED)


def _call_settled(client: "BridgeClient", name: str, wait: float) -> None:
    """Call a service. Repeat a refused call for SETTLE s, and for `wait` s while the supervisor
    starts or ramps the weight down."""
    start = time.monotonic()
    while True:
        try:
            client.call(name)
            return
        except RuleSafeError as error:
            temporary = any(text in str(error) for text in states.TEMPORARY_REFUSALS)
            patience = max(SETTLE, wait) if temporary else SETTLE
            if time.monotonic() > start + patience:
                raise
            client.spin_for(SETTLE / 10)


def disengage() -> None:
    """Release the arm: ramp the weight down to exactly 0 and return when it is 0.

    Example: rulesafe bridge disengage
    """
    with _client() as client:
        client.call("bridge/disengage")
        client.wait_for(("IDLE", "DISCONNECTED"), 60.0)


def stop() -> None:
    """Stop immediately: the motors only damp and carry no load, so the arm sinks.

    The remote's buttons and the emergency stop are faster than starting this program.

    Example: rulesafe bridge stop
    """
    with _client() as client:
        print(client.stop("rulesafe bridge stop"))


def reset() -> None:
    """Release the robot after a stop or a fault and return to IDLE.

    Example: rulesafe bridge reset
    """
    with _client() as client:
        client.call("bridge/reset")
        client.wait_for(("IDLE", "DISCONNECTED"), 60.0)


def identify(address: str, port: int = 6000, registers: str = "") -> None:
    """Move the index finger of the FTP hand at an address, to find out which hand it is.

    End the bridge first, since a hand must have one client. The finger bends by a quarter of its
    range and stretches, twice. If it is the right hand's, set `hand_right_host` and
    `hand_identified` to this address, and `hand_left_host` to the other one, in the parameter file
    of the bridge.

    Example: rulesafe bridge identify --address 192.168.123.211

    Args:
        address: Address of the hand.
        port: TCP port of the hand.
        registers: Register addresses to override, as in the parameter hand_registers.
    """
    from h1_2_bridge.hands import ftp_registers
    from rulesafe_core.errors import missing_package

    known = ftp_registers(registers)
    try:
        from h1_2_bridge import ftp
    except ImportError as error:
        raise missing_package(error) from error
    print(f"moving the index finger of the hand at {address} ...", flush=True)
    ftp.identify(address, port, known)
    print(
        f"if the index finger of the RIGHT hand moved, set hand_right_host and hand_identified to "
        f"{address}, and hand_left_host to the other address; otherwise try the other address"
    )


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "check": check,
    "engage": engage,
    "disengage": disengage,
    "stop": stop,
    "reset": reset,
    "identify": identify,
}
