"""The program alone: it is started, asks once over descriptor 3, is read and reaped. All programs get the same."""

import json
import os
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from through import CLI, Times
from booking_flow import READ

PYTHON = "/usr/bin/python3"  # Debian's, with Debian's httpx and pydantic.
PYTHON_CLI = Path(__file__).resolve().with_name("python_cli.py")
CALL = ["calendar", "read", "--mode=day", "--format=json"]
INPUT = json.dumps(READ).encode()
DATA = {"count": 1, "items": [{"event_id": "01a1ec16-8101-73aa-ae2b-1063e412690e", "title": "Lunch",
                               "start_at": "2026-11-20T12:00:00+08:00", "end_at": "2026-11-20T13:00:00+08:00",
                               "timezone": "Asia/Shanghai", "location": None}]}
ENVIRONMENT = {"RUNNEL_TOOL_CREDENTIAL": "eyJhbGciOiJIUzI1NiJ9." + "x" * 250 + "." + "y" * 43}


def http_answer() -> bytes:
    body = json.dumps(DATA).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (
        len(body), body)


ANSWER = http_answer()


def confined() -> dict[str, str]:
    """The environment with which the server starts it."""
    user = " --user=65534:65534" if os.geteuid() == 0 else ""
    return {**ENVIRONMENT, "RUNNEL_SANDBOX": f"--parent={os.getpid()} --memory=268435456 --cpu=30{user}"}


@dataclass(frozen=True)
class Program:
    name: str
    command: list[str]
    weight: int  # How often it is called for each call of the slowest one.
    environment: dict[str, str]


PROGRAMS = (Program("project_cli", [str(CLI), *CALL], 6, ENVIRONMENT),
            Program("project_cli in the sandbox", [str(CLI), *CALL], 6, confined()),
            Program("Python CLI", [PYTHON, str(PYTHON_CLI), *CALL], 1, ENVIRONMENT))


def read_request(connection: socket.socket) -> bool:
    """Whether a whole request came."""
    request = b""
    while True:
        head, found, body = request.partition(b"\r\n\r\n")
        if found and len(body) >= len(INPUT):
            return True
        piece = connection.recv(65536)
        if not piece:
            return False
        request += piece


def read_all(descriptor: int) -> bytes:
    out = b""
    while piece := os.read(descriptor, 65536):
        out += piece
    return out


def spawn(program: Program, theirs: socket.socket, output: int) -> int:
    given = os.memfd_create("input")
    os.write(given, INPUT)
    os.lseek(given, 0, os.SEEK_SET)
    # The descriptor 3 comes last, so that it overwrites nothing that is still needed.
    pairs = ((given, 0), (output, 1), (theirs.fileno(), 3))
    pid = os.posix_spawn(program.command[0], program.command, program.environment, setpgroup=0,
                         file_actions=[(os.POSIX_SPAWN_DUP2, old, new) for old, new in pairs])
    os.close(given)
    return pid


def call(program: Program) -> float:
    """The seconds from the start of the program until it has been reaped. Raises if it did not work."""
    began = time.perf_counter()
    ours, theirs = socket.socketpair()
    reads, writes = os.pipe()
    pid = spawn(program, theirs, writes)
    theirs.close()
    os.close(writes)
    with ours:
        asked = read_request(ours)
        if asked:
            ours.sendall(ANSWER)
        out = read_all(reads)
    os.close(reads)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter() - began
    if not asked or status != 0 or json.loads(out).get("data") != DATA:
        raise RuntimeError(f"{program.name} failed with the status {status} and printed {out!r}")
    return took


def call_at_once(program: Program, threads: int, calls: int) -> list[float]:
    """`calls` calls one after the other in each of `threads` threads."""
    times: list[float] = []
    failures: list[Exception] = []
    together = threading.Barrier(threads)

    def work() -> None:
        together.wait()
        try:
            times.extend([call(program) for _ in range(calls)])
        except Exception as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return times


def measure(at_once: int, rounds: int) -> list[Times]:
    """The programs take turns, so that all of them meet the same machine."""
    rows = [Times(program.name, at_once) for program in PROGRAMS]
    for program in PROGRAMS:
        call(program)  # Warm-up.
    for _ in range(rounds):
        for program, row in zip(PROGRAMS, rows):
            row.seconds += call_at_once(program, at_once, program.weight)
    return rows
