"""The job `tasks`: WebSockets and polls of tasks."""

import time
from pathlib import Path

from jobs import Row, Sizes, sse_readers, wait_ready
from machine import Meter, resident_kib
from server import BenchServer, Load

FIRST_TOKENS = 30  # What a run says before it falls silent, in the job of 1,000 pollers.


def both_wires(folder: Path, sizes: Sizes) -> Row:
    """200 tokens a second to WebSockets and event streams of one run at the same time."""
    with BenchServer(folder) as server:
        load = Load(server)
        thread, run = load.api.start_run(forwarded={"model": f"tok-{sizes.socket_tokens}-5000-1-3000000"})
        sockets = load.follow_task(run, sizes.sockets, '"type":"task_complete"', '"type":"text_chunk"')
        streams = sse_readers(load, thread, run, sizes.sockets)
        for readers in (sockets, streams):
            wait_ready(readers)
        before, meter = resident_kib(server.pid), Meter(server.pid)
        outs = [load.result(readers) for readers in (sockets, streams)]
        used = meter.end(sum(out["cpu_s"] for out in outs))
        grown = resident_kib(server.pid) - before
    delivered = sum(out["counted"] for out in outs)
    if delivered != 2 * sizes.sockets * sizes.socket_tokens:
        raise RuntimeError(f"tokens are missing: {outs}")
    wall = outs[0]["wall_s"]
    return Row(f"CPU per delivered token, 1 run to {sizes.sockets} WebSockets and {sizes.sockets} event streams",
               used["server_cpu_s"] / delivered * 1e6, "us", 3 if sizes.sockets == Sizes.sockets else None,
               f"200 tokens/s; {delivered / sum(out['reads'] for out in outs):.1f} tokens per read; {grown:+,} KiB; foreign "
               f"CPU {used['foreign_cpu_s'] / wall:.2f} cores", {"outs": outs} | used)


def idle_sockets(folder: Path, sizes: Sizes) -> Row:
    with BenchServer(folder) as server:
        load = Load(server)
        thread, run = load.api.start_run(forwarded={"model": "tok-2-3600000000"})
        load.api.get(f"/api/v1/tasks/{run}?wait=5")
        before = resident_kib(server.pid)
        sockets = load.follow_task(run, sizes.idle_sockets, "never", "never")
        wait_ready(sockets)
        time.sleep(1)
        grown = resident_kib(server.pid) - before
        sockets.kill()
        sockets.stdout.close()
        sockets.wait()
    return Row(f"memory of an idle WebSocket, {sizes.idle_sockets:,} of them", grown / sizes.idle_sockets, "KiB",
               3 if sizes.idle_sockets == Sizes.idle_sockets else None,
               f"{grown:,} KiB in all, with what the server used to open them all at once")


def poll_row(server: BenchServer, load: Load, run: str, start: int, sizes: Sizes, what: str) -> Row:
    load.poll_task(run, start, 100)  # Warm-up.
    meter = Meter(server.pid)
    out = load.poll_task(run, start, sizes.polls)
    out |= meter.end(out["cpu_s"])
    return Row(f"CPU per poll, {what}", out["server_cpu_s"] / sizes.polls * 1e6, "us", None,
               f"p50 {out['p50_us'] / 1000:.2f} ms, p99 {out['p99_us'] / 1000:.2f} ms; {out['body_bytes'] // sizes.polls:,} bytes "
               f"each; foreign CPU {out['foreign_cpu_s'] / out['wall_s']:.2f} cores", out)


def polls(folder: Path, sizes: Sizes) -> list[Row]:
    rows = []
    with BenchServer(folder) as server:
        load = Load(server)
        thread, run = load.api.start_run(forwarded={"model": "tok-901-3600000000-900-1"})
        while load.api.get(f"/api/v1/tasks/{run}?from=890&wait=5").json["next_offset"] < 900:
            pass
        rows.append(poll_row(server, load, run, 10**6, sizes, "a live run that says nothing new"))
        rows.append(poll_row(server, load, run, 0, sizes, "all 900 events of a live run"))
        load.api.cancel(thread, run)
        load.api.finish(thread, run)
        rows.append(poll_row(server, load, run, 10**6, sizes, "an ended run, nothing new"))
        rows.append(poll_row(server, load, run, 880, sizes, "an ended run, the newest 25 events"))
    return rows


def paced_row(server: BenchServer, load: Load, runs: list[str], sizes: Sizes, what: str) -> Row:
    """Every poller asks once per second for what is new, which is nothing."""
    def poll(rounds: int) -> dict:
        return load.poll_at_a_pace(runs, 10**6, sizes.pollers, sizes.pollers * rounds, 1000)

    before = resident_kib(server.pid)
    poll(1)  # Warm-up: the first poll of a run makes its reader.
    grown, meter = resident_kib(server.pid) - before, Meter(server.pid)
    out = poll(sizes.rounds)
    out |= meter.end(out["cpu_s"])
    return Row(f"CPU per poll, {sizes.pollers:,} pollers at 1 s, {what}", out["server_cpu_s"] / out["answers"] * 1e6, "us", None,
               f"p50 {out['p50_us'] / 1000:.2f} ms, p99 {out['p99_us'] / 1000:.2f} ms; {grown:+,} KiB in the first round; "
               f"foreign CPU {out['foreign_cpu_s'] / out['wall_s']:.2f} cores", out)


def paced_polls(folder: Path, sizes: Sizes) -> list[Row]:
    """1,000 pollers on one live run, and on 1,000 live runs."""
    with BenchServer(folder) as server:
        load = Load(server)
        runs = [load.api.start_run(forwarded={"model": f"tok-{FIRST_TOKENS + 1}-3600000000-{FIRST_TOKENS}-1"})[1]
                for _ in range(sizes.pollers)]
        while load.api.get(f"/api/v1/tasks/{runs[-1]}?from={FIRST_TOKENS}&wait=5").json["next_offset"] < FIRST_TOKENS:
            pass
        return [paced_row(server, load, runs[:1], sizes, "on one live run"),
                paced_row(server, load, runs, sizes, f"on {len(runs):,} live runs")]


def tasks(folder: Path, sizes: Sizes) -> list[Row]:
    return [both_wires(folder / "both", sizes), idle_sockets(folder / "idle", sizes), *polls(folder / "polls", sizes),
            *paced_polls(folder / "paced", sizes)]


JOBS = {"tasks": tasks}
