"""The jobs: each takes a folder and sizes and returns rows of the table."""

import http.client
import socket
import sqlite3
import statistics
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from machine import Meter, resident_kib
from server import BenchServer, Load

DIALECTS = {"v2": {"dialect": "v2"}, "ag-ui 1.0": {"dialect": "ag-ui", "agui": "1.0"},
            "ag-ui 0.0": {"dialect": "ag-ui", "agui": "0.0"}}


@dataclass
class Sizes:
    runs: int = 20_000
    connections: int = 64
    resumes: int = 300
    resumed_token_us: int = 20_000
    starts: int = 11
    readers: int = 200
    fan_tokens: int = 2_000
    fan_pairs: int = 5
    sockets: int = 500
    socket_tokens: int = 2_000
    idle_sockets: int = 2_000
    polls: int = 20_000
    pollers: int = 1_000
    rounds: int = 20


QUICK = Sizes(runs=500, connections=16, resumes=20, resumed_token_us=500, starts=3, readers=50, fan_tokens=300,
              fan_pairs=1, sockets=20, socket_tokens=200, idle_sockets=100, polls=500, pollers=50, rounds=2)


@dataclass
class Row:
    what: str
    value: float | None  # None if not measured; the notes say why.
    unit: str
    budget: float | None = None
    notes: str = ""
    raw: dict = field(default_factory=dict)

    @property
    def within(self) -> bool | None:
        return None if None in (self.budget, self.value) else self.value <= self.budget


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- Admission ---


def finished_runs(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM runs WHERE status = 'completed'").fetchone()[0]


def admission(folder: Path, sizes: Sizes) -> list[Row]:
    """Durable admissions. A run whose model stays silent costs only its admission."""
    rows = []
    with BenchServer(folder) as server:
        load = Load(server)
        load.post_runs("tok-1-3600000000", 100, 4)  # Warm-up.
        alone = load.post_runs("tok-1-3600000000", max(sizes.runs // 20, 100), 1)
        rows.append(Row("POST of a run, one at a time, p50", alone["p50_us"] / 1000, "ms",
                        notes=f"p99 {alone['p99_us'] / 1000:.2f}", raw=alone))
        meter = Meter(server.pid)
        many = load.post_runs("tok-1-3600000000", sizes.runs, sizes.connections)
        many |= meter.end(many["cpu_s"])
        rows.append(Row("runs admitted", sizes.runs / many["wall_s"], "/s", notes=(
            f"{sizes.connections} connections; p50 {many['p50_us'] / 1000:.1f} ms, p99 {many['p99_us'] / 1000:.1f} ms; "
            f"{many['server_cpu_s'] / sizes.runs * 1e6:.0f} us CPU each; foreign CPU {many['foreign_cpu_s']:.2f} of "
            f"{many['wall_s']:.2f} s"), raw=many))
    with BenchServer(folder / "finishing") as server:
        load = Load(server)
        began = time.monotonic()
        meter = Meter(server.pid)
        posted = load.post_runs("tok-10-0", sizes.runs, sizes.connections)
        while (done := finished_runs(server.database)) < sizes.runs:
            if time.monotonic() - began > 300:
                raise RuntimeError(f"only {done} of {sizes.runs} runs have ended")
            time.sleep(0.02)
        wall = time.monotonic() - began
        used = meter.end(posted["cpu_s"])
        rows.append(Row("runs admitted, run (10 tokens) and ended", sizes.runs / wall, "/s", notes=(
            f"{used['server_cpu_s'] / sizes.runs * 1e6:.0f} us CPU each; foreign CPU {used['foreign_cpu_s']:.2f} of "
            f"{wall:.2f} s"), raw=posted | used | {"until_all_ended_s": wall}))
    return rows


# --- Resume ---


def time_resumes(server: BenchServer, load: Load, request: bytes, count: int, until: str = "") -> dict:
    load.read_events(request, 5, until)  # Warm-up.
    meter = Meter(server.pid)
    out = load.read_events(request, count, until)
    return out | meter.end(out["cpu_s"])


def resume_row(what: str, out: dict, count: int) -> Row:
    return Row(f"{what}, p50", out["p50_us"] / 1000, "ms", 5,
               f"p99 {out['p99_us'] / 1000:.2f} ms; {out['body_bytes'] // count / 1024:.0f} KiB, "
               f"{out['server_cpu_s'] / count * 1e3:.2f} ms CPU, {out['server_waited_s'] / count * 1e3:.2f} ms waiting "
               f"for a core each", out)


def resume(folder: Path, sizes: Sizes) -> list[Row]:
    """The time from the connect to the last byte. The run has the pace of a real one, so each row of its log covers
    100 ms."""
    rows, count = [], sizes.resumes
    with BenchServer(folder) as server:
        load = Load(server)
        thread, run = load.api.start_run(forwarded={"model": f"tok-1000-{sizes.resumed_token_us}"})
        last = load.api.finish(thread, run)
        if last != "RUN_FINISHED":
            raise RuntimeError(f"the run to resume ended with {last}")
        for name, dialect in DIALECTS.items():
            request = load.events_request(thread, run, dialect)
            out = time_resumes(server, load, request, count)
            rows.append(resume_row(f"resume, 1,000 tokens of an ended run, {name}", out, count))
        rows += resume_live(server, load, count)
    return rows


def resume_live(server: BenchServer, load: Load, count: int) -> list[Row]:
    """A run that has said 1,000 tokens and goes on. v2 is left out: it shows no tokens, so a reader could not know
    which one is the last."""
    thread, run = load.api.start_run(forwarded={"model": "tok-1001-3600000-1000-1"})
    tokens = []
    with load.api.events(thread, run, dialect="ag-ui") as stream:
        while len(tokens) < 1000:
            frame = stream.next()
            if frame.event == "TEXT_MESSAGE_CONTENT":
                tokens.append(frame)
    newest = tokens[-1].json["delta"]
    rows = []
    for name in ("ag-ui 1.0", "ag-ui 0.0"):
        for what, after in (("all 1,000 tokens", None), ("the newest 250 tokens", tokens[749].id)):
            request = load.events_request(thread, run, DIALECTS[name], after)
            out = time_resumes(server, load, request, count, newest)
            rows.append(resume_row(f"resume, {what} of a live run, {name}", out, count))
    load.api.cancel(thread, run)
    return rows


# --- Start and rest ---


def wait_healthy(server: BenchServer) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                if connection.getresponse().status == 200:
                    return
        except OSError:
            time.sleep(0.0005)
    raise RuntimeError(f"the server did not become healthy; its log ends:\n{server.log_tail()}")


def time_start(folder: Path) -> tuple[float, int]:
    """The milliseconds from the spawn to the first healthy answer, and the KiB of memory half a second later."""
    server = BenchServer(folder)
    server.port = free_port()
    began = time.monotonic()
    server.spawn()
    try:
        wait_healthy(server)
        took = (time.monotonic() - began) * 1000
        time.sleep(0.5)
        return took, resident_kib(server.pid)
    finally:
        server.kill()


def start(folder: Path, sizes: Sizes) -> list[Row]:
    fresh = [time_start(folder / f"fresh-{i}") for i in range(sizes.starts)]
    again = [time_start(folder / "fresh-0") for _ in range(sizes.starts)]
    rows = []
    for what, times in (("an empty data folder", fresh), ("an existing data folder", again)):
        milliseconds = [t for t, _ in times]
        rows.append(Row(f"start to first healthy answer, {what}, median", statistics.median(milliseconds), "ms", 150,
                        f"worst of {len(times)}: {max(milliseconds):.0f}", {"ms": milliseconds}))
    rest = [kib / 1024 for _, kib in fresh + again]
    rows.append(Row("memory at rest (RSS), median", statistics.median(rest), "MiB", 25, f"most: {max(rest):.1f}",
                    {"mib": rest}))
    return rows


# --- Fan-out, with and without reads of /metrics ---


BUDGET_US = 3  # For 200 readers.


class Scraper:
    """Reads /metrics every 100 ms while the context is active."""

    def __init__(self, port: int):
        self._port = port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.scrapes = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)) as connection:
            while not self._stop.wait(0.1):
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                answer.read()
                self.scrapes += answer.status == 200


def sse_readers(load: Load, thread: str, run: str, count: int):
    return load.spawn(load.events_request(thread, run, DIALECTS["ag-ui 1.0"]), "-n", str(count), "-c", str(count), "--count",
                      "event: TEXT_MESSAGE_CONTENT", "--ready")


def wait_ready(readers) -> None:
    if readers.stdout.readline() != b"ready\n":
        raise RuntimeError("the readers could not connect")


def fan_out(server: BenchServer, load: Load, sizes: Sizes) -> dict:
    """One run with many readers: the CPU time for attaching them all, and from then to the end of the run."""
    thread, run = load.api.start_run(forwarded={"model": f"tok-{sizes.fan_tokens}-1000-1-1500000"})
    attaching = Meter(server.pid)
    readers = sse_readers(load, thread, run, sizes.readers)
    wait_ready(readers)
    attach_us = attaching.end()["server_cpu_s"] / sizes.readers * 1e6
    meter = Meter(server.pid)
    out = load.result(readers)
    out |= meter.end(out["cpu_s"])
    if out["counted"] != sizes.readers * sizes.fan_tokens:
        raise RuntimeError(f"tokens are missing: {out}")
    return out | {"us": out["server_cpu_s"] / out["counted"] * 1e6, "attach_us": attach_us}


def fan_row(what: str, outs: list[dict], readers: int) -> Row:
    each = [out["us"] for out in outs]
    foreign = statistics.median(out["foreign_cpu_s"] / out["wall_s"] for out in outs)
    batch = statistics.median(out["counted"] / out["reads"] for out in outs)
    return Row(f"CPU per delivered token, 1 run to {readers} readers{what}", statistics.median(each), "us",
               BUDGET_US if readers == Sizes.readers else None,
               f"{min(each):.2f} to {max(each):.2f} in {len(each)} rounds; {batch:.1f} tokens per read; foreign CPU "
               f"{foreign:.2f} cores",
               {"rounds": outs})


def metrics_cost(folder: Path, sizes: Sizes) -> list[Row]:
    """Makes rounds alternately without and with a scrape every 100 ms."""
    plain, scraped, scrapes = [], [], 0
    with BenchServer(folder) as server:
        load = Load(server)
        answers = load.api.get("/metrics").status == 200
        fan_out(server, load, QUICK)  # Warm-up.
        for _ in range(sizes.fan_pairs):
            plain.append(fan_out(server, load, sizes))
            if not answers:
                continue
            with Scraper(server.port) as scraper:
                scraped.append(fan_out(server, load, sizes))
            scrapes += scraper.scrapes
    rows = [fan_row("", plain, sizes.readers),
            Row("CPU to attach a reader to a live run", statistics.median(out["attach_us"] for out in plain), "us")]
    if not answers:
        return [*rows, Row("CPU per delivered token while /metrics is read every 100 ms", None, "us",
                           notes="skipped: /metrics does not answer 200")]
    rows.append(fan_row(" while /metrics is read every 100 ms", scraped, sizes.readers))
    rows[-1].notes += f"; {scrapes} scrapes"
    rows.append(Row("cost of those scrapes", (rows[-1].value / rows[0].value - 1) * 100, "%"))
    return rows


JOBS = {"start": start, "admission": admission, "resume": resume, "metrics": metrics_cost}
