"""CFG-4: what the log of a real server contains, and what it must not contain."""

import json
import re
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from e2e_case import Server, eventually, new_id, offline, run_input
from http_client import Http

# A user's text and secrets, which must not be in the log.
WORDS = "canary-of-the-message"
TICKET = "tkt_" + "canary3f9c1b7a" * 3 + "x"
FOREIGN_TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ"


def fields_of(line: str) -> dict[str, str]:
    """The fields of a line in either format."""
    if line.startswith("{"):
        return {key: str(value) for key, value in json.loads(line).items()}
    return {key: json.loads(value) if value.startswith('"') else value
            for key, value in re.findall(r'([a-z_]+)=("(?:[^"\\]|\\.)*"|\S+)', line)} | {
                "event": re.split(r" [a-z_]+=", line.split(maxsplit=2)[2])[0]}


class LogCase:
    log_format: str

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="runnel-e2e-")
        cls.addClassCleanup(directory.cleanup)
        cls.server = Server(Path(directory.name), offline(log={"format": cls.log_format, "level": "info"}))
        cls.server.start()
        cls.addClassCleanup(cls.server.close)
        cls.api = cls.server.api()

    def lines(self) -> list[str]:
        """All lines so far. Lines are written in order, so this waits for a line that it caused itself."""
        marker = new_id("marker")
        Http(self.server.address).get("/nowhere", headers={"X-Request-Id": marker})
        eventually(lambda: marker in self.server.log.read_text())
        return [line for line in self.server.log.read_text().splitlines()
                if line.startswith("{") or re.match(r"\d{4}-\d\d-\d\dT", line)]

    def events(self, event: str) -> list[dict[str, str]]:
        return [fields for fields in map(fields_of, self.lines()) if fields["event"] == event]

    def run_once(self) -> tuple[str, str, str]:
        """Makes a run and reads its stream to the end. Returns (thread, run, request id of its start)."""
        thread, run = new_id("t"), new_id("r")
        answer = self.api.post_run(run_input(WORDS, thread=thread, run=run, state={"secret": WORDS}))
        self.assertEqual(answer.status, 202)
        self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        return thread, run, answer.headers["x-request-id"]

    def test_CFG_4_one_id_finds_a_run_and_its_requests(self):
        thread, run, request = self.run_once()
        canceled = self.api.cancel(thread, run)
        ended = eventually(lambda: [line for line in self.events("run ended") if line["run_id"] == run])

        self.assertEqual(ended[0]["status"], "completed")
        self.assertEqual((ended[0]["thread_id"], ended[0]["request_id"]), (thread, request))
        self.assertRegex(ended[0]["ms"], r"\A\d+\Z")
        started = [line for line in self.events("run started") if line["run_id"] == run]
        self.assertEqual([(line["thread_id"], line["request_id"]) for line in started], [(thread, request)])
        mine = [line for line in self.events("request") if line.get("run_id") == run]
        self.assertEqual([line["status"] for line in mine], ["202", "200", "200"])
        self.assertEqual({line["thread_id"] for line in mine}, {thread})
        self.assertEqual(mine[0]["request_id"], request)
        self.assertEqual(mine[2]["request_id"], canceled.headers["x-request-id"])

    def test_CFG_4_a_stream_that_starts_its_run_says_which(self):
        run = new_id("r")
        with self.api.open("POST", "/api/v1/agent/ag-ui", run_input(WORDS, run=run)) as stream:
            self.assertEqual(stream.status, 200)
            list(stream)

        line = [line for line in self.events("request") if line["path"] == "/api/v1/agent/ag-ui"][0]
        self.assertEqual(line["run_id"], run)

    def test_HTTP_2_the_request_id_of_an_answer_is_in_its_line(self):
        nobody = Http(self.server.address)
        answers = [nobody.get("/api/v1/agent/threads"), nobody.get("/no/such/place"), self.api.post_run({}),
                   self.api.get("/api/v1/agent/threads", headers={"X-Request-Id": new_id("chosen")})]

        lines = self.events("request")
        self.assertTrue(all(line["request_id"] for line in lines))
        by_id = {line["request_id"]: line for line in lines}
        for answer in answers:
            self.assertEqual(by_id[answer.headers["x-request-id"]]["status"], str(answer.status))

    def test_CFG_4_no_words_and_no_secrets(self):
        before = len(self.events("request"))
        thread, run, _ = self.run_once()
        stranger = Http(self.server.address, FOREIGN_TOKEN)
        self.assertEqual(stranger.get("/api/v1/agent/threads").status, 401)
        self.api.get(f"/api/v1/agent/runs/{thread}/events?runId={run}&ticket={TICKET}")
        self.api.get(f"/api/v1/agent/runs/{thread}?runId={quote('Bearer ' + TICKET)}&access_token={TICKET}")
        self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", {"title": WORDS})
        self.api.post_run({"messages": WORDS, "ticket": TICKET})
        self.api.get("/" + FOREIGN_TOKEN)
        self.api.get("/" + TICKET)

        self.assertGreaterEqual(len(self.events("request")) - before, 7)
        text = "\n".join(self.lines())
        for canary in (WORDS, TICKET, FOREIGN_TOKEN, FOREIGN_TOKEN.rsplit(".", 1)[1], self.api.token):
            self.assertNotIn(canary, text)


class HumanLog(LogCase, unittest.TestCase):
    log_format = "human"


class JsonLog(LogCase, unittest.TestCase):
    log_format = "json"

    def test_CFG_4_numbers_are_numbers(self):
        self.run_once()
        request = next(line for line in map(json.loads, self.lines()) if line["event"] == "request")
        self.assertIsInstance(request["status"], int)
        self.assertIsInstance(request["ms"], int)


if __name__ == "__main__":
    unittest.main()
