"""Polls tasks as their clients do."""

import time
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from runnel_server import Api

TASKS = "/api/v1/tasks"


def task_path(task: str, **query) -> str:
    return f"{TASKS}/{quote(task, safe='')}" + (f"?{urlencode(query)}" if query else "")


@dataclass
class Task:
    """A task and the events that polls have given, each of which must be the one that comes next."""

    api: Api
    id: str
    conversation: str = ""
    events: list[dict] = field(default_factory=list)
    status: str = "running"

    @staticmethod
    def start(api: Api, message: str, conversation: str | None = None) -> "Task":
        body = {"message": message} | ({"conversation_id": conversation} if conversation else {})
        answer = api.post(TASKS, body)
        assert answer.status == 202, (answer.status, answer.body)
        return Task(api, answer.json["task_id"], answer.json["conversation_id"])

    @property
    def offset(self) -> int:
        return self.events[-1]["idx"] + 1 if self.events else 0

    def poll(self, **query) -> dict:
        answer = self.api.get(task_path(self.id, **{"from": self.offset, **query}))
        assert answer.status == 200, (answer.status, answer.body)
        page = answer.json
        for number, event in enumerate(page["events"], self.offset):
            assert event["idx"] == number, (number, event)
        self.events += page["events"]
        assert page["next_offset"] == self.offset, page
        self.status = page["status"]
        return page

    def finish(self, wait: int = 10) -> "Task":
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.poll(wait=wait)["status"] != "running":
                return self
            if not wait:
                time.sleep(0.01)
        raise AssertionError("the task does not end")

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def data(self, kind: str) -> list[dict]:
        return [event["data"] for event in self.events if event["type"] == kind]
