"""HTTP/1.1 over raw sockets: the test controls every byte, so that it can cut, stall and count."""

import json
import socket
import time
from dataclasses import dataclass

from sse import Frame, SseParser

DEFAULT_TIMEOUT = 20.0


class HttpError(Exception):
    """The peer broke HTTP/1.1."""


class Cut(HttpError):
    """The connection ended before the message did."""


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes = b""

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error_code(self) -> str | None:
        try:
            return self.json["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None


class BodyDecoder:
    """Removes the transfer coding from a body, piece by piece. `done` is true once the body is complete."""

    def __init__(self, status: int, headers: dict[str, str]):
        self._buffer = b""
        self._left = 0
        self.done = status == 204
        if self.done:
            self._step = self._nothing
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            self._step = self._chunk_size
        elif "content-length" in headers:
            self._left = int(headers["content-length"])
            self.done = self._left == 0
            self._step = self._counted
        else:
            self._step = self._until_eof

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        out = []
        while not self.done:
            piece = self._step()
            if piece is None:
                break
            out.append(piece)
        return b"".join(out)

    def eof(self) -> None:
        """The peer closed the connection. This is an orderly end only for a body that ends with the connection."""
        if self._step == self._until_eof:
            self.done = True
        if not self.done:
            raise Cut("closed inside the body")

    # Each step consumes bytes from the buffer and returns what it decoded, or None if it needs more bytes.

    def _nothing(self) -> None:
        return None

    def _take(self, count: int) -> bytes:
        piece, self._buffer = self._buffer[:count], self._buffer[count:]
        return piece

    def _until_eof(self) -> bytes | None:
        return self._take(len(self._buffer)) or None

    def _counted(self) -> bytes | None:
        piece = self._take(self._left)
        self._left -= len(piece)
        self.done = self._left == 0
        return piece or None

    def _chunk_size(self) -> bytes | None:
        line, found, rest = self._buffer.partition(b"\r\n")
        if not found:
            return None
        try:
            self._left = int(line.split(b";")[0], 16)
        except ValueError as error:
            raise HttpError(f"bad chunk size {line[:80]!r}") from error
        self._buffer = rest
        self._step = self._chunk_data if self._left else self._trailer
        return b""

    def _chunk_data(self) -> bytes | None:
        piece = self._take(self._left)
        self._left -= len(piece)
        if self._left == 0:
            self._step = self._chunk_end
        return piece or None

    def _chunk_end(self) -> bytes | None:
        if len(self._buffer) < 2:
            return None
        if self._take(2) != b"\r\n":
            raise HttpError("chunk does not end in CR LF")
        self._step = self._chunk_size
        return b""

    def _trailer(self) -> bytes | None:
        line, found, rest = self._buffer.partition(b"\r\n")
        if not found:
            return None
        self._buffer = rest
        self.done = line == b""
        return b""


class Connection:
    """One request on one connection. `read_body` returns body bytes as they come, and b"" when the body is complete."""

    def __init__(self, address: tuple[str, int], timeout: float = DEFAULT_TIMEOUT, receive_buffer: int | None = None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(address)
        except BaseException:
            self.socket.close()
            raise
        self._host = f"{address[0]}:{address[1]}"
        self._rest = b""
        self.status = 0
        self.headers: dict[str, str] = {}
        self._decoder: BodyDecoder | None = None
        self._method = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, method: str, target: str, headers: dict[str, str], body: bytes | None = None) -> None:
        self._method = method
        lines = {"Host": self._host, "Connection": "close", **headers}
        if body is not None:
            lines["Content-Length"] = str(len(body))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.socket.sendall(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + (body or b""))

    def read_head(self) -> None:
        raw = b""
        while b"\r\n\r\n" not in raw:
            piece = self.socket.recv(65536)
            if not piece:
                raise Cut("closed before the header's end")
            raw += piece
        head, _, self._rest = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status, *_ = first.split(" ", 2)
        if version != "HTTP/1.1":
            raise HttpError(f"bad status line {first!r}")
        self.status = int(status)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (l.partition(":") for l in lines)}
        self._decoder = BodyDecoder(204 if self._method == "HEAD" else self.status, self.headers)

    def read_body(self, limit: int = 65536) -> bytes:
        while not self._decoder.done:
            if self._rest:
                data, self._rest = self._rest, b""
            else:
                data = self.socket.recv(limit)
                if not data:
                    self._decoder.eof()
                    return b""
            piece = self._decoder.feed(data)
            if piece:
                return piece
        return b""

    def response(self) -> Response:
        self.read_head()
        body = b""
        while piece := self.read_body():
            body += piece
        return Response(self.status, self.headers, body)


class EventStream:
    """An open event stream: its frames as they come, and all raw bytes that were read."""

    def __init__(self, connection: Connection):
        self.connection = connection
        self.parser = SseParser()
        self.raw = b""
        self.ended = False  # True once the server has ended the stream in order.
        self._ready: list[Frame] = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def status(self) -> int:
        return self.connection.status

    @property
    def headers(self) -> dict[str, str]:
        return self.connection.headers

    def close(self) -> None:
        self.connection.close()

    def give_up_after(self, seconds: float) -> None:
        """From here on, a read that brings nothing for this long raises an OSError."""
        self.connection.socket.settimeout(seconds)

    def next(self) -> Frame | None:
        """The next frame, or None at the orderly end. Raises Cut or OSError if the connection broke."""
        while not self._ready:
            if not self.read_some():
                return None
        return self._ready.pop(0)

    def read_some(self) -> bool:
        piece = self.connection.read_body()
        if not piece:
            self.ended = True
            return False
        self.raw += piece
        self._ready += self.parser.feed(piece)
        return True

    def read_until(self, count: int) -> bytes:
        """At least `count` raw bytes of the body, or fewer if the body ends before."""
        while len(self.raw) < count and self.read_some():
            pass
        return self.raw

    def __iter__(self):
        while (frame := self.next()) is not None:
            yield frame

    def wait_for(self, condition, timeout: float = DEFAULT_TIMEOUT) -> bool:
        """Reads until `condition()` holds. False if the stream ends or the time is over before that."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline or not self.read_some():
                return condition()
        return True


class Http:
    """A server's address and a caller's token."""

    def __init__(self, address: tuple[str, int], token: str | None = None):
        self.address = address
        self.token = token

    def headers(self, extra: dict[str, str] | None) -> dict[str, str]:
        base = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**base, **(extra or {})}

    def request(self, method: str, target: str, body=None, headers: dict[str, str] | None = None,
                timeout: float = DEFAULT_TIMEOUT) -> Response:
        """A `body` of bytes is sent unchanged, any other as JSON."""
        headers = self.headers(headers)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with Connection(self.address, timeout) as connection:
            try:
                connection.send(method, target, headers, body)
            except BrokenPipeError:
                pass  # The server answered without reading the whole body, as it does with 413.
            return connection.response()

    def get(self, target: str, **kw) -> Response:
        return self.request("GET", target, **kw)

    def post(self, target: str, body=None, **kw) -> Response:
        return self.request("POST", target, body, **kw)

    def open(self, method: str, target: str, body=None, headers: dict[str, str] | None = None,
             timeout: float = DEFAULT_TIMEOUT, receive_buffer: int | None = None) -> EventStream:
        """Sends the request and reads the head. The caller reads the body."""
        headers = {"Accept": "text/event-stream", **self.headers(headers)}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(body).encode()
        connection = Connection(self.address, timeout, receive_buffer)
        try:
            connection.send(method, target, headers, body)
            connection.read_head()
        except BaseException:
            connection.close()
            raise
        return EventStream(connection)
