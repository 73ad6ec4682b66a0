#!/usr/bin/env python3
"""Kills the server with -9 at random moments under load, restarts it, and checks that every promise was kept.

With --shim each kill also drops the writes that were not synced, as a power cut would.
The seed fixes what is done, but not the exact moments. So a seed that has failed fails often, but not always.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from checker import check, is_delta, position
from evidence import Evidence, read_database
from load import DIALECTS, User, Worker, World
from fake_provider import FakeProvider
from report import report
from runnel_server import ENDED, Server
from seeded_bugs import missed_bugs
from shims import UnsyncedWrites, build_shim
from staged_flows import StagedModel, staged_config
from thread_reader import thread_problems

OFFLINE = {"word_delay_ms": 4, "words": 60}
USERS = ("demo", "mei", "jo")
WORKERS_PER_USER = 2
SETTLE_SECONDS = 60


class Nemesis:
    def __init__(self, world: World, server: Server, rng: random.Random, unsynced: UnsyncedWrites | None):
        self.world, self.server, self.rng, self.unsynced = world, server, rng, unsynced
        self.kills_at_start = 0

    def run(self, kills: int) -> None:
        for _ in range(kills):
            time.sleep(self.rng.uniform(0.02, 0.4))  # Chooses the random moment.
            self.world.up.clear()
            self._kill()
            if self.rng.random() < 0.15:
                self._kill_while_starting()
            self.server.start()
            self.world.up.set()

    def _kill(self) -> None:
        self.server.kill()
        if self.unsynced:
            self.unsynced.apply(self.rng if self.rng.random() < 0.5 else None)

    def _kill_while_starting(self) -> None:
        """Kills the server during recovery, which must survive that."""
        self.kills_at_start += 1
        self.server.spawn()
        time.sleep(self.rng.uniform(0, 0.1))
        self._kill()


def finish_threads(world: World, evidence_of: dict[str, dict[str, list]]) -> None:
    """Lets the readers of whole threads read to the end, and compares what they saw with the single runs."""
    runs_of: dict[str, list[str]] = {}
    for run, (_, thread) in world.accepted.items():
        runs_of.setdefault(thread, []).append(run)
    for reader in world.thread_reads:
        runs = [evidence_of[run][reader.dialect] for run in runs_of.get(reader.thread, []) if run in evidence_of]
        # A run that was canceled in the queue has only a beginning and an end, and is not shown.
        begun = sorted((frames for frames in runs if any(event == "STEP_STARTED" for _, event, _ in frames)),
                       key=lambda frames: position(frames[0][0]))
        for _ in range(20):
            if reader.runs_ended >= len(begun) or reader.problem:
                break
            reader.go_on(random.Random(0), until_ended=len(begun))
        found = [reader.problem] if reader.problem else thread_problems(
            reader.frames, begun, lambda frame, dialect=reader.dialect: is_delta(dialect, frame))
        for text in found:
            world.problem(f"thread {reader.thread}, {reader.dialect}: {text}")


def gather(world: World, server: Server) -> Evidence:
    """Reads everything back over HTTP, stops the server, and reads its database."""
    replays = {}
    for run, (api, thread) in world.accepted.items():
        status = api.status(thread, run)
        if status.status != 200 or status.json.get("status") not in ENDED:
            world.problem(f"run {run}: status {status.status} {status.body!r} after its end")
            continue
        replays[run] = {name: [(f.id, f.event, f.data.decode()) for f in api.read_events(thread, run, **query)]
                        for name, query in DIALECTS.items()}
    finish_threads(world, replays)
    threads = {thread: api for api, thread in world.accepted.values()}
    history = {thread: [m["id"] for m in api.full_history(thread)] for thread, api in threads.items()}
    code = server.stop()
    if code != 0:
        world.problem(f"SIGTERM of the idle server: exit code {code}")
    return Evidence(set(world.accepted), world.refused, world.attempted, read_database(server.database), world.reads,
                    replays, history)


def summary(world: World, evidence: Evidence) -> dict[str, int]:
    runs = evidence.database.runs.values()
    return {
        "accepted": len(world.accepted), "refused": len(world.refused),
        **Counter(f"runs {run.status}" for run in runs),
        "runs taken over": sum(len(run.epochs) > 1 for run in runs),
        "takeovers": sum(max(len(run.epochs) - 1, 0) for run in runs),
        "interrupted for good": sum(rows[-1].facts[-1].get("code") == "RUN_INTERRUPTED"
                                    for rows in evidence.database.log.values()),
        "stages kept": _count(evidence, "stage"), "tool results kept": _count(evidence, "tool"),
        "gone on from a checkpoint": sum(_went_on(evidence, ref) for ref in evidence.database.checkpoints),
        "cancels": world.cancels, "posts repeated": world.repeated_posts,
        "readers": len(world.reads), "connections": sum(read.connections for read in world.reads),
        "resumed midway": sum(read.resumed_midway for read in world.reads),
        "frames": sum(len(read.frames) for read in world.reads),
        "threads followed": len(world.thread_reads),
        "connections to threads": sum(reader.connections for reader in world.thread_reads),
        "tasks followed": world.task_reads, "polls and sockets": world.task_connections,
        "void deltas seen": sum(ident not in {f[0] for f in evidence.replays[read.run][read.dialect]}
                                for read in world.reads if read.run in evidence.replays
                                for ident, _, _ in read.frames),
    }


def _count(evidence: Evidence, kind: str) -> int:
    return sum(checkpoint.kind == kind for kept in evidence.database.checkpoints.values() for checkpoint in kept)


def _went_on(evidence: Evidence, run: str) -> bool:
    """Whether a writer died after a stage had finished, and the run still completed."""
    kinds = [fact["fact"] for row in evidence.database.log.get(run, []) for fact in row.facts]
    return "step_finished" in kinds and "writer_changed" in kinds[kinds.index("step_finished"):-1] and \
        kinds[-1] == "run_finished"


def too_little_work(counts: dict[str, int], kills: int) -> list[str]:
    """What happened too rarely. If everything had failed, no promise would be broken, but none would be proven."""
    least = {"runs completed": kills // 4, "runs taken over": kills // 8, "resumed midway": kills // 2,
             "gone on from a checkpoint": kills // 40, "tool results kept": kills // 10,
             "tasks followed": kills // 4, "threads followed": kills // 20, "connections to threads": kills // 4}
    return [f"{name}: {counts.get(name, 0)}, but at least {count} are needed" for name, count in least.items()
            if counts.get(name, 0) < count]


def run_once(directory: Path, seed: int, kills: int, shim: bool) -> list[str]:
    rng, world = random.Random(seed), World()
    unsynced = None
    if shim:
        unsynced = UnsyncedWrites(directory / "data", directory / "undo", build_shim("unsynced", directory))
    begin = time.monotonic()
    with FakeProvider(otherwise=StagedModel()) as fake, \
            Server(directory, staged_config(directory, fake.base_url, OFFLINE), unsynced and unsynced.env()) as server:
        workers = [Worker(world, user, rng.randrange(2**32)) for user in [User(server.api(name)) for name in USERS]
                   for _ in range(WORKERS_PER_USER)]
        world.up.set()
        for worker in workers:
            worker.start()
        nemesis = Nemesis(world, server, rng, unsynced)
        nemesis.run(kills)
        world.stopping.set()
        world.deadline = time.monotonic() + SETTLE_SECONDS
        for worker in (*workers, *world.followers):
            worker.join()
        evidence = gather(world, server)
        counts = summary(world, evidence)
        print(f"seed {seed}: {kills} kills and {nemesis.kills_at_start} while starting"
              f"{', dropping unsynced writes' if shim else ''}, {time.monotonic() - begin:.0f} s")
        print("  " + ", ".join(f"{name} {count}" for name, count in counts.items()))
        if unsynced:
            print(f"  unsynced changes dropped: {unsynced.undone}")
        found = world.problems + check(evidence) + too_little_work(counts, kills)
        if unsynced and not unsynced.undone:
            found.append("the shim dropped nothing, so it did not work")
        if not found:
            found = [f"the checker missed a seeded bug: {name}" for name in missed_bugs(evidence, server.database)]
        else:
            evidence.save(directory / "evidence.json")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--shim", action="store_true", help="drop unsynced writes at each kill")
    parser.add_argument("--keep", action="store_true", help="keep the data directory even if nothing failed")
    args = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="runnel-crash-"))
    found = run_once(directory, args.seed, args.kills, args.shim)
    if not found:
        print("  no violation; all seeded bugs caught")
    return report(found, directory, args.keep)


if __name__ == "__main__":
    sys.exit(main())
