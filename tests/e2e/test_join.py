"""AGUI-5: a client that has nothing of a run joins it in the middle."""

import copy
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from agui_order import order_violations  # noqa: E402
from e2e_case import E2eCase, eventually, new_id, offline  # noqa: E402
from test_approvals import ApprovalCase  # noqa: E402
from tool_case import create  # noqa: E402

from runnel_server import TERMINALS, Api  # noqa: E402

VERSIONS = ("1.0", "0.0")


def join(api: Api, thread: str, run: str, agui: str = "1.0", after: str | None = None):
    path = api.events_path(thread, run, "ag-ui", agui) + "&join=1"
    stream = api.open("GET", path, headers={"Last-Event-ID": after} if after else {})
    stream.parser.needs_ids = False
    return stream


def messages_of(frames) -> list[dict]:
    """What a client makes of the frames: a list of messages with id, role, content and calls, as the facts on AG-UI say."""
    messages: dict[str, dict] = {}
    calls: dict[str, dict] = {}
    for frame in frames:
        body = frame.json
        if frame.event == "MESSAGES_SNAPSHOT":
            messages = {message["id"]: copy.deepcopy(message) for message in body["messages"]}
            calls = {made["id"]: made for message in messages.values() for made in message.get("toolCalls", [])}
        elif frame.event == "TEXT_MESSAGE_START":
            messages.setdefault(body["messageId"], {"id": body["messageId"], "role": "assistant", "content": ""})
        elif frame.event == "TEXT_MESSAGE_CONTENT":
            messages[body["messageId"]]["content"] += body["delta"]
        elif frame.event == "TOOL_CALL_START" and body["toolCallId"] not in calls:
            made = {"id": body["toolCallId"], "type": "function",
                    "function": {"name": body["toolCallName"], "arguments": ""}}
            calls[made["id"]] = made
            messages[body["parentMessageId"]] = {"id": body["parentMessageId"], "role": "assistant", "toolCalls": [made]}
        elif frame.event == "TOOL_CALL_ARGS":
            calls[body["toolCallId"]]["function"]["arguments"] += body["delta"]
        elif frame.event == "TOOL_CALL_RESULT":
            assert body["messageId"] not in messages, "the client would show the result twice"
            messages[body["messageId"]] = {"id": body["messageId"], "role": "tool", "content": body["content"],
                                           "toolCallId": body["toolCallId"]}
    for made in calls.values():  # The model's own text, and what was made of it: they differ in blanks only.
        made["function"]["arguments"] = json.loads(made["function"]["arguments"])
    return list(messages.values())


class JoinChecks:
    def check_shown(self, api: Api, thread: str, frames) -> None:
        """The client shows what the history has."""
        shown = [(m["id"], m["role"], m.get("content")) for m in messages_of(frames) if "toolCalls" not in m]
        history = [m for m in api.full_history(thread)]
        self.assertEqual(shown, [(m["id"], m["role"], m["content"]) for m in history if m["type"] != "tool_call"])
        calls = [(m["id"], made["id"]) for m in messages_of(frames) for made in m.get("toolCalls", [])]
        self.assertEqual(calls, [(m["id"], m["toolCallId"]) for m in history if m["type"] == "tool_call"])
        self.assertEqual(order_violations([(f.id, f.event, f.data) for f in frames]), [])

    def check_prelude(self, frames) -> None:
        self.assertEqual([frame.event for frame in frames[:3]],
                         ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"])


class Joining(JoinChecks, E2eCase):
    config = offline(word_delay_ms=20, words=30)

    def test_AGUI_5_in_the_middle_of_the_text(self):
        thread, _ = self.finished_run("An earlier question", thread=new_id("thread"))
        for version in VERSIONS:
            _, run = self.api.start_run(thread=thread)
            with self.api.events(thread, run, "ag-ui", version) as whole:
                while whole.next().event != "TEXT_MESSAGE_CONTENT":
                    pass
                with join(self.api, thread, run, version) as stream:
                    self.assertEqual(stream.status, 200)
                    frames = list(stream)
            with self.subTest(version):
                self.check_prelude(frames)
                self.assertEqual([f.event for f in frames if not f.id][3:][:1], ["STEP_STARTED"])
                self.assertEqual(frames[-1].event, "RUN_FINISHED")
                self.check_shown(self.api, thread, frames)

    def test_AGUI_5_after_the_end_of_the_run(self):
        thread, run = self.finished_run(thread=new_id("thread"))
        with join(self.api, thread, run) as stream:
            frames = list(stream)
        self.check_prelude(frames)
        self.assertEqual([f.event for f in frames[3:]], ["RUN_FINISHED"])
        self.check_shown(self.api, thread, frames)

    def test_AGUI_5_a_client_that_joined_resumes_by_its_place(self):
        thread, run = self.api.start_run(thread=new_id("thread"))
        whole = self.api.read_events(thread, run, dialect="ag-ui", agui="1.0")
        with join(self.api, thread, run) as stream:
            list(stream)
        place, = stream.parser.places

        rest = self.api.read_events(thread, run, dialect="ag-ui", agui="1.0", after=place)

        self.assertEqual(rest, [frame for frame in whole if frame.event in TERMINALS])
        with join(self.api, thread, run, after=place) as stream:
            self.assertEqual(list(stream), rest, "a client that resumes gets no second beginning")

    def test_AGUI_5_a_run_that_waits_for_its_turn(self):
        thread, first = self.api.start_run(thread=new_id("thread"))
        _, second = self.api.start_run("And then?", thread=thread, forwarded={"onBusy": "enqueue"})
        with join(self.api, thread, second) as stream:
            frames = list(stream)
        self.assertTrue(stream.ended)
        self.check_prelude(frames)
        self.assertEqual(frames[-1].event, "RUN_FINISHED")
        self.assertEqual(self.api.status(thread, first).json["status"], "completed")
        self.check_shown(self.api, thread, frames)

    def test_AGUI_5_a_run_that_is_canceled_while_it_waits_for_its_turn(self):
        thread, _ = self.api.start_run(thread=new_id("thread"))
        _, second = self.api.start_run(thread=thread, forwarded={"onBusy": "enqueue"})
        with join(self.api, thread, second) as stream:
            self.assertEqual(self.api.cancel(thread, second).status, 202)
            frames = list(stream)
        self.check_prelude(frames)
        self.assertEqual(frames[-1].json.get("outcome"), {"type": "cancelled"})

    def test_AGUI_5_only_ag_ui_has_it(self):
        thread, run = self.finished_run()
        for query in ("join=1", "dialect=v2&join=1", "dialect=ag-ui&join=2", "dialect=ag-ui&join="):
            answer = self.api.get(f"/api/v1/agent/runs/{thread}/events?runId={run}&{query}")
            self.assert_error(answer, 400, "INVALID_REQUEST")


class JoiningOverTools(JoinChecks, ApprovalCase):
    def test_AGUI_5_a_run_that_waits_for_an_approval(self):
        for version in VERSIONS:
            run = self.begin(create(title="One"), create(title="Two"))
            with join(run.api, run.thread, run.run, version) as stream:
                paused = []
                while not paused or paused[-1].event != "RUN_FINISHED":
                    paused.append(stream.next())
                self.assertEqual(paused[-1].json["outcome"]["type"], "interrupt")
                self.assertEqual(self.decide(run, "approve").status, 202)
                self.assertTrue(eventually(lambda: self.status(run) == "awaiting_approval"))
                with join(run.api, run.thread, run.run, version) as later:
                    self.assertEqual(self.decide(run, "reject").status, 202)
                    rest = list(later)
                frames = paused + list(stream)
            with self.subTest(version):
                self.check_prelude(paused)
                self.check_prelude(rest)
                self.assertEqual(rest[0].json["runId"], run.run + "~2")
                self.assertEqual(messages_of(frames), messages_of(rest))
                parts = [0] + [at + 1 for at, frame in enumerate(rest) if frame.event == "RUN_FINISHED"]
                for begin, end in zip(parts, parts[1:]):
                    part = [(f.id, f.event, f.data) for f in rest[begin:end]]
                    self.assertEqual(order_violations(part), [])
                shown = [m["id"] for m in messages_of(rest)]
                self.assertEqual(shown, [m["id"] for m in run.api.full_history(run.thread)])


if __name__ == "__main__":
    unittest.main()
