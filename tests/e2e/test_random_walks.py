"""SSE-3, TASK-3 and WIRE-1: readers of random wires walk through runs: they connect, leave at a random byte, and come back,
while the run is live and after it has ended. None sees a gap, a double or another order. RUNNEL_LONG makes the walk longer."""

import os
import random
import threading
import time
import unittest
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

from e2e_case import DIALECTS
from flow_case import Says
from model_case import ModelRun
from tool_case import DONE, ROUTED, Asks, ToolCase, create
from views import POLLS, SOCKET, elements, replay

from fake_answer import Answer
from fake_http import Request
from sse import Frame, SseParser
from tasks import task_path
from web_socket import CLOSE, PING, follow

SEED = 15
STEPS = 10_000 if os.environ.get("RUNNEL_LONG") else 2_500  # A step is one connection.
ANY = "any dialect"
TURN = Asks((*create(title="Eins").arguments, *create(title="Zwei").arguments), "Ich sehe nach 📅")
LONG = Says({**DONE.content, "answer": "So viele Wörter 😀 auf einmal. " * 20}, "Hm… 🤔 " * 5, pieces=200)


def model(request: Request) -> Answer:
    """The next answer of a run that calls tools twice; it depends only on the request, because runs are cancelled."""
    taken = sum("tool_calls" in message for message in request.json["messages"])
    step = LONG if taken == 2 else TURN if "tools" in request.json else ROUTED
    return step.answer(taken + 1).paced(delay=0.002)


class Walker:
    """A reader that stays for a while, leaves without a word and comes back."""

    def __init__(self, run: ModelRun, rng: random.Random):
        self.run, self.rng = run, rng
        self.steps, self.deadline = 0, time.monotonic() + 60

    def step(self) -> None:
        assert time.monotonic() < self.deadline, f"came to no end in {self.steps} steps"
        self.steps += 1
        time.sleep(self.rng.choice((0, 0, 0, 0.005, 0.03)))

    def stream(self, dialects: list[dict]) -> list[Frame]:
        """Reads an event stream, each time in one of these dialects, up to a random byte: sometimes a near one, and sometimes one behind the
        longest frame. A frame that was cut is dropped."""
        seen: list[Frame] = []
        while True:
            self.step()
            after = seen[-1].id if seen else None
            with self.run.api.events(self.run.thread, self.run.run, after=after, **self.rng.choice(dialects)) as stream:
                if stream.status == 204:
                    return seen
                assert stream.status == 200, stream.status
                cut = self.rng.choice((self.rng.randrange(2000), self.rng.randrange(20_000)))
                seen += SseParser().feed(stream.read_until(cut)[:cut])

    def socket(self) -> list[bytes]:
        seen: list[bytes] = []
        while True:
            self.step()
            stay = self.rng.randrange(12)
            with follow(self.run.api, self.run.run, len(seen)) as socket:
                while stay and (frame := socket.read()).opcode != CLOSE:
                    if frame.opcode != PING:
                        seen.append(frame.payload)
                        stay -= 1
                if stay:
                    assert frame.code == 1000, frame
                    return seen

    def polls(self) -> list[bytes]:
        """Each answer has everything behind its offset. Goes on from a random event of those that it has seen."""
        seen: list[bytes] = []
        while True:
            self.step()
            start = self.rng.randint(max(0, len(seen) - 5), len(seen))
            answer = self.run.api.get(task_path(self.run.run, **{"from": start, "wait": self.rng.randrange(2)}))
            assert answer.status == 200, (answer.status, answer.body)
            got = elements(answer.body.decode())
            assert got[:len(seen) - start] == seen[start:], (start, got, seen)
            seen[start:] = got
            assert answer.json["next_offset"] == len(seen), answer.json
            if answer.json["status"] != "running":
                return seen


class Walk:
    """A walker on every wire, each in a thread of its own, through one run."""

    def __init__(self, run: ModelRun, rng: random.Random):
        self.walkers = {name: Walker(run, random.Random(rng.random())) for name in (*DIALECTS, ANY, SOCKET, POLLS)}
        self.pool = ThreadPoolExecutor(len(self.walkers))

    def __enter__(self):
        streams = {**{name: [dialect] for name, dialect in DIALECTS.items()}, ANY: list(DIALECTS.values())}
        reading = {name: self.pool.submit(self.walkers[name].stream, dialects) for name, dialects in streams.items()}
        self.reading: dict[str, Future] = {**reading, SOCKET: self.pool.submit(self.walkers[SOCKET].socket),
                                           POLLS: self.pool.submit(self.walkers[POLLS].polls)}
        return self

    def __exit__(self, *_):
        self.pool.shutdown()

    @property
    def steps(self) -> int:
        return sum(walker.steps for walker in self.walkers.values())


class RandomWalks(ToolCase):
    def test_SSE_3_no_reader_sees_a_gap_a_double_or_another_order(self):
        rng, steps, ends = random.Random(SEED), 0, set()
        while steps < STEPS:
            canceled = rng.random() < 0.3
            self.fake.script(*[model] * 4)
            run = ModelRun(self.api, *self.api.start_run("Please."))
            with ExitStack() as stack:
                live = stack.enter_context(Walk(run, rng))
                if canceled:
                    timer = threading.Timer(rng.random(), self.api.cancel, (run.thread, run.run))
                    timer.start()
                    stack.callback(timer.join)
            with Walk(run, rng) as after:
                pass
            with self.subTest(run=run.run, seed=SEED, steps=steps):
                self.check(run, live)
                self.check(run, after)
            steps += live.steps + after.steps
            ends.add(run.api.status(run.thread, run.run).json["status"])
        self.assertEqual(ends, {"completed", "canceled"}, f"the walk was too short: {steps} steps")

    def check(self, run: ModelRun, walk: Walk) -> None:
        whole = {name: run.api.read_events(run.thread, run.run, **dialect) for name, dialect in DIALECTS.items()}
        tasks = replay(run.api, run.thread, run.run)
        for name, frames in whole.items():
            self.assertEqual(walk.reading[name].result(), frames, name)
        for name in (SOCKET, POLLS):
            self.assertEqual(walk.reading[name].result(), tasks[name], name)
        self.check_mixed(walk.reading[ANY].result(), whole)

    def check_mixed(self, seen: list[Frame], whole: dict[str, list[Frame]]) -> None:
        """A reader that changes the dialect: each frame is the one of its id, they come in order, and none is left out that
        every dialect has."""
        known = {frame for frames in whole.values() for frame in frames}
        places = [frame.position for frame in seen]
        self.assertEqual(places, sorted(set(places)))
        self.assertEqual([frame for frame in seen if frame not in known], [])
        everywhere = set.intersection(*({frame.id for frame in frames} for frames in whole.values()))
        self.assertEqual(everywhere - {frame.id for frame in seen}, set())


if __name__ == "__main__":
    unittest.main()
