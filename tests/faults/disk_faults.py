#!/usr/bin/env python3
"""Fails the Nth write or sync during a run, for N from the first to the last (SQLite is tested in the same way).

After each fault: nothing that was answered with success is lost, no terminal was shown that is not durable, the
database is intact, every run has exactly one terminal, and the server works again without a restart (DB-3).
"""

import argparse
import errno
import random
import sqlite3
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from checker import check
from crash_harness import gather
from evidence import read_database
from load import DIALECTS, OutOfTime, World, follow
from http_client import HttpError
from report import report
from runnel_server import ENDED, Api, Server, new_id, run_input
from shims import FailingIo, build_shim

CONFIG = {"models": {"offline": {"word_delay_ms": 2, "words": 0}}}
PATIENCE = 15.0  # Seconds that the server has to notice a fault, or to recover from it.
NEVER = 10**9  # An N that no run reaches.
HOLD = 0.4  # Seconds that a lasting fault holds. Without the fault, the run would have ended by then.


@dataclass(frozen=True)
class Mode:
    name: str
    how: str  # once, persistent
    operations: int
    error: int
    kill: bool = False  # Kills the server while the fault holds, instead of healing the fault.

    @property
    def lasting(self) -> bool:
        return self.how == "persistent"


MODES = (
    Mode("ENOSPC once", "once", FailingIo.WRITES, errno.ENOSPC),
    Mode("ENOSPC until space returns", "persistent", FailingIo.WRITES, errno.ENOSPC),
    Mode("ENOSPC, then kill -9", "persistent", FailingIo.WRITES, errno.ENOSPC, kill=True),
    Mode("EIO of a sync, once", "once", FailingIo.SYNCS, errno.EIO),
    Mode("EIO of every sync until healed", "persistent", FailingIo.SYNCS, errno.EIO),
)


def eventually(condition, seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Step:
    """One run with one fault, and the checks of all that must hold afterwards."""

    def __init__(self, server: Server, io: FailingIo, mode: Mode, nth: int):
        self.server, self.io, self.mode, self.nth = server, io, mode, nth
        self.world = World()
        self.api = server.api()
        self.found: list[str] = []
        self.hit = False
        self.calls = 0  # The counted writes or syncs of the run, if it met no fault.

    def expect(self, held: bool, text: str) -> None:
        if not held:
            self.found.append(text)

    def run(self) -> None:
        self.world.up.set()
        self.world.deadline = time.monotonic() + 4 * PATIENCE
        self.io.arm(self.mode.how, self.mode.operations, self.mode.error, self.nth)
        reader = self._post_and_follow()
        if reader:
            self._wait_for_hit_or_end(reader)
        self.hit, self.calls = self.io.hits > 0, self.io.calls
        if self.mode.lasting and self.hit:
            self._while_broken()
        if self.mode.kill:
            self.world.up.clear()
            self.server.kill()
            self.io.heal()
            self.server.start()
            self.world.up.set()
        self.io.heal()
        self.expect(self.server.alive, f"the server died: {self.server.log_tail(500)}")
        if not self.server.alive:
            return
        self._after_healing(reader)

    def _post_and_follow(self) -> threading.Thread | None:
        """Posts once. If the run is accepted, a reader follows it to its end, however long that takes."""
        thread, run = new_id("thread"), new_id("run")
        self.world.attempted.add(run)
        try:
            answer = self.api.post_run(run_input("hello", thread, run))
        except (OSError, HttpError) as error:
            self.expect(False, f"POST got no answer: {error!r}")
            return None
        if answer.status != 202:
            self.expect(answer.status >= 500 and bool(answer.error_code), f"POST answered {answer.status} {answer.body!r}")
            return None
        self.world.accepted[run] = (self.api, thread)
        dialect = random.Random(self.nth).choice(sorted(DIALECTS))
        reader = threading.Thread(target=self._follow, args=(thread, run, dialect), daemon=True)
        reader.start()
        return reader

    def _follow(self, thread: str, run: str, dialect: str) -> None:
        try:
            follow(self.world, self.api, thread, run, dialect, random.Random(self.nth))
        except OutOfTime:
            self.world.problem(f"run {run} was accepted, but showed no terminal in time")

    def _wait_for_hit_or_end(self, reader: threading.Thread) -> None:
        eventually(lambda: self.io.hits > 0 or not reader.is_alive())

    def _ready(self) -> bool:
        return self.api.get("/readyz").status == 200

    def _while_broken(self) -> None:
        self.expect(eventually(lambda: not self._ready()), "/readyz stays 200 while no write succeeds")
        thread, run = new_id("thread"), new_id("run")
        self.world.attempted.add(run)
        answer = self.api.post_run(run_input("hello", thread, run))
        if answer.status == 202:
            self.world.accepted[run] = (self.api, thread)  # An accepted run must exist.
        else:
            self.expect(answer.status == 503 and bool(answer.error_code),
                        f"POST while no write succeeds answered {answer.status} {answer.body!r}")
        self.expect(self.api.get("/healthz").status == 200, "/healthz fails while the disk is full")
        if self.world.reads:
            time.sleep(HOLD)
        for read in self.world.reads:
            self.expect(not read.complete or self._stored_status(read.run) in ENDED,
                        f"run {read.run} showed {read.frames[-1] if read.frames else None}, which is not durable")
        for run, (api, thread) in self.world.accepted.items():
            self._new_reader_sees_what_is_durable(api, thread, run)

    def _new_reader_sees_what_is_durable(self, api: Api, thread: str, run: str) -> None:
        frames = []
        with api.events(thread, run, dialect="ag-ui", agui="1.0", timeout=PATIENCE) as stream:
            stream.give_up_after(HOLD)
            try:
                frames.extend(iter(stream.next, None))
            except (OSError, HttpError):
                pass  # The stream waits for more frames.
        last_n = self._stored("last_n", run)
        beyond = [frame.id for frame in frames if frame.position[1] > last_n]
        self.expect(not beyond, f"run {run}: while no write succeeded, a new reader saw {beyond[:3]} …, but only "
                                f"frames up to {last_n} are durable")

    def _stored_status(self, run: str) -> str:
        return self._stored("status", run)

    def _stored(self, column: str, run: str):
        """What another process sees in the database, whatever the server says."""
        db = sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True)
        try:
            return db.execute(f"select {column} from runs where run_ref = ?", (run,)).fetchone()[0]
        finally:
            db.close()

    def _after_healing(self, reader: threading.Thread | None) -> None:
        self.expect(eventually(self._ready), "/readyz does not recover")
        self._new_run_completes()
        if reader:
            reader.join()
        for run, (api, thread) in self.world.accepted.items():
            self.expect(eventually(lambda: api.status(thread, run).json.get("status") in ENDED),
                        f"run {run} does not end after the fault")

    def _new_run_completes(self) -> None:
        thread, run = new_id("thread"), new_id("run")
        self.world.attempted.add(run)
        body = run_input("hello again", thread, run)
        accepted = eventually(lambda: self.api.post_run(body).status in (200, 202))
        self.expect(accepted, "no new run is accepted after the fault")
        if accepted:
            self.world.accepted[run] = (self.api, thread)
            last = self.api.finish(thread, run)
            self.expect(last == "RUN_FINISHED", f"the first run after the fault ended with {last}")

    def verdict(self, known: set[str]) -> list[str]:
        """Stops the server and checks everything it leaves. `known`: the runs of earlier steps on the same database."""
        if not self.server.alive:
            integrity = read_database(self.server.database).integrity
            return self.found + ([] if integrity == "ok" else [f"integrity_check: {integrity}"])
        evidence = gather(self.world, self.server)
        evidence.attempted |= known
        known |= self.world.attempted
        return self.found + self.world.problems + check(evidence)


def one_step(server: Server, io: FailingIo, mode: Mode, nth: int, known: set[str]) -> tuple[Step, list[str]]:
    with server:
        step = Step(server, io, mode, nth)
        step.run()
        return step, [f"{mode.name}, N = {nth}: {text}" for text in step.verdict(known)]


def spread(last: int, steps: int) -> list[int]:
    """Up to `steps` numbers from 1 to `last`, including both."""
    count = min(steps, last)
    return sorted({1 + round(i * (last - 1) / max(count - 1, 1)) for i in range(count)})


def run_mode(directory: Path, mode: Mode, shim: Path, steps: int) -> list[str]:
    """Makes a run without a fault to count its calls, then a run for each N. All use one database, and the server is
    restarted after each run."""
    directory.mkdir()
    io = FailingIo(directory / "data", directory / "control", shim)
    server, known, begin = Server(directory, CONFIG, io.env()), set(), time.monotonic()
    one_step(server, io, mode, NEVER, known)  # The first run of a database makes more writes than later ones.
    step, found = one_step(server, io, mode, NEVER, known)
    numbers = spread(step.calls, steps)
    at_post = after_post = 0
    for nth in numbers:
        step, more = one_step(server, io, mode, nth, known)
        found += more
        after_post += step.hit and bool(step.world.reads)
        at_post += step.hit and not step.world.reads
    print(f"{mode.name}: N up to {numbers[-1]} in {len(numbers)} steps, {at_post} hit the POST, {after_post} hit the "
          f"running run, {len(found)} violations, {time.monotonic() - begin:.0f} s", flush=True)
    if not at_post or not after_post:
        found.append(f"{mode.name}: no fault hit the POST, or none hit the running run, so that was not tested")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40,
                        help="how many values of N to try in each mode, from the first call to the last")
    parser.add_argument("--mode", help="only the modes whose name contains this text")
    args = parser.parse_args()
    chosen = [mode for mode in MODES if args.mode is None or args.mode in mode.name]
    if not chosen:
        parser.error(f"no mode has a name that contains '{args.mode}'")
    directory = Path(tempfile.mkdtemp(prefix="runnel-disk-"))
    shim = build_shim("failing_io", directory)
    # At the same time, because each mode has a server of its own and mostly waits for it.
    with ThreadPoolExecutor(len(chosen)) as pool:
        of_modes = pool.map(lambda at: run_mode(directory / str(at), chosen[at], shim, args.steps), range(len(chosen)))
        found = [text for texts in of_modes for text in texts]
    return report(found, directory)


if __name__ == "__main__":
    sys.exit(main())
