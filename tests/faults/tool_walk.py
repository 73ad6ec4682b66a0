#!/usr/bin/env python3
"""Kills the server with -9 at every point of a tool call that has an effect: RUN-12, at most once.

The programs are the real ones: the model calls calendar.create, which project_cli makes in its sandbox, then
calendar.read, and then it answers. The kills are of two kinds. First, at every sync of the database: before it, as soon
as it is done, and at the first write after it. Second, at the points between the durable steps of the call. There,
a program that stops itself takes the place of project_cli (halting_cli.c), so that each point is reached for certain.
After each kill the server starts again with the real programs. The event must exist once, the result must say so, and
no call may stay open.
"""

import argparse
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from killed_run import KilledRun
from booking_flow import BOOKING, TurnsModel, booking_config, booking_turns
from checker import check
from evidence import Evidence, read_database
from fake_provider import FakeProvider
from report import report
from runnel_server import BINARY, Server, copy_programs
from shims import HERE, FailingIo, build_shim
from tool_checks import EFFECT, RESULT, STARTED, STATES, check_booking, check_state, read_booking, state_of

NEVER = 10**9  # A sync that no run reaches.

# The three moments at a sync.
AT, WHEN_DONE, NEXT_WRITE = "at", "when done with", "at the first write after"


def arm(io: FailingIo, moment: str, sync: int) -> None:
    if moment == WHEN_DONE:
        io.arm_kill_when_synced(sync)
    else:
        io.arm_kill(sync, moment == NEXT_WRITE)


@dataclass(frozen=True)
class Point:
    """A point inside the call. The program stops itself at `halt`. If `moment` is empty, the server is killed then.
    Otherwise the program goes on, and the server dies at this moment of its next sync; sync 0 is the one before it."""

    name: str
    halt: str
    state: str  # What the kill leaves.
    moment: str = ""
    sync: int = 1


# The point (a), when the start of the call is durable and nobody can have started the program, is at a sync.
POINTS = (
    Point("(b) the program runs and has sent nothing", "ready", STARTED),
    Point("(b) the program has sent half of its request", "half", STARTED),
    Point("(c) the request was sent, and the effect is about to be written", "ready", STARTED, NEXT_WRITE, 0),
    Point("(c) the effect was written, but not synced", "ready", EFFECT, AT),
    Point("(d) the effect is durable, and nobody knows", "ready", EFFECT, WHEN_DONE),
    Point("(d) the effect is durable, and the program has not read the answer", "sent", EFFECT),
    Point("(e) the program has its answer", "answered", EFFECT),
    Point("(e) the program has printed its answer", "printed", EFFECT),
    Point("(f) the program has ended, and the result is about to be written", "printed", EFFECT, NEXT_WRITE, 0),
    Point("(f) the result was written, but not synced", "printed", RESULT, AT),
    Point("(f) the result is durable, and nobody knows", "printed", RESULT, WHEN_DONE),
)


@dataclass(frozen=True)
class Kill:
    """One kill: at a moment of the run's nth sync, or at a point. Then perhaps one of the recovery, at its nth sync or
    at another point."""

    moment: str = ""
    sync: int = NEVER
    point: Point | None = None
    again: int = 0
    then: Point | None = None
    forgets: bool = False  # Seeds a bug: the receipt is lost with the kill.

    def __str__(self) -> str:
        where = self.point.name if self.point else f"{self.moment} sync {self.sync}" if self.moment else "nowhere"
        more = f"sync {self.again}" if self.again else self.then.name if self.then else ""
        return where + (f", and in the recovery {more}" if more else "")


class Programs:
    """The server's programs in a folder of their own, where a program that stops itself can replace project_cli."""

    def __init__(self, folder: Path):
        self.server = copy_programs(folder)
        self._folder, self._real = folder, BINARY.with_name("project_cli")
        asked = subprocess.run([self._real, "--version"], capture_output=True, text=True, check=True)
        self._version = asked.stdout.strip()

    def use(self, halt: str = "") -> None:
        """From now on the server starts the program that stops at `halt`, or the real one."""
        new = self._folder / "new"
        shutil.copy(self._built(halt) if halt else self._real, new)
        new.chmod(0o755)
        new.rename(self._folder / "project_cli")

    def _built(self, halt: str) -> Path:
        target = self._folder / f"halting_at_{halt}"
        if not target.exists():
            subprocess.run([os.environ.get("CC", "cc"), "-static", "-O1", "-Wall", "-Wextra", "-Werror",
                            f'-DHALT_AT="{halt}"', f"-I{HERE.parent / 'support'}", f'-DVERSION="{self._version}"', "-o", str(target),
                            str(HERE / "halting_cli.c")], check=True)
        return target


def stopped_children(parent: int) -> list[int]:
    """The processes that `parent` has started and that have stopped themselves."""
    return [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if state_in_proc(stat) == ("T", parent)]


def is_running(pid: int) -> bool:
    return state_in_proc(Path(f"/proc/{pid}/stat"))[0] not in ("", "Z", "X")


def state_in_proc(stat: Path) -> tuple[str, int]:
    """The state of a process and its parent. The state is empty if there is no such process."""
    try:
        state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        return state, int(parent)
    except OSError:
        return "", 0


class Step(KilledRun):
    """One run that is killed, and the checks of all that must hold afterwards."""

    def __init__(self, walk: "Walk", kill: Kill):
        super().__init__(walk.server, walk.io, BOOKING, str(kill))
        self.walk, self.plan = walk, kill
        self.title = f"Lunch of {self.run_id}"
        self.syncs = 0  # The number of syncs, if the run was not killed at one.
        self.left = ""  # What the first kill left of the call.
        self.exists = False  # Whether it left the run. If it did not, the client starts it again.
        self.end = ""

    @property
    def label(self) -> str:
        """The kill, when it is known what it left: as soon as the start is durable, it is a point inside the call."""
        is_start = self.plan.moment == WHEN_DONE and self.left == STARTED
        return f"(a) the start is durable, and no program runs: {self.plan}" if is_start else str(self.plan)

    def run(self) -> None:
        plan = self.plan
        self.walk.model.turns = booking_turns(self.title)
        self.walk.programs.use(plan.point.halt if plan.point else "")
        arm(self.io, plan.moment, plan.sync)
        self.begin()
        if plan.point:
            self._kill_at(plan.point)
        else:
            self.wait(lambda: not self.server.alive or self.is_read)
        self.syncs = self.io.calls
        if not self.server.alive:
            self._look()
            self._recover()
        self.finish()

    def _kill_at(self, point: Point) -> bool:
        """False if the run ended before the program was started."""
        halted: list[int] = []
        self.wait(lambda: halted.extend(stopped_children(self.server.process.pid)) or halted or self.has_ended())
        if not halted:
            if not self.has_ended():
                self.world.problem(f"no program stopped: {point.name}")
            return False
        if point.moment:
            arm(self.io, point.moment, point.sync)
            os.kill(halted[0], signal.SIGCONT)
            self.wait(lambda: not self.server.alive)
        elif point.state == EFFECT:
            self.wait(self._has_receipt)
        self.kill()
        if not self.wait(lambda: not is_running(halted[0])):
            self.world.problem(f"TOOL-10: the program {halted[0]} has outlived the server")
        return True

    def _has_receipt(self) -> bool:
        return self.finds("select 1 from tool_calls c join runs r on r.id = c.run_id where r.run_ref = ? and "
                          "c.name = 'calendar.create' and c.receipt is not null", self.run_id)

    def _look(self) -> None:
        """Looks into a copy of the database, so that the server finds it as it was left."""
        self.world.up.clear()
        with tempfile.TemporaryDirectory(dir=self.walk.directory) as folder:
            for file in self.server.data.glob("runnel.db*"):
                if not file.name.endswith("-shm"):
                    shutil.copy(file, folder)
            with closing(sqlite3.connect(Path(folder, "runnel.db"))) as db:
                calls = db.execute("select c.status, c.receipt is not null from tool_calls c join runs r "
                                   "on r.id = c.run_id where r.run_ref = ? and c.name = 'calendar.create'",
                                   (self.run_id,)).fetchall()
                events, = db.execute("select count(*) from calendar_events where title = ?", (self.title,)).fetchone()
                self.exists = bool(db.execute("select 1 from runs where run_ref = ?", (self.run_id,)).fetchone())
        self.left = state_of(calls)
        self.world.problems += check_state(self.left, events)
        if self.plan.point and self.left != self.plan.point.state:
            self.world.problem(f"the kill left {self.left}, but the point is one of {self.plan.point.state}")

    def _forget_receipt(self) -> None:
        with closing(sqlite3.connect(self.server.database)) as db:
            db.execute("update tool_calls set receipt = null where status = 'open'")
            db.commit()

    def _recover(self) -> None:
        then = self.plan.then
        if self.plan.forgets:
            self._forget_receipt()
        self.walk.programs.use(then.halt if then else "")
        self.restart(self.plan.again if self.exists else 0)
        if then and self._kill_at(then):
            self.walk.programs.use()
            self.restart()

    def verdict(self, known: set[str], told: set[str]) -> list[str]:
        """Stops the server and checks everything it leaves."""
        evidence = self.gather()
        evidence.database.has_receipts = True
        found = self.check(evidence, known, told)
        if self.run_id not in evidence.database.runs:
            return found
        booking = read_booking(evidence, self.server.database, self.run_id, self.title)
        self.end = f"{booking.status} with {len(booking.events)} event{'s' if len(booking.events) != 1 else ''}"
        found += check_booking(booking)
        return found if found else [f"the checks missed a seeded bug: {name}" for name in self._missed_bugs(evidence)]

    def _missed_bugs(self, evidence: Evidence) -> list[str]:
        """The seeded bugs that the checks do not notice in this run. Otherwise they would prove nothing."""
        if self.plan.moment or self.plan.point:
            return []
        return [bug.__name__ for bug in BUGS if not self._notices(bug, evidence)]

    def _notices(self, bug, evidence: Evidence) -> bool:
        target = self.server.database.with_name("seeded.db")
        shutil.copy(self.server.database, target)
        try:
            with closing(sqlite3.connect(target)) as db:
                bug(db, self.title)
                db.commit()
            bad = Evidence(**{**vars(evidence), "database": read_database(target)})
            bad.database.has_receipts = True
            return bool(check_booking(read_booking(bad, target, self.run_id, self.title)) or check(bad))
        finally:
            target.unlink()


# --- Bugs that the checks must notice ---


def _lose_the_event(db: sqlite3.Connection, title: str) -> None:
    db.execute("delete from calendar_events where title = ?", (title,))


def _create_the_event_twice(db: sqlite3.Connection, title: str) -> None:
    columns = "owner_id, title, start_at, end_at, timezone, location, description, created_at, updated_at"
    db.execute(f"insert into calendar_events(id, {columns}) select id || 'x', {columns} from calendar_events "
               "where title = ?", (title,))


def _create_another_event(db: sqlite3.Connection, title: str) -> None:
    db.execute("update calendar_events set id = id || 'x' where title = ?", (title,))


def _leave_the_call_open(db: sqlite3.Connection, _: str) -> None:
    db.execute("drop trigger trg_tool_call_closes_once")
    db.execute("update tool_calls set status = 'open', ended_at = null where name = 'calendar.create'")


BUGS = (_lose_the_event, _create_the_event_twice, _create_another_event, _leave_the_call_open)


# --- The walk ---


class Walk:
    """All steps, on one database."""

    def __init__(self, directory: Path, model: TurnsModel, base_url: str):
        self.directory, self.model = directory, model
        self.known: set[str] = set()
        self.told: set[str] = set()
        self.io = FailingIo(directory / "data", directory / "control", build_shim("failing_io", directory))
        self.programs = Programs(directory / "programs")
        self.server = Server(directory, booking_config(directory, base_url), self.io.env())
        self.server.binary = self.programs.server

    def step(self, kill: Kill) -> tuple[Step, list[str]]:
        self.programs.use()
        with self.server:
            step = Step(self, kill)
            step.run()
            return step, [f"{kill}: {text}" for text in step.verdict(self.known, self.told)]

    def run(self, thorough: bool) -> list[str]:
        begin = time.monotonic()
        _, found = self.step(Kill())  # The first run of a database makes more syncs than later ones.
        step, more = self.step(Kill())
        found += more
        seen: Counter[tuple[str, str]] = Counter()
        kills = [*point_kills(thorough), *sync_kills(step.syncs, thorough)]
        killed = twice = 0
        for kill in kills:
            step, more = self.step(kill)
            found += more
            killed += step.kills > 0
            twice += step.kills > 1
            seen[kill.moment, step.left] += 1
            print(f"  {step.label}: {'left ' + step.left if step.left else 'was not reached'}; {step.end}"
                  f"{', FAILED' if more else ''}", flush=True)
        found += missing(seen) + self.check_itself()
        if killed < len(kills) * 9 // 10:
            found.append(f"only {killed} of {len(kills)} steps were killed")
        print(f"tool walk: {len(kills)} steps, {killed} killed, {twice} twice, {len(found)} violations, "
              f"{time.monotonic() - begin:.0f} s", flush=True)
        return found

    def check_itself(self) -> list[str]:
        """A server that forgets a receipt creates the event twice. The walk must notice that."""
        has_answer = next(point for point in POINTS if point.halt == "answered")
        _, noticed = self.step(Kill(point=has_answer, forgets=True))
        return [] if any("exists 2 times" in text for text in noticed) else [f"a seeded bug was missed: {noticed}"]


def missing(seen: Counter[tuple[str, str]]) -> list[str]:
    """What no kill at a sync has left, for each moment: otherwise the syncs were not those of a tool call."""
    wanted = [(WHEN_DONE, state) for state in STATES] + [(AT, EFFECT), (NEXT_WRITE, STARTED)]
    return [f"no kill {moment} a sync has left {state}" for moment, state in wanted if not seen[moment, state]]


def point_kills(thorough: bool) -> list[Kill]:
    """Each point alone, and followed by another one in the recovery: by the next one, or by each if `thorough`."""
    kills = [Kill(point=point) for point in POINTS]
    for at, point in enumerate(POINTS):
        after = POINTS if thorough else (POINTS[(at + 1) % len(POINTS)],)
        kills += [Kill(point=point, then=then) for then in after]
    return kills


def sync_kills(syncs: int, thorough: bool) -> list[Kill]:
    """Each sync when it is done, and alternately before it and at the first write after it, or both if `thorough`.
    About every third recovery is killed as well."""
    moments = (AT, WHEN_DONE, NEXT_WRITE)
    return [Kill(moment, sync, again=1 + sync % 4 if (sync + number) % 3 == 0 else 0)
            for sync in range(1, syncs + 1) for number, moment in enumerate(moments)
            if thorough or moment in (WHEN_DONE, moments[sync % 2 * 2])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thorough", action="store_true", help="all moments of each sync, all pairs of points")
    args = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="runnel-tools-"))
    directory.chmod(0o755)
    model = TurnsModel()
    with FakeProvider(otherwise=model) as fake:
        found = Walk(directory, model, fake.base_url).run(args.thorough)
    return report(found, directory)


if __name__ == "__main__":
    sys.exit(main())
