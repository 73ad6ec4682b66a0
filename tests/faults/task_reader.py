"""Readers of the wires for tasks: polls and WebSockets that follow a run through every crash (TASK-2, TASK-3, TASK-5)."""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from http_client import HttpError  # noqa: E402
from runnel_server import Api  # noqa: E402
from tasks import task_path  # noqa: E402
from web_socket import CLOSE, PING, PONG, TEXT, Refused, follow  # noqa: E402

BROKEN = (OSError, HttpError)
COME_BACK = (1012, 1013)


class TaskReader:
    """The events that one reader has seen, over as many polls and sockets as necessary."""

    def __init__(self, api: Api, run: str):
        self.api, self.run = api, run
        self.events: list[dict] = []
        self.problems: list[str] = []
        self.over = False
        self.sockets = self.polls = 0

    def take(self, event: dict) -> None:
        if event["idx"] != len(self.events):
            self.problems.append(f"event {event['idx']} came where {len(self.events)} was next")
        self.events.append(event)

    def poll_once(self, wait: int) -> None:
        answer = self.api.get(task_path(self.run, **{"from": len(self.events), "wait": wait}))
        if answer.status in (429, 503):
            return
        if answer.status != 200:
            self.problems.append(f"a poll answered {answer.status}: {answer.body[:200]!r}")
            return
        self.polls += 1
        for event in answer.json["events"]:
            self.take(event)
        # A socket that begins reads the store, in which an event is a moment before it is shown to those who are live; polls
        # of a live run are such a reader.
        behind = answer.json["status"] == "running" and answer.json["next_offset"] < len(self.events)
        if answer.json["next_offset"] != len(self.events) and not behind:
            self.problems.append(f"next_offset is {answer.json['next_offset']} behind {len(self.events)} events")
        self.over = answer.json["status"] != "running"

    def follow_once(self, budget: int) -> None:
        try:
            socket = follow(self.api, self.run, len(self.events), timeout=10)
        except Refused as refused:
            if refused.status not in (429, 503):
                self.problems.append(f"a WebSocket was refused: {refused}")
            return
        with socket:
            self.sockets += 1
            for _ in range(budget):
                frame = socket.read()
                if frame.opcode == TEXT:
                    self.take(json.loads(frame.payload))
                elif frame.opcode == PING:
                    socket.send(PONG, frame.payload)
                elif frame.opcode == CLOSE:
                    self.over = frame.code == 1000
                    if not self.over and frame.code not in COME_BACK:
                        self.problems.append(f"closed with {frame.code}")
                    return

    def go_on(self, rng: random.Random) -> None:
        """One poll or one socket. What breaks because the server does is tried again."""
        try:
            if rng.random() < 0.5:
                self.poll_once(rng.choice((0, 1, 5)))
            else:
                self.follow_once(rng.choice((1, 5, 30, 10**6)))
        except BROKEN:
            pass

    def whole(self) -> list[dict] | None:
        """All events, asked for anew. None if the server is not there, or says that the task is running: a poll is answered
        from memory, to which the end comes a moment after a socket may have read it from the store."""
        try:
            answer = self.api.get(task_path(self.run))
        except BROKEN:
            return None
        return answer.json["events"] if answer.status == 200 and answer.json["status"] != "running" else None


def task_problems(seen: list[dict], whole: list[dict]) -> list[str]:
    """How what a reader saw to the end differs from what everybody gets now."""
    if seen == whole:
        return []
    at = next((n for n, pair in enumerate(zip(seen, whole)) if pair[0] != pair[1]), min(len(seen), len(whole)))
    return [f"saw {len(seen)} events of {len(whole)}, which differ from number {at} on: "
            f"{json.dumps(seen[at:at + 1])} instead of {json.dumps(whole[at:at + 1])}"]
