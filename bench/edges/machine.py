"""What the processes and the machine used, read from /proc."""

import os
import time
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> tuple[float, float]:
    """How long all threads ran, and how long they waited for a free core, in seconds with nanosecond precision. Ended
    threads are not counted, but the server's threads live as long as the server."""
    ran = waited = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        numbers = (task / "schedstat").read_text().split()
        ran, waited = ran + int(numbers[0]), waited + int(numbers[1])
    return ran / 1e9, waited / 1e9


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1])
    raise RuntimeError(f"/proc/{pid}/smaps_rollup has no line Rss")


def busy_seconds() -> float:
    """The CPU time that everything on the machine used, with a precision of one tick (10 ms)."""
    numbers = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / _TICK


def stolen_seconds() -> float:
    """How long the cores of this virtual machine could have run but the host let others run, with the same precision."""
    return int(Path("/proc/stat").read_text().split()[8]) / _TICK


class Meter:
    """The CPU time of the server, and of everything except the server, the load and this program."""

    def __init__(self, pid: int):
        self._pid = pid
        self._begin = self._read()

    def _read(self) -> tuple[float, float, float, float]:
        return *cpu_seconds(self._pid), time.process_time(), busy_seconds()

    def end(self, load_cpu_s: float = 0.0) -> dict[str, float]:
        server, waited, own, busy = (b - a for a, b in zip(self._begin, self._read()))
        return {"server_cpu_s": server, "server_waited_s": waited,
                "foreign_cpu_s": max(0.0, busy - server - own - load_cpu_s)}


def describe() -> str:
    models = [l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")]
    release = os.uname()
    return f"{len(models)} x {models[0] if models else 'CPU'}, {release.sysname} {release.release}"
