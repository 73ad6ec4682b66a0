"""What every wire shows of one run, as bytes that can be compared: the frames of four event streams, and the events of tasks
on a WebSocket and by polls."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from e2e_case import DIALECTS, Api

from http_client import EventStream
from tasks import task_path
from web_socket import CLOSE, PING, PONG, WebSocket, follow

Views = dict[str, list[bytes]]  # The frames or events of each wire, by its name.

SOCKET, POLLS = "tasks on a WebSocket", "tasks by polls"


def frames_of(stream: EventStream) -> list[bytes]:
    """The frames up to the end of the stream, without the comments that keep it alive."""
    while stream.read_some():
        pass
    *blocks, rest = stream.raw.split(b"\n\n")
    assert not rest, f"the stream ends inside a frame: {rest!r}"
    return [block for block in blocks if not block.startswith(b":")]


def messages_of(socket: WebSocket) -> list[bytes]:
    """The messages up to the close frame, which must say that these are all."""
    messages = []
    while (frame := socket.read()).opcode != CLOSE:
        if frame.opcode == PING:
            socket.send(PONG, frame.payload)
        else:
            messages.append(frame.payload)
    assert frame.code == 1000, frame
    socket.send(CLOSE, frame.payload[:2])
    return messages


def polled(api: Api, run: str) -> list[bytes]:
    """The events of all polls up to the one that says that the task has ended."""
    events: list[bytes] = []
    while True:
        body = api.get(task_path(run, **{"from": len(events), "wait": 10})).body.decode()
        events += elements(body)
        if json.loads(body)["status"] != "running":
            return events


def elements(body: str) -> list[bytes]:
    """The text of each element of the member `events`."""
    found, rest = [], body.partition('"events":[')[2].lstrip()
    while not rest.startswith("]"):
        _, end = json.JSONDecoder().raw_decode(rest)
        found.append(rest[:end].encode())
        rest = rest[end:].removeprefix(",").lstrip()
    return found


class Watch:
    """Readers of a run on every wire, each in a thread of its own. All are attached once the watch has been made."""

    def __init__(self, api: Api, thread: str, run: str):
        with ExitStack() as stack:
            streams = {name: stack.enter_context(api.events(thread, run, **dialect)) for name, dialect in DIALECTS.items()}
            socket = stack.enter_context(follow(api, run))
            pool = stack.enter_context(ThreadPoolExecutor(len(streams) + 2))
            self._reading = {name: pool.submit(frames_of, stream) for name, stream in streams.items()}
            self._reading[SOCKET] = pool.submit(messages_of, socket)
            self._reading[POLLS] = pool.submit(polled, api, run)
            self._open = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()

    def views(self) -> Views:
        """What each reader has seen when its wire has ended."""
        return {name: reading.result() for name, reading in self._reading.items()}


def replay(api: Api, thread: str, run: str) -> Views:
    """The same of a run that has ended."""
    with Watch(api, thread, run) as watch:
        return watch.views()
