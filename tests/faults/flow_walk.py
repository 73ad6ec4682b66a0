#!/usr/bin/env python3
"""Kills the server with -9 at every place in a run's flow: RUN-12 between any two checkpoints.

The kills are of three kinds: at the Nth sync of the database, for N from the run's first sync to its last, either
before the sync or at the first write after it; during the model's answer, before its first word, in the middle and at
the end; and while a tool runs. Wherever it was killed, the run must reach the same checkpoints and the same answer, and
must not ask the model for anything that it already has.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evidence import Evidence
from killed_run import KilledRun
from fake_provider import FakeProvider
from report import report
from runnel_server import Server
from shims import FailingIo, build_shim
from staged_flows import (ANSWER, CHECKPOINTS, PLACES, STAGES, THREE_STAGES, TWO_STAGES, Place, StagedModel, answer_at,
                          staged_config)

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


class Step(KilledRun):
    """One run that is killed once or twice and followed to its end, and the checks of all that must hold afterwards."""

    def __init__(self, server: Server, io: FailingIo, model: StagedModel, kill: Kill):
        super().__init__(server, io, kill.flow, str(kill))
        self.model, self.plan = model, kill
        self.syncs = 0  # The number of syncs, if the run was not killed at one.

    def run(self) -> None:
        plan = self.plan
        self.model.begin(plan.hold, 60_000 if plan.in_tool else 5)
        self.io.arm_kill(plan.sync or NEVER, plan.after)
        self.begin()
        if plan.hold or plan.in_tool:
            self._kill_when(self._is_there)
        else:
            self.wait(lambda: not self.server.alive or self.is_read)
        self.syncs = self.io.calls
        if not self.server.alive:
            self.restart(plan.again)
        self.finish()

    def _is_there(self) -> bool:
        return self._tool_runs() if self.plan.in_tool else self.model.wait_held(0)

    def _kill_when(self, there) -> None:
        if not self.wait(there):
            self.world.problem("the run did not reach the place in time")
        time.sleep(SETTLE)
        self.kill()

    def _tool_runs(self) -> bool:
        """Whether the start of the slow tool call is durable."""
        return self.finds("select 1 from log l join runs r on r.id = l.run_id where r.run_ref = ? "
                          "and l.body like '%tool_started%' and l.body like '%60000%'", self.run_id)

    def verdict(self, known: set[str], told: set[str]) -> list[str]:
        """Stops the server and checks everything it leaves."""
        evidence = self.gather()
        found = self.check(evidence, known, told)
        if self.run_id in evidence.database.runs:
            found += self._check_run(evidence) + self._check_requests()
        return found

    def _check_run(self, evidence: Evidence) -> list[str]:
        db, flow, found = evidence.database, self.flow, []
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
        if unknown > self.kills or (self.plan.in_tool and unknown != 1):
            found.append(f"{unknown} outcomes are unknown after {self.kills} kills")
        return found

    def _check_requests(self) -> list[str]:
        """The model is asked in the order of the run. A request is repeated only if it was cut off, and unchanged."""
        found = []
        places = [place for place, _ in self.model.asked]
        order = {place: at for at, place in enumerate(PLACES[self.flow])}
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
