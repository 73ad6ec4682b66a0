"""What hostile clients do. Each attack runs in its own process, so that it does not share descriptors or CPU time with
the bystander, and returns plain data. All attacks end by themselves."""

import resource
import selectors
import socket
import time

PATIENCE = 15.0


def connect(address, receive_buffer: int = 0, source: str = "") -> socket.socket:
    peer = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    peer.settimeout(PATIENCE)
    if receive_buffer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    if source:
        peer.bind((source, 0))
    peer.connect(address)
    return peer


def status_of(raw: bytes) -> int:
    """The status of the first answer; 0 if there is none."""
    return int(raw[9:12]) if raw.startswith(b"HTTP/1.") and len(raw) > 12 else 0


def read_rest(peer: socket.socket) -> bytes:
    raw = b""
    try:
        while piece := peer.recv(65536):
            raw += piece
    except ConnectionError:
        pass
    return raw


def send_raw(address, requests: list[bytes]) -> list[dict]:
    """Sends each request on its own connection. Returns what was received until the server closed it, and when."""
    out = []
    for request in requests:
        begin = time.monotonic()
        with connect(address) as peer:
            try:
                peer.sendall(request)
            except ConnectionError:
                pass  # The server answered without reading the whole request.
            raw = read_rest(peer)
        out.append({"status": status_of(raw), "raw": raw, "seconds": time.monotonic() - begin})
    return out


def pour(address, head: bytes, piece: bytes, pieces: int, connections: int) -> dict:
    """Sends a head and then many pieces on several connections at once, until the server closes them."""
    begin = time.monotonic()
    peers = [connect(address) for _ in range(connections)]
    sent, statuses = [], []
    for peer in peers:
        peer.sendall(head)
    total = {peer: 0 for peer in peers}
    open_peers = set(peers)
    for _ in range(pieces):
        for peer in list(open_peers):
            try:
                peer.sendall(piece)
                total[peer] += len(piece)
            except OSError:
                open_peers.discard(peer)
        if not open_peers:
            break
    for peer in peers:
        statuses.append(status_of(read_rest(peer)))
        sent.append(total[peer])
        peer.close()
    return {"statuses": statuses, "sent": max(sent), "seconds": time.monotonic() - begin}


def leave_halfway(address, starts: list[bytes], times: int) -> dict:
    """Sends the beginning of a request and leaves, alternately with an orderly close and with a reset."""
    for i in range(times):
        for start in starts:
            with connect(address) as peer:
                if i % 2:
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                peer.sendall(start)
    return {"left": times * len(starts)}


def trickle(address, start: bytes, byte: bytes, pause: float, connections: int, give_up: float) -> dict:
    """Begins a request on each connection and sends one byte on each after every pause, until all are closed."""
    begin = time.monotonic()
    peers = {connect(address): b"" for _ in range(connections)}
    closed_after, statuses = [], []
    for peer in peers:
        peer.sendall(start)
        peer.setblocking(False)
    while peers and time.monotonic() - begin < give_up:
        time.sleep(pause)
        for peer in list(peers):
            try:
                peers[peer] += (piece := peer.recv(65536))
                done = not piece
            except BlockingIOError:
                done = False
            except OSError:
                done = True
            if not done:
                try:
                    peer.send(byte)
                except OSError:
                    pass  # The answer has not been read yet.
                continue
            statuses.append(status_of(peers.pop(peer)))
            closed_after.append(time.monotonic() - begin)
            peer.close()
    left = len(peers)
    for peer in peers:
        peer.close()
    return {"statuses": statuses, "left": left, "first": min(closed_after, default=0.0),
            "last": max(closed_after, default=0.0)}


def crawl(address, request: bytes, connections: int, give_up: float) -> dict:
    """Requests a large answer and reads one byte per second of it through a tiny window, until the server cuts it."""
    established = 1
    begin = time.monotonic()
    peers = [connect(address, receive_buffer=2048) for _ in range(connections)]
    for peer in peers:
        peer.sendall(request)
    cut_after = []
    while peers and time.monotonic() - begin < give_up:
        time.sleep(1.0)
        for peer in list(peers):
            if peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == established:
                try:
                    peer.recv(1)
                    continue
                except OSError:
                    pass
            cut_after.append(time.monotonic() - begin)
            peers.remove(peer)
            peer.close()
    for peer in peers:
        peer.close()
    return {"left": len(peers), "last": max(cut_after, default=0.0)}


def crowd(address, start: bytes, connections: int, hold: float) -> dict:
    """Opens many connections as fast as it can, from several addresses, and sends the same beginning on each and
    nothing more. Returns when the server has closed them."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    begin = time.monotonic()
    selector = selectors.DefaultSelector()
    refused, statuses = 0, {}
    for i in range(connections):
        try:
            peer = connect(address, source=f"127.0.0.{2 + i % 5}")
            if start:
                peer.sendall(start)
        except OSError:
            refused += 1
            continue
        peer.setblocking(False)
        selector.register(peer, selectors.EVENT_READ)
    opened = time.monotonic() - begin
    left, last = connections - refused, 0.0
    while left and time.monotonic() - begin < hold:
        for key, _ in selector.select(0.2):
            try:
                raw = key.fileobj.recv(4096)
            except BlockingIOError:
                continue
            except OSError:
                raw = b""
            if raw:
                statuses[status_of(raw)] = statuses.get(status_of(raw), 0) + 1
                continue
            selector.unregister(key.fileobj)
            key.fileobj.close()
            left -= 1
            last = time.monotonic() - begin
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return {"refused": refused, "opened": opened, "left": left, "last": last, "statuses": statuses}
