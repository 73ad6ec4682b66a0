"""RUN-9, RUN-14, FLOW-7: what a stage sees of the runs before it."""

import unittest
from pathlib import Path

from flow_case import Calls, FlowCase, Says, calls, copy_flows

import fake_scripts as scripts
from model_case import message_rows

ROUTED = Says({"intent_summary": "audit only", "execution_brief": "audit only"})
TWO, THREE = "router_worker", "intent_execution_organization"


def worker(text: str) -> Says:
    return Says({"status": "SUCCESS", "answer": text})


def seen(request: dict) -> list[tuple[str, str]]:
    """The part of the thread that this request contains: without the two system messages, and without the task at the
    end."""
    return [(message["role"], message.get("content") or "") for message in request["messages"][2:-1]]


class Context(FlowCase):
    def test_RUN_9_a_later_run_sees_messages_and_tool_calls_with_their_results(self):
        first = self.run_flow(TWO, ROUTED, Calls((("echo", {"day": 1}), ("fail", {})), "Let me look."),
                              calls("echo", day=2), worker("You are free."), text="Am I free?")
        results = [row["content"] for row in message_rows(self.server, first.thread) if row["role"] == "tool"]
        self.run_flow(TWO, ROUTED, worker("Booked."), text="Then book it.", thread=first.thread)

        expected = [("user", "Am I free?"), ("assistant", "Let me look."), ("tool", results[0]), ("tool", results[1]),
                    ("assistant", ""), ("tool", results[2]), ("assistant", "You are free."), ("user", "Then book it.")]
        for request in self.requests:
            self.assertEqual(seen(request), expected)
            asked = [call["id"] for message in request["messages"] for call in message.get("tool_calls", [])]
            answered = [message["tool_call_id"] for message in request["messages"] if message["role"] == "tool"]
            self.assertEqual((len(asked), asked), (3, answered))
        self.assertEqual(first.text, "Let me look.You are free.")

    def test_TOOL_6_the_context_has_the_bytes_that_the_model_got_then(self):
        first = self.run_flow(TWO, ROUTED, calls("echo", text="ü {x} \"'\n"), worker("Done."))
        then = self.requests[-1]["messages"][-1]
        self.run_flow(TWO, ROUTED, worker("Again."), thread=first.thread)

        self.assertIn(then, self.requests[0]["messages"])

    def test_RUN_9_audit_rows_and_what_a_repair_replaced_are_never_seen(self):
        first = self.run_flow(TWO, ROUTED, Says({"status": "SUCCESS", "answer": "Old words.", "error": 7}),
                              worker("New words."), text="Hello")
        self.assertEqual(first.text, "Old words.New words.")
        self.run_flow(THREE, Says({"route": "DIRECT_EXECUTION", "intent_summary": "audit only", "assistant_text": "Hi."}),
                      text="Hello again", thread=first.thread)
        self.run_flow(TWO, ROUTED, worker("Bye."), text="Bye", thread=first.thread)

        for request in self.requests:
            self.assertEqual(seen(request), [("user", "Hello"), ("assistant", "New words."), ("user", "Hello again"),
                                             ("assistant", "Hi."), ("user", "Bye")])
        masks = {row["content"]: row["visibility_mask"] for row in message_rows(self.server, first.thread)}
        self.assertEqual((masks["Old words."], masks["New words."]), (0, 3))
        self.assertNotIn("Old words.", [message["content"] for message in self.api.full_history(first.thread)])

    def test_RUN_3_what_was_rolled_back_is_never_seen(self):
        first = self.start_flow(TWO, scripts.stalled(["{"]), text="Forget this")
        self.wait_for_calls(self.asked + 1)
        self.fake.script(ROUTED.answer(1), worker("Fine.").answer(2))
        _, second = self.api.start_run("Rather this", thread=first.thread,
                                       forwarded={"flow": TWO, "onBusy": "rollback"})
        self.api.finish(first.thread, second)

        self.assertEqual(seen(self.requests[-1]), [("user", "Rather this")])

    def test_RUN_4_a_cancelled_tool_call_has_its_result_so_that_the_thread_goes_on(self):
        first = self.start_flow(TWO, ROUTED, calls("slow", ms=60_000), text="Look")
        with self.api.events(first.thread, first.run) as stream:
            while stream.next().event != "TOOL_CALL_END":
                pass
        self.api.cancel(first.thread, first.run)
        first.read()
        self.run_flow(TWO, ROUTED, worker("Fine."), text="And now?", thread=first.thread)

        *_, asked, result, last = seen(self.requests[0])
        self.assertEqual((asked, result[0], last), (("assistant", ""), "tool", ("user", "And now?")))
        self.assertIn('"code":"CANCELED"', result[1])

    def test_FLOW_3_execution_sees_the_input_alone_and_organization_nothing(self):
        first = self.run_flow("chat", Says("Hello."), text="Earlier")
        run = self.run_flow(THREE, Says({"route": "NEEDS_EXECUTION", "intent_summary": "x", "execution_brief": "brief"}),
                            Says({"status": "SUCCESS", "execution_summary": "done", "report_brief": "tell it"}),
                            Says({"assistant_text": "Told."}), text="Now", thread=first.thread)

        intent, execution, organization = self.requests
        self.assertEqual(seen(intent), [("user", "Earlier"), ("assistant", "Hello."), ("user", "Now")])
        self.assertEqual(seen(execution), [("user", "Now")])
        self.assertEqual(seen(organization), [])
        self.assertEqual(run.text, "Told.")


class Limits(FlowCase):
    """The router sees five messages, the worker 60 tokens."""

    @classmethod
    def make_flows(cls) -> Path:
        folder = copy_flows(cls.folder / "conf")
        path = folder / "system_agents.yaml"
        head, router, rest = path.read_text().partition("\nrouter:\n")
        router_settings, worker, rest = rest.partition("\nworker:\n")
        worker_settings, assistant, rest = rest.partition("\n\n")
        router_settings = router_settings.replace("context_messages: 40", "context_messages: 5")
        worker_settings = "  context_messages: 40\n  context_tokens: 60\n" + worker_settings
        path.write_text(head + router + router_settings + worker + worker_settings + assistant + rest)
        return folder

    def test_FLOW_7_the_newest_messages_within_the_limits_and_pairs_whole(self):
        thread = self.run_flow(TWO, ROUTED, worker("One."), text="first").thread
        self.run_flow(TWO, ROUTED, Calls((("echo", {"day": 1}), ("echo", {"day": 2}))), worker("Two."), text="second",
                      thread=thread)
        self.run_flow(TWO, ROUTED, worker("Three."), text="third", thread=thread)

        router, then = self.requests
        # The rows are: first, One., second, call, call, result, result, Two., third. The calls do not fit completely.
        self.assertEqual(seen(router), [("assistant", "Two."), ("user", "third")])
        self.assertEqual(seen(then)[-2:], [("assistant", "Two."), ("user", "third")])
        self.run_flow(TWO, ROUTED, worker("Four."), text="fourth", thread=thread)
        self.assertEqual(seen(self.requests[0]), [("assistant", "Two."), ("user", "third"), ("assistant", "Three."),
                                                  ("user", "fourth")])

    def test_FLOW_7_tokens_are_limited_and_the_input_is_always_there(self):
        thread = self.run_flow(TWO, ROUTED, worker("w " * 80), text="first").thread
        self.run_flow(TWO, ROUTED, worker("short"), text="second", thread=thread)
        self.run_flow(TWO, ROUTED, worker("Done."), text="x " * 500, thread=thread)

        router, then = self.requests
        self.assertEqual([role for role, _ in seen(router)], ["user", "assistant", "user", "assistant", "user"])
        self.assertEqual(seen(then), [("user", "x " * 500)])
        self.run_flow(TWO, ROUTED, worker("Done."), text="third", thread=thread)
        self.assertEqual(seen(self.requests[1]), [("assistant", "Done."), ("user", "third")])


if __name__ == "__main__":
    unittest.main()
