"""HTTP-7: the metrics of a real server."""

import re
import unittest
from pathlib import Path

from e2e_case import E2eCase, eventually, new_id, offline, run_input
from http_client import Http

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def series(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.M)}


class Metrics(E2eCase):
    def scrape(self) -> dict[str, float]:
        answer = Http(self.server.address).get("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["content-type"].startswith("text/plain; version=0.0.4"))
        return series(answer.body.decode())

    def test_HTTP_7_the_document_names_what_is_exported(self):
        text = Http(self.server.address).get("/metrics").body.decode()

        documented = set(re.findall(r"^\| `((?:runnel|process)_[a-z_]+)", DOCUMENT.read_text(), re.M))
        self.assertEqual(set(re.findall(r"^# TYPE ([a-z_]+) ", text, re.M)), documented)

    def test_HTTP_7_a_run_moves_the_numbers(self):
        before = self.scrape()
        self.finished_run(surprise=1, another=2)
        after = eventually(lambda: self._all_ended(self.scrape()))

        def grown(name: str) -> float:
            return after[name] - before[name]

        self.assertEqual(grown("runnel_runs_admitted_total"), 1)
        self.assertEqual(grown('runnel_runs_ended_total{status="completed"}'), 1)
        self.assertEqual(grown("runnel_ignored_input_keys_total"), 2)
        self.assertEqual(grown('runnel_streams_opened_total{dialect="v2"}'), 1)
        self.assertEqual(grown('runnel_streams_closed_total{reason="ended"}'), 1)
        self.assertEqual(
            grown('runnel_http_requests_total{method="POST",route="/api/v1/agent/runs",status="2xx"}'), 1)
        self.assertGreater(grown('runnel_facts_appended_total{kind="fact"}'), 4)
        self.assertGreater(grown('runnel_facts_appended_total{kind="delta"}'), 4)
        self.assertGreater(grown("runnel_stream_bytes_sent_total"), 100)
        self.assertGreater(sum(grown(f'runnel_stream_frames_total{{from="{place}"}}') for place in ("live", "stored")), 4)
        self.assertGreater(grown("runnel_store_commit_seconds_count"), 1)
        self.assertGreater(after["runnel_store_wal_bytes"], 0)
        self.assertGreater(after["process_open_fds"], 5)

    @staticmethod
    def _all_ended(seen: dict[str, float]):
        return seen if seen["runnel_runs_active"] == 0 and seen["runnel_streams"] == 0 else None

    def test_HTTP_7_series_do_not_grow_with_what_clients_send(self):
        self.finished_run()
        before = set(self.scrape())
        for i in range(20):
            self.api.get(f"/canary/{i}")
            self.api.post_run(run_input("x", thread=new_id("canary"), **{f"canary{i}": 1}))

        self.assertEqual(set(self.scrape()), before)
        self.assertNotIn("canary", " ".join(before))


class MetricsForUsers(E2eCase):
    config = offline(http={"metrics": "user"})

    def test_HTTP_7_only_users_read_them(self):
        self.assert_error(Http(self.server.address).get("/metrics"), 401, "UNAUTHORIZED")
        self.assertEqual(self.api.get("/metrics").status, 200)


class MetricsOff(E2eCase):
    config = offline(http={"metrics": "off"})

    def test_HTTP_7_there_are_none(self):
        self.assert_error(self.api.get("/metrics"), 404, "NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
