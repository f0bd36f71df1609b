"""Driver of Inspire FTP hands: each hand is a Modbus TCP server with its own client thread.

Commanded and measured angles are 0 (closed) to 1000 (open) in six registers; -1 does not change a
finger's target. Speed and force limits are written at each connection, before any angle.

Sources disagree on which address is the left hand's. The driver therefore has a fault until the
right hand was identified by `identify`, and also while another Modbus client writes angles.
"""

import threading
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pymodbus.client import ModbusTcpClient
from pymodbus.exceptions import ModbusException

from h1_2_bridge.config import BridgeParameters
from h1_2_bridge.hands import (
    DRIVER_JOINTS,
    FINGERS,
    SIDES,
    Array,
    Calibration,
    HandState,
    Registers,
)
from h1_2_bridge.realtime import steady_ns
from rulesafe_core.errors import RuleSafeError

FULL = 1000
"""Register value of an open finger."""

NO_CHANGE = 0xFFFF
"""Register value -1: the target of the finger does not change."""

DEVICE = 1
"""Modbus unit of a hand."""

RATE = 50.0
"""Rate at which a hand is read, Hz."""

TIMEOUT = 0.2
"""Timeout of connections and responses, s."""

CHECK_EVERY = 5
"""Number of readings after which the commanded angles are read back."""

FOREIGN_TIME = 2.0
"""Time (s) for which the hand has a fault after another client has written angles."""

INDEX_FINGER = 3
"""Index of the finger that `identify` moves."""


def to_registers(shares: Array) -> list[int]:
    """Convert hand units (6,) in 0..1 to register values; NaN becomes NO_CHANGE."""
    counts = np.rint(np.nan_to_num(shares) * FULL).astype(int)
    return [NO_CHANGE if np.isnan(s) else int(c) for s, c in zip(shares, counts, strict=True)]


def signed(registers: Sequence[int]) -> Array:
    """Interpret registers as signed 16-bit numbers."""
    return np.array(registers, np.uint16).view(np.int16).astype(np.float64)


OTHER_CLIENT = "{}: another Modbus client writes to it; end that program"


class FtpHand:
    """One hand and its client thread.

    Args:
        side: "right" or "left", for messages.
        host: address of the hand.
        calibration: calibration of this hand.
        registers: addresses.
        config: port and limits; in a dry run nothing is written to the hand, not even limits.
    """

    def __init__(
        self,
        side: str,
        host: str,
        calibration: Calibration,
        registers: Registers,
        config: BridgeParameters,
    ) -> None:
        self._name, self._host = f"{side} hand at {host}:{config.hand_port}", host
        self._calibration, self._registers, self._config = calibration, registers, config
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._target: Array | None = None  # hand units, to be written next
        self._positions, self._force = np.full(FINGERS, np.nan), np.full(FINGERS, np.nan)
        self._stamp = 0
        self._fault = f"{self._name}: no response yet"
        self._thread = threading.Thread(target=self._run, name=f"ftp {side}", daemon=True)
        self._thread.start()

    def command(self, positions: Array) -> None:
        """Command joint targets (6,), rad, which replace targets that are not sent yet."""
        if self._config.dry_run or np.isnan(positions).all():
            return
        shares = self._calibration.to_hand(positions)
        with self._lock:
            if self._target is not None:
                shares = np.where(np.isnan(shares), self._target, shares)
            self._target = shares

    def read(self) -> tuple[Array, Array, int, str]:
        """Return positions (6,), force (6,), stamp (ns, 0: never) and fault."""
        with self._lock:
            return self._positions, self._force, self._stamp, self._fault

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(10 * TIMEOUT)

    def _run(self) -> None:
        while not self._stop.is_set():
            port = self._config.hand_port
            client = ModbusTcpClient(self._host, port=port, timeout=TIMEOUT, retries=0)
            try:
                if not client.connect():
                    raise ConnectionError("cannot connect")
                self._serve(client)
            except (ModbusException, OSError) as error:
                with self._lock:
                    # A target from before the disconnection must not be sent after reconnecting.
                    self._target = None
                    self._fault = f"{self._name}: {error}"
            finally:
                client.close()
            self._stop.wait(TIMEOUT)

    def _serve(self, client: ModbusTcpClient) -> None:
        """Read and write a connected hand until it fails or the driver is closed."""
        registers = self._registers
        self._write_limits(client)
        limits = self._limits(client)
        due = time.monotonic()
        expected = self._read(client, registers.angle_set)  # NaN: unknown
        readings, foreign_until = 0, 0.0
        while not self._stop.is_set():
            angles = self._read(client, registers.angle_actual)
            force = self._read(client, registers.force_actual)
            readings += 1
            if readings % CHECK_EVERY == 0:
                commanded = self._read(client, registers.angle_set)
                foreign = bool((np.isfinite(expected) & (commanded != expected)).any())
                if (self._limits(client) != limits).any():
                    foreign = True
                    self._write_limits(client)
                if foreign:
                    foreign_until = time.monotonic() + FOREIGN_TIME
                expected = commanded
            fault = "" if time.monotonic() >= foreign_until else OTHER_CLIENT.format(self._name)
            with self._lock:
                self._positions = self._calibration.from_hand(angles / FULL)
                self._force, self._stamp, self._fault = force, steady_ns(), fault
                target, self._target = self._target, None
            if target is not None:
                values = to_registers(target)
                self._write(client, registers.angle_set, values)
                # What the hand stores for a target that does not change is not known.
                expected = np.where(np.array(values) == NO_CHANGE, np.nan, signed(values))
            due = max(due + 1 / RATE, time.monotonic())
            self._stop.wait(due - time.monotonic())

    def _write_limits(self, client: ModbusTcpClient) -> None:
        if not self._config.dry_run:
            for address, limit in (
                (self._registers.speed_set, self._config.hand_speed_limit),
                (self._registers.force_set, self._config.hand_force_limit),
            ):
                self._write(client, address, [limit] * FINGERS)

    def _limits(self, client: ModbusTcpClient) -> Array:
        """Return the limits of speed and force (2, 6) that the hand has stored."""
        addresses = self._registers.speed_set, self._registers.force_set
        return np.stack([self._read(client, address) for address in addresses])

    def _read(self, client: ModbusTcpClient, address: int) -> Array:
        response = client.read_holding_registers(address, count=FINGERS, device_id=DEVICE)
        if response.isError() or len(response.registers) != FINGERS:
            raise ConnectionError(f"cannot read {FINGERS} registers at {address}: {response}")
        return signed(response.registers)

    def _write(self, client: ModbusTcpClient, address: int, values: list[int]) -> None:
        response = client.write_registers(address, values, device_id=DEVICE)
        if response.isError():
            raise ConnectionError(f"cannot write registers at {address}: {response}")


class FtpHands:
    """Implements hands.HandDriver; a left hand without an address is not used."""

    joints = DRIVER_JOINTS

    def __init__(
        self, right: Calibration, left: Calibration, registers: Registers, config: BridgeParameters
    ) -> None:
        if not config.hand_right_host:
            raise RuleSafeError("hand:=ftp needs the right hand's address: set hand_right_host")
        if config.hand_left_host == config.hand_right_host:
            raise RuleSafeError(
                f"hand_right_host and hand_left_host are both {config.hand_right_host}: set "
                "hand_left_host to the address of the other hand, or to nothing"
            )
        self._timeout = config.hand_timeout
        self._unidentified = ""
        if config.hand_identified != config.hand_right_host and not config.dry_run:
            self._unidentified = (
                f"the right hand at {config.hand_right_host} is not identified: run rulesafe "
                f"bridge identify --address {config.hand_right_host}, then set hand_identified to "
                "the address of the hand that moved"
            )
        hosts = (config.hand_right_host, config.hand_left_host)
        self._hands = [
            FtpHand(side, host, calibration, registers, config) if host else None
            for side, host, calibration in zip(SIDES, hosts, (right, left), strict=True)
        ]

    def command(self, positions: NDArray, now: int) -> None:
        for i, hand in enumerate(self._hands):
            if hand is not None:
                part = np.asarray(positions, np.float64)[i * FINGERS : (i + 1) * FINGERS]
                hand.command(part)

    def receive(self, raw: bytes, now: int) -> None:
        """Do nothing: FTP hands have no topic."""

    def state(self, now: int) -> HandState | None:
        positions, force = np.full((2, FINGERS), np.nan), np.full((2, FINGERS), np.nan)
        stamps: list[int] = []
        faults: list[str] = [self._unidentified] if self._unidentified else []
        for i, hand in enumerate(self._hands):
            if hand is None:
                continue
            positions[i], force[i], stamp, fault = hand.read()
            stamps.append(stamp)
            if not fault and (age := (now - stamp) / 1e9) > self._timeout:
                fault = f"{SIDES[i]} hand: no response for {age:.2f} s"
            if fault:
                faults.append(fault)
        return HandState(positions.ravel(), min(stamps), force.ravel(), "; ".join(faults))

    def close(self) -> None:
        for hand in self._hands:
            if hand is not None:
                hand.close()


def identify(host: str, port: int, registers: Registers, pause: float = 1.0) -> None:
    """Bend and stretch the index finger of the hand at `host` twice, slowly and with little force.

    Args:
        host: address.
        port: TCP port.
        registers: addresses.
        pause: time for each movement, s.

    Raises:
        RuleSafeError: the hand does not respond.
    """
    client = ModbusTcpClient(host, port=port, timeout=5 * TIMEOUT, retries=0)

    def write(address: int, values: list[int]) -> None:
        if client.write_registers(address, values, device_id=DEVICE).isError():
            raise ConnectionError(f"cannot write registers at {address}")

    try:
        if not client.connect():
            raise ConnectionError("cannot connect")
        response = client.read_holding_registers(
            registers.angle_actual, count=FINGERS, device_id=DEVICE
        )
        if response.isError():
            raise ConnectionError(f"cannot read registers at {registers.angle_actual}")
        angle = int(np.clip(signed(response.registers)[INDEX_FINGER], 0, FULL))
        moved = angle - FULL // 4 if angle > FULL // 2 else angle + FULL // 4
        write(registers.speed_set, [100] * FINGERS)
        write(registers.force_set, [100] * FINGERS)
        for target in (moved, angle, moved, angle):
            values = [NO_CHANGE] * FINGERS
            values[INDEX_FINGER] = target
            write(registers.angle_set, values)
            time.sleep(pause)
    except (ModbusException, OSError) as error:
        raise RuleSafeError(f"hand at {host}:{port}: {error}") from error
    finally:
        client.close()
