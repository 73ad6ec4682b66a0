"""The load of the crash harness: workers that start runs and readers that follow them through every crash.

Each worker has at most one unfinished run, so the load is bounded by the number of workers.
"""

import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from evidence import Read  # noqa: E402
from http_client import HttpError  # noqa: E402
from runnel_server import TERMINALS, Api, new_id, run_input  # noqa: E402
from sse import SseError  # noqa: E402
from staged_flows import THREE_STAGES  # noqa: E402
from task_reader import TaskReader, task_problems  # noqa: E402
from thread_reader import ThreadReader  # noqa: E402

DIALECTS = {"v2": {"dialect": "v2"}, "v1": {"dialect": "v1"}, "ag-ui 1.0": {"dialect": "ag-ui", "agui": "1.0"},
            "ag-ui 0.0": {"dialect": "ag-ui", "agui": "0.0"}}
RUNS_PER_SHARED_THREAD = 10
# Flows with one stage; with two, on the offline model; and with three, with tools and rejected outputs.
FLOWS = ("chat", "chat", "router_worker", THREE_STAGES)
BROKEN = (OSError, HttpError)


class OutOfTime(Exception):
    """Something that must end did not end before the deadline of the harness."""


class World:
    """What the workers, the readers and the Nemesis share."""

    def __init__(self):
        self.up = threading.Event()
        self.stopping = threading.Event()
        self.deadline: float | None = None  # Set once the faults are over.
        self.lock = threading.Lock()
        self.accepted: dict[str, tuple[Api, str]] = {}  # By run: its owner's API and its thread.
        self.refused: set[str] = set()
        self.attempted: set[str] = set()
        self.reads: list[Read] = []
        self.problems: list[str] = []
        self.cancels = 0
        self.repeated_posts = 0
        self.followers: list[threading.Thread] = []  # Each fills one of `thread_reads`.
        self.thread_reads: list[ThreadReader] = []
        self.task_reads = 0
        self.task_connections = 0

    def wait_up(self) -> None:
        while not self.up.wait(0.5):
            self.check_time()
        self.check_time()

    def check_time(self) -> None:
        if self.deadline and time.monotonic() > self.deadline:
            raise OutOfTime

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)

    def pause(self, answer) -> None:
        """Waits after a 429 or 503 as long as the server asks, but at most a second."""
        time.sleep(min(float(answer.headers.get("retry-after", 0.05)), 1.0))


def submit(world: World, api: Api, body: dict) -> bool:
    """Posts until there is an answer. If the answer is lost, posts again with the same run id (RUN-2)."""
    run, asked = body["runId"], 0
    with world.lock:
        world.attempted.add(run)
    while True:
        world.wait_up()
        asked += 1
        try:
            answer = api.post_run(body)
        except BROKEN:
            continue
        if answer.status in (429, 503):
            world.pause(answer)
            continue
        with world.lock:
            world.repeated_posts += asked > 1
            if answer.status in (200, 202):
                world.accepted[run] = (api, answer.json["threadId"])
                return True
            if answer.status == 409 and answer.error_code == "THREAD_BUSY":
                world.refused.add(run)
                return False
            world.problems.append(f"POST of {run} answered {answer.status} {answer.body!r}")
            return False


def follow(world: World, api: Api, thread: str, run: str, dialect: str, rng: random.Random, at_frame=None) -> Read:
    """Reads a run to its terminal over as many connections as necessary. It sometimes drops one on purpose."""
    read = Read(run, dialect)
    with world.lock:
        world.reads.append(read)
    while not read.complete and not read.error:
        world.wait_up()
        try:
            _follow_once(world, api, thread, read, rng.choice((3, 10, 40, 10**6)), at_frame)
        except SseError as error:
            read.error = f"broken stream: {error}"
        except BROKEN:
            continue
    return read


def _follow_once(world: World, api: Api, thread: str, read: Read, budget: int, at_frame) -> None:
    after = read.frames[-1][0] if read.frames else None
    with api.events(thread, read.run, after=after, timeout=10, **DIALECTS[read.dialect]) as stream:
        if stream.status in (429, 503):
            world.pause(stream)
            return
        if stream.status != 200:
            read.error = f"resume at {after} answered {stream.status}: {stream.connection.read_body()!r}"
            return
        read.connections += 1
        for count, frame in enumerate(stream, 1):
            read.resumed_midway += count == 1 and after is not None
            read.frames.append((frame.id, frame.event, frame.data.decode()))
            if at_frame:
                at_frame(len(read.frames))
            if frame.event in TERMINALS:
                read.complete = True
                if stream.next() is not None:
                    read.error = f"frames after the terminal at {frame.id}"
                return
            if count >= budget:
                return


@dataclass
class User:
    """A caller of the API, and the thread that the caller's workers share."""

    api: Api
    lock: threading.Lock = field(default_factory=threading.Lock)
    shared: str = ""
    shared_runs: int = 0
    read_threads: set[str] = field(default_factory=set)

    def is_unread(self, thread: str) -> bool:
        """True once for each thread."""
        with self.lock:
            unread = thread not in self.read_threads
            self.read_threads.add(thread)
            return unread

    def shared_thread(self) -> str:
        with self.lock:
            if self.shared_runs % RUNS_PER_SHARED_THREAD == 0:
                self.shared = new_id("shared")
            self.shared_runs += 1
            return self.shared


class Worker(threading.Thread):
    """Starts one run after the other, with every policy, until the world stops."""

    def __init__(self, world: World, user: User, seed: int):
        super().__init__(daemon=True)
        self.world, self.user, self.rng = world, user, random.Random(seed)

    def run(self) -> None:
        try:
            while not self.world.stopping.is_set():
                self._one_run()
        except OutOfTime:
            self.world.problem("a worker did not end in time")
        except Exception as error:  # A bug in the harness must not look like success.
            self.world.problem(f"worker: {error!r}")
            raise

    def _one_run(self) -> None:
        rng, api = self.rng, self.user.api
        shared = rng.random() < 0.6
        policy = rng.choice(("reject", "enqueue", "enqueue", "interrupt", "rollback")) if shared else "reject"
        thread = self.user.shared_thread() if shared else new_id("own")
        run = new_id("run")
        text = rng.choice(("hello", "你好,世界", "a\n\nb “quoted” \\ text"))
        body = run_input(text, thread, run, {"onBusy": policy, "flow": rng.choice(FLOWS)})
        if not submit(self.world, api, body):
            return
        if shared and self.user.is_unread(thread):
            follower = threading.Thread(target=self._follow_thread, args=(thread, rng.randrange(2**32)), daemon=True)
            with self.world.lock:
                self.world.followers.append(follower)
            follower.start()
        dialects = rng.sample(sorted(DIALECTS), rng.choice((1, 1, 2)))
        beside = [threading.Thread(target=self._follow_beside, args=(thread, run, dialect, rng.randrange(2**32)))
                  for dialect in dialects[1:]]
        if rng.random() < 0.5:
            beside.append(threading.Thread(target=self._follow_task, args=(run, rng.randrange(2**32))))
        for reader in beside:
            reader.start()
        cancel_at = rng.randint(1, 30) if rng.random() < 0.15 else 0
        follow(self.world, api, thread, run, dialects[0], rng,
               lambda count: count == cancel_at and self._cancel(thread, run))
        for reader in beside:
            reader.join()

    def _follow_thread(self, thread: str, seed: int) -> None:
        """As long as there are faults. What is then left is read when the runs are known (crash_harness.py)."""
        rng = random.Random(seed)
        dialect = rng.choice(sorted(DIALECTS))
        reader = ThreadReader(self.user.api, thread, dialect, DIALECTS[dialect])
        while not self.world.stopping.is_set() and not reader.problem:
            self.world.wait_up()
            reader.go_on(rng)
        with self.world.lock:
            self.world.thread_reads.append(reader)

    def _follow_beside(self, thread: str, run: str, dialect: str, seed: int) -> None:
        try:
            follow(self.world, self.user.api, thread, run, dialect, random.Random(seed))
        except OutOfTime:
            self.world.problem(f"a reader of {run} did not end in time")

    def _follow_task(self, run: str, seed: int) -> None:
        """Polls and sockets, to the end; then the whole task must be what was seen."""
        reader, rng, whole = TaskReader(self.user.api, run), random.Random(seed), None
        try:
            while not reader.over and not reader.problems:
                self.world.wait_up()
                reader.go_on(rng)
            while whole is None and not reader.problems:
                self.world.wait_up()
                whole = reader.whole()
        except OutOfTime:
            reader.problems.append("its reader did not end in time")
        with self.world.lock:
            self.world.task_reads += 1
            self.world.task_connections += reader.sockets + reader.polls
            problems = reader.problems or task_problems(reader.events, whole)
            self.world.problems += [f"task {run}: {text}" for text in problems]

    def _cancel(self, thread: str, run: str) -> None:
        """Sends one cancel, and does not repeat it if the answer is lost."""
        try:
            answer = self.user.api.cancel(thread, run)
        except BROKEN:
            return
        if answer.status in (200, 202):
            with self.world.lock:
                self.world.cancels += 1
        elif answer.status not in (429, 503):
            self.world.problem(f"cancel of {run} answered {answer.status} {answer.body!r}")
