"""HTTP-9: what one user asks for within the limits leaves another's requests under 50 ms, and the memory bounded."""

import itertools
import json
import string
import sys
import time
import unittest

from neighbour_case import ATTACKER, Api, NeighbourCase, one_user

from runnel_server import run_input

MIB = 1 << 20
BODY_LIMIT = 4 * MIB
MESSAGE_SIZES = (BODY_LIMIT - 2048, MIB, 256 * 1024, 64 * 1024)
PREPARATION = 8.0  # Seconds that an attacker has for filling a thread.


def post_patiently(api: Api, body, deadline: float) -> int:
    """Posts until it is not asked to come later; the last status."""
    while True:
        answer = api.post_run(body, timeout=30)  # Bytes as they are.
        if answer.status not in (409, 429, 503) or time.monotonic() > deadline:
            return answer.status
        time.sleep(0.05)


def largest_message(api: Api) -> int:
    """As large as the server takes one."""
    return next(size for size in MESSAGE_SIZES
                if post_patiently(api, run_input("x" * size, thread="probe"), time.monotonic() + 10) == 202)


def fill(api: Api, thread: str, total: int) -> None:
    """Messages as large as they may be on one thread, until they are `total` bytes or the time is up."""
    size, count, deadline = largest_message(api), 0, time.monotonic() + PREPARATION
    while count * size < total and time.monotonic() < deadline:
        if post_patiently(api, run_input("x" * size, thread=thread), deadline) == 202:
            count += 1
    print(f"a thread of {count} messages of {size >> 10} KiB", file=sys.stderr)


def short_names(count: int) -> list[str]:
    """Short, so that a body holds many."""
    return ["".join(letters) for letters in itertools.islice(itertools.product(string.ascii_letters, repeat=4), count)]


def many_keys(size: int) -> bytes:
    return one_user.body_with(state=dict.fromkeys(short_names(size // 10), 1))


def many_messages(size: int) -> bytes:
    message = {"id": "m", "role": "user", "content": "hi"}
    return one_user.body_with(messages=[message] * (size // 45))


def many_levels(size: int) -> bytes:
    deep = 50
    return one_user.body_with(state=[json.loads("[" * deep + "]" * deep)] * (size // (2 * deep + 1)))


def many_escapes(size: int) -> bytes:
    return one_user.body_with(state="TEXT").replace(b"TEXT", b"\\u00e9" * (size // 6))


def as_large_as_admitted(api: Api, make) -> bytes:
    """The largest of ever smaller bodies that is not refused for its size or form. (Too many runs or requests is no
    such refusal.)"""
    size, deadline = BODY_LIMIT - 4096, time.monotonic() + 5
    while True:
        body = make(size)
        status = post_patiently(api, body, deadline)
        if status not in (400, 413) or size < 4096:
            return body
        size //= 2


class OneUserTest(NeighbourCase):
    def test_00_calm(self):
        def attempt(name):
            return self.phase(name, self.start(), settle=0)

        self.judge("(no attack)", attempt)

    def on_large_messages(self, name: str, attacks) -> None:
        """On a thread of large messages: `attacks(server, api)`."""
        def attempt(name):
            server = self.start(data=self.prepared("messages", lambda api: fill(api, "large", 96 * MIB)))
            return self.phase(name, server, *attacks(server, server.api(ATTACKER)))

        self.judge(name, attempt)

    def test_slow_readers_of_a_history_of_large_messages(self):
        self.on_large_messages("16 slow histories of large messages", lambda server, api: [
            (one_user.slow_readers, server.address, api.token, ["/api/v1/agent/history?threadId=large&limit=200"], 16)])

    def test_runs_on_a_thread_of_large_messages(self):
        self.on_large_messages("runs on a thread of large messages", lambda server, api: [
            (one_user.start_runs, server.address, api.token, ["large"], 10)])

    def replay(self, name: str, readers, *how) -> None:
        """Readers of a run of 60,000 tokens, 10 MiB of frames."""
        def run_long(api):
            api.finish(*api.start_run("hi", thread="long", run="long", forwarded={"model": "tok-60000-50"}))

        def attempt(name):
            server = self.start(data=self.prepared("run", run_long))
            target = Api.events_path("long", "long", "ag-ui")
            return self.phase(name, server, (readers, server.address, server.api(ATTACKER).token, [target], *how),
                              settle=1.5)

        self.judge(name, attempt)

    def test_slow_readers_that_replay_a_long_run(self):
        self.replay("100 slow replays", one_user.slow_readers, 100)

    def test_fast_readers_that_replay_a_long_run(self):
        self.replay("8 fast replays", one_user.fast_readers, 8, 8)

    def withhold(self, name: str, chunked: bool) -> None:
        def attempt(name):
            server = self.start()
            token = server.api(ATTACKER).token
            return self.phase(name, server, (one_user.withhold_the_last_byte, server.address, token, BODY_LIMIT, 100,
                                             chunked), settle=3.0)

        self.judge(name, attempt)

    def test_bodies_that_withhold_their_last_byte(self):
        self.withhold("100 bodies but for a byte", chunked=False)

    def test_bodies_in_chunks_that_withhold_their_last_byte(self):
        self.withhold("100 chunked bodies but for a byte", chunked=True)

    def post(self, name: str, bodies: list[bytes], expected: set[int]) -> None:
        def attempt(name):
            server = self.start()
            token = server.api(ATTACKER).token
            return self.phase(name, server, (one_user.post_bodies, server.address, token, bodies, 6, 2.5))

        for told in self.judge(name, attempt):
            self.assertLessEqual(set(told["statuses"]), expected)

    def test_bodies_of_very_many_keys(self):
        body = one_user.body_with(state=dict.fromkeys(short_names(400_000), 1))
        self.assertLess(len(body), BODY_LIMIT)

        self.post("400,000 keys", [body], {400, 413, 429})

    def test_bodies_just_below_the_limits(self):
        """Whatever is not refused for its form: very many values, messages, levels and escapes."""
        def attempt(name):
            server = self.start()
            api = server.api(ATTACKER)
            bodies = [as_large_as_admitted(api, make) for make in (many_keys, many_messages, many_levels, many_escapes)]
            return self.phase(name, server, (one_user.post_bodies, server.address, api.token, bodies, 6, 2.5))

        self.judge("bodies just below the limits", attempt)


if __name__ == "__main__":
    unittest.main()
