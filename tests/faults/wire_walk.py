#!/usr/bin/env python3
"""A random walk over all wires: readers come and go while runs begin, wait, are approved, are cancelled and end.

A step is one connection or one poll. It ends at a random byte, and the reader comes back: where it was, in another dialect,
at an older offset, on a run that has ended long ago. Afterwards every run is read once from its start in each dialect, and what
each reader saw must be a part of that, byte for byte, without gaps and repetitions, over all its connections.
The seed fixes what is done, but not the exact moments. So a seed that has failed fails often, but not always.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from report import report
from wire_bugs import missed_bugs
from wire_checks import TASKS, Trail, Wholes, check_walk, counts
from wire_readers import DIALECTS, Reader, every_item, new_reader, thread_name
from wire_runs import Runs, Starter, WalkModel, walk_config
from fake_provider import FakeProvider
from runnel_server import Server

USERS = ("demo", "mei")
STARTERS = 6
WALKERS = 12
READERS_PER_WALKER = 3
SETTLE_SECONDS = 60


class Steps:
    """Numbers the steps of all walkers together."""

    def __init__(self, count: int):
        self._left = iter(range(1, count + 1))
        self._lock = threading.Lock()

    def next(self) -> int | None:
        with self._lock:
            return next(self._left, None)


class Walker(threading.Thread):
    """Takes steps with a few readers, in turn. A reader that is done makes room for another, on another run."""

    def __init__(self, runs: Runs, steps: Steps, seed: int):
        super().__init__(daemon=True)
        self.runs, self.steps, self.rng = runs, steps, random.Random(seed)
        self.readers: list[Reader] = []
        self.retired: list[Reader] = []

    def run(self) -> None:
        try:
            while (number := self.steps.next()) is not None:
                self._reader().step(number)
        except Exception as error:  # A bug in the walk must not look like success.
            self.runs.problem(f"a walker: {error!r}")
            raise

    def _reader(self) -> Reader:
        leaving = [reader for reader in self.readers if reader.done or self.rng.random() < 0.02]
        self.retired += leaving
        self.readers = [reader for reader in self.readers if reader not in leaving]
        while len(self.readers) < READERS_PER_WALKER:
            started = self.runs.choose(self.rng)
            while started is None:  # The first run begins in a moment.
                time.sleep(0.01)
                started = self.runs.choose(self.rng)
            self.readers.append(new_reader(started, self.rng))
        return self.rng.choice(self.readers)


def wait_until_over(runs: Runs, starters: list[Starter]) -> None:
    """The last runs end."""
    deadline = time.monotonic() + SETTLE_SECONDS
    for starter in starters:
        starter.join(SETTLE_SECONDS)
    for started in runs.all:
        while not starters[0].ended(started) and time.monotonic() < deadline:
            time.sleep(0.05)
        if not started.over:
            runs.problem(f"run {started.run} does not end")


def gather(runs: Runs, trails: list[Trail]) -> Wholes:
    """Everything that anybody has read, read once more from its start."""
    read = {seen.source for trail in trails for seen in trail}
    threads = {started.thread for started in runs.all if thread_name(started.thread) in read}
    wanted = [started for started in runs.all if started.name in read or started.thread in threads]
    wholes = {(started.name, dialect): every_item(started, dialect) for started in wanted for dialect in (*DIALECTS, TASKS)}
    for thread in threads:
        # A run that was canceled while it was queued is not shown.
        shown = [started for started in wanted if started.thread == thread and started.has_begun()]
        for dialect in DIALECTS:
            parts = [wholes[started.name, dialect] for started in shown]
            wholes[thread_name(thread), dialect] = [item for part in sorted(parts, key=lambda part: part[0].place) for item in part]
    return wholes


def too_little_work(done: dict[str, int], steps: int) -> list[str]:
    """What happened too rarely. If everything had failed, no promise would be broken, but none would be proven."""
    least = {"gets": steps // 6, "joins": steps // 50, "threads": steps // 20, "from run to run": steps // 200, "posts": steps // 50, "polls": steps // 10, "websockets": steps // 20, "items": steps * 10,
             "resumed": steps // 5, "resumed in another dialect": steps // 40, "ended": steps // 20,
             "older than what is kept": steps // 500, "completed": steps // 100, "canceled": steps // 300,
             "approved": steps // 400}
    return [f"{name}: {done.get(name, 0)}, but at least {count} are needed" for name, count in least.items()
            if done.get(name, 0) < count]


def walk(directory: Path, seed: int, count: int) -> list[str]:
    rng, runs, begin = random.Random(seed), Runs(), time.monotonic()
    with FakeProvider(otherwise=WalkModel()) as fake, Server(directory, walk_config(directory, fake.base_url)) as server:
        apis = [server.api(user) for user in USERS]
        starters = [Starter(runs, apis[number % len(apis)], rng.randrange(2**32)) for number in range(STARTERS)]
        steps = Steps(count)
        walkers = [Walker(runs, steps, rng.randrange(2**32)) for _ in range(WALKERS)]
        for thread in (*starters, *walkers):
            thread.start()
        for walker in walkers:
            walker.join()
        for starter in starters:
            starter.stopping.set()
        walked = time.monotonic() - begin
        wait_until_over(runs, starters)
        readers = [reader for walker in walkers for reader in (*walker.retired, *walker.readers) if reader.trail]
        trails = [reader.trail for reader in readers]
        found = runs.problems + [problem for reader in readers for problem in reader.problems]
        wholes = gather(runs, trails)
    found += check_walk(trails, wholes)
    done = counts(trails) | runs.fates
    print(f"seed {seed}: {count} steps in {walked:.0f} s, {len(readers)} readers of {len(runs.all)} runs; "
          f"with all checks {time.monotonic() - begin:.0f} s")
    print("  " + ", ".join(f"{name} {number}" for name, number in sorted(done.items())))
    found += too_little_work(done, count)
    if not found:
        found = [f"the checker missed a seeded bug: {name}" for name in missed_bugs(trails, wholes)]
    return [f"seed {seed}, {text}" for text in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1500)
    args = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="runnel-wires-"))
    found = walk(directory, args.seed, args.steps)
    if not found:
        print("  no violation; all seeded bugs caught")
    return report(found, directory)


if __name__ == "__main__":
    sys.exit(main())
