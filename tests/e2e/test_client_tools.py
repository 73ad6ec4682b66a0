"""AGUI-6: tools that the client brings, on every wire."""

import json
import unittest
from dataclasses import dataclass

from e2e_case import eventually, new_id
from flow_case import FlowCase, Says, calls
from model_case import query
from test_stock_clients import need_clients, node

import fake_scripts as scripts
from test_join import join, messages_of
from fake_answer import Answer
from fake_chunks import ToolCall, usage
from tasks import Task

COLOR = {"name": "set_color", "description": "Sets the color of the page.",
         "parameters": {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}}
RED, BLUE = '{"color": "red"}', '{"color": "blue"}'
ABANDONED = "CLIENT_TOOL_ABANDONED"


@dataclass(frozen=True)
class Asks:
    """The model's turn with these calls: each a tool and the text of its arguments."""

    calls: tuple[tuple[str, str], ...]

    def answer(self, number: int) -> Answer:
        parts = [ToolCall(name, text, f"p-{number}-{i}", i, pieces=2) for i, (name, text) in enumerate(self.calls)]
        return scripts.stream(parts, "tool_calls", usage(100, 10))


def asks(*arguments: str) -> Asks:
    return Asks(tuple(("set_color", text) for text in arguments))


def echo(**value) -> tuple[str, str]:
    """A call of the server's own tool."""
    return "project_cli", json.dumps({"module": "demo", "method": "slow", "input": value})


def answer_to(call: str, content: str = "done", **more) -> dict:
    return {"id": new_id("tool"), "role": "tool", "toolCallId": call, "content": content, **more}


class ClientToolsCase(FlowCase):
    """Runs of the flow `chat`, one model call each."""

    def setUp(self):
        self.thread = new_id("t")

    def body(self, *messages: dict, run: str | None = None, **more) -> dict:
        """A RunAgentInput of the thread. A text stands for a user message."""
        listed = [{"id": new_id("u"), "role": "user", "content": message} if isinstance(message, str) else message
                  for message in messages]
        props = {"flow": "chat", **more.pop("props", {})}
        return {"threadId": self.thread, "runId": run or new_id("r"), "messages": listed, "tools": [COLOR],
                "context": [], "state": {}, "forwardedProps": props, **more}

    def start(self, *messages, **how) -> str:
        body = self.body(*messages, **how)
        answer = self.api.post_run(body)
        self.assertEqual(answer.status, 202, answer.body)
        return body["runId"]

    def run_to_end(self, *messages, **how) -> str:
        run = self.start(*messages, **how)
        self.wait_status(self.thread, run, "completed", "failed", "canceled")
        return run

    def script(self, *steps) -> None:
        self.asked = len(self.fake.calls)
        self.fake.script(*(step.answer(number) for number, step in enumerate(steps, 1)))

    def calls_left(self, run: str) -> list[str]:
        """The calls with which the run has ended, as 1.0 clients learn of them."""
        frames = self.api.read_events(self.thread, run, dialect="ag-ui", agui="1.0")
        self.assertEqual(frames[-1].event, "RUN_FINISHED", frames[-1].json)
        return frames[-1].json.get("outcome", {}).get("pendingToolCallIds", [])

    def told(self) -> list[dict]:
        """What the newest request told the model, without what comes before the conversation."""
        messages = self.fake.calls[-1].json["messages"]
        return [message for message in messages if message["role"] in ("user", "assistant", "tool")]

    def history(self) -> list[tuple[str, str]]:
        return [(row["role"], row["content"]) for row in self.api.full_history(self.thread)]


class ClientTools(ClientToolsCase):
    def test_AGUI_5_who_joins_the_run_that_answers_sees_the_answer(self):
        self.script(asks(RED, BLUE), Says("It is red."))
        first = self.run_to_end("paint it")
        answer = answer_to(self.calls_left(first)[0], "as you wish")  # The other call is abandoned.
        second = self.run_to_end(answer)

        with join(self.api, self.thread, second) as stream:
            shown = messages_of(list(stream))

        self.assertEqual([m["id"] for m in shown], [m["id"] for m in self.api.full_history(self.thread)])
        self.assertIn((answer["id"], "as you wish"), [(m["id"], m.get("content")) for m in shown])

    def test_AGUI_6_an_error_counts_like_the_content_of_an_answer(self):
        self.script(asks(RED))
        [call] = self.calls_left(self.run_to_end("paint it"))
        answer = self.api.post_run(self.body(answer_to(call, "x", error="y" * 300_000)))
        self.assertEqual((answer.status, answer.error_code), (413, "MESSAGE_TOO_LARGE"))

    def test_AGUI_6_one_call_is_answered_by_the_next_run(self):
        self.script(asks(RED), Says("It is red."))
        first = self.run_to_end("paint it")
        [call] = self.calls_left(first)
        answer = answer_to(call, "as you wish")
        second = self.run_to_end(answer)

        offered = self.fake.calls[self.asked].json["tools"]
        self.assertEqual([tool["function"]["name"] for tool in offered], ["set_color"])
        self.assertEqual(offered[0]["function"]["parameters"], COLOR["parameters"])
        self.assertEqual([(m["role"], m.get("content")) for m in self.told()[:1]], [("user", "paint it")])
        asked, told = self.told()[1], self.told()[2]
        self.assertEqual(asked["tool_calls"][0]["function"], {"name": "set_color", "arguments": '{"color":"red"}'})
        self.assertEqual((told["role"], told["tool_call_id"], told["content"]), ("tool", call, "as you wish"))
        self.assertEqual(self.history(), [("user", "paint it"), ("assistant", '{"color":"red"}'),
                                          ("tool", "as you wish"), ("assistant", "It is red.")])
        rows = self.api.full_history(self.thread)
        self.assertEqual((rows[2]["id"], rows[2]["toolCallId"], rows[2]["toolName"]), (answer["id"], call, "set_color"))
        self.assertEqual([row["seq"] for row in rows], [1, 2, 3, 4])
        self.assertEqual(rows[2]["runId"], second)

    def test_AGUI_6_v2_tells_of_the_call_and_of_its_answer(self):
        self.script(asks(RED), Says("It is red."))
        first = self.run_to_end("paint it")
        frames = self.api.read_events(self.thread, first)
        self.assertEqual([frame.event for frame in frames],
                         ["RUN_STARTED", "STEP_STARTED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END",
                          "STEP_FINISHED", "RUN_FINISHED"])
        self.assertEqual(frames[3].json["args"], {"color": "red"})
        self.assertEqual(list(frames[-1].json), ["type", "threadId", "runId"])
        [call] = self.calls_left(first)

        second = self.run_to_end(answer_to(call, '{"now": "red"}'))
        for dialect, result in (("v2", {"now": "red"}), ("v1", '{"now":"red"}')):
            frames = self.api.read_events(self.thread, second, dialect=dialect)
            self.assertEqual([frame.event for frame in frames],
                             ["RUN_STARTED", "TOOL_CALL_RESULT", "STEP_STARTED", "TEXT_MESSAGE_END", "STEP_FINISHED",
                              "RUN_FINISHED"])
            told = frames[1].json
            self.assertEqual((told["tool_call_id"], told["tool_name"], told["status"], told["error"]),
                             (call, "set_color", "success", None))
            self.assertEqual(told["tool_call_args"], {"color": "red"})
            got = told["result"] if dialect == "v2" else json.loads(told["result"])
            self.assertEqual(got, {"now": "red"})

    def test_AGUI_6_ag_ui_shows_pending_calls_to_clients_of_version_1_0_only(self):
        self.script(asks(RED))
        first = self.run_to_end("paint it")
        new, old = (self.api.read_events(self.thread, first, dialect="ag-ui", agui=version) for version in ("1.0", "0.0"))
        self.assertEqual([frame.event for frame in new], [frame.event for frame in old])
        self.assertEqual(list(new[-1].json["outcome"]), ["type", "pendingToolCallIds"])
        self.assertNotIn("outcome", old[-1].json)

    def test_AGUI_6_tasks_tell_of_the_call_and_end(self):
        self.script(asks(RED), Says("It is red."))
        first = self.run_to_end("paint it")
        [call] = self.calls_left(first)
        task = Task(self.api, first, self.thread).finish()
        self.assertEqual(task.status, "completed")
        self.assertEqual([event["type"] for event in task.events], ["tool_preparing", "task_complete"])
        self.assertEqual(task.events[0]["data"]["name"], "set_color")
        self.assertEqual(task.events[1]["data"], {"total_iterations": 1, "total_tool_calls": 1, "auto_fix_attempts": 0})

        second = self.run_to_end(answer_to(call, "ok"))
        events = Task(self.api, second, self.thread).finish().events
        self.assertEqual((events[0]["type"], events[0]["data"]["id"], events[0]["data"]["status"]),
                         ("update_action", call, "completed"))

    def test_AGUI_6_a_call_without_an_answer_is_abandoned_and_the_thread_goes_on(self):
        self.script(asks(RED, BLUE), Says("One of them."))
        left, answered = self.calls_left(self.run_to_end("paint both"))
        second = self.run_to_end(answer_to(answered, "blue it is"))

        history = self.history()
        self.assertEqual([role for role, _ in history], ["user", "assistant", "assistant", "tool", "tool", "assistant"])
        self.assertEqual(json.loads(history[3][1])["error"]["code"], ABANDONED)
        self.assertEqual(history[4][1], "blue it is")
        results = [frame.json for frame in self.api.read_events(self.thread, second)
                   if frame.event == "TOOL_CALL_RESULT"]
        self.assertEqual([(r["tool_call_id"], r["status"]) for r in results], [(left, "failure"), (answered, "success")])
        self.assertEqual(results[0]["error"], results[0]["result"])
        tools = [message for message in self.told() if message["role"] == "tool"]
        self.assertEqual([message["tool_call_id"] for message in tools], [left, answered])
        frames = self.api.read_events(self.thread, second, dialect="ag-ui", agui="1.0")
        self.assertEqual([frame.json["toolCallId"] for frame in frames if frame.event == "TOOL_CALL_RESULT"], [left])
        self.assertEqual([message["toolCallId"] for message in frames[0].json["input"]["messages"]], [answered])

    def test_AGUI_6_a_user_message_instead_abandons_the_call(self):
        self.script(asks(RED), Says("As you like."), Says("Again."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.run_to_end("never mind")

        history = self.history()
        self.assertEqual([role for role, _ in history], ["user", "assistant", "tool", "user", "assistant"])
        self.assertIn(ABANDONED, history[2][1])
        late = self.api.post_run(self.body(answer_to(call, "late")))
        details = self.assert_error(late, 400, "TOOL_CALL_NOT_PENDING")
        self.assertEqual(details["toolCallId"], call)
        self.run_to_end("go on")
        self.assertEqual(len(self.history()), 7)

    def test_AGUI_6_an_answer_that_stands_before_a_new_user_message_is_used(self):
        self.script(asks(RED), Says("Fine."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.run_to_end("paint it", answer_to(call, "done"), "and now?")
        self.assertEqual(self.history()[1:4], [("assistant", '{"color":"red"}'), ("tool", "done"), ("user", "and now?")])

    def test_AGUI_6_a_failed_tool_is_told_as_a_failure(self):
        self.script(asks(RED), Says("Sorry."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        second = self.run_to_end(answer_to(call, "", error="no brush"))
        result = next(frame.json for frame in self.api.read_events(self.thread, second)
                      if frame.event == "TOOL_CALL_RESULT")
        self.assertEqual((result["status"], result["error"]["error"]),
                         ("failure", {"code": "CLIENT_TOOL_FAILED", "message": "no brush"}))
        self.assertEqual(self.told()[-1]["role"], "user")  # The task.
        self.assertIn("no brush", [message["content"] for message in self.told()])

    def test_AGUI_6_a_servers_call_in_the_same_turn_runs_first(self):
        self.script(Says({"route": "NEEDS_EXECUTION", "intent_summary": "x", "safety_flags": [],
                          "execution_brief": "Paint.", "assistant_text": None}),
                    Asks((("set_color", RED), echo(x=1))))
        run = self.run_to_end("paint it", props={"flow": "router_worker"})
        [call] = self.calls_left(run)
        frames = self.api.read_events(self.thread, run)
        results = [frame.json for frame in frames if frame.event == "TOOL_CALL_RESULT"]
        self.assertEqual([(r["tool_name"], r["status"]) for r in results], [("project_cli", "success")])
        self.assertNotIn("TEXT_MESSAGE_END", [frame.event for frame in frames])
        offered = self.fake.calls[-1].json["tools"]
        self.assertEqual([tool["function"]["name"] for tool in offered], ["project_cli", "set_color"])

        self.script(Says({"route": "DIRECT_EXECUTION", "intent_summary": "x", "safety_flags": [],
                          "execution_brief": "Say so.", "assistant_text": None}), Says("It is red."))
        # A stock client that puts its answer behind the call: the last message is then the server's own result.
        result = {"id": results[0]["messageId"], "role": "tool", "toolCallId": results[0]["tool_call_id"], "content": "{}"}
        self.run_to_end("paint it", {"id": "a", "role": "assistant"}, answer_to(call, "done"),
                        {"id": "b", "role": "assistant"}, result, props={"flow": "router_worker"})
        self.assertEqual([content for role, content in self.history() if role == "tool"][-1], "done")
        tools = [message["tool_call_id"] for message in self.told() if message["role"] == "tool"]
        self.assertEqual(sorted(tools), sorted([call, results[0]["tool_call_id"]]))

    def test_AGUI_6_arguments_that_are_no_object_go_back_to_the_model(self):
        self.script(asks("[1]"), asks(RED))
        run = self.run_to_end("paint it")
        self.assertEqual(len(self.calls_left(run)), 1)
        result = next(frame.json for frame in self.api.read_events(self.thread, run)
                      if frame.event == "TOOL_CALL_RESULT")
        self.assertEqual(result["error"]["error"]["code"], "INVALID_ACTION_INPUT")

    def test_AGUI_6_a_call_of_another_thread_or_user_is_refused(self):
        self.script(asks(RED))
        [call] = self.calls_left(self.run_to_end("paint it"))
        reply = self.body(answer_to(call))
        other = self.server.api("eve")
        self.assert_error(other.post_run(reply), 400, "TOOL_CALL_NOT_PENDING")
        self.assert_error(self.api.post_run({**reply, "threadId": new_id("t")}), 400, "TOOL_CALL_NOT_PENDING")
        reply.pop("threadId")
        self.assert_error(self.api.post_run(reply), 400, "TOOL_CALL_NOT_PENDING")
        self.assertEqual(other.get("/api/v1/agent/threads").json["threads"], [])
        self.assertEqual(len(self.history()), 2)

    def test_RUN_2_the_same_answer_again_is_the_same_run(self):
        self.script(asks(RED), Says("It is red."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        body = self.body(answer_to(call, "done"))
        self.assertEqual(self.api.post_run(body).status, 202)
        self.wait_status(self.thread, body["runId"], "completed")
        again = self.api.post_run(body)
        self.assertEqual((again.status, again.json["status"]), (200, "completed"))
        changed = {**body, "messages": [{**body["messages"][0], "content": "other"}]}
        self.assert_error(self.api.post_run(changed), 409, "RUN_ID_CONFLICT")
        self.assert_error(self.api.post_run({**body, "runId": new_id("r")}), 400, "TOOL_CALL_NOT_PENDING")
        self.assertEqual(len(self.history()), 4)

    def test_AGUI_6_tools_that_cannot_be_offered_are_refused(self):
        for tools in ([{"name": "a b"}], [{"name": ""}], [COLOR, COLOR], [{"name": "project_cli"}], [{}], {},
                      [{"name": "t" * 65}], [{"name": "t", "parameters": []}],
                      [{"name": "t", "parameters": {"type": "array"}}], [{"name": f"t{i}"} for i in range(129)],
                      [{"name": "t", "description": "x" * 70_000}]):
            with self.subTest(str(tools)[:60]):
                self.assert_error(self.api.post_run(self.body("hi", tools=tools)), 400, "INVALID_REQUEST")
        flows = {flow["name"]: flow["stages"] for flow in self.api.get("/api/v1/flows").json["flows"]}
        self.assertEqual(flows["chat"], [{"name": "chat", "tools": [], "clientTools": True}])

    def test_AGUI_6_a_flow_without_client_tools_ignores_them(self):
        before = self.metrics()["runnel_ignored_input_keys_total"]
        self.script(Says({"route": "DIRECT_EXECUTION", "intent_summary": "x", "safety_flags": [],
                          "execution_brief": None, "assistant_text": "Hi."}))
        self.run_to_end("hi", props={"flow": "intent_execution_organization"})
        self.assertNotIn("tools", self.fake.calls[-1].json)
        self.assertEqual(self.metrics()["runnel_ignored_input_keys_total"], before + 1)

    def test_AGUI_6_answers_have_the_limit_of_messages(self):
        self.script(asks(RED), Says("Fine."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        details = self.assert_error(self.api.post_run(self.body(answer_to(call, "x" * 300_000))), 413, "MESSAGE_TOO_LARGE")
        self.assertEqual(details, {"sizeBytes": 300_000, "limitBytes": 262_144})
        self.run_to_end(answer_to(call, "x" * 200_000))
        self.assertEqual(len(self.history()[2][1]), 200_000)
        self.assertIn(200_000, [len(message["content"] or "") for message in self.told()])

    def test_AGUI_6_an_answer_in_the_queue_is_written_when_its_run_begins(self):
        self.script(Says({"route": "NEEDS_EXECUTION", "intent_summary": "x", "safety_flags": [],
                          "execution_brief": "Paint.", "assistant_text": None}),
                    Asks((("set_color", RED), echo(ms=700))), Says("It is red."))
        first = self.start("paint it", props={"flow": "router_worker"})
        call = eventually(lambda: [row["toolCallId"] for row in self.api.full_history(self.thread)
                                   if row.get("toolName") == "set_color"])[0]
        self.assert_error(self.api.post_run(self.body(answer_to(call))), 409, "THREAD_BUSY")
        queued = self.start(answer_to(call, "early"), props={"onBusy": "enqueue"})
        self.assertEqual(self.api.status(self.thread, queued).json["status"], "queued")
        self.wait_status(self.thread, queued, "completed")
        self.assertEqual(self.calls_left(first), [call])
        self.assertEqual([content for role, content in self.history() if role == "tool"][-1], "early")

    def test_AGUI_6_rollback_opens_the_call_that_its_run_had_answered(self):
        self.script(asks(RED))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.fake.script(scripts.stalled(["Let "]), Says("It is blue.").answer(2))
        self.start(answer_to(call, "red"))
        eventually(lambda: len(self.history()) == 3)
        last = self.start(answer_to(call, "blue"), props={"onBusy": "rollback"})
        self.wait_status(self.thread, last, "completed")
        self.assertEqual([content for role, content in self.history() if role == "tool"], ["blue"])

    def test_USE_8_a_run_that_ends_with_a_call_is_booked(self):
        self.script(asks(RED), Says("It is red."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.assertGreater(self.assert_books(self.thread), 0)
        self.run_to_end(answer_to(call))
        self.assert_books(self.thread)

    def test_AGUI_6_a_deleted_thread_leaves_nothing(self):
        self.script(asks(RED), Says("Hello."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.assertEqual(self.api.request("DELETE", f"/api/v1/agent/threads/{self.thread}").status, 204)
        self.assert_error(self.api.post_run(self.body(answer_to(call))), 400, "TOOL_CALL_NOT_PENDING")
        self.run_to_end("a new one")
        self.assertEqual(len(self.history()), 2)


class ClientToolsAfterACrash(ClientToolsCase):
    def test_RUN_12_a_pending_call_outlives_the_server(self):
        self.script(asks(RED), Says("It is red."))
        [call] = self.calls_left(self.run_to_end("paint it"))
        self.server.restart()
        self.api = self.server.api()
        self.run_to_end(answer_to(call, "after the crash"))
        self.assertEqual(self.history()[2:], [("tool", "after the crash"), ("assistant", "It is red.")])

    def test_RUN_12_a_run_killed_before_its_end_ends_with_the_call_and_asks_no_model(self):
        self.script(Says({"route": "NEEDS_EXECUTION", "intent_summary": "x", "safety_flags": [],
                          "execution_brief": "Paint.", "assistant_text": None}),
                    Asks((("set_color", RED), echo(ms=60_000))))
        first = self.start("paint it", props={"flow": "router_worker"})
        call = eventually(lambda: [row["id"] for row in query(self.server, "SELECT t.id FROM tool_calls t")])
        self.assertTrue(call)
        asked = len(self.fake.calls)
        self.server.restart()
        self.api = self.server.api()
        self.wait_status(self.thread, first, "completed")
        self.assertEqual(len(self.fake.calls), asked)
        [left] = self.calls_left(first)
        self.script(Says("It is red."))
        self.run_to_end(answer_to(left, "done"))
        self.assertEqual(self.history()[-2:], [("tool", "done"), ("assistant", "It is red.")])


class StockClientsWithTools(ClientToolsCase):
    @classmethod
    def setUpClass(cls):
        need_clients()
        super().setUpClass()

    def test_AGUI_6_stock_clients_answer_calls_without_a_warning(self):
        turns = (asks(RED, BLUE), asks(RED), Says("All is red."), asks(BLUE), Says("Fine."))
        for version in ("1.0", "0.0"):
            with self.subTest(version):
                self.script(*turns)
                done = node("client_tools.mjs", version, RUNNEL_URL=f"http://127.0.0.1:{self.server.port}",
                            RUNNEL_TOKEN=self.api.token)
                self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
                self.assertEqual(self.fake.unused_script, 0)


if __name__ == "__main__":
    unittest.main()
