"""A TCP proxy that loses connections: it passes on what it gets and closes some connections in the middle of an answer."""

import asyncio
import socket
import struct
import threading
from dataclasses import dataclass


@dataclass(eq=False)
class Exchange:
    """A request that came by, and the status of its answer."""

    target: str
    headers: dict[str, str]  # Names in lower case.
    cut_after: int | None = None  # Bytes of the answer, head included, after which the connection is lost.
    status: int | None = None
    passed: int = 0

    def note(self, data: bytes) -> int | None:
        """How many more bytes of the answer may pass, this piece included. None: all."""
        self.status = self.status or int(data.split(b" ", 2)[1])
        left = None if self.cut_after is None else self.cut_after - self.passed
        self.passed += len(data[:left])
        return left


class CuttingProxy:
    """`cuts`: after how many bytes the first, the second … answer to a request for a target that contains `path` is lost.
    Every second loss is a TCP reset. Only requests with GET are noted, each on its own."""

    def __init__(self, address: tuple[str, int], path: str, cuts: list[int]):
        self.port = 0
        self.exchanges: list[Exchange] = []  # Oldest first.
        self._address, self._path, self._cuts = address, path, list(cuts)
        self._resets = False
        self._started = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def of(self, path: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if path in exchange.target]

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(*self._address)
        current: list[Exchange] = []
        sides = [asyncio.create_task(self._requests(reader, up_writer, current)),
                 asyncio.create_task(self._answers(up_reader, writer, current))]
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in sides:
                side.cancel()
            await asyncio.gather(*sides, return_exceptions=True)
            writer.close()
            up_writer.close()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, current: list[Exchange]) -> None:
        while data := await reader.read(65536):
            if data.startswith(b"GET "):
                current[:] = [self._heard(data)]
            writer.write(data)
            await writer.drain()

    def _heard(self, data: bytes) -> Exchange:
        first, *lines = data.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        target = first.split(" ")[1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        exchange = Exchange(target, headers, self._cuts.pop(0) if self._path in target and self._cuts else None)
        self.exchanges.append(exchange)
        return exchange

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, current: list[Exchange]) -> None:
        while data := await reader.read(65536):
            left = current[0].note(data) if current else None
            writer.write(data[:left])
            await writer.drain()
            if left is not None and left <= len(data):
                return self._lose(writer)

    def _lose(self, writer: asyncio.StreamWriter) -> None:
        if self._resets:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._resets = not self._resets
