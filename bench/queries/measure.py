"""Measures queries among many rows, over HTTP on the release binary, and shows them next to the budget.

The rows belong to one user: events every hour for years, weekly meetings, of which half are another user's invitations,
contacts, and the messages of one thread. Each query is asked
again and again at another place, on one connection, and `GET /healthz` in between says what a request costs that asks
nothing. The database is made anew in a temporary folder; RUNNEL_BENCH_DIR chooses the disk. All raw figures go to
build/queries/. Exits with 1 if an answer is wrong, or, except with --quick, if a query takes
longer than its budget.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench" / "edges")]

import machine  # noqa: E402
from runnel_server import Server  # noqa: E402

BUDGET_MS = 10.0
HOUR_MS = 3_600_000
FIRST_MS = 1_420_070_400_000  # The first hour of 2015.
WEEK_HOURS = 168
SURNAMES = "Adler Becker Chen Diaz Evans Fischer Garcia Huang Ito Jansen Kim Lopez Meyer Novak Okafor Patel Quinn Rossi Sato Wang".split()
GIVEN = "Ana Ben Carla Dan Eva Finn Gina Hugo Ida Jan Kira Leo Mia Nils Olga Pia Raul Sara Tom Wei".split()
ADDERS = 8
WEEKLY = 50


@dataclasses.dataclass(frozen=True)
class Sizes:
    events: int
    contacts: int
    messages: int
    asked: int  # How often each query is asked.


FULL = Sizes(100_000, 50_000, 1_000_000, 1_000)
QUICK = Sizes(2_000, 500, 20_000, 50)


def at(hour: int) -> str:
    moment = datetime.datetime.fromtimestamp((FIRST_MS + hour * HOUR_MS) / 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def name_of(number: int) -> str:
    return f"{GIVEN[number % len(GIVEN)]} {SURNAMES[number // len(GIVEN) % len(SURNAMES)]} {number}"


def add_contacts(server: Server, count: int) -> None:
    """Through the API, because the server makes the words by which contacts are found."""
    def add(part: int) -> None:
        api = server.api()
        for number in range(part, count, ADDERS):
            answer = api.post("/api/v1/contacts", {"name": name_of(number), "email": f"c{number}@example.com"})
            assert answer.status == 201, answer.body

    with concurrent.futures.ThreadPoolExecutor(ADDERS) as pool:
        list(pool.map(add, range(ADDERS)))


def add_weekly_events(server: Server) -> None:
    """Through the API, because the server finds out when they end."""
    own, other = server.api(), server.api("organizer")
    for number in range(WEEKLY):
        organizer = own if number % 2 else other
        start, end = (f"2014-12-{22 + number % 5}T{hour:02}:00:00Z" for hour in (9 + number % 8, 10 + number % 8))
        made = organizer.post("/api/v1/calendar/events", {"title": "Meeting", "start_at": start, "end_at": end,
                                                          "rrule": "FREQ=WEEKLY"})
        assert made.status == 201, made.body
        if organizer is other:
            shared = other.post(f"/api/v1/calendar/events/{made.json['event_id']}/share", {"user_ids": ["demo"]})
            assert shared.status == 200, shared.body
            answered = own.post(f"/api/v1/calendar/invites/{shared.json['items'][0]['invite_id']}/accept", {})
            assert answered.status == 200, answered.body


def fill(database: Path, sizes: Sizes, thread: str) -> None:
    """Events and messages, while the server is stopped. The triggers of the tables run, as for the server's own rows."""
    with sqlite3.connect(database) as db:
        hours = ((f"evt_{n}", FIRST_MS + n * HOUR_MS, FIRST_MS + (n + (30 if n % 50 == 0 else 1)) * HOUR_MS) for n in range(sizes.events))
        db.executemany("INSERT INTO calendar_events(id, owner_id, title, start_at, end_at, timezone, created_at, updated_at) "
                       "VALUES (?, 'demo', 'Meeting', ?, ?, 'UTC', 1, 1)", hours)
        [(session, run)] = db.execute("SELECT s.id, r.id FROM agent_chat_sessions s JOIN runs r ON r.thread_id = s.id "
                                      "WHERE s.thread_ref = ?", (thread,))
        said = ((session, run, f"m{n}", n, "What was said in this message. " * 4) for n in range(100, 100 + sizes.messages))
        db.executemany("INSERT INTO agent_chat_messages(session_id, run_id, message_id, seq, role, content, metadata, visibility_mask, "
                       "input_tokens, output_tokens, cost, currency, created_at) "
                       """VALUES (?, ?, ?, ?, 'user', ?, '{"type":"user_input"}', 3, 0, 0, 0, 'CNY', 1)""", said)
    db.close()


@dataclasses.dataclass
class Query:
    name: str
    seconds: list[float] = dataclasses.field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def measure(server: Server, sizes: Sizes, thread: str) -> list[Query]:
    api = server.api()
    chance = random.Random(1)
    nothing, week, search, page = Query("GET /healthz"), Query("events of a week"), Query("search of contacts"), Query("page of a history")

    def timed(query: Query, path: str) -> dict:
        begin = time.perf_counter()
        answer = api.get(path)
        query.seconds.append(time.perf_counter() - begin)
        assert answer.status == 200, answer.body
        return answer.json

    for _ in range(sizes.asked):
        timed(nothing, "/healthz")
        hour = chance.randrange(sizes.events - WEEK_HOURS)
        found = timed(week, f"/api/v1/calendar/events?from={at(hour)}&to={at(hour + WEEK_HOURS)}")
        assert found["count"] >= WEEK_HOURS + WEEKLY, found["count"]
        number = chance.randrange(sizes.contacts)
        words = name_of(number) if chance.random() < 0.5 else " ".join(name_of(number).split()[:2])
        assert timed(search, f"/api/v1/contacts?q={quote(words)}")["items"], words
        before = chance.randrange(200, 100 + sizes.messages)
        shown = timed(page, f"/api/v1/agent/history?threadId={thread}&before={before}&limit=50")
        assert len(shown["messages"]) == 50 and shown["messages"][-1]["seq"] == before - 1
    return [nothing, week, search, page]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows and requests, to see that it works")
    sizes = QUICK if parser.parse_args().quick else FULL
    with tempfile.TemporaryDirectory(prefix="runnel-queries-", dir=os.environ.get("RUNNEL_BENCH_DIR")) as folder:
        server = Server(Path(folder), {"models": {"offline": {"word_delay_ms": 0}}, "runtime": {"storage_bytes_per_user": 0}})
        with server:
            thread, run = server.api().start_run("hello")
            server.api().finish(thread, run)
            print(f"adding {sizes.contacts:,} contacts, {sizes.events:,} events and {sizes.messages:,} messages …", flush=True)
            add_weekly_events(server)
            add_contacts(server, sizes.contacts)
            server.stop()
            fill(server.database, sizes, thread)
            server.start()
            meter, begin = machine.Meter(server.process.pid), time.monotonic()
            rows = measure(server, sizes, thread)
            foreign = 100 * meter.end()["foreign_cpu_s"] / (time.monotonic() - begin)
            print(f"{machine.describe()}; each query asked {sizes.asked} times; others used {foreign:.0f} % of a core")
    print(f"| {'query':20} | p50 ms | p99 ms | budget |\n|{'-' * 22}|--------|--------|--------|")
    too_slow = [row for row in rows if row.quantile(0.99) >= BUDGET_MS]
    for row in rows:
        verdict = "" if row.name.startswith("GET") else f"{'NOT within' if row in too_slow else 'within'} {BUDGET_MS:.0f} ms"
        print(f"| {row.name:20} | {1000 * statistics.median(row.seconds):6.2f} | {row.quantile(0.99):6.2f} | {verdict} |")
    results = ROOT / "build" / "queries"
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{int(time.time())}.json").write_text(json.dumps([dataclasses.asdict(row) for row in rows]))
    return 1 if too_slow and sizes is FULL else 0


if __name__ == "__main__":
    sys.exit(main())
