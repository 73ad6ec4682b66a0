"""Stock AG-UI clients of both versions in one process of node, which is given one run after another."""

import json
import subprocess

from test_stock_clients import FOLDER

from runnel_server import Api, environment

AG_UI = "/api/v1/agent/ag-ui"


class StockClients:
    VERSIONS = ("1.0", "0.0")

    def __init__(self, api: Api):
        self._api = api
        self._given = 0
        self._process = subprocess.Popen(["node", str(FOLDER / "recorded_runs.mjs")], cwd=FOLDER, env=environment(),
                                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def give(self, client: str, path: str, messages: list[dict], **more) -> None:
        """Gives a client a run to make, or with `follow` one to read. `messages` are what it knows before that."""
        host, port = self._api.address
        self._given += 1
        order = {"number": self._given, "client": client, "url": f"http://{host}:{port}{path}", "token": self._api.token,
                 "messages": messages, **more}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def take(self) -> dict:
        """What the client made of the run that was given last: the events that it saw and its messages, or an error."""
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer["number"] == self._given:
                return answer
        raise AssertionError("node has ended; see what it wrote to its standard error")

    def read(self, client: str, thread: str, run: str, messages: list[dict], agui: str | None = None) -> dict:
        """A client reads the stream of a run that exists."""
        path = Api.events_path(thread, run, "ag-ui", agui or client)
        self.give(client, path, messages, threadId=thread, runId=run, follow=True)
        return self.take()

    def join(self, client: str, thread: str, run: str) -> dict:
        """A client that knows nothing joins the run (AGUI-5)."""
        path = Api.events_path(thread, run, "ag-ui", client) + "&join=1"
        self.give(client, path, [], threadId=thread, runId=run, follow=True)
        return self.take()
