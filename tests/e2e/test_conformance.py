"""AGUI-1, RUN-11, TASK-8 and WIRE-1: runs of every kind, each made by both stock AG-UI clients while every other wire is
read. recorded_runs.py has the table of the runs."""

import json
import unittest
from dataclasses import dataclass

from e2e_case import new_id
from model_case import ModelRun
from recorded_runs import RUNS, RecordedCase, RecordedRun
from stock_clients import AG_UI, StockClients
from test_stock_clients import need_clients
from views import POLLS, SOCKET, Views, replay

VERSIONS = StockClients.VERSIONS


@dataclass(frozen=True)
class Recording:
    recorded: RecordedRun
    maker: str  # The version of the client that made the run.
    run: ModelRun
    live: Views
    replay: Views
    made: list[dict]  # What the client that made the run has of it: once, and after a pause once more.
    read: dict[str, dict]  # What each client has that reads it afterwards.
    joined: dict[str, dict]  # What each client has that knew nothing and joined it afterwards (AGUI-5).
    history: list[dict]

    def events(self, wire: str) -> list[dict]:
        """The events as objects, from the replay."""
        return [json.loads(frame.rpartition(b"\ndata: ")[2]) for frame in self.replay[wire]]

    @property
    def abandoned(self) -> set[str]:
        """RUN-14: the messages that others have replaced."""
        return {event["messageId"] for event in self.events("ag-ui 1.0")
                if event["type"] == "TEXT_MESSAGE_END" and event["metadata"]["status"] == "superseded"}

    def streamed(self, wire: str, kind: str = "TEXT") -> dict[str, str]:
        """The joined deltas of each message, in order."""
        texts: dict[str, str] = {}
        for event in self.events(wire):
            if event["type"] == f"{kind}_MESSAGE_START":
                texts[event["messageId"]] = ""
            elif event["type"] == f"{kind}_MESSAGE_CONTENT":
                texts[event["messageId"]] += event["delta"]
        return texts


def arguments_of(text: str) -> dict:
    """What the tool is called with. A client has the model's own text, with its white space and with `intent`, which is for
    display only (TOOL-1); a text that is no JSON calls the tool with nothing."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return {key: value[key] for key in value if key != "intent"}


def in_client(messages: list[dict]) -> dict[str, tuple]:
    """Role, text, tool calls and answered call of each message of a client, by its id."""
    return {message["id"]: (message["role"], message.get("content") or None,
                            [(call["id"], call["function"]["name"], arguments_of(call["function"]["arguments"]))
                             for call in message.get("toolCalls", [])], message.get("toolCallId"))
            for message in messages if message["role"] in ("user", "assistant", "tool")}


def in_history(rows: list[dict]) -> dict[str, tuple]:
    """The same of the history. A row with a tool call is an assistant's message without text."""
    def parts(row: dict) -> tuple:
        if row["type"] == "tool_call":
            return None, [(row["toolCallId"], row["toolName"], arguments_of(row["content"]))], None
        return row["content"], [], row.get("toolCallId")

    return {row["id"]: (row["role"], *parts(row)) for row in rows}


class Conformance(RecordedCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        need_clients()
        super().setUpClass()
        cls.clients = StockClients(cls.api)
        cls.addClassCleanup(cls.clients.close)
        cls.recordings = {}

    def recording(self, recorded: RecordedRun, maker: str) -> Recording:
        """Every run is made once for all tests of the class."""
        key = recorded.name, maker
        if key not in self.recordings:
            recording = self.record(recorded, maker)
            self.check_kind(recording)
            self.recordings[key] = recording
        return self.recordings[key]

    def record(self, recorded: RecordedRun, maker: str) -> Recording:
        asked = [{"id": new_id("m"), "role": "user", "content": "请 🙏"}]
        run, live = self.play(recorded, lambda run: self.post(run, maker, asked))
        made = [self.clients.take()]
        if recorded.pauses and "messages" in made[0]:
            made.append(self.clients.read(maker, run.thread, f"{run.run}~2", made[0]["messages"]))
        read = {version: self.clients.read(version, run.thread, run.run, asked) for version in VERSIONS}
        joined = {version: self.clients.join(version, run.thread, run.run) for version in VERSIONS}
        return Recording(recorded, maker, run, live, replay(self.api, run.thread, run.run), made, read, joined,
                         self.api.full_history(run.thread))

    def post(self, run: ModelRun, maker: str, messages: list[dict]) -> None:
        self.clients.give(maker, AG_UI, messages, threadId=run.thread, runId=run.run)

    def check_kind(self, recording: Recording) -> None:
        """The run is what its name says."""
        recorded, events = recording.recorded, recording.events("v2")
        self.assertEqual(self.status(recording.run), recorded.status)
        self.assertEqual([event["answer"] for event in events if event["type"] == "TEXT_MESSAGE_END"],
                         [recorded.answer] if recorded.answer else [])
        self.assertEqual([event["code"] for event in events if event["type"] == "RUN_ERROR"],
                         [recorded.code] if recorded.code else [])
        self.assertEqual(tuple(event["status"] for event in events if event["type"] == "TOOL_CALL_RESULT"), recorded.results)
        self.assertEqual([row["content"] for row in recording.history if row["type"] == "assistant_output"],
                         [*recorded.texts, *([recorded.answer] if recorded.answer else [])])

    def check_accepted(self, recording: Recording) -> None:
        """Neither version throws or warns, and the subscribers see every event. A pause ends the run for the client that made
        it, and the rest comes under another run id (AGUI-4)."""
        for answer in (*recording.made, *recording.read.values()):
            self.assertNotIn("error", answer)
        for version, answer in recording.read.items():
            self.assertEqual([event["type"] for event in answer["events"]],
                             [event["type"] for event in recording.events(f"ag-ui {version}")])
        ends = [answer["events"][-1].get("outcome", {}).get("type") for answer in recording.made]
        self.assertEqual(ends[:-1], ["interrupt"] if recording.recorded.pauses else [])
        seen = [event["type"] for answer in recording.made for event in answer["events"]]
        self.assertEqual(seen, [event["type"] for event in recording.events(f"ag-ui {recording.maker}")])

    def check_messages(self, recording: Recording) -> None:
        """What a client has on its screen is the history; messages that were replaced are gone (AGUI-8)."""
        history = in_history(recording.history)
        self.assertEqual(recording.abandoned & set(history), set())
        for answer in (recording.made[-1], *recording.read.values()):
            built = in_client(answer["messages"])
            self.assertEqual(built, history)
            # A client moves each result behind its call; all else has the same order.
            self.assertEqual([key for key in built if built[key][0] != "tool"],
                             [key for key in history if history[key][0] != "tool"])

    def check_joined(self, recording: Recording) -> None:
        """A client that knew nothing has the whole thread, and the end of the run."""
        for version, answer in recording.joined.items():
            self.assertNotIn("error", answer)
            self.assertEqual([event["type"] for event in answer["events"]][:3],
                             ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"])
            self.assertEqual(answer["events"][-1]["type"], recording.events(f"ag-ui {version}")[-1]["type"])
            self.assertEqual(in_client(answer["messages"]), in_history(recording.history))

    def check_next(self, recording: Recording) -> None:
        """A client sends all that it knows with its next question, with the metadata that it was given. It has the whole
        history afterwards."""
        known = [*recording.made[-1]["messages"], {"id": new_id("m"), "role": "user", "content": "还有呢？"}]
        run, _ = self.play(RUNS[0], lambda run: self.post(run, recording.maker, known), recording.run.thread)
        answer = self.clients.take()
        self.assertNotIn("error", answer)
        self.assertEqual(in_client(answer["messages"]), in_history(self.api.full_history(run.thread)))

    def check_texts(self, recording: Recording) -> None:
        """The same characters everywhere."""
        shown = recording.streamed("ag-ui 1.0")
        self.assertEqual(recording.streamed("ag-ui 0.0"), shown)
        self.assertEqual(len(recording.abandoned), recording.recorded.name == "contract_repair")
        kept = {key: text for key, text in shown.items() if key not in recording.abandoned}
        self.assertEqual(kept, {row["id"]: row["content"] for row in recording.history if row["type"] == "assistant_output"})
        for wire in ("v2", "v1"):
            for event in recording.events(wire):
                if event["type"] == "TEXT_MESSAGE_END":
                    self.assertEqual(event["answer"], kept[event["messageId"]], wire)
        thoughts = list(recording.streamed("ag-ui 1.0", "REASONING").values())
        self.assertEqual(thoughts, list(recording.recorded.thoughts))
        for wire in (SOCKET, POLLS):
            self.assertEqual(self.task_texts(recording.events(wire)), list(shown.values()), wire)
            self.assertEqual(self.task_texts(recording.events(wire), "thinking"), thoughts, wire)

    def task_texts(self, events: list[dict], kind: str = "text") -> list[str]:
        """The joined chunks of each text, which are what its end says."""
        texts: list[str] = []
        for event in events:
            if event["type"] == f"{kind}_start":
                texts.append("")
            elif event["type"] == f"{kind}_chunk":
                texts[-1] += event["data"]["content"]
            elif event["type"] == f"{kind}_end":
                self.assertEqual(event["data"]["full_content"], texts[-1])
        return texts

    def check_bytes(self, recording: Recording) -> None:
        """Live or not, every wire has the same bytes; a stream whose version is not named has that of the run's maker."""
        for wire, frames in recording.live.items():
            self.assertEqual(frames, recording.replay[wire], wire)
        self.assertEqual(recording.live[SOCKET], recording.live[POLLS])
        run = recording.run
        default = [frame.data for frame in self.api.read_events(run.thread, run.run, dialect="ag-ui")]
        self.assertEqual(default, [frame.rpartition(b"\ndata: ")[2] for frame in recording.live[f"ag-ui {recording.maker}"]])


CHECKS = (("AGUI_1", Conformance.check_accepted), ("RUN_11", Conformance.check_messages),
          ("AGUI_5", Conformance.check_joined), ("RUN_1", Conformance.check_next),
          ("TASK_8", Conformance.check_texts), ("WIRE_1", Conformance.check_bytes))


def add_test(row: str, check, recorded: RecordedRun, maker: str) -> None:
    name = f"test_{row}_{recorded.name}_made_by_{maker.replace('.', '_')}"
    setattr(Conformance, name, lambda self: check(self, self.recording(recorded, maker)))


for each_row, each_check in CHECKS:
    for each_run in RUNS:
        for each_maker in VERSIONS:
            add_test(each_row, each_check, each_run, each_maker)


if __name__ == "__main__":
    unittest.main()
