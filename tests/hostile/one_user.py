"""What one user does against the others, within the server's limits. Each attack runs in its own process until it is
told to stop, and returns plain data.

Attackers are `nice` and limit their rate, because they share two cores with the server and with the neighbour whose
answers are measured: the test is about the work that they cause in the server, not about the CPU time that they use."""

import json
import os
import selectors
import socket
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from attacks import connect, read_rest, status_of  # noqa: E402
from runnel_server import Api, run_input  # noqa: E402

NICENESS = 10
LONGEST = 40.0  # The longest duration of an attack, in seconds.


def until(stop):
    """Returns a function that is true while the attack is to go on."""
    deadline = time.monotonic() + LONGEST
    return lambda: not stop.is_set() and time.monotonic() < deadline


def run_in_process(attack, stop, results, args) -> None:
    os.nice(NICENESS)
    results.send(attack(until(stop), *args))


def request(api: Api, method: str, target: str, *fields: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {api.token}", *fields]
    return "\r\n".join([*lines, "", ""]).encode()


def slow_readers(go_on, address, token: str, targets: list[str], count: int) -> dict:
    """Readers that read one byte every 0.25 s through a tiny window. A reader that was refused or cut is replaced."""
    api, statuses, peers = Api(address, token), Counter(), {}
    number = 0
    while go_on():
        while len(peers) < count:
            peer = connect(address, receive_buffer=2048)
            peer.sendall(request(api, "GET", targets[number % len(targets)]))
            peer.setblocking(False)
            peers[peer] = b""
            number += 1
            time.sleep(0.002)
        time.sleep(0.25)
        for peer in list(peers):
            try:
                piece = peer.recv(16 if not peers[peer] else 1)
            except BlockingIOError:
                continue
            except OSError:
                piece = b""
            if not peers[peer] and piece:
                statuses[status_of(piece)] += 1
            peers[peer] += piece
            if not piece or status_of(peers[peer]) not in (0, 200):
                peer.close()
                del peers[peer]
    for peer in peers:
        peer.close()
    return {"statuses": dict(statuses), "asked": number}


def fast_readers(go_on, address, token: str, targets: list[str], count: int, rate: float) -> dict:
    """Reads whole answers on `count` connections, at most `rate` answers per second in total."""
    api, statuses, number = Api(address, token), Counter(), 0
    selector = selectors.DefaultSelector()
    begin, open_peers, read = time.monotonic(), 0, 0
    while go_on():
        while open_peers < count and number < rate * (time.monotonic() - begin) + 1:
            peer = connect(address)
            peer.sendall(request(api, "GET", targets[number % len(targets)], "Connection: close"))
            peer.setblocking(False)
            selector.register(peer, selectors.EVENT_READ, b"")
            number, open_peers = number + 1, open_peers + 1
        for key, _ in selector.select(0.05):
            try:
                piece = key.fileobj.recv(1 << 20)
            except OSError:
                piece = b""
            read += len(piece)
            if piece and not key.data:
                statuses[status_of(piece)] += 1
                selector.modify(key.fileobj, selectors.EVENT_READ, b"x")
            if not piece:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                open_peers -= 1
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return {"statuses": dict(statuses), "asked": number, "MiB": read >> 20}


def withhold_the_last_byte(go_on, address, token: str, size: int, count: int, chunked: bool) -> dict:
    """Sends `count` bodies of this size at once, each without its last 64 KiB. A body that is refused is sent again. At
    most 200 MiB per second are sent."""
    api, statuses, holding = Api(address, token), Counter(), []
    most = 0
    piece = 1 << 16
    block = b" " * piece
    if chunked:
        head, block = request(api, "POST", "/api/v1/agent/runs", "Transfer-Encoding: chunked"), \
            f"{piece:x}\r\n".encode() + block + b"\r\n"
    else:
        head = request(api, "POST", "/api/v1/agent/runs", f"Content-Length: {size}")
    while go_on():
        for peer in [peer for peer in holding if answered(peer)]:
            statuses[status_of(read_rest(peer))] += 1
            peer.close()
            holding.remove(peer)
        if len(holding) == count:
            time.sleep(0.05)
            continue
        peer = connect(address)
        try:
            peer.sendall(head)
            for _ in range(size // piece - 1):
                peer.sendall(block)
                time.sleep(piece / (200 << 20))
                if answered(peer):
                    break
        except OSError:
            pass  # The server answered without reading the whole body.
        holding.append(peer)
        most = max(most, len(holding))
        time.sleep(0.02)  # At most 50 requests per second.
    for peer in holding:
        peer.close()
    return {"statuses": dict(statuses), "held": most}


def answered(peer: socket.socket) -> bool:
    peer.settimeout(0)
    try:
        peer.recv(1, socket.MSG_PEEK)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        peer.settimeout(15.0)


def post_bodies(go_on, address, token: str, bodies: list[bytes], connections: int, rate: float) -> dict:
    """Sends the bodies in turn on `connections` connections, at most `rate` per second on each. Each waits for its
    answer."""
    patience = 30.0
    api, statuses, codes = Api(address, token), Counter(), Counter()
    heads = [request(api, "POST", "/api/v1/agent/runs", "Content-Type: application/json",
                     f"Content-Length: {len(body)}", "Connection: close") for body in bodies]
    due = [time.monotonic() + i / rate / connections for i in range(connections)]
    peers: dict[int, list] = {}
    number, slowest = 0, 0.0
    while go_on():
        now = time.monotonic()
        for i in range(connections):
            if i not in peers and due[i] <= now:
                due[i] = now + 1 / rate
                peer = connect(address)
                try:
                    peer.sendall(heads[number % len(bodies)] + bodies[number % len(bodies)])
                except OSError:
                    pass  # The server answered without reading the whole body.
                peers[i] = [peer, now]
                number += 1
        for i, (peer, since) in list(peers.items()):
            if not answered(peer) and now - since < patience:
                continue
            raw = read_rest(peer) if answered(peer) else b""
            slowest = max(slowest, time.monotonic() - since)
            statuses[status_of(raw)] += 1
            if b'"code":"' in raw:
                codes[raw.split(b'"code":"')[1].split(b'"')[0].decode()] += 1
            peer.close()
            del peers[i]
        time.sleep(0.005)
    for peer, _ in peers.values():
        peer.close()
    return {"statuses": dict(statuses), "codes": dict(codes), "asked": number, "slowest": slowest}


def start_runs(go_on, address, token: str, threads: list[str], rate: float, forwarded: dict | None = None) -> dict:
    """Starts runs on these threads in turn, `rate` per second, each with the message `hi`."""
    api, statuses, number = Api(address, token), Counter(), 0
    while go_on():
        answer = api.post_run(run_input("hi", thread=threads[number % len(threads)], forwarded=forwarded), timeout=30)
        statuses[answer.status] += 1
        number += 1
        time.sleep(1 / rate)
    return {"statuses": dict(statuses)}


def delete_threads(go_on, address, token: str, threads: list[str], pause: float) -> dict:
    """Deletes the threads one after the other."""
    api, statuses, slowest = Api(address, token), Counter(), 0.0
    for thread in threads:
        if not go_on():
            break
        begin = time.monotonic()
        statuses[api.request("DELETE", f"/api/v1/agent/threads/{thread}", timeout=30).status] += 1
        slowest = max(slowest, time.monotonic() - begin)
        time.sleep(pause)
    while go_on():
        time.sleep(0.05)
    return {"statuses": dict(statuses), "slowest": slowest}


def body_with(**fields) -> bytes:
    return json.dumps({**run_input("hi"), **fields}, separators=(",", ":")).encode()
