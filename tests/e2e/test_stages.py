"""RUN-5: what each stage of a run did, and which runs a thread is busy with."""

import json
import time
import unittest
from datetime import datetime
from decimal import Decimal

from e2e_case import E2eCase, eventually, new_id, offline, run_input
from flow_case import FlowCase, Says, Stalls, calls
from model_case import ModelRun, model_config, provider
from tool_case import DONE, FLOW, ROUTED, ToolCase, Asks, create

import fake_scripts as scripts
from http_client import Response
from runnel_server import Api

BROKEN = Says({"route": "NOWHERE"})


def stages_of(api: Api, thread: str, run: str) -> Response:
    return api.get(f"/api/v1/agent/runs/{thread}/stages?runId={run}")


def moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class StagesCase(FlowCase):
    def stages(self, run: ModelRun) -> list[dict]:
        """Checks what is true of the stages of every run."""
        answer = stages_of(run.api, run.thread, run.run)
        self.assertEqual(answer.status, 200, answer.body)
        seen = answer.json
        status = run.api.status(run.thread, run.run).json
        self.assertEqual((seen["threadId"], seen["runId"], seen["currency"]), (run.thread, run.run, "CNY"))
        begun = [moment(stage["startedAt"]) for stage in seen["stages"]]
        self.assertEqual(begun, sorted(begun))
        for stage in seen["stages"]:
            self.assertEqual("endedAt" in stage, stage["status"] != "running")
            self.assertLessEqual(moment(stage["startedAt"]), moment(stage.get("endedAt", stage["startedAt"])))
        if "endedAt" in status:
            self.assertEqual(seen["status"], status["status"])
            for name in ("inputTokens", "outputTokens"):
                self.assertEqual(sum(stage[name] for stage in seen["stages"]), status["usage"][name])
            self.assertEqual(sum(Decimal(stage["cost"]) for stage in seen["stages"]), Decimal(status["usage"]["cost"]))
        return seen["stages"]

    def picture(self, run: ModelRun) -> list[tuple]:
        return [(stage["name"], stage["status"], stage["repairs"], len(stage["toolCalls"]))
                for stage in self.stages(run)]


class Stages(StagesCase):
    def test_RUN_5_the_stages_of_a_run_with_a_repair_and_a_tool(self):
        begin = time.time()
        run = self.run_flow("router_worker", BROKEN, ROUTED, calls("echo", day=1), DONE)
        router, worker = self.stages(run)

        self.assertEqual((router["name"], router["status"], router["repairs"]), ("router", "completed", 1))
        self.assertEqual(router["result"], ROUTED.content)
        self.assertEqual((router["models"], router["toolCalls"]), (["fake"], []))
        # Calls 1 and 2, at 2 and 3 CNY per million tokens.
        self.assertEqual((router["inputTokens"], router["outputTokens"], router["cost"]), (300, 30, "0.00069"))
        self.assertEqual((worker["name"], worker["status"], worker["repairs"]), ("worker", "completed", 0))
        self.assertEqual(worker["result"], DONE.content)
        self.assertEqual((worker["inputTokens"], worker["outputTokens"], worker["cost"]), (700, 70, "0.00161"))
        self.assertTrue(worker["usageComplete"])
        call, = worker["toolCalls"]
        shown = next(frame.json for frame in run.frames if frame.event == "TOOL_CALL_START")
        self.assertEqual((call["id"], call["name"], call["status"]), (shown["toolCallId"], "calendar.echo", "success"))
        times = [begin, *(moment(text) for text in (router["startedAt"], router["endedAt"], worker["startedAt"],
                                                    call["startedAt"], call["endedAt"], worker["endedAt"]))]
        self.assertEqual([round(at, 3) for at in times[1:]], sorted(round(at, 3) for at in times[1:]))
        self.assertLess(begin - 1, times[1])

    def test_RUN_5_prompts_are_not_in_it(self):
        run = self.run_flow("router_worker", BROKEN, ROUTED, DONE)
        body = stages_of(self.api, run.thread, run.run).body.decode()

        for request in self.requests:
            for message in request["messages"]:
                if message["role"] in ("system", "user") and len(message["content"]) > 40:
                    self.assertNotIn(json.dumps(message["content"], ensure_ascii=False)[1:40], body)
        self.assertNotIn("NOWHERE", body, "an output that was sent back is not shown")

    def test_RUN_5_a_stage_of_plain_words_has_a_text(self):
        run = self.run_flow("chat", Says("Hello there."))

        stage, = self.stages(run)
        self.assertEqual((stage["name"], stage["result"]), ("chat", {"text": "Hello there."}))

    def test_RUN_5_a_running_stage(self):
        run = self.start_flow("router_worker", ROUTED, Stalls('{"status": "SUCCESS", "answer": "Let me'))
        self.addCleanup(self.api.cancel, run.thread, run.run)
        self.wait_for_text(run, "Let me")

        router, worker = self.stages(run)
        self.assertEqual((router["status"], worker["status"], worker["result"]), ("completed", "running", None))
        self.assertEqual((worker["models"], worker["inputTokens"], worker["cost"]), (["fake"], 0, "0"))

        self.api.cancel(run.thread, run.run)
        self.wait_status(run.thread, run.run, "canceled")
        self.assertEqual(self.picture(run), [("router", "completed", 0, 0), ("worker", "canceled", 0, 0)])
        self.assertFalse(self.stages(run)[1]["usageComplete"])

    def test_FLOW_4_the_last_broken_output_is_not_sent_back(self):
        run = self.run_flow("router_worker", BROKEN, BROKEN, BROKEN)

        self.assertEqual(run.outcome, "CONTRACT_VIOLATION")
        self.assertEqual(self.picture(run), [("router", "failed", 2, 0)])
        self.assertIsNone(self.stages(run)[0]["result"])

    def test_RUN_5_a_call_that_fails_after_a_repair(self):
        run = self.run_flow("router_worker", BROKEN, scripts.error(400))

        self.assertEqual(run.outcome, "MODEL_REJECTED")
        self.assertEqual(self.picture(run), [("router", "failed", 1, 0)])

    def test_HTTP_9_a_long_result_is_left_out(self):
        words = "word " * 14000
        run = self.run_flow("chat", Says(words))

        stage, = self.stages(run)
        self.assertEqual(stage["result"], {"omitted": True, "bytes": len(json.dumps({"text": words}, separators=(",", ":")))})

    def test_RUN_5_who_may_ask_and_for_what(self):
        run = self.run_flow("chat", Says("Hello."))
        other = self.server.api("mallory")

        foreign = stages_of(other, run.thread, run.run)
        self.assert_error(foreign, 404, "NOT_FOUND")
        self.assertEqual(foreign.body, stages_of(other, new_id("thread"), run.run).body)
        self.assert_error(stages_of(self.api, run.thread, new_id("run")), 404, "NOT_FOUND")
        self.assert_error(self.api.get(f"/api/v1/agent/runs/{run.thread}/stages"), 400, "RUN_ID_REQUIRED")


class RealTools(ToolCase, StagesCase):
    def test_RUN_5_tool_calls_have_their_method_and_status(self):
        run = self.ask(Asks((create().arguments[0], create(title="").arguments[0], '{"module": "none"}')))

        worker = self.stages(run)[1]
        self.assertEqual([(call["name"], call["status"], "startedAt" in call) for call in worker["toolCalls"]],
                         [("calendar.create", "success", True), ("calendar.create", "failure", True),
                          ("project_cli", "failure", False)])
        for call in worker["toolCalls"]:
            self.assertLessEqual(worker["startedAt"], call["endedAt"])
            self.assertLessEqual(call["endedAt"], worker["endedAt"])


class Fallback(StagesCase):
    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [provider(cls.fake.base_url, models=("fake-1", "fake-2"))],
                            {"default": "fake-1", "fallbacks": "[fake-2]"}, flows={"default": FLOW})

    def test_RUN_5_every_model_that_was_asked_is_named(self):
        run = self.run_flow("chat", scripts.error(400), Says("Hello."))

        self.assertEqual(run.outcome, "RUN_FINISHED", run.end)
        self.assertEqual(self.stages(run)[0]["models"], ["fake-1", "fake-2"])


class AfterAKill(StagesCase):
    def test_RUN_12_a_run_that_went_on_after_a_kill(self):
        run = self.start_flow("router_worker", BROKEN, ROUTED, calls("echo", day=1),
                              Stalls('{"status": "SUCCESS", "answer": "Let me'))
        self.wait_for_text(run, "Let me")
        before = self.stages(run)
        self.server.kill()
        self.fake.script(DONE.answer(5))
        self.server.start()
        run.read()

        self.assertEqual(run.outcome, "RUN_FINISHED", run.end)
        self.assertEqual(self.picture(run), [("router", "completed", 1, 0), ("worker", "completed", 0, 1)])
        router, worker = self.stages(run)
        self.assertEqual(router, before[0])
        self.assertEqual((worker["startedAt"], worker["toolCalls"]), (before[1]["startedAt"], before[1]["toolCalls"]))
        self.assertEqual(worker["result"], DONE.content)
        self.assertFalse(worker["usageComplete"], "the call that the kill cut off is estimated")


class Expired(E2eCase):
    config = offline(retention={"events_s": 1, "sweep_s": 1})

    def test_SSE_4_the_stages_are_kept_as_long_as_the_events(self):
        thread, run = self.finished_run()
        self.assertEqual(stages_of(self.api, thread, run).status, 200)

        gone = eventually(lambda: (answer := stages_of(self.api, thread, run)).status != 200 and answer)
        details = self.assert_error(gone, 410, "EVENTS_EXPIRED")
        self.assertEqual(details, {"historyUrl": f"/api/v1/agent/history?threadId={thread}"})
        self.assertEqual(self.api.get(details["historyUrl"]).status, 200)


class BusyThread(E2eCase):
    config = offline(word_delay_ms=10, words=3000)

    def busy(self, thread: str) -> tuple[str | None, list[str]]:
        shown = self.api.thread(thread).json
        listed = next(row for row in self.api.get("/api/v1/agent/threads").json["threads"] if row["threadId"] == thread)
        self.assertEqual(shown, listed)
        return shown["activeRunId"], shown["queuedRunIds"]

    def test_RUN_5_a_thread_names_its_active_run_and_those_that_wait(self):
        thread, first = self.api.start_run("long", thread=new_id("thread"))
        runs = [first]
        for _ in range(3):
            runs.append(new_id("run"))
            answer = self.api.post_run(run_input("next", thread, runs[-1], {"onBusy": "enqueue"}))
            self.assertEqual(answer.status, 202, answer.body)

        self.assertEqual(self.busy(thread), (first, runs[1:]))
        refused = self.api.request("DELETE", f"/api/v1/agent/threads/{thread}")
        self.assertEqual(self.assert_error(refused, 409, "THREAD_BUSY"), {"activeRunId": first})
        refused = self.api.post_run(run_input("another", thread, new_id("run")))
        self.assertEqual(self.assert_error(refused, 409, "THREAD_BUSY"), {"activeRunId": first})
        self.assertEqual(stages_of(self.api, thread, runs[1]).json["stages"], [], "a queued run has no stages")

        self.api.cancel(thread, runs[2])
        self.assertEqual(self.busy(thread), (first, [runs[1], runs[3]]))
        self.api.cancel(thread, first)
        self.wait_status(thread, runs[1], "running")
        self.assertEqual(self.busy(thread), (runs[1], [runs[3]]))
        for run in (runs[3], runs[1]):
            self.api.cancel(thread, run)
        self.wait_status(thread, runs[1], "canceled")

        self.assertEqual(self.busy(thread), (None, []))


if __name__ == "__main__":
    unittest.main()
