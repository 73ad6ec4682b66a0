"""A WebSocket as RFC 6455 has it, frame by frame, so that a test can also do what no client should."""

import base64
import json
import os
import socket
import struct
from dataclasses import dataclass
from urllib.parse import quote, urlencode

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


class Refused(Exception):
    """The server did not become a WebSocket. `status` and `body` are its answer."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes):
        super().__init__(f"{status}: {body[:200]!r}")
        self.status, self.headers, self.body = status, headers, body


@dataclass
class Frame:
    opcode: int
    payload: bytes
    final: bool = True

    @property
    def code(self) -> int | None:
        return struct.unpack(">H", self.payload[:2])[0] if self.opcode == CLOSE and self.payload else None


def frame_bytes(opcode: int, payload: bytes = b"", final: bool = True, masked: bool = True, reserved: int = 0,
                length: int | None = None) -> bytes:
    """A frame of a client. `length` is what its head says, if that is not the length of the payload."""
    size = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | reserved | opcode])
    bit = 0x80 if masked else 0
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


class WebSocket:
    def __init__(self, address: tuple[str, int], target: str, headers: dict[str, str] | None = None, timeout: float = 20,
                 receive_buffer: int | None = None, early: bytes = b""):
        """`early` is sent with the request, behind its head."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        lines = {"Host": f"{address[0]}:{address[1]}", "Upgrade": "websocket", "Connection": "Upgrade",
                 "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                 **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        self.socket.sendall(f"GET {target} HTTP/1.1\r\n{head}\r\n".encode() + early)
        self._rest = b""
        self._read_head()

    def _read_head(self) -> None:
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.status = int(first.split(" ")[1])
        if self.status != 101:
            size = int(self.headers.get("content-length", "0"))
            while len(self._rest) < size:
                self._more()
            self.socket.close()
            raise Refused(self.status, self.headers, self._rest[:size])

    def _more(self) -> None:
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("closed without a close frame")
        self._rest += piece

    def _take(self, size: int) -> bytes:
        while len(self._rest) < size:
            self._more()
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def read(self) -> Frame:
        first, second = self._take(2)
        assert not second & 0x80, "a server's frames are not masked"
        assert not first & 0x70, "no extension was agreed on"
        size = second & 0x7F
        if size == 126:
            size = struct.unpack(">H", self._take(2))[0]
            assert size > 125
        elif size == 127:
            size = struct.unpack(">Q", self._take(8))[0]
            assert size > 65535
        return Frame(first & 0x0F, self._take(size), bool(first & 0x80))

    def read_to_close(self) -> tuple[list[dict], int | None]:
        """The messages up to the close frame, which is answered, and its code."""
        events = []
        while True:
            frame = self.read()
            if frame.opcode == TEXT:
                events.append(json.loads(frame.payload))
            elif frame.opcode == PING:
                self.send(PONG, frame.payload)
            elif frame.opcode == CLOSE:
                self.send(CLOSE, frame.payload[:2])
                return events, frame.code

    def read_event(self) -> dict:
        while True:
            frame = self.read()
            if frame.opcode == TEXT:
                return json.loads(frame.payload)
            assert frame.opcode == PING, frame
            self.send(PONG, frame.payload)

    def send(self, opcode: int, payload: bytes = b"", **how) -> None:
        self.socket.sendall(frame_bytes(opcode, payload, **how))

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def is_closed(self) -> bool:
        """Whether the server closes the connection; what it still sends is dropped."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True

    def close(self) -> None:
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def follow(api, task: str, start: int | None = None, headers: dict[str, str] | None = None, ticket: str | None = None,
           kind: type[WebSocket] = WebSocket, **how) -> WebSocket:
    query = urlencode({key: value for key, value in (("from", start), ("ticket", ticket)) if value is not None})
    path = f"/api/v1/tasks/{quote(task, safe='')}/ws" + (f"?{query}" if query else "")
    token = {} if ticket is not None else {"Authorization": f"Bearer {api.token}"}
    return kind(api.address, path, {**token, **(headers or {})}, **how)
