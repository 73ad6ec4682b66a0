"""The runs of the walk over all wires: they begin, wait, are approved, are cancelled and end all the time."""

import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from booking_flow import BOOKING, TurnsModel, booking_config, booking_turns  # noqa: E402
from fake_answer import Answer  # noqa: E402
from fake_http import Request  # noqa: E402
from http_client import HttpError  # noqa: E402
from runnel_server import ENDED, Api, new_id, run_input  # noqa: E402
from staged_flows import THREE_STAGES, TWO_STAGES, StagedModel  # noqa: E402
from tasks import TASKS as TASK_ROUTE  # noqa: E402
from wire_readers import VERSIONS, Started  # noqa: E402

TEXTS = ("hello", "你好,世界", "a\n\nb “quoted” \\ text")
# A flow, and a model of its own: short and long answers, fast and slow ones, and more events than a task keeps.
KINDS = (("chat", "tok-300-10000"), ("chat", "tok-60-50000"), ("chat", "tok-1500-3000"), ("chat", "tok-3000-1000-20"),
         ("chat", None), ("router_worker", None), (TWO_STAGES, None), (THREE_STAGES, None), (BOOKING, None), (BOOKING, None))
RUNS_PER_THREAD = 6
LONGEST_RUN = 60


def walk_config(directory: Path, base_url: str) -> dict:
    """Flows of one, two and three stages, models of any pace, and tool calls that wait for an approval."""
    config = booking_config(directory, base_url)
    models = {**config["models"], "offline": {"word_delay_ms": 15, "words": 120}, "test": {"enabled": True}}
    return {**config, "models": models, "tools": {"test": False, "approval": "[calendar.create]"},
            "http": {"keep_alive_s": 1}, "runtime": {"runs_per_user": 0}}


class WalkModel:
    """Makes the answers of a `FakeProvider` (its `otherwise`) for every flow with a model of its own."""

    def __init__(self):
        self._booking, self._staged = TurnsModel(booking_turns("Lunch")), StagedModel()

    def __call__(self, request: Request) -> Answer:
        answer = (self._booking if request.model == "staged-act" else self._staged)(request)
        return answer.paced(delay=0.02)


class Runs:
    """All runs, those that are under way, and what happened to them."""

    def __init__(self):
        self.lock = threading.Lock()
        self.all: list[Started] = []
        self.fates: Counter[str] = Counter()
        self.problems: list[str] = []

    def add(self, started: Started) -> Started:
        with self.lock:
            self.all.append(started)
        return started

    def count(self, fate: str) -> None:
        with self.lock:
            self.fates[fate] += 1

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)

    def choose(self, rng: random.Random) -> Started | None:
        """Mostly a run that is under way."""
        with self.lock:
            live = [started for started in self.all if not started.over]
            return rng.choice(live if live and rng.random() < 0.85 else self.all) if self.all else None


class Starter(threading.Thread):
    """Starts one run after the other, and cancels some of them, or decides about their tool calls."""

    def __init__(self, runs: Runs, api: Api, seed: int):
        super().__init__(daemon=True)
        self.runs, self.api, self.rng = runs, api, random.Random(seed)
        self.stopping = threading.Event()
        self._thread, self._in_thread = "", 0

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                started = self._start()
                if started:
                    self._attend(started)
        except Exception as error:  # A bug in the walk must not look like success.
            self.runs.problem(f"a starter of runs: {error!r}")
            raise

    def _start(self) -> Started | None:
        if self._in_thread % RUNS_PER_THREAD == 0:
            self._thread = new_id("t")
        self._in_thread += 1
        text = self.rng.choice(TEXTS)
        if self.rng.random() < 0.2:
            return self._accepted(self.api.post(TASK_ROUTE, {"message": text, "conversation_id": self._thread}), None)
        flow, model = self.rng.choice(KINDS)
        policy = self.rng.choice(("enqueue", "interrupt", "rollback"))
        body = run_input(text, self._thread, new_id("r"), {"flow": flow, "onBusy": policy, **({"model": model} if model else {})})
        if self.rng.random() < 0.3:
            return self._post_ag_ui(body)
        return self._accepted(self.api.post_run(body), body)

    def _accepted(self, answer, body: dict | None) -> Started | None:
        if answer.status != 202:
            if answer.status != 409:
                self.runs.problem(f"a run was answered with {answer.status}: {answer.body!r}")
            time.sleep(0.05)
            return None
        ids = answer.json
        thread, run = (ids["threadId"], ids["runId"]) if "runId" in ids else (ids["conversation_id"], ids["task_id"])
        return self.runs.add(Started(self.api, thread, run, body))

    def _post_ag_ui(self, body: dict) -> Started | None:
        """Starts it as AG-UI's clients do, and leaves at once (AGUI-2)."""
        version = self.rng.choice(list(VERSIONS.values()))
        try:
            with self.api.open("POST", "/api/v1/agent/ag-ui", {**body, **version}) as stream:
                if stream.status != 200:
                    self.runs.problem(f"ag-ui answered with {stream.status}: {stream.connection.read_body()!r}")
                    return None
        except (OSError, HttpError) as error:
            self.runs.problem(f"ag-ui: {error!r}")
            return None
        return self.runs.add(Started(self.api, body["threadId"], body["runId"], body))

    def _attend(self, started: Started) -> None:
        """Follows the run to its end. Sometimes the next run of the thread begins before that."""
        rng = self.rng
        cancel_at = time.monotonic() + rng.uniform(0, 3) if rng.random() < 0.25 else None
        leave_at = time.monotonic() + rng.uniform(0, 0.5) if rng.random() < 0.3 else None
        deadline = time.monotonic() + LONGEST_RUN
        while not self.ended(started):
            now = time.monotonic()
            if now > deadline:
                return self.runs.problem(f"run {started.run} does not end")
            if leave_at and now > leave_at and not self.stopping.is_set():
                threading.Thread(target=self._look_after, args=(started, random.Random(rng.randrange(2**32))), daemon=True).start()
                return None
            if cancel_at and now > cancel_at:
                cancel_at = None
                self._cancel(started)
            self._decide(started, rng)
            time.sleep(0.03)
        return None

    def _look_after(self, started: Started, rng: random.Random) -> None:
        """Only what it needs to end: the decisions about its calls."""
        deadline = time.monotonic() + LONGEST_RUN
        while not self.ended(started) and time.monotonic() < deadline:
            self._decide(started, rng)
            time.sleep(0.1)

    def ended(self, started: Started) -> bool:
        status = started.api.status(started.thread, started.run).json["status"]
        if status in ENDED and not started.over:
            started.over = True
            self.runs.count(status)
        return started.over

    def _cancel(self, started: Started) -> None:
        answer = self.api.cancel(started.thread, started.run)
        if answer.status not in (200, 202):
            self.runs.problem(f"cancel of {started.run}: {answer.status} {answer.body!r}")

    def _decide(self, started: Started, rng: random.Random) -> None:
        """Lets a call wait for a while, then approves it or not."""
        if started.api.status(started.thread, started.run).json["status"] != "awaiting_approval" or rng.random() < 0.7:
            return
        waiting = self.api.get("/api/v1/agent/approvals").json["approvals"]
        for call in (call for call in waiting if call["runId"] == started.run):
            decision = "approve" if rng.random() < 0.7 else "reject"
            answer = self.api.post(f"/api/v1/agent/runs/{started.thread}/approvals/{call['toolCallId']}", {"decision": decision})
            if answer.status == 202:
                self.runs.count(answer.json["status"])
            elif answer.status != 409 and answer.status != 404:
                self.runs.problem(f"a decision about {started.run}: {answer.status} {answer.body!r}")
