"""FLOW-1: a team can add its own flow with YAML files only (third_flow/)."""

import unittest
from pathlib import Path

from flow_case import FlowCase, Says, calls, copy_flows, merge_flows
from model_case import message_rows

FLOW = "plan_act_check_answer"
PLAN = Says({"next": "ACT", "steps": ["look", "book"]})
ANSWER = Says({"verdict": "PARTIAL", "words": "Looked, but did not book."})


class ThirdFlow(FlowCase):
    @classmethod
    def make_flows(cls) -> Path:
        return merge_flows(copy_flows(cls.folder / "conf"), Path(__file__).with_name("third_flow"))

    def steps(self, run) -> list[str]:
        return [frame.json["stepName"] for frame in run.frames if frame.event == "STEP_STARTED"]

    def test_FLOW_1_four_stages_with_contracts_and_tools_of_their_own(self):
        run = self.run_flow(FLOW, PLAN, calls("echo", seats=2), Says("I looked."), Says({"done": False}), ANSWER)

        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Looked, but did not book."))
        self.assertEqual(self.steps(run), ["plan", "act", "check", "answer"])
        v2 = self.api.read_events(run.thread, run.run)
        self.assertEqual([frame.json["stepName"] for frame in v2 if frame.event == "STEP_FINISHED"], self.steps(run))
        [end] = [frame.json for frame in v2 if frame.event == "TEXT_MESSAGE_END"]
        self.assertEqual((end["stage"], end["status"], end["answer"]), ("answer", "partial_success", run.text))
        [result] = [frame.json for frame in v2 if frame.event == "TOOL_CALL_RESULT"]
        self.assertEqual((result["stage"], result["result"]["data"]), ("act", {"seats": 2}))
        self.assertEqual([message["role"] for message in self.requests[-1]["messages"]],
                         ["system", "system", "user", "user"],
                         "the tool calls of this run are not part of the thread yet")
        self.assert_books(run.thread)

    def test_FLOW_1_results_reach_the_stages_whose_tasks_name_them(self):
        run = self.run_flow(FLOW, PLAN, Says("I looked."), Says({"done": True}), ANSWER, text='Look, "please" {today}')

        tasks = [request["messages"][-1]["content"] for request in self.requests]
        self.assertIn(r'Plan what this asks for: "Look, \"please\" {today}"', tasks[0])
        self.assertIn('Act on these steps: ["look","book"]', tasks[1])
        self.assertIn('Compare the plan {"next":"ACT","steps":["look","book"]} with what was done: {"text":"I looked."}',
                      tasks[2])
        self.assertEqual([message["role"] for message in self.requests[2]["messages"]], ["system", "system", "user"])
        self.assertEqual([bool(request.get("tools")) for request in self.requests], [False, True, False, False])
        audits = [row["content"] for row in message_rows(self.server, run.thread) if row["seq"] < 0]
        self.assertEqual(audits, [str(PLAN), "I looked.", '{"done": true}', str(ANSWER)])

    def test_FLOW_1_a_route_goes_past_stages(self):
        run = self.run_flow(FLOW, Says({"next": "ANSWER"}), ANSWER)

        self.assertEqual(self.steps(run), ["plan", "answer"])
        self.assertEqual(run.text, "Looked, but did not book.")

    def test_FLOW_1_the_shipped_flows_stay_and_an_unknown_one_is_refused_with_the_names(self):
        self.assertEqual(self.run_flow("chat", Says("Hello.")).text, "Hello.")
        answer = self.api.post_run({"messages": [{"id": "m", "role": "user", "content": "x"}], "state": {}, "tools": [],
                                    "context": [], "forwardedProps": {"flow": "plan"}})
        details = self.assert_error(answer, 400)
        self.assertEqual(sorted(details["flows"]), ["chat", "intent_execution_organization", FLOW, "router_worker"])


if __name__ == "__main__":
    unittest.main()
