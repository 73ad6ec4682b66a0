"""The fake provider's HTTP/1.1: reads requests, sends answers exactly as given, and records every connection."""

import asyncio
import json
import socket
import struct
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Callable

from fake_answer import Answer, End, Framing

WRITES_BETWEEN_YIELDS = 64  # A fast answer yields to the other tasks of the event loop after this many writes.


@dataclass(eq=False)
class ConnectionRecord:
    """One connection as the provider sees it."""

    number: int
    opened: float = field(default_factory=time.monotonic)
    closed: float | None = None
    closed_by: str | None = None  # "client" or "provider". A client that only stops sending counts as closed, too.


@dataclass(eq=False)
class Request:
    """One request, and how much of its answer has been sent."""

    method: str
    target: str
    headers: dict[str, str]  # Names in lower case.
    body: bytes
    connection: ConnectionRecord
    arrived: float = field(default_factory=time.monotonic)
    status: int | None = None  # Set when the head is sent.
    sent: int = 0  # Bytes of the body, without the transfer coding.
    outcome: str | None = None  # "sent", "dropped", "abandoned" (the client left before the end); None until the end.

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def model(self) -> str | None:
        try:
            model = self.json.get("model")
        except (ValueError, AttributeError):
            return None
        return model if isinstance(model, str) else None


class BadRequest(Exception):
    """The request is not HTTP/1.1."""


async def read_head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]]:
    raw = await reader.readuntil(b"\r\n\r\n")
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    try:
        method, target, version = first.split(" ")
    except ValueError as error:
        raise BadRequest("request line") from error
    if version != "HTTP/1.1":
        raise BadRequest("version")
    return method, target, {name.strip().lower(): value.strip() for name, _, value in (l.partition(":") for l in lines)}


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return body


def phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"  # Some providers use statuses of their own, such as 529.


def head_of(answer: Answer) -> bytes:
    headers = dict(answer.headers)
    if answer.framing is Framing.CHUNKED:
        headers["Transfer-Encoding"] = "chunked"
    elif answer.framing is Framing.LENGTH:
        headers["Content-Length"] = str(sum(len(piece) for piece in answer.pieces))
    else:
        headers["Connection"] = "close"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.status} {phrase(answer.status)}\r\n{lines}\r\n".encode("latin-1")


class Connection(asyncio.Protocol):
    """Serves one connection. `respond` chooses the answer; `changed` is called whenever a record has changed."""

    def __init__(self, record: ConnectionRecord, respond: Callable[[Request], Answer], changed: Callable[[], None]):
        self.record = record
        self._respond, self._changed = respond, changed
        self._reader = asyncio.StreamReader(limit=1 << 20)
        self._writable = asyncio.Event()
        self._writable.set()

    # Called by asyncio.

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=0)  # "Writable" means that the kernel has accepted all bytes.
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes) -> None:
        self._reader.feed_data(data)

    def eof_received(self) -> bool:
        self._closed_by("client")
        self._transport.abort()
        return False

    def connection_lost(self, _: Exception | None) -> None:
        self._closed_by("client")
        self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # Called by the provider.

    def close(self) -> None:
        """Ends the connection at once, even in the middle of an answer."""
        self._closed_by("provider")
        self._transport.abort()

    def _closed_by(self, side: str) -> None:
        if self.record.closed_by is None:
            self.record.closed, self.record.closed_by = time.monotonic(), side
            self._changed()

    async def _serve(self) -> None:
        try:
            while await self._exchange():
                pass
        except (BadRequest, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # A malformed request gets no answer.
        finally:
            self._closed_by("provider")
            self._transport.close()

    async def _exchange(self) -> bool:
        """Reads one request and answers it. Returns whether another may follow."""
        method, target, headers = await read_head(self._reader)
        if headers.get("expect", "").lower() == "100-continue":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = Request(method, target, headers, await read_body(self._reader, headers), self.record)
        answer = self._respond(request)
        self._changed()
        try:
            request.outcome = await self._carry_out(answer, request)
        finally:
            request.outcome = request.outcome or "abandoned"
            self._changed()
        stays = answer.framing is not Framing.CLOSE and headers.get("connection", "").lower() != "close"
        return stays and request.outcome == "sent"

    async def _carry_out(self, answer: Answer, request: Request) -> str:
        if answer.headless:
            await self._hang()
        while answer.gate and not answer.gate.is_set():
            await asyncio.sleep(0.002)
        await asyncio.sleep(answer.head_delay)
        self._transport.write(head_of(answer))
        request.status = answer.status
        self._changed()
        await asyncio.sleep(answer.body_delay)
        await self._write_body(answer, request)
        if answer.end is End.HANG:
            await self._hang()
        if answer.end is End.RESET:
            self._linger_not()
        if answer.end is not End.ORDERLY:
            return "dropped"
        if answer.framing is Framing.CHUNKED:
            self._transport.write(b"0\r\n\r\n")
        await self._writable.wait()
        return "sent"

    async def _write_body(self, answer: Answer, request: Request) -> None:
        chunked = answer.framing is Framing.CHUNKED
        for count, data in enumerate(answer.writes()):
            if answer.delay or count % WRITES_BETWEEN_YIELDS == 0:
                await asyncio.sleep(answer.delay)
            self._transport.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
            request.sent += len(data)
            await self._writable.wait()
            if self._transport.is_closing():
                await self._hang()

    @staticmethod
    async def _hang() -> None:
        await asyncio.get_running_loop().create_future()  # Cancelled when the connection is lost.

    def _linger_not(self) -> None:
        """Makes the close of the connection send a TCP reset."""
        at_once = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
