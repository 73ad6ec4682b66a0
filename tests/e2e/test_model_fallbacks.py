"""USE-1, USE-8: if a model fails before its first word, the next one in the list answers and is billed."""

import unittest

from model_case import ModelCase, model_config, price_list, provider

import fake_scripts as scripts
from fake_chunks import usage


def priced(output: int) -> list[dict]:
    return [{"per_million_tokens": {"input": 1, "output": output}}]


class Fallbacks(ModelCase):
    prices = price_list({"first": priced(1), "second": priced(5), "third": priced(9)})

    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [provider(cls.fake.base_url, "one", ("first", "third")),
                                              provider(cls.fake.base_url, "two", ("second",))],
                            {"default": "first", "fallbacks": "[second, third]"})

    def test_USE_1_the_one_that_answers_is_booked(self):
        before, asked = self.metrics(), len(self.fake.calls)
        self.fake.script(scripts.error(401), scripts.stream(["Hello"], numbers=usage(10, 20)))

        run = self.run_model("first")

        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Hello"))
        self.assertEqual([call.model for call in self.fake.calls[asked:]], ["first", "second"])
        self.assertEqual([(u["provider"], u["model"], u["outputTokens"]) for u in run.end["usage"]],
                         [("two", "second", 20)])
        # 10 × 1 + 20 × 5 = 110
        self.assertEqual(run.end["metadata"]["cost"], "0.00011")
        self.assertEqual(self.assert_books(run.thread), 110 * 10**6)
        self.assertEqual([(call["model"], call["status"], call["cost"]) for call in self.calls(run.thread)],
                         [("first", "failed", 0), ("second", "completed", 110 * 10**6)])
        after = self.metrics()
        self.assertEqual(after["runnel_model_fallbacks_total"] - before["runnel_model_fallbacks_total"], 1)

    def test_USE_1_the_list_is_taken_in_its_order_and_to_its_end(self):
        asked = len(self.fake.calls)
        self.fake.script(*[scripts.error(402)] * 3)

        run = self.run_model("first")

        self.assertEqual(run.outcome, "MODEL_OUT_OF_FUNDS")
        self.assertEqual([call.model for call in self.fake.calls[asked:]], ["first", "second", "third"])
        self.assertEqual(self.assert_books(run.thread), 0)

    def test_USE_1_a_model_that_the_provider_no_longer_has(self):
        self.fake.script(scripts.error(404), scripts.text("from the second"))
        run = self.run_model("first")
        self.assertEqual(run.outcome, "RUN_FINISHED")
        self.assert_books(run.thread)

    def test_USE_1_never_after_the_first_word_nor_where_it_is_refused_as_improper(self):
        for answer, code in ((scripts.reports_error("Some ", "text"), "MODEL_REPORTED"),
                             (scripts.error(400, code="content_filter"), "MODEL_FILTERED")):
            with self.subTest(code):
                asked = len(self.fake.calls)
                self.fake.script(answer)
                run = self.run_model("first")
                self.assertEqual((run.outcome, len(self.fake.calls) - asked), (code, 1))
                self.assert_books(run.thread)


if __name__ == "__main__":
    unittest.main()
