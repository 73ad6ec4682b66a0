#!/usr/bin/env python3
"""Kills the server with -9 at every place in a run's flow: RUN-12 between any two checkpoints.

The kills are of three kinds: at the Nth sync of the database, for N from the run's first sync to its last, either
before the sync or at the first write after it; during the model's answer, before its first word, in the middle and at
the end; and while a tool runs. Wherever it was killed, the run must reach the same checkpoints and the same answer, and
must not ask the model for anything that it already has.
"""

import argparse
import json
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from checker import check
from crash_harness import gather
from evidence import Evidence
from load import DIALECTS, OutOfTime, World, follow, submit
from fake_provider import FakeProvider
from report import report
from runnel_server import Server, new_id, run_input
from shims import FailingIo, build_shim
from staged_flows import (ANSWER, CHECKPOINTS, PLACES, STAGES, THREE_STAGES, TWO_STAGES, Place, StagedModel, answer_at,
                          staged_config)

PATIENCE = 15.0  # Seconds that a run has to reach the place, or its end.
SETTLE = 0.15  # Seconds until the model's words are shown and some of them are durable.
NEVER = 10**9  # A sync that no run reaches.


@dataclass(frozen=True)
class Kill:
    """One kill of a run of this flow. If `again` is not 0, the recovery is killed as well, at that sync."""

    flow: str
    sync: int = 0  # Kills at this sync of the run; 0: not at a sync.
    after: bool = False  # Kills at the first write after the sync.
    hold: tuple[Place, int] | None = None  # Kills after this many events of the answer at this place.
    in_tool: bool = False
    again: int = 0

    def __str__(self) -> str:
        where = "while a tool runs"
        if self.sync:
            where = f"{'after' if self.after else 'at'} sync {self.sync}"
        elif self.hold:
            where = f"after {self.hold[1]} events of the answer at {tuple(self.hold[0])}"
        return f"{self.flow}, {where}" + (f", and at sync {self.again} of the recovery" if self.again else "")


class Step:
    """One run that is killed once or twice and followed to its end, and the checks of all that must hold afterwards."""

    def __init__(self, server: Server, io: FailingIo, model: StagedModel, kill: Kill):
        self.server, self.io, self.model, self.kill = server, io, model, kill
        self.world = World()
        self.thread, self.run_id = new_id("thread"), new_id("run")
        self.kills = 0
        self.syncs = 0  # The number of syncs, if the run was not killed at one.

    def run(self) -> None:
        kill = self.kill
        api = self.server.api()
        self.world.deadline = time.monotonic() + 4 * PATIENCE
        self.model.begin(kill.hold, 60_000 if kill.in_tool else 5)
        self.io.arm_kill(kill.sync or NEVER, kill.after)
        self.world.up.set()
        client = threading.Thread(target=self._client, args=(api,), daemon=True)
        client.start()
        if kill.hold or kill.in_tool:
            self._kill_when(self._is_there)
        else:
            self._wait(lambda: not self.server.alive or not client.is_alive())
        self.syncs = self.io.calls
        if not self.server.alive:
            self._restart()
        client.join()
        self.io.heal()

    def _client(self, api) -> None:
        body = run_input("Am I free tomorrow?", self.thread, self.run_id, {"flow": self.kill.flow})
        rng = random.Random(str(self.kill))
        try:
            if submit(self.world, api, body):
                follow(self.world, api, self.thread, self.run_id, rng.choice(sorted(DIALECTS)), rng)
        except OutOfTime:
            self.world.problem("the run showed no terminal in time")

    def _wait(self, condition) -> bool:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def _is_there(self) -> bool:
        return self._tool_runs() if self.kill.in_tool else self.model.wait_held(0)

    def _kill_when(self, there) -> None:
        if not self._wait(there):
            self.world.problem("the run did not reach the place in time")
        time.sleep(SETTLE)
        self.world.up.clear()
        self.server.kill()

    def _tool_runs(self) -> bool:
        """Whether the start of the slow tool call is durable."""
        db = sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True)
        try:
            return bool(db.execute("select 1 from log l join runs r on r.id = l.run_id where r.run_ref = ? "
                                   "and l.body like '%tool_started%' and l.body like '%60000%'",
                                   (self.run_id,)).fetchone())
        finally:
            db.close()

    def _restart(self) -> None:
        self.world.up.clear()
        self.kills = 1
        if self.kill.again:
            self.io.arm_kill(self.kill.again, after=False)
            self.server.spawn()
            died = self._wait(lambda: not self.server.alive or self._ended())
            self.kills += died and not self.server.alive
            self.server.kill()
        self.io.heal()
        self.server.start()
        self.world.up.set()

    def _ended(self) -> bool:
        db = sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True)
        try:
            return bool(db.execute("select 1 from runs where run_ref = ? and ended_at is not null",
                                   (self.run_id,)).fetchone())
        finally:
            db.close()

    def verdict(self, known: set[str], told: set[str]) -> list[str]:
        """Stops the server and checks everything it leaves. `known`: the runs of earlier steps on the same database.
        `told`: the problems that were reported for them."""
        evidence = gather(self.world, self.server)
        evidence.attempted |= known
        known |= self.world.attempted
        new = [text for text in check(evidence) if text not in told]
        told |= set(new)
        found = self.world.problems + new
        if self.run_id in evidence.database.runs:
            found += self._check_run(evidence) + self._check_requests()
        return found

    def _check_run(self, evidence: Evidence) -> list[str]:
        db, flow, found = evidence.database, self.kill.flow, []
        facts = [fact for row in db.log[self.run_id] for fact in row.facts]
        expected = {
            "status": "completed",
            "stages": list(STAGES[flow]),
            "checkpoints": CHECKPOINTS[flow],
            "answers": [ANSWER],
            "calls that answered": len(PLACES[flow]),
        }
        calls = Counter(call.status for call in db.calls[self.run_id])
        seen = {
            "status": db.runs[self.run_id].status,
            "stages": [fact["stage"] for fact in facts if fact["fact"] == "step_finished"],
            "checkpoints": [(checkpoint.stage, checkpoint.kind) for checkpoint in db.checkpoints.get(self.run_id, [])],
            "answers": [fact["answer"] for fact in facts if fact["fact"] == "answer_completed"],
            "calls that answered": calls["completed"],
        }
        found += [f"{name}: {seen[name]}, expected {value}" for name, value in expected.items() if seen[name] != value]
        if calls["interrupted"] > self.kills or calls.keys() - {"completed", "interrupted"}:
            found.append(f"after {self.kills} kills the model calls are {dict(calls)}")
        unknown = sum("OUTCOME_UNKNOWN" in json.dumps(fact) for fact in facts if fact["fact"] == "tool_result")
        if unknown > self.kills or (self.kill.in_tool and unknown != 1):
            found.append(f"{unknown} outcomes are unknown after {self.kills} kills")
        return found

    def _check_requests(self) -> list[str]:
        """The model is asked in the order of the run. A request is repeated only if it was cut off, and unchanged."""
        found = []
        places = [place for place, _ in self.model.asked]
        order = {place: at for at, place in enumerate(PLACES[self.kill.flow])}
        ranks = [order.get(place, -1) for place in places]
        if sorted(ranks) != ranks or set(places) != set(order) or len(places) > len(order) + self.kills:
            found.append(f"the model was asked at the wrong places: {[tuple(place) for place in places]}")
        for place, messages in self.model.asked:
            first = next(earlier for other, earlier in self.model.asked if other == place)
            if messages != first:
                found.append(f"at {tuple(place)} the model got {messages}, but the first time it got {first}")
        return found


class Walk:
    """All steps of one flow on one database."""

    def __init__(self, directory: Path, model: StagedModel, base_url: str, shim: Path):
        directory.mkdir()
        self.model, self.known = model, set()
        self.told: set[str] = set()
        self.io = FailingIo(directory / "data", directory / "control", shim)
        self.server = Server(directory, staged_config(directory, base_url), self.io.env())

    def step(self, kill: Kill) -> tuple[Step, list[str]]:
        with self.server:
            step = Step(self.server, self.io, self.model, kill)
            step.run()
            return step, [f"{kill}: {text}" for text in step.verdict(self.known, self.told)]

    def run(self, flow: str, thorough: bool) -> list[str]:
        begin = time.monotonic()
        _, found = self.step(Kill(flow))  # The first run of a database makes more syncs than later ones.
        step, more = self.step(Kill(flow))
        found += more
        kills = [*sync_kills(flow, step.syncs, thorough), *answer_kills(flow, thorough), Kill(flow, in_tool=True)]
        done = twice = 0
        for kill in kills:
            step, more = self.step(kill)
            found += more
            done += step.kills > 0
            twice += step.kills > 1
        print(f"{flow}: {len(kills)} steps, {done} killed, {twice} twice, {len(found)} violations, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        if done < len(kills) * 9 // 10:
            found.append(f"{flow}: only {done} of {len(kills)} steps were killed")
        return found


def sync_kills(flow: str, syncs: int, thorough: bool) -> list[Kill]:
    """One kill for each sync, alternately at it and after it, or both if `thorough`. About every third recovery is
    killed as well."""
    return [Kill(flow, sync, after, again=1 + sync % 4 if (sync + after) % 3 == 0 else 0)
            for sync in range(1, syncs + 1) for after in (False, True) if thorough or after == bool(sync % 2)]


def answer_kills(flow: str, thorough: bool) -> list[Kill]:
    """Kills in each answer: before the first word, in the middle, and just before its end; or after each event if
    `thorough`."""
    kills = []
    for place in PLACES[flow]:
        events = len(list(answer_at(place).pieces))
        counts = range(events) if thorough else (0, events // 2, events - 3)
        kills += [Kill(flow, hold=(place, count)) for count in counts]
    return kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thorough", action="store_true", help="kill at and after each sync, and after each event")
    parser.add_argument("--flow", choices=sorted(PLACES), help="only this flow")
    args = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="runnel-walk-"))
    shim = build_shim("failing_io", directory)
    model, found = StagedModel(), []
    with FakeProvider(otherwise=model) as fake:
        for flow in (TWO_STAGES, THREE_STAGES):
            if args.flow in (None, flow):
                found += Walk(directory / flow, model, fake.base_url, shim).run(flow, args.thorough)
    return report(found, directory)


if __name__ == "__main__":
    sys.exit(main())
