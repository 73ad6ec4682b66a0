"""One run on a server that is killed while the run goes on."""

import random
import sqlite3
import threading
import time
from contextlib import closing

from checker import check
from crash_harness import gather
from evidence import Evidence
from load import DIALECTS, OutOfTime, World, follow, submit
from runnel_server import Server, new_id, run_input
from shims import FailingIo

PATIENCE = 15.0  # Seconds that a run has to reach a place, or its end.


class KilledRun:
    """Starts a run and follows it to its end, through every restart of the server. Afterwards everything that the
    server leaves is checked. `name` says what happens to the run; it also chooses how the run is read."""

    def __init__(self, server: Server, io: FailingIo, flow: str, name: str):
        self.server, self.io, self.flow, self.name = server, io, flow, name
        self.world = World()
        self.thread, self.run_id = new_id("thread"), new_id("run")
        self.kills = 0
        self._client = threading.Thread(target=self._follow, args=(self.server.api(),), daemon=True)

    def begin(self) -> None:
        self.world.deadline = time.monotonic() + 4 * PATIENCE
        self.world.up.set()
        self._client.start()

    @property
    def is_read(self) -> bool:
        """Whether the client has seen the end of the run."""
        return not self._client.is_alive()

    def finish(self) -> None:
        self._client.join()
        self.io.heal()

    def _follow(self, api) -> None:
        body = run_input("Am I free tomorrow?", self.thread, self.run_id, {"flow": self.flow})
        rng = random.Random(self.name)
        try:
            if submit(self.world, api, body):
                follow(self.world, api, self.thread, self.run_id, rng.choice(sorted(DIALECTS)), rng)
        except OutOfTime:
            self.world.problem("the run showed no terminal in time")

    def wait(self, condition) -> bool:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def kill(self) -> None:
        self.world.up.clear()
        self.server.kill()

    def restart(self, again: int = 0) -> None:
        """Starts the server that was killed. If `again` is not 0, the recovery is killed as well, at that sync."""
        self.world.up.clear()
        self.kills += 1
        if again:
            self.io.arm_kill(again, after=False)
            self.server.spawn()
            died = self.wait(lambda: not self.server.alive or self.has_ended())
            self.kills += died and not self.server.alive
            self.server.kill()
        self.io.heal()
        self.server.start()
        self.world.up.set()

    def has_ended(self) -> bool:
        return self.finds("select 1 from runs where run_ref = ? and ended_at is not null", self.run_id)

    def finds(self, query: str, *values) -> bool:
        """Whether the query has a result in the database of the running server."""
        with closing(sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True)) as db:
            return db.execute(query, values).fetchone() is not None

    def gather(self) -> Evidence:
        """Stops the server and reads everything that it leaves."""
        return gather(self.world, self.server)

    def check(self, evidence: Evidence, known: set[str], told: set[str]) -> list[str]:
        """`known`: the runs of earlier steps on the same database. `told`: the problems that were reported for them."""
        evidence.attempted |= known
        known |= self.world.attempted
        new = [text for text in check(evidence) if text not in told]
        told |= set(new)
        return self.world.problems + new
