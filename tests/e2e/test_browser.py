"""HTTP-4, SSE-3, TASK-5 and HTTP-8: a run in a real browser. Chromium's EventSource comes back by itself when its connection
is lost, a WebSocket reads the same run, and a page of another origin gets neither."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from e2e_case import Api, E2eCase, new_id, offline
from views import polled

from cutting_proxy import CuttingProxy
from runnel_server import ROOT, environment
from tasks import task_path

FOLDER = ROOT / "tests/conformance/browser"
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
EVENTS, SOCKET = "/events?", "/ws?"


def need_browser() -> None:
    missing = [str(what) for what, there in (
        (FOLDER / "node_modules", (FOLDER / "node_modules").exists()), ("node", shutil.which("node")),
        (CHROMIUM, CHROMIUM.exists())) if not there]
    if missing:
        text = f"SKIPPED, HTTP-4 IS NOT PROVEN IN A BROWSER HERE: the test needs {', '.join(missing)}"
        print(f"\n*** {text} ***", file=sys.stderr)
        raise unittest.SkipTest(text)


class BrowserTest(E2eCase):
    # The run takes six seconds. Chromium waits three before it comes back: once the run is live then, later it has ended.
    config = offline(word_delay_ms=60, words=100)
    cuts = [5000, 4000]

    @classmethod
    def setUpClass(cls):
        need_browser()
        super().setUpClass()
        cls.thread, cls.run_id = cls.api.start_run(thread=new_id("thread"))
        with CuttingProxy(cls.server.address, EVENTS, cls.cuts) as cls.proxy, \
                CuttingProxy(cls.server.address, EVENTS, []) as cls.elsewhere:
            cls.seen = cls.visit()
        cls.frames = cls.api.read_events(cls.thread, cls.run_id, dialect="ag-ui")

    @classmethod
    def ticket(cls, **use: str) -> str:
        answer = cls.api.post("/api/v1/auth/tickets", use)
        assert answer.status == 201, answer.body
        return answer.json["ticket"]

    @classmethod
    def addresses(cls, port: int) -> dict[str, str]:
        """The addresses of the run, each with a ticket of its own."""
        events = Api.events_path(cls.thread, cls.run_id, "ag-ui")
        ticket = cls.ticket(**{"for": "sse"}, threadId=cls.thread, runId=cls.run_id)
        socket = task_path(cls.run_id) + f"/ws?ticket={cls.ticket(**{'for': 'websocket'})}"
        return {"events": f"http://127.0.0.1:{port}{events}&ticket={ticket}", "socket": f"ws://127.0.0.1:{port}{socket}"}

    @classmethod
    def visit(cls) -> dict:
        """What the browser's pages have seen. Each page has a proxy of its own, and only ours loses connections."""
        types = ["RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END",
                 "STEP_FINISHED", "RUN_FINISHED", "RUN_ERROR", "CUSTOM"]
        what = {"page": f"http://127.0.0.1:{cls.proxy.port}/", "types": types, "own": cls.addresses(cls.proxy.port),
                "foreign": cls.addresses(cls.elsewhere.port)}
        done = subprocess.run(["node", str(FOLDER / "follow_run.mjs")], cwd=FOLDER, capture_output=True, text=True, timeout=120,
                              env=environment({"RUNNEL_VISIT": json.dumps(what)}))
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def test_SSE_3_a_browser_comes_back_by_itself_and_gets_every_event_once(self):
        seen = self.seen["own"]["events"]["seen"]

        self.assertEqual([(event["id"], event["type"], event["data"].encode()) for event in seen],
                         [(frame.id, frame.event, frame.data) for frame in self.frames])
        self.assertEqual(self.frames[-1].event, "RUN_FINISHED")

    def test_HTTP_4_it_comes_back_to_the_same_address_with_its_last_event(self):
        asked = self.proxy.of(EVENTS)

        self.assertEqual(len({exchange.target for exchange in asked}), 1)
        self.assertEqual([exchange.status for exchange in asked], [200] * (len(self.cuts) + 1) + [204])
        ids = [frame.id for frame in self.frames]
        came_after = [exchange.headers.get("last-event-id") for exchange in asked]
        self.assertIsNone(came_after[0])
        places = [ids.index(last) for last in came_after[1:]]
        self.assertEqual(places, sorted(set(places)), "each connection has brought something new")

    def test_SSE_3_it_stops_by_itself_after_the_last_event(self):
        """It gave up although nothing has closed it: the script returns only then."""
        asked = self.proxy.of(EVENTS)

        self.assertEqual((asked[-1].headers["last-event-id"], asked[-1].status), (self.frames[-1].id, 204))
        self.assertEqual(self.seen["own"]["events"]["opened"], len(self.cuts) + 1)

    def test_TASK_5_a_socket_in_the_same_page_reads_the_same_run(self):
        socket = self.seen["own"]["socket"]

        self.assertEqual(socket["code"], 1000)
        self.assertEqual([data.encode() for data in socket["seen"]], polled(self.api, self.run_id))
        self.assertEqual(json.loads(socket["seen"][-1])["type"], "task_complete")

    def test_HTTP_8_a_page_of_another_origin_gets_neither(self):
        foreign = self.seen["foreign"]

        self.assertEqual(foreign["events"], {"opened": 0, "seen": []})
        self.assertEqual((foreign["socket"]["seen"], foreign["socket"]["code"]), ([], 1006))
        # The browser has asked. It keeps the events from the page, and the server refuses the socket.
        [events], [socket] = self.elsewhere.of(EVENTS), self.elsewhere.of(SOCKET)
        self.assertEqual((events.status, socket.status), (200, 403))
        for exchange in (events, socket):
            self.assertNotEqual(exchange.headers["origin"], f"http://{exchange.headers['host']}")


if __name__ == "__main__":
    unittest.main()
