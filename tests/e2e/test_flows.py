"""FLOW-2, FLOW-3, FLOW-4, RUN-8, RUN-9, USE-8: whole runs of both shipped flows, compared with readable files.

Each scenario below lists the model's answers, call by call; golden/NAME.txt has everything that the run produced. If a
run is meant to change, `RUNNEL_GOLDEN=write python3 -m unittest discover -s tests/e2e -p test_flows.py` rewrites the
files: read the differences before you commit them.
"""

import difflib
import os
import unittest
from dataclasses import dataclass
from pathlib import Path

from e2e_case import eventually
from flow_case import Calls, FlowCase, Says, Stalls, calls
from model_case import ModelRun, message_rows, query
from run_picture import picture

GOLDEN = Path(__file__).with_name("golden")
TWO, THREE = "router_worker", "intent_execution_organization"
FORBIDDEN_IN_V2 = {"inputTokens", "outputTokens", "cost", "latencyMs", "model", "ui_hints"}


@dataclass(frozen=True)
class Scenario:
    name: str
    flow: str
    about: str
    script: tuple
    # When to cancel. "asked": during the last call. "tool": while a tool runs. Any other text: once it was shown.
    cancel: str = ""


# The model's usual answers.

ROUTED = Says({"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [],
               "execution_brief": "Look up 2026-11-17", "assistant_text": None}, thinks="A question about a day.")
NEEDS = Says({"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [],
              "execution_brief": "Look up 2026-11-17", "assistant_text": None})
DIRECT = Says({"route": "DIRECT_EXECUTION", "intent_summary": "Asks what I know", "safety_flags": [],
               "execution_brief": None, "assistant_text": "Yes, you are. 你好 🙂"}, thinks="That I know.")


def worker(answer: str, status: str = "SUCCESS", **more) -> Says:
    return Says({"status": status, "result_type": "execution_report", "key_points": [], "suggested_actions": [],
                 "error": None, **more, "answer": answer})


def execution(status: str = "SUCCESS", error: str | None = None) -> Says:
    return Says({"status": status, "execution_summary": "Looked it up", "execution_data": {"events": 0},
                 "error_message": error, "report_brief": "tomorrow is free"})


def organization(text: str) -> Says:
    return Says({"response_metadata": {}, "assistant_text": text})


FREE = worker("You are free tomorrow.", suggested_actions=["Book a meeting"])
DONE = execution()
REPORT = organization("You are free tomorrow.")
SEVEN = tuple(calls("echo", day=day) for day in range(1, 8))

SCENARIOS = (
    Scenario("router_worker_happy", TWO, "The router prepares, the worker thinks and answers.",
             (ROUTED, Says(FREE.content, thinks="Nothing stands there."))),
    Scenario("router_worker_prose", TWO, "The worker ends with plain words instead of JSON: they are its answer.",
             (ROUTED, Says("You are free tomorrow."))),
    Scenario("router_worker_tools", TWO,
             "The worker says something and calls two tools at once, then one that fails and one that is unknown.",
             (ROUTED, Calls((("echo", {"date": "2026-11-17"}), ("part", {"items": [1, 2]})), "Let me look."),
              Calls((("fail", {}), ("erase", {}))), FREE)),
    Scenario("router_worker_partial", TWO, "Some of it could not be done.",
             (ROUTED, worker("Moved one of two.", "PARTIAL", error="the other is not yours",
                             suggested_actions=["Ask its owner"]))),
    Scenario("router_worker_failed", TWO, "Nothing could be done: the run ends well all the same (V2-5).",
             (ROUTED, worker("I cannot see your calendar.", "FAILED", result_type="error_report", error="no calendar"))),
    Scenario("router_worker_repaired_once", TWO, "The router's first answer breaks its contract.",
             (Says({"route": "MAYBE", "safety_flags": []}), ROUTED, FREE)),
    Scenario("router_worker_repaired_twice", TWO,
             "The worker's first answer is wrong only behind its text, which was shown by then; its second is cut off.",
             (ROUTED, Says({"status": "SUCCESS", "answer": "Old words.", "error": 7}),
              Says('{"status": "SUCCESS", "suggested_actions": "Book'), FREE)),
    Scenario("router_worker_violated", TWO, "The worker breaks its contract three times.",
             (ROUTED, Says({"answer": "No status."}), Says({"status": "DONE", "answer": "Wrong status."}),
              Says({"status": "SUCCESS", "answer": ""}))),
    Scenario("router_worker_max_iters", TWO, "The worker calls tools seven times: the closing call has none.",
             (ROUTED, *SEVEN, worker("I looked at seven days.", "PARTIAL"))),
    Scenario("router_worker_cancelled_in_router", TWO, "Cancelled while the router writes: nobody sees its words.",
             (Stalls('{"intent_summary": "Asks'),), cancel="asked"),
    Scenario("router_worker_cancelled_in_worker", TWO, "Cancelled in the middle of the answer.",
             (ROUTED, Stalls('{"status": "SUCCESS", "answer": "You are fr')), cancel="You are fr"),
    Scenario("router_worker_cancelled_in_tool", TWO, "Cancelled while the first of two tools runs.",
             (ROUTED, Calls((("slow", {"ms": 60000}), ("echo", {})))), cancel="tool"),

    Scenario("three_stages_happy", THREE, "Intent, execution, organization; only the last one's text is shown.",
             (NEEDS, DONE, REPORT)),
    Scenario("three_stages_direct", THREE, "Answered at once: one model call and one stage.", (DIRECT,)),
    Scenario("three_stages_tools", THREE, "Execution calls a tool.",
             (NEEDS, calls("echo", "I look it up.", date="2026-11-17"), DONE, REPORT)),
    Scenario("three_stages_partial", THREE, "Execution did a part; the status of the answer is execution's.",
             (NEEDS, execution("PARTIAL", "one day is missing"), organization("As far as I can see."))),
    Scenario("three_stages_failed", THREE, "Execution failed, organization says so.",
             (NEEDS, execution("FAILED", "no calendar"), organization("I could not look."))),
    Scenario("three_stages_repaired_once", THREE, "Intent asks for execution without a brief.",
             (Says({"route": "NEEDS_EXECUTION", "intent_summary": "Asks"}), NEEDS, DONE, REPORT)),
    Scenario("three_stages_repaired_twice", THREE,
             "Execution answers in prose, which is not for it, and then without a field; in a code fence it is right.",
             (NEEDS, Says("I looked it up."), Says({"status": "SUCCESS", "execution_summary": "Looked"}),
              Says(f"Here it is:\n```json\n{DONE}\n```"), REPORT)),
    Scenario("three_stages_violated", THREE, "Intent says DIRECT_EXECUTION three times and never has a text for it.",
             tuple(Says({"route": "DIRECT_EXECUTION", "intent_summary": "Greets", **text})
                   for text in ({}, {"assistant_text": None}, {"assistant_text": "  "}))),
    Scenario("three_stages_max_iters", THREE, "Execution calls tools seven times: the closing call has none.",
             (NEEDS, *SEVEN, DONE, REPORT)),
    Scenario("three_stages_cancelled_in_intent", THREE, "Cancelled in the middle of a direct answer.",
             (Stalls('{"route": "DIRECT_EXECUTION", "intent_summary": "Greets", "assistant_text": "Hel'),), cancel="Hel"),
    Scenario("three_stages_cancelled_in_execution", THREE, "Cancelled before execution has said a word.",
             (NEEDS, Stalls()), cancel="asked"),
    Scenario("three_stages_cancelled_in_tool", THREE, "Cancelled while execution's tool runs.",
             (NEEDS, calls("slow", ms=60000)), cancel="tool"),
    Scenario("three_stages_cancelled_in_organization", THREE, "Cancelled in the middle of organization's text.",
             (NEEDS, DONE, Stalls('{"response_metadata": {}, "assistant_text": "You are')), cancel="You are"),
)


class GoldenCase(FlowCase):
    def play(self, scenario: Scenario) -> ModelRun:
        """Plays the scenario and returns the run, which has ended."""
        run = self.start_flow(scenario.flow, *scenario.script)
        if scenario.cancel:
            self.wait_to_cancel(run, scenario)
            self.assertEqual(self.api.cancel(run.thread, run.run).status, 202)
        return run.read()

    def check(self, scenario: Scenario) -> None:
        run = self.play(scenario)
        self.check_promises(run, scenario)
        self.compare(scenario, head(scenario) + picture(self.server, self.api, run.thread, run.run, self.requests))

    def wait_to_cancel(self, run: ModelRun, scenario: Scenario) -> None:
        self.wait_for_calls(self.asked + len(scenario.script))
        if scenario.cancel == "tool":
            self.assertTrue(eventually(lambda: "tool_started" in self.log(run)))
        elif scenario.cancel != "asked":
            self.wait_for_text(run, scenario.cancel)

    def log(self, run: ModelRun) -> str:
        rows = query(self.server, "SELECT body FROM log JOIN runs ON runs.id = log.run_id WHERE run_ref = ?", run.run)
        return "".join(row["body"] for row in rows)

    def check_promises(self, run: ModelRun, scenario: Scenario) -> None:
        """Checks what must hold for every run, whatever its golden file says."""
        self.assertEqual((self.fake.unused_script, len(self.requests)), (0, len(scenario.script)))
        self.assertEqual(len(run.terminals), 1)
        if isinstance(scenario.script[-1], Stalls):
            self.assertTrue(self.fake.wait_for(lambda: self.fake.calls[-1].outcome == "abandoned", 1), "RUN-4")
        self.assert_books(run.thread)
        self.assertEqual(len({request["messages"][0]["content"] for request in self.requests}), 1, "FLOW-6")
        rows = sorted(message_rows(self.server, run.thread), key=lambda row: row["seq"])
        self.assertEqual([row["seq"] for row in rows if row["seq"] > 0], list(range(1, sum(r["seq"] > 0 for r in rows) + 1)))
        self.assertEqual([message["id"] for message in self.api.full_history(run.thread)],
                         [row["message_id"] for row in rows if row["seq"] > 0 and row["visibility_mask"] & 1])
        for frame in self.api.read_events(run.thread, run.run):
            self.assertEqual((frame.json["threadId"], frame.json["runId"]), (run.thread, run.run))
            self.assertEqual(FORBIDDEN_IN_V2 & set(frame.json), set(), "V2-1")

    def compare(self, scenario: Scenario, got: str) -> None:
        path = GOLDEN / f"{scenario.name}.txt"
        if os.environ.get("RUNNEL_GOLDEN") == "write":
            path.write_text(got)
        known = path.read_text() if path.exists() else ""
        diff = "\n".join(difflib.unified_diff(known.splitlines(), got.splitlines(), str(path), "this run", lineterm=""))
        self.assertFalse(diff, f"{scenario.about}\n{diff}")


def head(scenario: Scenario) -> str:
    said = "".join(f"  {number}  {' '.join(str(step).split())}\n" for number, step in enumerate(scenario.script, 1))
    ending = "Then the run is cancelled.\n" if scenario.cancel else ""
    return f"{scenario.about}\n\nThe model, asked by {scenario.flow}:\n{said}{ending}"


def add_tests(case: type, scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        row = "FLOW_2" if scenario.flow == TWO else "FLOW_3"
        setattr(case, f"test_{row}_{scenario.name}", lambda self, scenario=scenario: self.check(scenario))


class Golden(GoldenCase):
    def test_every_file_belongs_to_a_scenario(self):
        self.assertEqual({path.stem for path in GOLDEN.iterdir()}, {scenario.name for scenario in SCENARIOS})


add_tests(Golden, SCENARIOS)


if __name__ == "__main__":
    unittest.main()
