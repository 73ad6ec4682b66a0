"""Starts, stops and kills a real `runnel serve`, and calls its API."""

import os
import re
import signal
import shutil
import subprocess
import threading
import uuid
from pathlib import Path
from urllib.parse import quote, urlencode

from http_client import EventStream, Http, Response

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("runnel", "project_cli", "runnel_sandbox")
BINARY = ROOT / os.environ.get("RUNNEL_BIN", "build/release/bin/runnel")

TERMINALS = ("RUN_FINISHED", "RUN_ERROR")
ENDED = ("completed", "failed", "canceled")


def to_yaml(tree: dict, indent: int = 0) -> str:
    """Nested dicts of plain scalars as YAML."""
    lines = []
    for key, value in tree.items():
        if isinstance(value, dict):
            lines.append(f"{' ' * indent}{key}:\n{to_yaml(value, indent + 2)}")
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            lines.append(f"{' ' * indent}{key}: {text}\n")
    return "".join(lines)


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without the variables that would configure the server."""
    secret = re.compile(r"RUNNEL_(?!BIN$)|.*_API_KEY$")
    return {k: v for k, v in os.environ.items() if not secret.match(k)} | (extra or {})


def run_cli(*args: str, timeout: float = 20, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), *args], capture_output=True, text=True, timeout=timeout, env=environment(env))


def copy_programs(target: Path) -> Path:
    """Copies the server and the programs that it needs beside it, so that a test can replace one. Returns the server."""
    target.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        Path(shutil.copy(BINARY.with_name(program), target)).chmod(0o755)
    return target / BINARY.name


def for_tests(config: dict) -> dict:
    """The configuration. Unless it sets them, request limits are too high for a test to reach, the default flow has one
    stage, and the user demo begins without events and contacts."""
    room = {"requests_per_user_per_s": 1_000_000, "request_burst_per_user": 1_000_000}
    return {**config, "http": {**room, **config.get("http", {})}, "flows": {"default": "chat", **config.get("flows", {})},
            "dev": {"demo_data": False, **config.get("dev", {})}}


class Server:
    """One data directory and at most one process that uses it. The port stays the same after a restart."""

    def __init__(self, directory: Path, config: dict | None = None, env: dict[str, str] | None = None):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.data = self.directory / "data"  # Made by the server.
        self.config = for_tests(config or {})
        self.env = env or {}
        self.binary = BINARY
        self.port = 0
        self.process: subprocess.Popen | None = None
        self._drainer: threading.Thread | None = None  # Owns the pipe of the process, once there is one.
        self.log = self.directory / "server.log"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    @property
    def database(self) -> Path:
        return self.data / "runnel.db"

    def arguments(self) -> list[str]:
        args = ["serve", "--listen", f"127.0.0.1:{self.port}", "--data-dir", str(self.data)]
        if self.config:
            path = self.directory / "runnel.yaml"
            path.write_text(to_yaml(self.config))
            args += ["--config", str(path)]
        return args

    def spawn(self) -> None:
        """Starts the process without waiting for anything."""
        with self.log.open("ab") as log:
            self.launch(log)

    def launch(self, stderr, **more) -> None:
        """Starts the process with this standard error. `more` goes to Popen."""
        self._end_drain()
        self._drainer = None
        self.process = subprocess.Popen([str(self.binary), *self.arguments()], stdout=subprocess.PIPE, stderr=stderr,
                                        stdin=subprocess.DEVNULL, env=environment(self.env), **more)

    def start(self, timeout: float = 20) -> "Server":
        self.spawn()
        self.wait_listening(timeout)
        return self

    def wait_listening(self, timeout: float = 20) -> None:
        watchdog = threading.Timer(timeout, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                if found := re.search(rb"listening on http://127\.0\.0\.1:([0-9]+)", line):
                    self.port = int(found[1])
                    self._drainer = threading.Thread(target=self._drain, args=(self.process.stdout,), daemon=True)
                    self._drainer.start()
                    return
        finally:
            watchdog.cancel()
        code = self.process.wait()
        self.process.stdout.close()
        raise AssertionError(f"the server did not start (exit {code}); its log ends:\n{self.log_tail()}")

    def _drain(self, pipe) -> None:
        with pipe, self.log.open("ab") as log:
            for line in pipe:
                log.write(line)

    def _end_drain(self) -> None:
        """Call this after the process has ended. When it returns, nothing writes to the directory any more."""
        if self._drainer:
            self._drainer.join()
        elif self.process:
            self.process.stdout.close()

    def log_tail(self, size: int = 4000) -> str:
        return self.log.read_bytes()[-size:].decode(errors="replace")

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """kill -9: the process gets no chance to do anything."""
        self.process.kill()
        self.process.wait()
        self._end_drain()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def stop(self, timeout: float = 30) -> int:
        """Sends SIGTERM and returns the exit code."""
        self.terminate()
        code = self.process.wait(timeout)
        self._end_drain()
        return code

    def restart(self) -> None:
        self.kill()
        self.start()

    def close(self) -> None:
        if self.alive:
            self.kill()
        self._end_drain()
        self.check_contract()

    def check_contract(self) -> None:
        """HTTP-7: the server gave no answer that is missing in its OpenAPI document."""
        log = self.log.read_text(errors="replace") if self.log.exists() else ""
        undeclared = [line for line in log.splitlines() if "undeclared status" in line]
        if undeclared:
            raise AssertionError("\n".join(undeclared))

    def dev_headers(self) -> dict[str, str]:
        """HTTP-5: the header that a request for the dev token needs. The server makes the file at its first start."""
        return {"X-Runnel-Dev": (self.data / "dev.secret").read_text().strip()}

    def api(self, user: str = "demo") -> "Api":
        """A caller of the API. The user `demo` gets its token from the server, others from `runnel token`."""
        if user == "demo":
            answer = Http(self.address).post("/api/v1/auth/dev-token", headers=self.dev_headers())
            assert answer.status == 200, answer
            token = answer.json["token"]
        else:
            done = run_cli("token", "--user", user, "--data-dir", str(self.data))
            assert done.returncode == 0, done.stderr
            token = done.stdout.strip()
        return Api(self.address, token)


def new_id(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


def run_input(text: str, thread: str | None = None, run: str | None = None, forwarded: dict | None = None,
              **extra) -> dict:
    """A RunAgentInput with one user message."""
    body = {"messages": [{"id": new_id("m"), "role": "user", "content": text}], "state": {}, "tools": [],
            "context": [], "forwardedProps": forwarded or {}, **extra}
    if thread is not None:
        body["threadId"] = thread
    if run is not None:
        body["runId"] = run
    return body


class Api(Http):
    """The routes that the tests use."""

    def post_run(self, body: dict, **kw) -> Response:
        return self.post("/api/v1/agent/runs", body, **kw)

    def start_run(self, text: str = "hello", **kw) -> tuple[str, str]:
        """Starts a run, which must be accepted. Returns (thread, run)."""
        answer = self.post_run(run_input(text, **kw))
        assert answer.status == 202, (answer.status, answer.body)
        return answer.json["threadId"], answer.json["runId"]

    @staticmethod
    def events_path(thread: str, run: str | None, dialect: str | None = None, agui: str | None = None,
                    last: str | None = None) -> str:
        query = {"runId": run, "dialect": dialect, "agui": agui, "lastEventId": last}
        query = urlencode({key: value for key, value in query.items() if value is not None})
        return f"/api/v1/agent/runs/{quote(thread, safe='')}/events" + (f"?{query}" if query else "")

    def events(self, thread: str, run: str | None, dialect: str | None = None, agui: str | None = None,
               after: str | None = None, last: str | None = None, **kw) -> EventStream:
        """`after` goes into the header, `last` into the query."""
        headers = {"Last-Event-ID": after} if after is not None else {}
        return self.open("GET", self.events_path(thread, run, dialect, agui, last), headers=headers, **kw)

    def thread_events(self, thread: str, after: str | None = None, ticket: str | None = None, **query) -> EventStream:
        """The stream of the whole thread. `after` goes into the header."""
        query = {key: value for key, value in {**query, "ticket": ticket}.items() if value is not None}
        path = f"/api/v1/agent/threads/{quote(thread, safe='')}/events" + (f"?{urlencode(query)}" if query else "")
        return self.open("GET", path, headers={"Last-Event-ID": after} if after is not None else {})

    def read_events(self, thread: str, run: str, **kw) -> list:
        """All frames up to the end of the stream."""
        with self.events(thread, run, **kw) as stream:
            assert stream.status == 200, stream.status
            return list(stream)

    def status(self, thread: str, run: str) -> Response:
        return self.get(f"/api/v1/agent/runs/{quote(thread, safe='')}?{urlencode({'runId': run})}")

    def cancel(self, thread: str, run: str) -> Response:
        return self.post(f"/api/v1/agent/runs/{quote(thread, safe='')}/cancel?{urlencode({'runId': run})}")

    def history(self, thread: str, **query) -> Response:
        return self.get(f"/api/v1/agent/history?{urlencode({'threadId': thread, **query})}")

    def full_history(self, thread: str, limit: int = 50) -> list[dict]:
        """The messages of all pages, oldest first."""
        messages, query = [], {"limit": limit}
        while True:
            answer = self.history(thread, **query)
            assert answer.status == 200, (answer.status, answer.body)
            messages = answer.json["messages"] + messages
            if answer.json.get("nextBefore") is None:
                return messages
            query["before"] = answer.json["nextBefore"]

    def thread(self, thread: str) -> Response:
        return self.get(f"/api/v1/agent/threads/{quote(thread, safe='')}")

    def finish(self, thread: str, run: str) -> str:
        """Reads the run's stream to its end and returns the last frame's event."""
        return self.read_events(thread, run)[-1].event
