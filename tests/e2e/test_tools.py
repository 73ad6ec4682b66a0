"""TOOL-1 to TOOL-10, RUN-12: a model calls real methods of the calendar through project_cli."""

import json
import re
import unittest

from flow_case import Says
from http_client import Http
from model_case import ModelRun
from tool_case import DONE, LUNCH, ROUTED, Asks, ToolCase, call, create


class Tools(ToolCase):
    def test_TOOL_2_a_model_creates_an_event_and_reads_it(self):
        run = self.ask(create(title="Dîner 🙂", location="Café"), call("calendar.read", mode="day", date="2026-11-20"))
        made, read = self.results(run)

        self.assertEqual((made["status"], made["tool_name"], made["error"]), ("success", "project_cli", None))
        self.assertEqual({k: v for k, v in made["result"].items() if k != "data"},
                         {"status": "success", "module": "calendar", "method": "create"})
        event = made["result"]["data"]
        self.assertEqual(event, {"event_id": event["event_id"], "outcome": "created"})
        self.assertEqual(read["result"]["data"]["count"], 1)
        self.assertEqual(read["result"]["data"]["items"][0] | {"start_at": None, "end_at": None, "timezone": None},
                         {"event_id": event["event_id"], "title": "Dîner 🙂", "location": "Café", "start_at": None,
                          "end_at": None, "timezone": None})
        self.assertEqual([row["title"] for row in self.events()], ["Dîner 🙂"])
        self.assertEqual({row["status"] for row in self.calls_of(run)}, {"closed"})

    def test_TOOL_6_the_model_sees_the_result_and_nothing_else(self):
        run = self.ask(create(), user="six")
        result = self.results(run)[0]["result"]
        asked = self.requests[-1]["messages"][-1]

        self.assertEqual(asked["role"], "tool")
        self.assertEqual(json.loads(asked["content"]), result)
        row = next(row for row in self.rows_of(run) if row["role"] == "tool")
        self.assertEqual(row["content"], asked["content"])
        kept = json.loads(row["metadata"])["tool_agent_output"]
        self.assertEqual(list(kept), ["tool_name", "tool_call_id", "tool_call_args", "status", "result", "error",
                                      "ui_hints"])
        self.assertEqual((kept["result"], kept["tool_call_args"]["input"]), (result, LUNCH))
        history = run.api.full_history(run.thread)
        self.assertEqual([m["content"] for m in history if m["role"] == "tool"], [asked["content"]])

    def test_HTTP_7_a_call_is_timed(self):
        def metric(name: str) -> float:
            text = Http(self.server.address).get("/metrics").body.decode()
            return float(re.search(rf"^runnel_tool_call_seconds_{name} (\S+)$", text, re.M)[1])

        count, seconds = metric("count"), metric("sum")
        self.ask(create(), user="timed")

        self.assertEqual(metric("count"), count + 1)
        self.assertGreater(metric("sum"), seconds)

    def test_V2_3_the_name_of_the_tool_is_sent_as_it_is(self):
        run = self.ask(create(), user="names")
        frames = [frame for frame in run.api.read_events(run.thread, run.run) if frame.event.startswith("TOOL_CALL_")]

        self.assertEqual([(f.event, f.json.get("toolCallName") or f.json.get("tool_name")) for f in frames],
                         [(event, "project_cli") for event in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END",
                                                               "TOOL_CALL_RESULT")])

    def test_V2_5_an_answer_that_says_failed_still_ends_the_run_well(self):
        failed = Says({**DONE.content, "status": "FAILED", "error": "There is no such day."})
        self.script(ROUTED, create(title=""), failed)
        run = ModelRun(self.api, *self.api.start_run("Please.")).read()

        frames = run.api.read_events(run.thread, run.run)
        self.assertEqual([frame.json["status"] for frame in frames if frame.event == "TEXT_MESSAGE_END"], ["failed"])
        self.assertEqual((frames[-1].event, self.api.status(run.thread, run.run).json["status"]),
                         ("RUN_FINISHED", "completed"))

    def test_TOOL_1_the_model_is_offered_one_thin_tool(self):
        self.ask(create(), user="one")
        offered = self.requests[1]["tools"]

        self.assertEqual([tool["function"]["name"] for tool in offered], ["project_cli"])
        self.assertEqual(list(offered[0]["function"]["parameters"]["properties"]),
                         ["module", "method", "input", "intent"])
        for method in ("calendar.create", "calendar.read"):
            self.assertIn(f"- {method}: ", offered[0]["function"]["description"])

    def test_TOOL_4_a_bad_input_is_answered_with_the_schema_and_the_model_corrects_itself(self):
        run = self.ask(create(title="", colour="red"), create(), user="four")
        bad, good = self.results(run)

        error = bad["error"]["error"]
        self.assertEqual((error["code"], error["module"], error["method"]),
                         ("INVALID_ACTION_INPUT", "calendar", "create"))
        self.assertTrue(error["message"].startswith("calendar.create input does not match method schema: "))
        self.assertIn("/colour", error["message"])
        self.assertEqual([branch["required"] for branch in error["input_schema"]["oneOf"]],
                         [["title", "start_at", "end_at"], ["title", "all_day", "start_date"], ["mode", "items"]])
        self.assertEqual(good["status"], "success")
        self.assertEqual(len(self.events("four")), 1)

    def test_TOOL_12_several_calls_in_one_turn_each_take_effect_once(self):
        turn = Asks(tuple(create(title=f"Event {i}").arguments[0] for i in range(5)))
        results = self.results(self.ask(turn, user="twelve"))

        self.assertEqual([result["status"] for result in results], ["success"] * 5)
        self.assertEqual(len({result["tool_call_id"] for result in results}), 5)
        self.assertEqual(sorted(row["title"] for row in self.events("twelve")), [f"Event {i}" for i in range(5)])

    def test_TASK_6_the_log_tells_what_is_being_prepared_and_done(self):
        arguments = json.dumps({"module": "calendar", "method": "create", "intent": "Book lunch", "input": LUNCH})
        run = self.ask(Asks((arguments,)), user="task")
        facts = self.facts(run)

        kinds = [fact["fact"] for fact in facts if fact["fact"].startswith("tool_") and "delta" not in fact["fact"]]
        self.assertEqual(kinds, ["tool_hint", "tool_call_started", "tool_preparing", "tool_intent", "tool_args",
                                 "tool_call_ended", "tool_started", "tool_progress", "tool_result"])
        by_kind = {fact["fact"]: fact for fact in facts}
        self.assertRegex(by_kind["tool_hint"]["hint_id"], r"\Aearly_calendar\.create_[0-9a-f]+\Z")
        self.assertEqual(by_kind["tool_preparing"]["preparing_id"], "calendar.create:0")
        self.assertEqual(by_kind["tool_intent"]["intent"], "Book lunch")
        self.assertEqual(by_kind["tool_started"]["preparing_id"], "calendar.create:0")
        self.assertRegex(by_kind["tool_started"]["action_id"], r"\Atool_0_calendar\.create_[0-9a-f]+\Z")
        self.assertEqual(by_kind["tool_progress"]["action_id"], by_kind["tool_started"]["action_id"])
        self.assertEqual(by_kind["tool_result"]["action_id"], by_kind["tool_started"]["action_id"])
        self.assertNotIn("intent", by_kind["tool_args"]["args"])


if __name__ == "__main__":
    unittest.main()
