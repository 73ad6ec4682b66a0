"""USE-9: budgets of a run, a thread, a user and a day. The cost is reserved before each call and settled after it."""

import unittest
from datetime import datetime, timedelta, timezone

from e2e_case import run_input
from model_case import OUTPUT, ModelCase, ModelRun, model_config, price_list, provider

import fake_scripts as scripts
from fake_chunks import Reasoning, usage

OUTPUT_LIMIT = 8192  # Tokens of an answer under a budget; a call reserves their cost before it is made.
RATE = 1000  # CNY per million tokens of an answer: one costs 0.001, and a call reserves 8.192.
OVER = "BUDGET_EXCEEDED"


def spends(tokens: int):
    """An answer that costs exactly tokens × 0.001 CNY."""
    return scripts.stream(["Hello"], numbers=usage(0, tokens))


class BudgetCase(ModelCase):
    prices = price_list({"fake": [{"per_million_tokens": {"input": 0.000001, "output": RATE}}]})
    budgets: dict[str, str] = {}

    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [provider(cls.fake.base_url, models=("fake",))], budgets=cls.budgets)

    def user(self, name: str):
        return self.server.api(name)

    def spend(self, api, tokens: int, thread: str | None = None) -> ModelRun:
        """Makes a run that succeeds and costs this many tokens."""
        self.fake.script(spends(tokens))
        run = self.run_model("fake", thread=thread, api=api)
        self.assertEqual(run.outcome, "RUN_FINISHED", run.end)
        self.assert_books(run.thread, api)
        self.assertEqual(self.calls(run.thread)[-1]["cost"], tokens * 10**9)
        return run

    def assert_refused_at_once(self, api, thread: str | None = None) -> dict:
        """The run is not admitted. Returns the error."""
        asked = len(self.fake.calls)
        answer = api.post_run(run_input("more", thread=thread))
        self.assert_error(answer, 402, OVER)
        self.assertEqual(len(self.fake.calls), asked)
        return answer.json["error"]

    def assert_refused_inside(self, api, thread: str | None = None) -> ModelRun:
        """The run is admitted but fails: something is left in the budget, but less than a call may cost."""
        asked = len(self.fake.calls)
        run = self.run_model("fake", thread=thread, api=api)
        self.assertEqual((run.outcome, run.terminals), (OVER, ["RUN_ERROR"]))
        self.assertEqual(api.read_events(run.thread, run.run)[-1].json["code"], OVER)
        self.assertEqual(len(self.fake.calls), asked, "the call was not made")
        self.assertFalse([call for call in self.calls(run.thread) if call["run_ref"] == run.run])
        self.assert_books(run.thread, api)
        return run


class OfARun(BudgetCase):
    budgets = {"run": "5"}

    def test_USE_9_a_call_that_could_cost_more_is_not_made(self):
        self.assert_refused_inside(self.api)


class OfRetries(BudgetCase):
    budgets = {"run": "8.2"}

    def test_USE_9_attempts_that_were_refused_hold_nothing(self):
        self.fake.script(scripts.rate_limited(milliseconds=10), scripts.rate_limited(milliseconds=10))

        self.spend(self.api, 10)

    def test_USE_9_the_output_is_limited_to_what_is_held(self):
        self.spend(self.api, 10)

        asked = self.fake.calls[-1].json
        self.assertIn(OUTPUT_LIMIT, (asked.get("max_tokens"), asked.get("max_completion_tokens")))


class WithAConfiguredLimit(BudgetCase):
    budgets = {"run": "0.2"}

    @classmethod
    def make_config(cls) -> dict:
        limited = provider(cls.fake.base_url, models=("fake",), max_output_tokens=100)
        return model_config(cls.prices_file, [limited], budgets=cls.budgets)

    def test_USE_9_a_call_holds_what_its_provider_lets_it_cost(self):
        self.spend(self.api, 90)

        asked = self.fake.calls[-1].json
        self.assertIn(100, (asked.get("max_tokens"), asked.get("max_completion_tokens")))


class OfAModelThatWritesOn(ModelCase):
    """The budget is 0.03 CNY. At 3 CNY per million tokens, a call reserves 0.024576 for 8,192 tokens of output, and its
    input."""

    budget = 3 * 10**10

    @classmethod
    def make_config(cls) -> dict:
        return model_config(cls.prices_file, [provider(cls.fake.base_url)], {"default": "fake"},
                            budgets={"run": "0.03"})

    def assert_cut_off(self, parts: list) -> ModelRun:
        self.fake.script(scripts.stream(parts, numbers=usage(10, 26_200)))
        run = self.run_model("fake")
        self.assertEqual((run.outcome, run.terminals), (OVER, ["RUN_ERROR"]))
        call = self.fake.calls[-1]
        self.assertTrue(self.fake.wait_for(lambda: call.outcome is not None))
        self.assertEqual(call.outcome, "abandoned")
        [row] = self.calls(run.thread)
        self.assertEqual((row["status"], row["error_code"], row["usage_complete"]), ("failed", OVER, 0))
        self.assertEqual(row["output_tokens"], OUTPUT_LIMIT)
        self.assertLessEqual(self.assert_books(run.thread), self.budget)
        return run

    def test_USE_9_more_text_than_is_held_is_cut_off(self):
        run = self.assert_cut_off(["word after word "] * 26_200)

        self.assertIn("8192 tokens", run.end["message"])
        self.assertTrue(run.text)

    def test_USE_9_more_thoughts_than_are_held_are_cut_off(self):
        self.assertTrue(self.assert_cut_off([Reasoning("thought after thought ")] * 26_200).reasoning)

    def test_USE_9_what_is_reported_is_booked_and_no_further_call_is_made(self):
        """The provider sends little text and reports much usage, which cannot be known before."""
        self.fake.script(scripts.stream(["Hello"], numbers=usage(10, 26_200)))
        run = self.run_model("fake")

        self.assertEqual(run.outcome, "RUN_FINISHED")
        self.assertEqual(self.calls(run.thread)[0]["output_tokens"], 26_200)
        self.assert_books(run.thread)


class OfThoughtsThatAreLimitedApart(ModelCase):
    @classmethod
    def make_config(cls) -> dict:
        thinking = {**provider(cls.fake.base_url), "profile": "dashscope", "thinking": "on",
                    "max_output_tokens": 100}
        return model_config(cls.prices_file, [thinking], {"default": "fake"}, budgets={"run": "1"})

    def test_USE_9_thoughts_are_limited_and_held_too(self):
        self.fake.script(scripts.text("Hello").hung(0))
        thread, run = self.api.start_run("hello", forwarded={"model": "fake"})
        self.wait_for_calls(1)
        asked = self.fake.calls[-1].json
        self.assertEqual((asked["max_tokens"], asked["thinking_budget"]), (100, 100))
        [row] = self.calls(thread)
        self.assertGreaterEqual(row["cost"], 200 * OUTPUT * 10**6)
        self.api.cancel(thread, run)
        ModelRun(self.api, thread, run).read()


class OfAThread(BudgetCase):
    budgets = {"thread": "9"}

    def test_USE_9_only_the_thread_is_stopped(self):
        api = self.user("thrifty")
        thread = self.spend(api, 5000).thread
        self.assert_refused_inside(api, thread)
        other = self.spend(api, 800).thread
        self.spend(api, 8500, other)
        error = self.assert_refused_at_once(api, other)
        self.assertEqual(error["message"], "The thread's budget is used up: 9.3 of 9 CNY.")
        self.assertEqual(error["details"], {"budget": "thread", "spent": "9.3", "limit": "9", "currency": "CNY"})
        self.spend(api, 1)


class OfAUserCase(BudgetCase):
    def check(self) -> None:
        anna, bela = self.user("anna"), self.user("bela")
        thread = self.spend(anna, 800).thread
        self.spend(anna, 8200)  # Exactly what was left.
        self.check_words(self.assert_refused_at_once(anna))
        self.assert_refused_at_once(anna, thread)
        self.spend(bela, 800)
        self.spend(bela, 1000)
        self.assert_refused_inside(bela)


class OfAUser(OfAUserCase):
    budgets = {"user": "9"}

    def check_words(self, error: dict) -> None:
        self.assertEqual(error["message"], "Your budget is used up: 9 of 9 CNY.")
        self.assertEqual(error["details"], {"budget": "user", "spent": "9", "limit": "9", "currency": "CNY"})

    def test_USE_9_users_are_independent(self):
        self.check()

    def hanging(self, api) -> tuple[str, str]:
        """A run whose call is open and has reserved what it may cost."""
        asked = len(self.fake.calls)
        self.fake.script(scripts.text("Hello").hung(0))
        thread, run = api.start_run("hello", forwarded={"model": "fake"})
        self.wait_for_calls(asked + 1)
        return thread, run

    def test_USE_9_of_two_at_once_only_one_that_fits_is_made(self):
        api = self.user("hasty")
        thread, run = self.hanging(api)

        refused = self.assert_refused_inside(api)

        self.assertEqual(self.usage(refused.thread, api)["total"]["calls"], 0)
        api.cancel(thread, run)
        self.assertEqual(ModelRun(api, thread, run).read().terminals, ["RUN_FINISHED"])
        self.assert_books(thread, api)
        self.spend(api, 10)  # What the cancelled run had reserved is available again.

    def test_USE_9_a_kill_leaves_nothing_held(self):
        api = self.user("unlucky")
        thread, run = self.hanging(api)
        self.server.kill()
        self.fake.script(spends(10))
        self.server.start()

        self.assertEqual(ModelRun(api, thread, run).read().outcome, "RUN_FINISHED")
        self.assertEqual([call["status"] for call in self.calls(thread)], ["interrupted", "completed"])
        self.assert_books(thread, api)
        self.spend(api, 10)


class OfADay(OfAUserCase):
    budgets = {"day": "9"}

    def check_words(self, error: dict) -> None:
        self.assertEqual(error["message"], "The day's budget is used up: 9 of 9 CNY; it resets at 00:00 UTC.")
        details = error["details"]
        resets = datetime.fromisoformat(details.pop("resetsAt"))
        self.assertEqual(details, {"budget": "day", "spent": "9", "limit": "9", "currency": "CNY"})
        self.assertEqual((resets.hour, resets.minute, resets.second, resets.utcoffset()), (0, 0, 0, timedelta(0)))
        self.assertTrue(timedelta(0) < resets - datetime.now(timezone.utc) <= timedelta(days=1))

    def test_USE_9_users_are_independent(self):
        self.check()


if __name__ == "__main__":
    unittest.main()
