"""RUN-15: one stream follows a whole thread. HTTP-4: a ticket opens it."""

import sqlite3
import unittest

from e2e_case import DIALECTS, Api, E2eCase, eventually, new_id, offline

from http_client import Cut
from runnel_server import TERMINALS

TICKETS = "/api/v1/auth/tickets"


def ids(frames) -> list[str]:
    return [frame.id for frame in frames]


def ends(frames) -> int:
    return sum(frame.event in TERMINALS for frame in frames)


class ThreadStreamCase(E2eCase):
    def take(self, stream, count: int) -> list:
        return [stream.next() for _ in range(count)]

    def take_runs(self, stream, count: int) -> list:
        """Frames up to the end of so many runs."""
        seen = []
        while ends(seen) < count:
            frame = stream.next()
            self.assertIsNotNone(frame, "a thread's stream does not end by itself")
            seen.append(frame)
        return seen

    def whole(self, thread: str, *runs: str, dialect: str = "v2") -> list:
        """What the streams of the single runs have, one after the other."""
        return [frame for run in runs for frame in self.api.read_events(thread, run, **DIALECTS[dialect])]

    def three_runs(self) -> tuple[str, list[str]]:
        thread = new_id("thread")
        return thread, [self.finished_run(f"number {n}", thread=thread)[1] for n in range(3)]


class ThreadStreams(ThreadStreamCase):
    config = offline(word_delay_ms=2)

    def test_RUN_15_runs_follow_each_other_on_one_stream_in_every_dialect(self):
        for name, query in DIALECTS.items():
            with self.subTest(name):
                thread, first = self.finished_run()
                with self.api.thread_events(thread, **query) as stream:
                    self.assertEqual(stream.status, 200)
                    _, second = self.finished_run("again", thread=thread)
                    _, third = self.finished_run("and again", thread=thread)
                    seen = self.take_runs(stream, 2)
                self.assertEqual(seen, self.whole(thread, second, third, dialect=name))
                self.assertEqual(seen, sorted(seen, key=lambda frame: frame.position))

    def test_RUN_15_it_begins_with_the_active_run(self):
        thread, run = self.api.start_run(thread=new_id("thread"))
        with self.api.thread_events(thread) as stream:
            self.assertEqual(self.take_runs(stream, 1), self.whole(thread, run))

    def test_RUN_15_from_the_start(self):
        thread, runs = self.three_runs()
        for name, query in DIALECTS.items():
            with self.subTest(name), self.api.thread_events(thread, **{"from": "start"}, **query) as stream:
                self.assertEqual(self.take_runs(stream, len(runs)), self.whole(thread, *runs, dialect=name))
                _, run = self.finished_run(thread=thread)
                runs.append(run)
                self.assertEqual(self.take_runs(stream, 1), self.whole(thread, run, dialect=name))

    def test_RUN_15_one_cursor_covers_every_run(self):
        thread, runs = self.three_runs()
        whole = self.whole(thread, *runs)
        for at, frame in enumerate(whole[:-1]):
            with self.subTest(after=frame.id), self.api.thread_events(thread, after=frame.id) as stream:
                self.assertEqual(self.take(stream, len(whole) - at - 1), whole[at + 1:])

    def test_RUN_15_after_a_terminal_event_the_stream_waits(self):
        thread, runs = self.three_runs()
        with self.api.thread_events(thread, after=self.whole(thread, *runs)[-1].id) as stream:
            self.assertEqual(stream.status, 200)
            _, run = self.finished_run(thread=thread)
            self.assertEqual(self.take_runs(stream, 1), self.whole(thread, run))

    def test_RUN_15_the_query_does_what_the_header_does(self):
        thread, runs = self.three_runs()
        whole = self.whole(thread, *runs)
        with self.api.thread_events(thread, lastEventId=whole[5].id) as stream:
            self.assertEqual(self.take(stream, 3), whole[6:9])

    def test_RUN_15_queued_runs_come_in_the_order_in_which_they_begin(self):
        thread, first = self.api.start_run(thread=new_id("thread"))
        with self.api.thread_events(thread) as stream:
            busy = {"onBusy": "enqueue"}
            queued = [self.api.start_run(f"{n}", thread=thread, forwarded=busy)[1] for n in range(3)]
            self.assertEqual(self.api.cancel(thread, queued[1]).status, 202)
            last = self.api.start_run("at once", thread=thread, forwarded={"onBusy": "interrupt"})[1]
            seen = self.take_runs(stream, 4)
        self.assertEqual(seen, self.whole(thread, first, last, queued[0], queued[2]))
        self.assertNotIn(queued[1], {frame.json["runId"] for frame in seen}, "it was canceled in the queue")

    def test_RUN_15_ids_that_no_run_of_the_thread_had_are_refused(self):
        thread, runs = self.three_runs()
        epoch, n = self.whole(thread, runs[1])[-1].position
        elsewhere, other = self.finished_run()
        for bad, why in ((self.whole(elsewhere, other)[0].id, "any run of this thread"), ("x", "not an event id"),
                         (f"{epoch + 1}-1", "any run of this thread"), ("1-1", "any run of this thread"),
                         (f"{epoch}-{n + 1}", "beyond the end")):
            with self.subTest(bad):
                answer = self.api.get(f"/api/v1/agent/threads/{thread}/events?lastEventId={bad}")
                self.assert_error(answer, 400, "INVALID_EVENT_ID")
                self.assertIn(why, answer.json["error"]["message"])

    def test_RUN_15_other_bad_requests(self):
        thread, _ = self.finished_run()
        for query, code in (("dialect=v3", "UNKNOWN_DIALECT"), ("dialect=ag-ui&agui=2.0", "UNKNOWN_DIALECT")):
            self.assert_error(self.api.get(f"/api/v1/agent/threads/{thread}/events?{query}"), 400, code)
        self.assert_error(self.api.get(f"/api/v1/agent/threads/{thread}/events?from=end"), 400)

    def test_HTTP_3_another_users_thread_does_not_exist(self):
        thread, _ = self.finished_run()
        other = self.server.api("eve")
        for path in (thread, "none"):
            self.assert_error(other.get(f"/api/v1/agent/threads/{path}/events"), 404, "NOT_FOUND")

    def test_RUN_15_two_tabs_see_the_same(self):
        thread, _ = self.finished_run()
        with self.api.thread_events(thread) as one, self.api.thread_events(thread) as other:
            runs = [self.finished_run(thread=thread)[1] for _ in range(3)]
            seen = self.take_runs(one, 3)
            self.assertEqual(seen, self.take_runs(other, 3))
        self.assertEqual(seen, self.whole(thread, *runs))

    def test_RUN_5_stream_of_a_deleted_thread_ends(self):
        thread, _ = self.finished_run()
        with self.api.thread_events(thread) as stream:
            stream.give_up_after(10)
            self.assertEqual(self.api.request("DELETE", f"/api/v1/agent/threads/{thread}").status, 204)
            with self.assertRaises(Cut):
                stream.next()
        self.assert_error(self.api.get(f"/api/v1/agent/threads/{thread}/events"), 404)

    def test_V1_without_a_run_id_the_stream_begins_with_the_newest_run(self):
        thread, runs = self.three_runs()
        with self.api.events(thread, None, "v1") as stream:
            self.assertEqual(self.take_runs(stream, 1), self.whole(thread, runs[-1], dialect="v1"))
            _, run = self.finished_run(thread=thread)
            self.assertEqual(self.take_runs(stream, 1), self.whole(thread, run, dialect="v1"))

    def test_SSE_2_other_dialects_need_a_run_id(self):
        thread, _ = self.finished_run()
        for dialect in (None, "v2", "ag-ui"):
            self.assert_error(self.api.get(Api.events_path(thread, None, dialect)), 400, "RUN_ID_REQUIRED")


class ThreadTickets(ThreadStreamCase):
    config = offline(word_delay_ms=2, words=5)

    def setUp(self):
        self.browser = Api(self.server.address)  # Sends no token.
        self.thread, self.run_id = self.finished_run(thread=new_id("thread"))

    def ticket(self) -> str:
        answer = self.api.post(TICKETS, {"for": "sse", "threadId": self.thread})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["ticket"]

    def test_HTTP_4_a_ticket_opens_the_threads_stream_again_and_again(self):
        ticket, seen = self.ticket(), []
        for _ in range(3):
            with self.browser.thread_events(self.thread, after=seen[-1].id if seen else None, ticket=ticket) as stream:
                self.assertEqual(stream.status, 200)
                self.finished_run(thread=self.thread)
                seen += self.take_runs(stream, 1)
        with self.api.thread_events(self.thread, **{"from": "start"}) as stream:
            self.assertEqual(self.take_runs(stream, 4)[-len(seen):], seen)

    def test_HTTP_4_a_ticket_for_a_thread_opens_nothing_else(self):
        ticket = self.ticket()
        elsewhere, _ = self.finished_run()
        for path in (f"threads/{elsewhere}/events?ticket={ticket}",
                     f"runs/{self.thread}/events?runId={self.run_id}&ticket={ticket}"):
            self.assert_error(self.browser.get(f"/api/v1/agent/{path}"), 401, "INVALID_TICKET")

    def test_HTTP_4_a_ticket_for_a_run_does_not_open_its_thread(self):
        order = {"for": "sse", "threadId": self.thread, "runId": self.run_id}
        ticket = self.api.post(TICKETS, order).json["ticket"]
        for more in ("", f"&runId={self.run_id}", "&runId="):
            path = f"/api/v1/agent/threads/{self.thread}/events?ticket={ticket}{more}"
            self.assert_error(self.browser.get(path), 401, "INVALID_TICKET")

    def test_HTTP_4_v1_without_a_run_id_takes_the_ticket_of_the_thread(self):
        path = f"/api/v1/agent/runs/{self.thread}/events?dialect=v1&ticket={self.ticket()}"
        with self.browser.open("GET", path) as stream:
            self.assertEqual(self.take_runs(stream, 1), self.whole(self.thread, self.run_id, dialect="v1"))

    def test_HTTP_3_no_ticket_for_another_users_thread(self):
        answer = self.server.api("eve").post(TICKETS, {"for": "sse", "threadId": self.thread})
        self.assert_error(answer, 404, "NOT_FOUND")


class ThreadStreamsOverRestarts(ThreadStreamCase):
    config = offline(word_delay_ms=10, words=30)

    def test_RUN_15_a_cursor_counts_although_a_queued_run_was_canceled_and_the_server_crashed(self):
        thread, run = self.api.start_run(thread=new_id("thread"))
        with self.api.thread_events(thread) as stream:
            first = stream.next()
        _, queued = self.api.start_run(thread=thread, forwarded={"onBusy": "enqueue"})
        self.assertEqual(self.api.cancel(thread, queued).status, 202)
        self.server.restart()
        self.wait_status(thread, run, "completed")
        with self.api.thread_events(thread, after=first.id) as stream:
            self.assertEqual(stream.status, 200, stream.connection.read_body() if stream.status != 200 else "")
            self.assertEqual([first, *self.take_runs(stream, 1)], self.whole(thread, run))

    def test_RUN_15_a_reader_follows_the_thread_through_crashes(self):
        thread, seen, runs = new_id("thread"), [], []
        self.api.start_run(thread=thread)
        while ends(seen) < 3:
            try:
                with self.api.thread_events(thread, after=seen[-1].id if seen else None) as stream:
                    self.assertEqual(stream.status, 200)
                    for _ in range(5):
                        seen.append(stream.next())
                        if seen[-1].event in TERMINALS and ends(seen) < 3:
                            self.api.start_run(thread=thread)
                    self.server.restart()
            except (OSError, Cut):
                pass
        runs = list(dict.fromkeys(frame.json["runId"] for frame in seen))
        whole = self.whole(thread, *runs)
        self.assertEqual(seen, whole[:len(seen)])


class DamagedRuns(ThreadStreamCase):
    config = offline(word_delay_ms=1, words=5)

    def test_RUN_15_a_run_that_cannot_be_read_is_passed_over_like_an_expired_one(self):
        thread, (broken, *others) = self.three_runs()
        cursor = self.whole(thread, broken)[0].id
        with sqlite3.connect(self.server.database) as db:
            db.execute("UPDATE log SET body = 'x' WHERE run_id = (SELECT id FROM runs WHERE run_ref = ?)", (broken,))
        db.close()
        for name, query in DIALECTS.items():
            for place in ({"after": cursor}, {"from": "start"}):
                with self.subTest(name, place=place), self.api.thread_events(thread, **place, **query) as stream:
                    stream.parser.needs_ids = False
                    _, notice, *rest = self.take_runs(stream, 2)
                    self.assertEqual(notice.json["name"], "runnel.events_expired")
                    self.assertEqual(rest, self.whole(thread, *others, dialect=name)[1:])


class ExpiredRuns(ThreadStreamCase):
    config = offline(retention={"events_s": 1, "sweep_s": 1})

    def test_RUN_15_what_is_not_kept_any_more_is_told(self):
        thread, old = self.finished_run(thread=new_id("thread"))
        cursor = self.api.read_events(thread, old)[0].id
        path = Api.events_path(thread, old)
        self.assertTrue(eventually(lambda: self.api.get(path).status == 410, 20))
        expected = {"name": "runnel.events_expired",
                    "value": {"historyUrl": f"/api/v1/agent/history?threadId={thread}"}}
        for name, query in DIALECTS.items():
            for place in ({"after": cursor}, {"from": "start"}):
                with self.subTest(name, place=place), self.api.thread_events(thread, **place, **query) as stream:
                    self.assertEqual(stream.status, 200)
                    stream.parser.needs_ids = False
                    self.finished_run(thread=thread)
                    first, notice, *rest = self.take_runs(stream, 1)
                    self.assertEqual((first.id, notice.id, notice.event), ("", "", "CUSTOM"))
                    self.assertEqual({key: notice.json[key] for key in expected}, expected)
                    begin, *events = self.whole(thread, first.json["runId"], dialect=name)
                    self.assertEqual((first.event, first.data), (begin.event, begin.data))
                    self.assertEqual(rest, events)


if __name__ == "__main__":
    unittest.main()
