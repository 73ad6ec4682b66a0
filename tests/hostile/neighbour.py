"""A user who does nothing wrong while another one attacks: what this user requests, how long each answer takes, and the
load that explains it."""

import os
import resource
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from bystander import percentile  # noqa: E402
from runnel_server import Api, new_id, run_input  # noqa: E402

KINDS = ("health", "threads", "run", "first event")
# Requests of each kind: enough for a 99th percentile that one slow answer does not decide alone.
ROUNDS = 240 if os.environ.get("RUNNEL_LONG") else 120
PAUSE = 0.012    # Seconds between two rounds.
FEWEST_PER_SECOND = 12  # The rounds that a phase must reach per second.
PATIENCE = ROUNDS / FEWEST_PER_SECOND  # Seconds for all rounds; those that have not been made by then were delayed.


def ask_around(address, tokens: list[str]) -> dict:
    """Makes rounds with one request of each kind. The users take turns, so that none reaches the limit of requests.
    Returns the seconds that each request took, by kind, and the errors."""
    users = [Api(address, token) for token in tokens]
    seconds = {kind: [] for kind in KINDS}
    errors = []
    deadline = time.monotonic() + PATIENCE
    for number in range(ROUNDS):
        if time.monotonic() > deadline:
            break
        try:
            _ask_once(users[number % len(users)], seconds)
        except Exception as error:  # Every error is something that the neighbour would see.
            errors.append(repr(error))
        time.sleep(PAUSE)
    return {"seconds": seconds, "errors": errors}


def _ask_once(api: Api, seconds: dict[str, list[float]]) -> None:
    def timed(kind: str, ask):
        begin = time.monotonic()
        answer = ask()
        seconds[kind].append(time.monotonic() - begin)
        return answer

    def expect(status: int, answer):
        assert answer.status == status, (answer.status, answer.body[:300])
        return answer

    timed("health", lambda: expect(200, api.get("/healthz")))
    timed("threads", lambda: expect(200, api.get("/api/v1/agent/threads?limit=20")))
    begun = timed("run", lambda: expect(202, api.post_run(run_input("hi", thread=new_id("quiet"))))).json
    timed("first event", lambda: _first_event(api, begun["threadId"], begun["runId"]))


def _first_event(api: Api, thread: str, run: str) -> None:
    with api.events(thread, run, dialect="ag-ui") as stream:
        frame = stream.next() if stream.status == 200 else None
        assert frame and frame.event == "RUN_STARTED", (stream.status, frame)


@dataclass
class Seen:
    """What the neighbour saw in one phase."""

    seconds: dict[str, list[float]]
    errors: list[str]

    @property
    def rounds(self) -> int:
        return min(len(values) for values in self.seconds.values())

    @property
    def worst_kind(self) -> str:
        return max(KINDS, key=lambda kind: percentile(self.seconds[kind], 0.99))

    def share(self, share: float) -> float:
        """The percentile of the slowest kind of request."""
        return percentile(self.seconds[self.worst_kind], share)


class Load:
    """Measures while the context is active: the server's memory and CPU time, and the CPU time of all other processes
    on the machine."""

    def __init__(self, pid: int):
        self.pid = pid
        self.peak_rss = self._status("VmRSS")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> "Load":
        self._begin = self._now()
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()
        self.peak_rss = max(self.peak_rss, self._status("VmHWM"))  # The samples may miss a peak; the kernel does not.
        wall, busy, stolen, own, server = (now - then for now, then in zip(self._now(), self._begin))
        self.server_cores = server / wall
        self.foreign_cores = max(0.0, busy - own - server) / wall
        self.stolen_cores = stolen / wall  # By other machines on the same host.

    def _now(self) -> tuple:
        return (time.monotonic(), *machine_seconds(), self._own(), process_seconds(self.pid))

    def _status(self, name: str) -> int:
        """The value in KiB."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name))

    @staticmethod
    def _own() -> float:
        """The CPU time of the test and of its children that have ended: the attackers and the neighbour."""
        uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(use.ru_utime + use.ru_stime for use in uses)

    def _sample(self) -> None:
        while not self._stop.wait(0.02):
            self.peak_rss = max(self.peak_rss, self._status("VmRSS"))


def process_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def machine_seconds() -> tuple[float, float]:
    """The CPU time of all processes of the machine, and the CPU time that its host gave to others instead."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal, *_ = map(int, file.readline().split()[1:])
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / ticks, steal / ticks
