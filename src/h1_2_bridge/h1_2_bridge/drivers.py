"""The hand drivers by name; a driver's module is imported when it is chosen."""

from collections.abc import Callable

from h1_2_bridge.hands import HandConfig, HandDriver, NoHands, Publish
from rulesafe_core.errors import RuleSafeError, unknown_name


def _none(config: HandConfig, publish: Publish) -> HandDriver:
    return NoHands()


def _dfx(config: HandConfig, publish: Publish) -> HandDriver:
    from h1_2_bridge.dfx import DfxHands

    return DfxHands(config, publish)


def _ftp(config: HandConfig, publish: Publish) -> HandDriver:
    try:
        from h1_2_bridge.ftp import FtpHands
    except ImportError as error:
        raise RuleSafeError(
            f"FTP hands need pymodbus ({error}): pip install 'rulesafe[robot]'; "
            "hands without it: dfx, none"
        ) from error

    return FtpHands(config)


DRIVERS: dict[str, Callable[[HandConfig, Publish], HandDriver]] = {
    "dfx": _dfx,
    "ftp": _ftp,
    "none": _none,
}


def _nothing(raw: bytes) -> None:
    """Where a driver has no topic to publish on."""


def load_driver(
    name: str, config: HandConfig = HandConfig(), publish: Publish = _nothing
) -> HandDriver:
    """The driver of that name. `publish` puts a raw unitree_go/MotorCmds on /inspire/cmd.

    Errors: RuleSafeError for an unknown name, and where pymodbus is missing that the hands need.
    """
    if name not in DRIVERS:
        raise unknown_name("hand", name, DRIVERS)
    return DRIVERS[name](config, publish)
