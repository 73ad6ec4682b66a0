#!/usr/bin/env python3
"""A model provider that needs no key: a real HTTP server that speaks OpenAI's streaming chat completions.

In a test:

    with FakeProvider() as fake:
        fake.script(scripts.rate_limited(seconds=1), scripts.text("Hello", " there"))
        …  # Something calls fake.base_url.
        assert fake.calls[0].headers["authorization"] == "Bearer secret"
        assert fake.wait_for(lambda: fake.open_connections == 0)

Each request takes the next answer of the script; without a script, the model's name says what happens
(`fake_models.py`). To run it by hand: `python3 tests/support/fake_provider.py --help`.
"""

import argparse
import asyncio
import collections
import contextlib
import socket
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Callable

import fake_models
import fake_scripts as scripts
from fake_answer import Answer
from fake_http import Connection, ConnectionRecord, Request
from fake_vendors import VENDORS, refusal

Scripted = Answer | Callable[[Request], Answer]


class FakeProvider:
    """Listens on loopback from `start` to `close`, in a thread of its own."""

    def __init__(self, port: int = 0, strict: str | None = None, fixtures: Path | None = None, word_delay: float = 0,
                 otherwise: Scripted | None = None):
        """`strict` names the vendor whose refusals are copied; `otherwise` answers names that are not `fake…`."""
        self.port = port
        self.requests: list[Request] = []  # All requests, oldest first.
        self.connections: list[ConnectionRecord] = []
        self._strict, self._word_delay, self._otherwise = strict, word_delay, otherwise
        self._fixtures = fixtures or fake_models.fixture_folder()
        self._scripted: collections.deque[Scripted] = collections.deque()
        self._attempts: collections.Counter[str] = collections.Counter()
        self._changed = threading.Condition()
        self._live: list[Connection] = []
        self._started: Future[None] = Future()

    # Called by tests.

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    def start(self) -> "FakeProvider":
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._started.result()
        return self

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> list[Request]:
        """The requests for a completion, oldest first."""
        return [request for request in self.requests if is_call(request)]

    @property
    def open_connections(self) -> int:
        return sum(record.closed is None for record in self.connections)

    @property
    def unused_script(self) -> int:
        """The number of scripted answers that no call has taken."""
        return len(self._scripted)

    def script(self, *answers: Scripted) -> None:
        """Adds answers for the next calls, one per call. A call that the strict mode refuses takes none."""
        with self._changed:
            self._scripted.extend(answers)

    def wait_for(self, condition: Callable[[], bool], timeout: float = 10) -> bool:
        """Waits until `condition()` holds. It is checked whenever a request, an answer or a connection changes."""
        with self._changed:
            return self._changed.wait_for(condition, timeout)

    # Runs on the server's own thread.

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await self._loop.create_server(self._connect, "127.0.0.1", self.port, backlog=1024)
        except OSError as error:
            self._started.set_exception(error)
            return
        self.port = server.sockets[0].getsockname()[1]
        self._started.set_result(None)
        await self._stop.wait()
        server.close()
        for connection in self._live:
            connection.close()
        await asyncio.sleep(0)  # The loop notifies aborted connections in its next turn.

    def _connect(self) -> Connection:
        self._live = [connection for connection in self._live if connection.record.closed is None]
        record = ConnectionRecord(len(self.connections))
        self.connections.append(record)
        self._live.append(Connection(record, self._respond, self._notify))
        self._notify()
        return self._live[-1]

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _respond(self, request: Request) -> Answer:
        self.requests.append(request)
        path = request.target.partition("?")[0]
        if is_call(request):
            return not_a_call(request) or self._complete(request)
        if request.method == "GET" and path.endswith("/models"):
            models = [model_entry(name) for name in fake_models.KINDS]
            return scripts.json_answer(200, {"object": "list", "data": models})
        return scripts.error(404, f"fake provider: no route for {request.method} {path}", code="not_found")

    def _complete(self, request: Request) -> Answer:
        if self._strict and (refused := refusal(self._strict, request)):
            return refused
        if self._scripted:
            return made(self._scripted.popleft(), request)
        if self._otherwise and not fake_models.is_ours(request.model):
            return made(self._otherwise, request)
        try:
            return self._by_name(request)
        except fake_models.BadName as error:
            return scripts.error(404, f"fake provider: {error}")

    def _by_name(self, request: Request) -> Answer:
        kind, options = fake_models.parse(request.model)
        strict = options.named("strict", None, VENDORS)
        if strict and (refused := refusal(strict, request)):
            return refused
        call = fake_models.Call(request, options, self._attempts[request.model], self._fixtures, self._word_delay)
        answer = kind.make(call)
        options.all_taken()
        self._attempts[request.model] += 1
        return answer


def model_entry(name: str) -> dict:
    return {"id": name, "object": "model", "created": 1760000000, "owned_by": "fake"}


def is_call(request: Request) -> bool:
    """Whether it asks for a completion, with any base path: vendors use /, /v1 and /compatible-mode/v1."""
    return request.method == "POST" and request.target.partition("?")[0].endswith("/chat/completions")


def made(scripted: Scripted, request: Request) -> Answer:
    return scripted if isinstance(scripted, Answer) else scripted(request)


def not_a_call(request: Request) -> Answer | None:
    """The refusal of a request that every provider would refuse, or None."""
    try:
        body = request.json
    except ValueError:
        return scripts.error(400, "The body is not valid JSON.")
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return scripts.error(400, "'model' is missing or not a string.")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return scripts.error(400, "'messages' must be a list of at least one message.")
    if body.get("stream") is not True:
        return scripts.error(400, "fake provider: only \"stream\": true is served.")
    return None


@contextlib.contextmanager
def nobody_listens():
    """An address that refuses connections and that no other process can take while it is in use."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()


def say(text: str) -> None:
    """Prints the line in one write, because two threads print."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class ByHand(FakeProvider):
    """Prints every request to the terminal, but neither its content nor its key."""

    def _respond(self, request: Request) -> Answer:
        answer = super()._respond(request)
        say(f"{request.method} {request.target} model={request.model} -> {answer.status}")
        return answer


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="A model provider without models, for trying Runnel without a key. Listens on loopback only.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The model's name chooses what happens. A name that does not begin with fake is answered as fake.\n\n"
               + fake_models.table() + "\n\nExample: fake-fixture:deepseek-text:size=7:delay=5")
    parser.add_argument("--port", type=int, default=11500, help="0 means any free port (default: %(default)s)")
    parser.add_argument("--delay-ms", type=int, default=40, help="milliseconds between tokens (default: %(default)s)")
    parser.add_argument("--fixture", type=Path, metavar="FILE",
                        help="answer all names except fake… with this recorded stream (*.chunks.txt or a raw body)")
    parser.add_argument("--fixtures", type=Path, metavar="FOLDER",
                        help="the folder of recorded streams for fake-fixture (default: $RUNNEL_FIXTURES)")
    parser.add_argument("--strict", choices=VENDORS, help="refuse what this vendor refuses")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    if args.fixture and not args.fixture.is_file():
        print(f"no such file: {args.fixture}", file=sys.stderr)
        return 1
    delay = args.delay_ms / 1000
    replay = scripts.replay(args.fixture).paced(delay=delay) if args.fixture else None
    try:
        fake = ByHand(args.port, args.strict, args.fixtures, delay, replay).start()
    except OSError as error:
        print(f"cannot listen on port {args.port}: {error.strerror}", file=sys.stderr)
        return 1
    say(f"fake provider listening on {fake.base_url}\n"
        f"in another terminal: RUNNEL_MODEL_BASE_URL={fake.base_url} RUNNEL_MODEL=fake ./scripts/run")
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    fake.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
