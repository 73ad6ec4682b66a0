"""The server that is measured, and its load."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from runnel_server import Api, Server, run_input  # noqa: E402

LOAD = ROOT / os.environ.get("RUNNEL_LOAD", "build/release/bin/runnel_load")
SETTINGS = ROOT / "bench" / "peers" / "runnel.yaml"


class BenchServer(Server):
    """A server with the settings of the comparison with peers."""

    def __init__(self, directory: Path):
        super().__init__(directory)
        self.config = {}  # All settings are in the file SETTINGS.

    def arguments(self) -> list[str]:
        return [*super().arguments(), "--config", str(SETTINGS)]

    @property
    def pid(self) -> int:
        return self.process.pid


class Load:
    """The requests of one user, sent by runnel_load."""

    def __init__(self, server: BenchServer):
        self.port = server.port
        self.api: Api = server.api()

    def _request(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        lines = {"Host": f"127.0.0.1:{self.port}", **self.api.headers(headers)}
        if body:
            lines |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body

    def spawn(self, request: bytes, *options: str) -> subprocess.Popen:
        load = subprocess.Popen([str(LOAD), "--port", str(self.port), *options], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=False)
        load.stdin.write(request)
        load.stdin.close()
        return load

    @staticmethod
    def result(load: subprocess.Popen) -> dict:
        out = json.loads(load.stdout.read())
        load.stdout.close()
        if load.wait() != 0 or out["failed"]:
            raise RuntimeError(f"the load failed: {out}")
        return out

    def post_runs(self, model: str, count: int, connections: int) -> dict:
        body = json.dumps(run_input("hello", forwarded={"model": model})).encode()
        request = self._request("POST", "/api/v1/agent/runs", {}, body)
        out = self.result(self.spawn(request, "-n", str(count), "-c", str(connections), "--keep-alive"))
        if out["statuses"] != {"202": count}:
            raise RuntimeError(f"runs were refused: {out['statuses']}")
        return out

    def events_request(self, thread: str, run: str, dialect: dict, after: str | None = None) -> bytes:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
        return self._request("GET", self.api.events_path(thread, run, **dialect), headers, b"")

    def follow_task(self, task: str, count: int, until: str, counted: str) -> subprocess.Popen:
        """WebSockets that follow the task, each up to this text."""
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        request = self._request("GET", f"/api/v1/tasks/{task}/ws", headers, b"")
        return self.spawn(request, "-n", str(count), "-c", str(count), "--until", until, "--count", counted, "--ready")

    def poll_task(self, task: str, start: int, count: int) -> dict:
        request = self._request("GET", f"/api/v1/tasks/{task}?from={start}", {}, b"")
        out = self.result(self.spawn(request, "-n", str(count), "-c", "8", "--keep-alive"))
        if out["statuses"] != {"200": count}:
            raise RuntimeError(f"polls were refused: {out['statuses']}")
        return out

    def poll_at_a_pace(self, tasks: list[str], start: int, pollers: int, polls: int, every_ms: int) -> dict:
        """Each poller has a connection and a task of its own, and polls that task every `every_ms`. If there are fewer tasks
        than pollers, they share them."""
        requests = [self._request("GET", f"/api/v1/tasks/{task}?from={start}", {}, b"") for task in tasks]
        out = self.result(self.spawn(b"\0".join(requests), "-n", str(polls), "-c", str(pollers), "--keep-alive", "--every-ms",
                                     str(every_ms)))
        if out["statuses"] != {"200": polls}:
            raise RuntimeError(f"polls were refused: {out['statuses']}")
        return out

    def read_events(self, request: bytes, count: int, until: str = "") -> dict:
        """One reader after another, each on a connection of its own."""
        out = self.result(self.spawn(request, "-n", str(count), *(["--until", until] if until else [])))
        if out["statuses"] != {"200": count}:
            raise RuntimeError(f"readers were refused: {out['statuses']}")
        return out
