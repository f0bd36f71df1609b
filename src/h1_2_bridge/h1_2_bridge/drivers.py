"""Load hand drivers by name."""

from collections.abc import Callable

from h1_2_bridge.config import BridgeParameters
from h1_2_bridge.dfx import DfxHands
from h1_2_bridge.hands import DFX, FTP, SIDES, HandDriver, calibration, ftp_registers
from rulesafe_core.errors import missing_package, unknown_name

DRIVERS = ("dfx", "ftp", "none")

ON_TOPICS = ("dfx",)
"""Drivers that communicate through topics of the node."""


def load_driver(
    parameters: BridgeParameters, publish: Callable[[bytes], None]
) -> HandDriver | None:
    """Return the driver named by `parameters.hand`; None for "none".

    Args:
        parameters: parameters of the bridge's node.
        publish: publishes a raw unitree_go/MotorCmds on /inspire/cmd.

    Raises:
        RuleSafeError: the name is unknown, a parameter is invalid, or pymodbus, which FTP hands
            need, is not installed.
    """
    name = parameters.hand
    if name not in DRIVERS:
        raise unknown_name("hand", name, DRIVERS)
    default = FTP if name == "ftp" else DFX
    right, left = (calibration(parameters, side, default) for side in SIDES)
    registers = ftp_registers(parameters.hand_registers)
    if name == "dfx":
        return DfxHands(right, left, parameters.hand_timeout, publish)
    if name == "none":
        return None
    try:
        from h1_2_bridge.ftp import FtpHands
    except ImportError as error:
        raise missing_package(error) from error
    return FtpHands(right, left, registers, parameters)
