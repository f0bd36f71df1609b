"""Modbus interface of an Inspire FTP hand: a pymodbus server whose fingers reach their targets
immediately."""

import asyncio
import socket
import threading

from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

ANGLE_SET, FORCE_SET, SPEED_SET, ANGLE_ACTUAL, FORCE_ACTUAL = 1486, 1498, 1522, 1546, 1582
NO_CHANGE = 0xFFFF


def free_port() -> int:
    """Return a free TCP port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FtpServer:
    """One hand at 127.0.0.1:`port`.

    Attributes:
        writes: all writes, (address, values), in order.
        angles: measured angles (6,), 0..1000.
        answering: if False, requests get no response.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port or free_port()
        self.writes: list[tuple[int, list[int]]] = []
        self.angles = [1000, 900, 800, 700, 600, 500]
        self.force = [10, 20, 30, 40, 50, 0xFFFF - 59]
        self.answering = True
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.shutdown(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._begin())
        self._loop.run_forever()

    async def _begin(self) -> None:
        registers = [SimData(0, count=2000, values=0, datatype=DataType.REGISTERS)]
        device = SimDevice(id=1, simdata=registers, action=self._action)
        self._server = ModbusTcpServer(device, address=("127.0.0.1", self.port))
        await self._server.serve_forever(background=True)
        self._ready.set()

    async def _action(self, function, start, address, count, registers, values) -> None:
        while not self.answering:
            await asyncio.sleep(0.01)
        if values is not None:
            self.writes.append((address, list(values)))
            if address == ANGLE_SET:
                told = zip(values, self.angles, strict=True)
                self.angles = [old if new == NO_CHANGE else new for new, old in told]
        for base, shown in ((ANGLE_ACTUAL, self.angles), (FORCE_ACTUAL, self.force)):
            registers[base - start : base - start + 6] = shown
