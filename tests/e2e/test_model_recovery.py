"""RUN-12, USE-8, USE-10: after a kill -9 during a model call, the run makes the call again, and both are booked."""

import unittest

from model_case import INPUT, OUTPUT, ModelCase, ModelRun, message_rows, text_estimate

import fake_scripts as scripts
from fake_chunks import Reasoning, usage

REPLY = scripts.stream(["Here", " I am"], numbers=usage(7, 2))
REPLY_COST = (7 * 2 + 2 * 3) * 10**6  # 7 × INPUT + 2 × OUTPUT


class Recovery(ModelCase):
    @classmethod
    def make_config(cls) -> dict:
        return {**super().make_config(), "runtime": {"drain_timeout_s": 1}}

    def setUp(self):
        if not self.server.alive:
            self.server.start()

    def killed(self, answer, until: str | None, count: int = 1, end=None) -> ModelRun:
        """A run with this answer whose server dies at the `count`th event of this kind and which continues with
        `REPLY`."""
        end = end or self.server.kill
        asked = len(self.fake.calls)
        self.fake.script(answer)
        thread, run = self.api.start_run("hello", forwarded={"model": "fake"})
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            while until and count:
                count -= stream.next().event == until
        self.wait_for_calls(asked + 1)
        end()
        self.fake.script(REPLY)
        self.server.start()
        return ModelRun(self.api, thread, run).read()

    def check(self, run: ModelRun) -> dict:
        """The run ends once and has two rows in the ledger, both booked. Returns the row of the interrupted call."""
        self.assertEqual(run.terminals, ["RUN_FINISHED"])
        self.assertTrue(run.text.endswith("Here I am"))
        cut, whole = self.calls(run.thread)
        self.assertEqual((cut["status"], whole["status"]), ("interrupted", "completed"))
        self.assertLess(cut["epoch"], whole["epoch"])
        self.assertEqual((cut["usage_complete"], cut["input_tokens"]), (0, self.asked_estimate()))
        self.assertEqual(cut["cost"], (cut["input_tokens"] * INPUT + cut["output_tokens"] * OUTPUT) * 10**6)
        self.assertEqual(whole["cost"], REPLY_COST)
        self.assertEqual(self.assert_books(run.thread), cut["cost"] + REPLY_COST)
        self.assertEqual(run.end["usage"][0]["inputTokens"], self.asked_estimate() + 7)
        self.assertFalse(run.end["metadata"]["usageComplete"])
        self.assertEqual(self.metrics()['runnel_model_calls_total{status="interrupted"}'], 1)
        self.assertEqual(self.run_model("fake", thread=run.thread).outcome, "RUN_FINISHED")
        return cut

    def kept(self, run: ModelRun) -> str:
        """The durable text of the first message."""
        return next(row["content"] for row in message_rows(self.server, run.thread) if row["role"] == "assistant")

    def test_RUN_12_in_the_middle_of_the_text(self):
        run = self.killed(scripts.text(*["word "] * 500).paced(delay=0.02), "TEXT_MESSAGE_CONTENT", 30)

        cut = self.check(run)

        self.assertIn("word", self.kept(run))
        self.assertEqual(cut["output_tokens"], text_estimate(self.kept(run)))

    def test_RUN_12_in_the_middle_of_the_text_after_reasoning(self):
        thoughts = [Reasoning("a long thought ")] * 20
        run = self.killed(scripts.stream([*thoughts, *["word "] * 500]).paced(delay=0.02), "TEXT_MESSAGE_CONTENT", 20)

        cut = self.check(run)

        expected = text_estimate(self.kept(run)) + text_estimate("a long thought " * 20)
        self.assertEqual(cut["output_tokens"], expected)

    def test_RUN_12_in_the_middle_of_the_reasoning(self):
        answer = scripts.stream([Reasoning("a long thought ")] * 500).paced(delay=0.02)
        run = self.killed(answer, "REASONING_MESSAGE_CONTENT", 30)

        self.assertGreater(self.check(run)["output_tokens"], 1)

    def test_RUN_12_before_the_first_word(self):
        for answer in (scripts.text("never").silent(), scripts.text("never").hung(0)):
            with self.subTest(answer.headless):
                self.assertEqual(self.check(self.killed(answer, None))["output_tokens"], 1)

    def test_NODE_3_a_stop_leaves_the_call_to_the_next_start(self):
        run = self.killed(scripts.text(*["word "] * 500).paced(delay=0.02), "TEXT_MESSAGE_CONTENT", 5, self.server.stop)

        cut = self.check(run)

        self.assertEqual(cut["output_tokens"], text_estimate(self.kept(run)))

    def test_RUN_12_again_and_again(self):
        asked, calls = len(self.fake.calls), 4  # The first call, and the largest number of recoveries.
        self.fake.script(*[scripts.text("never").hung(0)] * calls)
        thread, run = self.api.start_run("hello", forwarded={"model": "fake"})
        for made in range(1, calls + 1):
            self.wait_for_calls(asked + made)
            self.server.restart()

        done = ModelRun(self.api, thread, run).read()

        self.assertEqual((done.outcome, done.terminals), ("RUN_INTERRUPTED", ["RUN_ERROR"]))
        self.assertEqual([call["status"] for call in self.calls(thread)], ["interrupted"] * calls)
        self.assertGreater(self.assert_books(thread), 0)


if __name__ == "__main__":
    unittest.main()
