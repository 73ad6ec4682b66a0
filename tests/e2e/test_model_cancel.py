"""RUN-4, USE-10: a cancelled run closes its call to the provider at once, and what it used is settled."""

import time
import unittest

from e2e_case import eventually
from model_case import (INPUT, OUTPUT, PRICE, ModelCase, ModelRun, message_rows, model_config, price_list, provider,
                        text_estimate)

import fake_scripts as scripts
from fake_chunks import Reasoning


class Cancel(ModelCase):
    prices = price_list({"fake*": [PRICE], "thinker": [PRICE]})

    @classmethod
    def make_config(cls) -> dict:
        thinker = {**provider(cls.fake.base_url, "thinker", ("thinker",)), "profile": "deepseek"}
        return model_config(cls.prices_file, [provider(cls.fake.base_url), thinker], {"default": "fake"})

    def cancelled(self, answer, until: str | None) -> ModelRun:
        """A run with this answer, cancelled at the first event of this kind, or, if that is None, during the call."""
        asked = len(self.fake.calls)
        self.fake.script(answer)
        thread, run = self.api.start_run("hello", forwarded={"model": "fake"})
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            while until and stream.next().event != until:
                pass
        self.wait_for_calls(asked + 1)
        self.cancelled_at = time.monotonic()
        self.assertEqual(self.api.cancel(thread, run).status, 202)
        return ModelRun(self.api, thread, run).read()

    def check(self, run: ModelRun) -> dict:
        """The run ends once, within a second, for the client and for the provider. Returns the row of the ledger."""
        self.assertLess(time.monotonic() - self.cancelled_at, 1)
        self.assertEqual(run.terminals, ["RUN_FINISHED"])
        self.assertEqual(run.end["outcome"], {"type": "cancelled"})
        call = self.fake.calls[-1]
        self.assertTrue(self.fake.wait_for(lambda: call.outcome is not None, 1))
        self.assertEqual((call.outcome, call.connection.closed_by), ("abandoned", "client"))
        self.assertLess(call.connection.closed - self.cancelled_at, 1)
        rows = [row for row in message_rows(self.server, run.thread) if row["cost"]]
        self.assertEqual([(row["visibility_mask"], row["seq"] < 0) for row in rows], [(0, True)])
        self.assertGreater(self.assert_books(run.thread), 0)
        [row] = self.calls(run.thread)
        self.assertEqual((row["status"], row["usage_complete"]), ("canceled", 0))
        self.assertEqual(row["input_tokens"], self.asked_estimate())
        self.assertEqual(self.run_model("fake", thread=run.thread).outcome, "RUN_FINISHED")
        return row

    def test_RUN_4_in_the_middle_of_the_text(self):
        run = self.cancelled(scripts.text(*["word "] * 500).paced(delay=0.02), "TEXT_MESSAGE_CONTENT")

        row = self.check(run)

        self.assertTrue(run.text)
        self.assertEqual(row["output_tokens"], text_estimate(run.text))

    def test_RUN_4_in_the_middle_of_the_text_after_reasoning(self):
        thoughts = [Reasoning("a long thought ")] * 20
        answer = scripts.stream([*thoughts, *["word "] * 500]).paced(delay=0.01)

        run = self.cancelled(answer, "TEXT_MESSAGE_CONTENT")

        row = self.check(run)
        self.assertEqual(run.reasoning, "a long thought " * 20)
        self.assertEqual(row["output_tokens"], text_estimate(run.text) + text_estimate(run.reasoning))

    def test_RUN_4_before_the_head_and_after_it(self):
        for answer in (scripts.text("never").silent(), scripts.text("never").hung(0)):
            with self.subTest(answer.headless):
                row = self.check(self.cancelled(answer, None))
                self.assertEqual(row["output_tokens"], 1)

    def test_USE_10_a_model_that_thinks_unseen_has_used_more_than_it_showed(self):
        self.fake.script(scripts.text("never").hung(0))
        asked = len(self.fake.calls)
        thread, run = self.api.start_run("hello", forwarded={"model": "thinker"})
        self.wait_for_calls(asked + 1)
        time.sleep(0.5)

        self.api.cancel(thread, run)

        self.assertEqual(ModelRun(self.api, thread, run).read().end["outcome"], {"type": "cancelled"})
        [row] = self.calls(thread)
        self.assertEqual((row["status"], row["usage_complete"]), ("canceled", 0))
        self.assertGreaterEqual(row["output_tokens"], 50, "hidden thinking is estimated at 100 tokens per second")
        self.assert_books(thread)

    def test_RUN_3_a_run_that_another_interrupts_is_settled_too(self):
        self.fake.script(scripts.text(*["word "] * 500).paced(delay=0.02), scripts.text("Next"))
        thread, first = self.api.start_run("hello", forwarded={"model": "fake"})
        with self.api.events(thread, first, dialect="ag-ui") as stream:
            while stream.next().event != "TEXT_MESSAGE_CONTENT":
                pass

        _, second = self.api.start_run("no, wait", thread=thread, forwarded={"model": "fake", "onBusy": "interrupt"})

        self.assertEqual(ModelRun(self.api, thread, second).read().text, "Next")
        self.assertEqual([call["status"] for call in self.calls(thread)], ["canceled", "completed"])
        self.assertGreater(self.assert_books(thread), (10 * INPUT + 1 * OUTPUT) * 10**6)

    def test_RUN_4_while_waiting_to_ask_again(self):
        self.fake.script(scripts.rate_limited(seconds=50))
        thread, run = self.api.start_run("hello", forwarded={"model": "fake"})
        self.assertTrue(eventually(lambda: [call["status"] for call in self.calls(thread)] == ["failed"]))

        began = time.monotonic()
        self.api.cancel(thread, run)
        run = ModelRun(self.api, thread, run).read()

        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(run.end["outcome"], {"type": "cancelled"})
        self.assertEqual(self.assert_books(run.thread), 0, "a refused call has used nothing")
        self.assertEqual(len(self.calls(run.thread)), 1)


if __name__ == "__main__":
    unittest.main()
