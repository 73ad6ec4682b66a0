"""RUN-13, AGUI-4: a tool call waits for its user's approval, survives restarts, and is decided once."""

import os
import shutil
import sqlite3
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from e2e_case import eventually, new_id, run_input
from flow_case import copy_flows, replace_once
from model_case import ModelRun, query
from test_page import PageCase, open_page
from tool_case import DONE, ROUTED, Asks, ToolCase, call, create

APPROVALS = "/api/v1/agent/approvals"


class ApprovalCase(ToolCase):
    tools = {"approval": "[calendar.create]", "approval_timeout_s": 3600}

    def begin(self, *turns, user: str = "demo", thread: str | None = None, answer=DONE) -> ModelRun:
        """Starts a run whose worker takes these turns, and waits until it waits."""
        api = self.server.api(user)
        self.script(ROUTED, *turns, answer)
        run = ModelRun(api, *api.start_run("Please.", thread=thread))
        self.wait(run)
        return run

    def status(self, run: ModelRun) -> str:
        return run.api.status(run.thread, run.run).json["status"]

    def wait(self, run: ModelRun) -> None:
        self.assertTrue(eventually(lambda: self.status(run) == "awaiting_approval"), self.server.log_tail())

    def waiting(self, user: str = "demo") -> list[dict]:
        return self.server.api(user).get(APPROVALS).json["approvals"]

    def call_of(self, run: ModelRun) -> str:
        return next(item["toolCallId"] for item in self.waiting_of(run) if item["runId"] == run.run)

    def waiting_of(self, run: ModelRun) -> list[dict]:
        return run.api.get(APPROVALS).json["approvals"]

    def decide(self, run: ModelRun, decision: str, call: str | None = None, **more):
        return run.api.request("POST", f"/api/v1/agent/runs/{run.thread}/approvals/{call or self.call_of(run)}",
                               {"decision": decision, **more})

    def finished(self, run: ModelRun) -> ModelRun:
        run.read()
        return run

    def approvals_shown(self, run: ModelRun) -> list[str]:
        return [frame.json["status"] for frame in run.api.read_events(run.thread, run.run)
                if frame.event == "TOOL_CALL_APPROVAL"]


    def shown_in_stages(self, run: ModelRun) -> list[tuple]:
        stages = run.api.get(f"/api/v1/agent/runs/{run.thread}/stages?runId={run.run}").json["stages"]
        return [(call["name"], call["status"], call.get("approval")) for stage in stages for call in stage["toolCalls"]]


class Approvals(ApprovalCase):
    def test_RUN_13_an_approved_call_is_made(self):
        run = self.begin(create(title="Approved"), user="ann")
        self.assertEqual(self.events("ann"), [])
        shown = self.waiting("ann")[0]
        self.assertEqual((shown["name"], shown["args"]["input"]["title"]), ("calendar.create", "Approved"))

        self.assertEqual(self.shown_in_stages(run), [("calendar.create", "open", "required")])

        answer = self.decide(run, "approve", argsHash=shown["argsHash"])

        self.assertEqual((answer.status, answer.json["status"]), (202, "approved"))
        self.finished(run)
        self.assertEqual(self.shown_in_stages(run), [("calendar.create", "success", "approved")])
        self.assertEqual([event["title"] for event in self.events("ann")], ["Approved"])
        self.assertEqual(self.approvals_shown(run), ["required", "approved"])
        self.assertEqual(self.results(run)[0]["status"], "success")
        self.assertEqual(self.status(run), "completed")
        self.assertEqual(self.waiting("ann"), [])

    def test_RUN_13_a_rejected_call_is_told_to_the_model(self):
        run = self.begin(create(), user="rejecting")
        self.asked = len(self.fake.calls)
        self.assertEqual(self.decide(run, "reject", reason="Not on a Friday.").status, 202)
        self.finished(run)

        error = self.results(run)[0]["error"]["error"]
        self.assertEqual(error["code"], "APPROVAL_REJECTED")
        self.assertIn("Not on a Friday.", error["message"])
        self.assertIn("Not on a Friday.", self.requests[-1]["messages"][-1]["content"])
        self.assertEqual(self.approvals_shown(run), ["required", "rejected"])
        self.assertEqual((self.events("rejecting"), self.status(run)), ([], "completed"))

    def test_RUN_13_two_answers_at_once_give_one_effect(self):
        run = self.begin(create(), user="two")
        call = self.call_of(run)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda i: self.decide(run, "approve" if i % 2 else "reject", call), range(8)))

        accepted = [answer for answer in answers if answer.status == 202]
        self.assertEqual(len(accepted), 1)
        decided = accepted[0].json["status"]
        for answer in answers:
            if answer.status != 202:
                details = self.assert_error(answer, 409, "ALREADY_DECIDED")
                self.assertEqual(details["status"], decided)
        self.finished(run)
        self.assertEqual(len(self.events("two")), 1 if decided == "approved" else 0)
        self.assert_error(self.decide(run, "approve", call), 409, "ALREADY_DECIDED")

    def test_RUN_13_an_answer_for_other_arguments_or_by_another_user_is_refused(self):
        run = self.begin(create(), user="careful")
        call = self.call_of(run)
        self.assert_error(self.decide(run, "approve", call, argsHash="0" * 64), 409, "OTHER_ARGUMENTS")
        self.assert_error(self.decide(run, "approve", "call_other"), 404)
        stranger = ModelRun(self.server.api("stranger"), run.thread, run.run)
        self.assert_error(self.decide(stranger, "approve", call), 404)
        self.assert_error(self.decide(run, "maybe", call), 400)
        self.assertEqual(self.waiting("stranger"), [])
        self.assertEqual(self.status(run), "awaiting_approval")
        self.assertEqual(self.decide(run, "reject", call).status, 202)
        self.finished(run)

    def test_RUN_13_a_waiting_run_can_be_cancelled(self):
        run = self.begin(create(), user="cancelling")
        began = time.monotonic()
        self.assertEqual(run.api.cancel(run.thread, run.run).status, 202)
        self.finished(run)
        self.assertLess(time.monotonic() - began, 1.0)

        self.assertEqual(self.status(run), "canceled")
        self.assertEqual(self.results(run)[0]["error"]["error"]["code"], "CANCELED")
        self.assertEqual((self.events("cancelling"), self.waiting("cancelling")), ([], []))
        again = self.begin(create(), user="cancelling", thread=run.thread)
        self.assertEqual(self.decide(again, "approve").status, 202)
        self.finished(again)
        self.assertEqual(len(self.events("cancelling")), 1)

    def test_RUN_3_a_waiting_run_can_be_interrupted(self):
        run = self.begin(create(), user="busy")
        busy = run.api.post_run(run_input("again", run.thread))
        self.assert_error(busy, 409, "THREAD_BUSY")
        self.script(ROUTED, DONE)
        next_run = new_id("r")
        answer = run.api.post_run(run_input("instead", run.thread, next_run, {"onBusy": "interrupt"}))
        self.assertEqual(answer.status, 202, answer.body)
        self.assertEqual(run.api.finish(run.thread, next_run), "RUN_FINISHED")
        self.assertEqual(self.status(run), "canceled")

    def test_RUN_13_every_call_of_a_turn_waits_by_itself(self):
        turn = Asks((*create(title="One").arguments, *create(title="Two").arguments))
        run = self.begin(turn, user="each")
        first = self.call_of(run)
        self.decide(run, "approve", first)
        self.assertTrue(eventually(lambda: self.waiting("each") and self.call_of(run) != first))
        self.wait(run)
        self.decide(run, "reject")
        self.finished(run)
        self.assertEqual([event["title"] for event in self.events("each")], ["One"])
        self.assertEqual([result["status"] for result in self.results(run)], ["success", "failure"])

    def test_AGUI_4_a_pause_is_an_interrupt_and_the_run_goes_on_under_another_id(self):
        run = self.begin(create(), user="agui")
        frames: list = []
        reader = threading.Thread(target=lambda: frames.extend(
            run.api.read_events(run.thread, run.run, dialect="ag-ui", agui="1.0")))
        reader.start()
        time.sleep(0.2)
        self.decide(run, "approve")
        reader.join(20)

        edges = [(frame.event, frame.json["runId"], (frame.json.get("outcome") or {}).get("type"))
                 for frame in frames if frame.event in ("RUN_STARTED", "RUN_FINISHED")]
        self.assertEqual(edges, [("RUN_STARTED", run.run, None), ("RUN_FINISHED", run.run, "interrupt"),
                                 ("RUN_STARTED", f"{run.run}~2", None), ("RUN_FINISHED", f"{run.run}~2", None)])
        self.assertNotIn("runnel.writer_changed", str([frame.json for frame in frames if frame.event == "CUSTOM"]))
        again = run.api.read_events(run.thread, run.run, dialect="ag-ui", agui="1.0")
        self.assertEqual([(f.id, f.data) for f in again], [(f.id, f.data) for f in frames])

    def test_AGUI_4_the_new_run_id_names_the_same_run(self):
        run = self.begin(create(), user="alias")
        alias = f"{run.run}~2"
        self.assertEqual(run.api.status(run.thread, alias).status, 404)
        self.decide(run, "approve")
        self.finished(run)

        self.assertEqual(run.api.status(run.thread, alias).json["runId"], run.run)
        self.assertEqual(run.api.cancel(run.thread, alias).status, 200)
        frames = run.api.read_events(run.thread, alias, dialect="ag-ui", agui="1.0")
        self.assertEqual((frames[0].event, frames[0].json["runId"]), ("RUN_STARTED", alias))
        first = next(i for i, f in enumerate(run.frames) if f.event == "RUN_STARTED" and f.json["runId"] == alias)
        self.assertEqual([f.data for f in frames], [f.data for f in run.frames[first:]])
        self.assertEqual(run.api.status(run.thread, f"{run.run}~3").status, 404)
        self.assert_error(run.api.post_run(run_input("hi", run.thread, "mine~2")), 400)

    def test_AGUI_4_the_body_of_a_post_ends_at_the_interrupt(self):
        api = self.server.api("post")
        self.script(ROUTED, create(), DONE)
        body = run_input("Please.", new_id("t"), new_id("r"))
        with api.open("POST", "/api/v1/agent/ag-ui", body) as stream:
            frames = list(stream)
        self.assertEqual((frames[-1].event, frames[-1].json["outcome"]["type"]), ("RUN_FINISHED", "interrupt"))
        run = ModelRun(api, body["threadId"], body["runId"])
        self.assertEqual(self.decide(run, "approve").status, 202)
        self.finished(run)
        self.assertEqual(len(self.events("post")), 1)


@unittest.skipUnless(shutil.which("node"), "needs node")
class Page(ApprovalCase, PageCase):
    def test_RUN_13_the_page_asks_and_shows_the_rest_of_the_run(self):
        for word, titles in (("Reject", []), ("Approve", ["By the page"])):
            click = ("(() => { const make = document.createElement; document.createElement = name => { const made = make(name);"
                     "if (name === 'button') setTimeout(() => made.textContent.startsWith('%s') && made.onclick(), 50);"
                     "return made; }; return ask('Please.'); })()" % word)
            self.script(ROUTED, create(title="By the page"), DONE)
            seen = self.finish(open_page(self.server, act=click))

            self.assertEqual(self.texts(seen)[-1], ("it", "Done."))
            self.assertEqual([event["title"] for event in self.events()], titles)


class Restarts(ApprovalCase):
    tools = {"approval": "[calendar.create]", "approval_timeout_s": 3600}

    def test_RUN_13_ten_approvals_in_one_run_with_a_restart_at_each(self):
        turns = [Asks((*create(title=f"A{i}").arguments, *create(title=f"B{i}").arguments)) for i in range(5)]
        run = self.begin(*turns, user="ten")
        for number in range(10):
            self.wait(run)
            self.server.kill()
            self.server.start()
            run.api = self.server.api("ten")
            self.wait(run)
            self.assertEqual(self.decide(run, "approve" if number % 3 else "reject").status, 202)
            expected = number + 1
            eventually(lambda: len(query(self.server, "SELECT 1 FROM approvals")) > expected or
                       self.status(run) == "completed")
        self.finished(run)
        self.assertEqual(self.status(run), "completed")
        self.assertEqual(len(self.events("ten")), 6)
        self.assertEqual([r["status"] for r in self.results(run)],
                         ["success" if number % 3 else "failure" for number in range(10)])


class Seconds(ApprovalCase):
    @classmethod
    def make_flows(cls):
        folder = copy_flows(cls.folder / "conf")
        replace_once(folder / "flows" / "router_worker.yaml", "  seconds: 600", "  seconds: 5")
        return folder

    def test_RUN_13_waiting_does_not_count_as_the_time_of_the_run(self):
        run = self.begin(create(), user="slow")
        time.sleep(61 if os.environ.get("RUNNEL_LONG") else 6)
        self.decide(run, "approve")
        self.finished(run)
        self.assertEqual((len(self.events("slow")), self.status(run)), (1, "completed"))


class OneMethod(ToolCase):
    @classmethod
    def make_flows(cls):
        folder = copy_flows(cls.folder / "conf")
        replace_once(folder / "flows" / "router_worker.yaml", "    tools: [project_cli]",
                     "    methods: [calendar.read]\n    tools: [project_cli]")
        return folder

    def test_TOOL_3_a_stage_calls_only_the_methods_of_its_list(self):
        self.assertEqual(self.code_of(create()), "METHOD_NOT_ALLOWED")
        read = self.result_of(call("calendar.read", mode="day", date="2026-11-20"))
        self.assertEqual((read["status"], self.events()), ("success", []))


class LostWake(ApprovalCase):
    def test_RUN_12_a_run_whose_waking_was_lost_goes_on(self):
        run = self.begin(create(), user="lost")
        # As after a write whose answer was lost: the decision is kept, and nobody here knows of it.
        with sqlite3.connect(self.server.database, timeout=10) as database:
            database.execute("UPDATE approvals SET decision = 'approved', decided_at = asked_at + 1")
            database.execute("UPDATE runs SET status = 'pending' WHERE status = 'awaiting_approval'")
        database.close()
        self.finished(run)
        self.assertEqual((len(self.events("lost")), self.status(run)), (1, "completed"))

    def test_RUN_13_numbers_are_passed_on_to_the_byte(self):
        run = self.begin(create(x=155.89560005110514), user="exact")
        self.decide(run, "approve")
        self.finished(run)
        self.assertEqual(self.results(run)[0]["error"]["error"]["code"], "INVALID_ACTION_INPUT")


class Expiry(ApprovalCase):
    tools = {"approval": "[calendar.create]", "approval_timeout_s": 3}

    def test_RUN_13_a_call_that_nobody_approves_in_time_is_refused(self):
        run = self.begin(create(), user="late")
        self.finished(run)
        self.assertEqual(self.results(run)[0]["error"]["error"]["code"], "APPROVAL_EXPIRED")
        self.assertEqual(self.approvals_shown(run), ["required", "expired"])
        self.assertEqual((self.events("late"), self.status(run)), ([], "completed"))


if __name__ == "__main__":
    unittest.main()
