"""Tool calls through the server: from the fact that a call has started to the fact that it has a result. The server also
counts how many of them took at most 3 ms from the start of the program to its result."""

import json
import math
import re
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "bench" / "edges")]

from booking_flow import BOOKING, DAY, LUNCH, READ, TurnsModel, booking_config, tool_turn  # noqa: E402
from fake_provider import FakeProvider  # noqa: E402
from http_client import Http  # noqa: E402
from runnel_server import BINARY, Api, Server  # noqa: E402

CLI, SANDBOX = BINARY.with_name("project_cli"), BINARY.with_name("runnel_sandbox")
PATIENCE = 60.0
BUDGET_MS = 3  # Of a call, p50, from the start of the program to its result, one at a time. Also a bound of the metric.
# The whole load is one user. The day that is read has one event, whatever has been created before.
LIMITS = {"runtime": {"runs_per_user": 0, "storage_bytes_per_user": 0}, "log": {"level": "warn"}}
OTHER_DAY = {name: value.replace(DAY, "2026-11-23") for name, value in LUNCH.items()}
METHODS = {"read": READ, "create": {"title": "Measured", **OTHER_DAY}}


@dataclass
class Times:
    """How long the calls of one row took."""

    name: str
    at_once: int
    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)  # By code. They are not among the times.
    counted: int = 0  # What the server counted: all calls,
    within: int = 0  # and those that took at most BUDGET_MS from the start of the program to its result.

    def percentile(self, percent: float) -> float:
        """In milliseconds. Not a number if nothing was measured."""
        ordered = sorted(self.seconds) or [math.nan]
        return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] * 1000

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p99(self) -> float:
        return self.percentile(99)


@dataclass
class Call:
    began: int  # Microseconds.
    ended: int
    failed: str  # The code of the failure; empty if there was none.


def read_calls(database: Path, run: str) -> list[Call]:
    """The calls of a run, from its log."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as db:
        bodies = db.execute("SELECT l.body FROM log l JOIN runs r ON r.id = l.run_id WHERE r.run_ref = ? "
                            "ORDER BY l.first_n", (run,)).fetchall()
    began, calls = {}, []
    for fact in (fact for body, in bodies for fact in json.loads(body)):
        if fact["fact"] == "tool_started":
            began[fact["call"]] = fact["ts"]
        elif fact["fact"] == "tool_result":
            calls.append(Call(began[fact["call"]], fact["ts"], failure_of(fact)))
    return calls


def failure_of(fact: dict) -> str:
    if fact["status"] == "success":
        return ""
    result = fact["result"]
    return (json.loads(result) if isinstance(result, str) else result)["error"]["code"]


class ToolServer:
    """A server whose model makes as many calls as it is told, in one turn. They are made one after the other."""

    def __init__(self, folder: Path, fake: FakeProvider, model: TurnsModel):
        self._model = model
        self.server = Server(folder, booking_config(folder, fake.base_url, **LIMITS))

    def measure(self, api: Api, method: str, row: Times, calls: int) -> None:
        """As many runs at the same time as the row says, with `calls` calls each. Only the calls count that began and
        ended while all runs were calling."""
        self._model.turns = [tool_turn(*[(method, METHODS[method])] * calls)]
        runs = [api.start_run("Please.", forwarded={"flow": BOOKING}) for _ in range(row.at_once)]
        self._wait([run for _, run in runs])
        all_calls = [read_calls(self.server.database, run) for _, run in runs]
        if any(len(made) != calls for made in all_calls):
            raise RuntimeError(f"{calls} calls were asked for, but {[len(made) for made in all_calls]} were made")
        first = max(made[0].began for made in all_calls)
        last = min(made[-1].ended for made in all_calls)
        counted = [call for made in all_calls for call in made if call.began >= first and call.ended <= last]
        row.seconds += [(call.ended - call.began) / 1e6 for call in counted if not call.failed]
        row.failures.update(call.failed for made in all_calls for call in made if call.failed)

    def tool_times(self) -> tuple[int, int]:
        """How many calls the server has counted, and how many of them were within the budget."""
        text = Http(self.server.address).get("/metrics").body.decode()
        names = ("count", f'bucket{{le="{BUDGET_MS / 1000}"}}')
        found = [re.search(rf"^runnel_tool_call_seconds_{re.escape(name)} (\S+)$", text, re.M) for name in names]
        return int(found[0][1]), int(found[1][1])

    def _wait(self, runs: list[str]) -> None:
        """Asks rarely, so that the asking costs nothing."""
        deadline = time.monotonic() + PATIENCE
        marks = ", ".join("?" * len(runs))
        query = f"SELECT count(*) FROM runs WHERE status = 'completed' AND run_ref IN ({marks})"
        with closing(sqlite3.connect(f"file:{self.server.database}?mode=ro", uri=True, timeout=10)) as db:
            while db.execute(query, runs).fetchone()[0] < len(runs):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"the runs do not end; the server's log ends:\n{self.server.log_tail()}")
                time.sleep(0.05)


def measure(folder: Path, sizes: dict[int, tuple[int, int]]) -> list[Times]:
    """`sizes`: for each number of runs at once, how many rounds there are and how many calls a run makes."""
    model, rows = TurnsModel(), []
    with FakeProvider(otherwise=model) as fake:
        tools = ToolServer(folder, fake, model)
        with tools.server:
            api = tools.server.api()
            model.turns = [tool_turn(("create", {"title": "Lunch", **LUNCH}))]
            api.finish(*api.start_run("Please.", forwarded={"flow": BOOKING}))
            for at_once, (rounds, calls) in sizes.items():
                for method in ("read", "create"):
                    row = Times(f"calendar.{method}", at_once)
                    before = tools.tool_times()
                    for _ in range(rounds):
                        tools.measure(api, method, row, calls)
                    row.counted, row.within = (now - then for now, then in zip(tools.tool_times(), before))
                    rows.append(row)
    return rows
