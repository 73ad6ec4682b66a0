"""SSE-3 and SSE-4: a client whose connection is cut at any point misses nothing and sees nothing twice."""

import threading
import time
import unittest

from e2e_case import DIALECTS, E2eCase, eventually, new_id, offline, run_input

from http_client import Cut
from runnel_server import TERMINALS
from sse import SseParser


def data_lines(frames) -> list[bytes]:
    return [frame.data for frame in frames]


class ResumeAfterTheEndTest(E2eCase):
    config = offline(word_delay_ms=1)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.thread, cls.run_id = cls.api.start_run("hello")
        cls.api.finish(cls.thread, cls.run_id)
        cls.whole = {name: cls.api.read_events(cls.thread, cls.run_id, **query) for name, query in DIALECTS.items()}

    def test_SSE_3_resume_at_every_cut(self):
        for name, query in DIALECTS.items():
            whole = self.whole[name]
            for at, frame in enumerate(whole[:-1]):
                with self.subTest(name, after=frame.id):
                    rest = self.api.read_events(self.thread, self.run_id, after=frame.id, **query)
                    self.assertEqual(data_lines(whole[: at + 1] + rest), data_lines(whole))

    def test_SSE_3_resume_after_a_cut_inside_every_frame(self):
        for name, query in DIALECTS.items():
            with self.api.events(self.thread, self.run_id, **query) as stream:
                list(stream)
                raw = stream.raw
            ends = [at + 2 for at in range(len(raw)) if raw[at : at + 2] == b"\n\n"]
            for begin, end in zip([0] + ends, ends):
                for cut in {begin + 1, (begin + end) // 2, end - 1}:
                    with self.subTest(name, cut=cut):
                        self.check_cut(name, query, cut)

    def check_cut(self, name: str, query: dict, cut: int) -> None:
        """The client takes the complete frames in its first `cut` bytes, drops the incomplete one, and resumes."""
        with self.api.events(self.thread, self.run_id, **query) as stream:
            taken = SseParser().feed(stream.read_until(cut)[:cut])
        after = taken[-1].id if taken else None

        rest = self.api.read_events(self.thread, self.run_id, after=after, **query)

        self.assertEqual(data_lines(taken + rest), data_lines(self.whole[name]))

    def test_SSE_3_every_read_of_a_run_is_byte_equal(self):
        for name, query in DIALECTS.items():
            with self.subTest(name):
                self.assertEqual(self.api.read_events(self.thread, self.run_id, **query), self.whole[name])

    def test_SSE_3_resume_in_another_dialect_at_every_id(self):
        for source in DIALECTS:
            for target, query in DIALECTS.items():
                for frame in self.whole[source][:-1]:
                    with self.subTest(source, target=target, after=frame.id):
                        rest = self.api.read_events(self.thread, self.run_id, after=frame.id, **query)
                        self.assertEqual(rest, [f for f in self.whole[target] if f.position > frame.position])

    def test_SSE_3_204_after_the_terminal(self):
        for name, query in DIALECTS.items():
            with self.subTest(name):
                last = self.whole[name][-1].id
                with self.api.events(self.thread, self.run_id, after=last, **query) as stream:
                    self.assertEqual(stream.status, 204)
                    self.assertFalse(stream.read_some())

    def test_SSE_3_the_query_does_what_the_header_does(self):
        whole = self.whole["v2"]
        for frame in whole[:-1]:
            self.assertEqual(self.api.read_events(self.thread, self.run_id, last=frame.id),
                             self.api.read_events(self.thread, self.run_id, after=frame.id))
        answer = self.api.get(self.api.events_path(self.thread, self.run_id, last=whole[-1].id))
        self.assertEqual(answer.status, 204)

    def test_SSE_4_malformed_ids_are_refused(self):
        epoch, n = self.whole["v2"][0].position
        bad = ["x", "-", "1", f"{epoch}", f"{epoch}-", f"-{n}", f"{epoch}-{n}-1", f"{epoch}- {n}", f" {epoch} -{n}",
               f"{epoch}-0{n}", f"0{epoch}-{n}", f"+{epoch}-{n}", f"{epoch}-+{n}", f"{epoch}-{n}.0", f"{epoch}-1e1",
               f"{epoch}-0x1", f"{epoch}:{n}", f"{epoch}_{n}", f"{epoch}-{n},", f"{epoch}–{n}", f"{epoch}-$", "$", "*",
               "0-0x", f"{epoch}--{n}", f"{epoch}-18446744073709551616", f"99999999999999999999999-{n}",
               "9" * 5000 + f"-{n}", f"{epoch}-{n}%00", "null", "undefined", '"1-1"', "1-１", "../1-1", "{}", "1-1;2-2"]
        for ident in bad:
            with self.subTest(ident[:40]):
                self.assert_error(self.api.get(self.api.events_path(self.thread, self.run_id, last=ident)), 400)
                if ident.isascii() and len(ident) < 1000 and ident == ident.strip():
                    path = self.api.events_path(self.thread, self.run_id)
                    self.assert_error(self.api.get(path, headers={"Last-Event-ID": ident}), 400)

    def test_SSE_4_the_refusal_of_an_id_says_what_to_send(self):
        epoch, n = self.whole["v2"][0].position
        for ident, why in {"x": "is not an event id.", f"{epoch + 1}-{n}": "was not sent by this run.",
                           f"{epoch}-999999": "lies beyond the end of the run."}.items():
            message = self.api.get(self.api.events_path(self.thread, self.run_id, last=ident)).json["error"]["message"]
            self.assertIn(why + " Send the last `id:` that you have read from this run's stream", message)

    def test_SSE_4_an_epoch_that_the_run_never_had_is_refused(self):
        epoch, n = self.whole["v2"][1].position
        for other in (0, 1, epoch - 1, epoch + 1, epoch * 2):
            with self.subTest(other):
                self.assert_error(self.api.get(self.api.events_path(self.thread, self.run_id, last=f"{other}-{n}")), 400)

    def test_SSE_4_another_runs_epoch_is_refused(self):
        thread, run = self.finished_run()
        foreign = self.api.read_events(thread, run)[0].id

        self.assert_error(self.api.get(self.api.events_path(self.thread, self.run_id, last=foreign)), 400)

    def test_SSE_4_a_number_beyond_an_ended_run_is_refused(self):
        epoch, n = self.whole["v2"][-1].position
        for beyond in (n + 1, n + 1000, 2**63 - 1):
            with self.subTest(beyond):
                answer = self.api.get(self.api.events_path(self.thread, self.run_id, last=f"{epoch}-{beyond}"))
                self.assert_error(answer, 400)

    def test_HTTP_3_another_users_run_is_answered_as_one_that_does_not_exist(self):
        other = self.server.api("mallory")

        foreign = other.get(self.api.events_path(self.thread, self.run_id))
        absent = other.get(self.api.events_path(new_id("thread"), new_id("run")))
        resumed = other.get(self.api.events_path(self.thread, self.run_id, last=self.whole["v2"][0].id))

        self.assert_error(foreign, 404)
        self.assertEqual((foreign.status, foreign.body), (absent.status, absent.body))
        self.assertEqual((foreign.status, foreign.body), (resumed.status, resumed.body))


class ResumeLiveTest(E2eCase):
    config = offline(word_delay_ms=12)

    def read_with_cuts(self, thread: str, run: str, query: dict, inside: bool) -> list:
        """Drops the connection after every single frame, or, if `inside`, in the middle of the next one."""
        frames = []
        while not frames or frames[-1].event not in TERMINALS:
            after = frames[-1].id if frames else None
            with self.api.events(thread, run, after=after, **query) as stream:
                self.assertEqual(stream.status, 200)
                frame = stream.next()
                self.assertIsNotNone(frame, f"the stream ended without a terminal after {after}")
                frames.append(frame)
                if inside and frame.event not in TERMINALS:
                    stream.read_until(len(stream.raw) + 1)
        return frames

    def test_SSE_3_resume_at_every_cut_while_live(self):
        thread, run = self.api.start_run("hello")
        results: dict = {}

        def read(key, query, inside):
            results[key] = self.read_with_cuts(thread, run, query, inside)

        readers = [threading.Thread(target=read, args=((name, inside), query, inside))
                   for name, query in DIALECTS.items() for inside in (False, True)]
        for reader in readers:
            reader.start()
        uninterrupted = {name: self.api.read_events(thread, run, **query) for name, query in DIALECTS.items()}
        for reader in readers:
            reader.join()

        for (name, inside), frames in results.items():
            with self.subTest(name, inside=inside):
                self.assertEqual(data_lines(frames), data_lines(uninterrupted[name]))
        self.assertEqual(len(results), 2 * len(DIALECTS))

    def test_SSE_3_readers_that_join_at_any_time_see_the_same(self):
        thread, run = self.api.start_run("hello")
        reads: list = []
        query = DIALECTS["ag-ui 1.0"]
        readers = []
        with self.api.events(thread, run, **query) as lead:
            for count, _ in enumerate(lead):
                if count % 8 == 0:
                    readers.append(threading.Thread(
                        target=lambda: reads.append(self.api.read_events(thread, run, **query))))
                    readers[-1].start()
        for reader in readers:
            reader.join()

        whole = self.api.read_events(thread, run, **query)
        self.assertGreater(len(reads), 3)
        for read in reads:
            self.assertEqual(read, whole)

    def test_SSE_4_a_number_ahead_waits_and_then_goes_on(self):
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            epoch, n = stream.next().position
        ahead = n + 20

        rest = self.api.read_events(thread, run, dialect="ag-ui", after=f"{epoch}-{ahead}")

        whole = self.api.read_events(thread, run, dialect="ag-ui")
        self.assertEqual(rest, [frame for frame in whole if frame.position > (epoch, ahead)])

    def test_SSE_4_a_number_ahead_of_the_end_is_never_a_silent_gap(self):
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run) as stream:
            epoch, n = stream.next().position

        ahead = f"{epoch}-{n + 100000}"

        with self.api.events(thread, run, after=ahead) as stream:
            try:
                frames = list(stream)
            except (ConnectionError, Cut):
                frames = []  # The connection may also be cut; the next request gets the error.

        self.assertEqual(frames, [], "no frame may come after an id that the run never reached")
        self.assert_error(self.api.get(self.api.events_path(thread, run, last=ahead)), 400)

    def test_HTTP_3_a_live_run_is_hidden_from_others(self):
        thread, run = self.api.start_run("hello")
        other = self.server.api("mallory")

        self.assert_error(other.get(self.api.events_path(thread, run)), 404)
        self.assert_error(other.status(thread, run), 404)
        self.assert_error(other.cancel(thread, run), 404)
        self.assert_error(other.history(thread), 404)
        self.assert_error(other.thread(thread), 404)

        self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")


class RetentionTest(E2eCase):
    config = offline(retention={"events_s": 1, "sweep_s": 1})

    def test_SSE_4_410_after_retention_with_the_history_address(self):
        thread, run = self.api.start_run("hello")
        first = self.api.read_events(thread, run)[0].id
        path = self.api.events_path(thread, run)

        answer = eventually(lambda: (a := self.api.get(path)).status == 410 and a, seconds=15)

        self.assertTrue(answer, "the log did not expire")
        details = self.assert_error(answer, 410, "EVENTS_EXPIRED")
        address = next((v for v in details.values() if "/api/v1/agent/history" in str(v)), None)
        self.assertIsNotNone(address, details)
        history = self.api.get(address[address.index("/api/"):])
        self.assertEqual([m["role"] for m in history.json["messages"]], ["user", "assistant"])
        self.assertEqual(self.api.status(thread, run).json["status"], "completed")
        self.assert_error(self.api.get(self.api.events_path(thread, run, last=first)), 410, "EVENTS_EXPIRED")

    def test_SSE_4_a_read_that_meets_the_expiry_is_whole_or_refused_and_never_hangs(self):
        for _ in range(6):
            thread, run = self.finished_run("hello")
            path = self.api.events_path(thread, run)
            whole = self.api.get(path).body
            begin = time.monotonic()
            while (answer := self.api.get(path, timeout=5)).status != 410:
                self.assertEqual((answer.status, answer.body), (200, whole))
                self.assertLess(time.monotonic() - begin, 15, "the log did not expire")

    def test_RUN_2_holds_after_the_log_expired(self):
        body = run_input("hello", new_id("thread"), new_id("run"))
        self.assertEqual(self.api.post_run(body).status, 202)
        path = self.api.events_path(body["threadId"], body["runId"])
        self.assertTrue(eventually(lambda: self.api.get(path, timeout=5).status == 410, seconds=15))

        self.assertEqual(self.api.post_run(body).status, 200)


if __name__ == "__main__":
    unittest.main()
