"""HTTP-6: how many requests and streams one user may have, on the real server."""

import time
import unittest

from e2e_case import E2eCase, eventually, new_id, offline, run_input

THREADS = "/api/v1/agent/threads"


class FewRequestsTest(E2eCase):
    config = offline(http={"requests_per_user_per_s": 1, "request_burst_per_user": 3})

    def test_HTTP_6_requests_above_the_rate_are_told_when_to_come_again(self):
        other = self.server.api("other")
        answers = [self.api.get(THREADS) for _ in range(4)]

        self.assertEqual([answer.status for answer in answers], [200, 200, 200, 429])
        self.assert_error(answers[3], 429, "TOO_MANY_REQUESTS")
        wait = int(answers[3].headers["retry-after"])
        self.assertEqual(wait, 1)
        self.assertEqual(other.get(THREADS).status, 200)
        self.assertEqual(self.api.get("/healthz").status, 200)
        time.sleep(wait)
        self.assertEqual(self.api.get(THREADS).status, 200)


class FewStreamsTest(E2eCase):
    config = offline(word_delay_ms=200, words=100, http={"streams_per_user": 2})

    def test_HTTP_6_one_stream_more_is_refused_until_another_ends(self):
        thread, run = self.api.start_run()
        other = self.server.api("other")
        with self.api.events(thread, run) as first, self.api.events(thread, run) as second:
            self.assertEqual((first.status, second.status), (200, 200))

            third = self.api.get(self.api.events_path(thread, run))
            self.assertEqual(self.assert_error(third, 429, "TOO_MANY_STREAMS"), {"limit": 2})
            self.assertIn("retry-after", third.headers)

            # A refused stream must not have started its run.
            ident = new_id("run")
            self.assertEqual(self.api.post("/api/v1/agent/ag-ui", run_input("x", thread=new_id("t"), run=ident)).status, 429)
            listed = [row["threadId"] for row in self.api.get(THREADS).json["threads"]]
            self.assertEqual(listed, [thread])

            theirs = other.start_run()
            with other.events(*theirs) as stream:
                self.assertEqual(stream.status, 200)

        def opens() -> bool:
            with self.api.events(thread, run) as stream:
                return stream.status == 200

        self.assertTrue(eventually(opens, 5))


class DefaultsTest(E2eCase):
    """The limits as shipped, which other tests raise."""

    config = offline(http={"requests_per_user_per_s": 50, "request_burst_per_user": 200})

    def test_HTTP_6_ten_tasks_polled_every_half_second(self):
        began = time.monotonic()
        for tick in range(8):
            for _ in range(10):
                self.assertEqual(self.api.get(THREADS).status, 200)
            time.sleep(max(0.0, began + (tick + 1) * 0.5 - time.monotonic()))


if __name__ == "__main__":
    unittest.main()
