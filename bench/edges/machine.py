"""What processes and the machine used, from /proc."""

import os
import time
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> tuple[float, float]:
    """What all living threads ran, and what they waited for a free core, to the nanosecond. The server's threads live as
    long as it does."""
    ran = waited = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        numbers = (task / "schedstat").read_text().split()
        ran, waited = ran + int(numbers[0]), waited + int(numbers[1])
    return ran / 1e9, waited / 1e9


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1])
    raise RuntimeError("no Rss in smaps_rollup")


def busy_seconds() -> float:
    """CPU time that everything on the machine used, in ticks of 10 ms."""
    numbers = [int(n) for n in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(numbers) - numbers[3] - numbers[4]) / _TICK


class Meter:
    """CPU of the server, and of everything that is neither the server nor the load nor this program."""

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
