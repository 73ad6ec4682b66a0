"""USE-1, USE-10: whatever a provider does, a run ends once, in time, and with a code that names the cause."""

import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from model_case import (INPUT, OUTPUT, ModelCase, message_rows, model_config, price_list, provider,
                        text_estimate)

from fake_provider import nobody_listens

TIMEOUT_S = 1  # For the first token and for each pause after it.
PAUSES_S = 0.5 + 1  # The longest pauses before the second and the third attempt.
SLACK_S = 5  # Additional time on a busy machine.
FINISHED = "RUN_FINISHED"


@dataclass(frozen=True)
class Case:
    model: str
    outcome: str
    attempts: int = 1
    lasts_s: float = 0  # How long each attempt takes because of the time-outs.
    says: bool = False  # Text came before the end.
    taken: bool = False  # The provider accepted the call, so that it may have used tokens.
    complete: bool = True  # The provider reported usage wherever it had to.

    @property
    def in_time_s(self) -> float:
        return self.attempts * self.lasts_s + (PAUSES_S if self.attempts > 1 else 0) + SLACK_S


def refused(model: str, code: str, attempts: int = 1) -> Case:
    return Case(model, code, attempts)


def broken(model: str, code: str, lasts_s: float = 0) -> Case:
    """A failure after some text: the call is not repeated, and its usage is estimated."""
    return Case(model, code, lasts_s=lasts_s, says=True, taken=True, complete=False)


CASES = (
    Case("fake-drop:50", "MODEL_CUT", 3, taken=True, complete=False),
    broken("fake-drop:900", "MODEL_CUT"),
    broken("fake-reset:900", "MODEL_CUT"),
    Case("fake-hang:head", "MODEL_TIMED_OUT", 1, TIMEOUT_S),
    Case("fake-hang:0", "MODEL_TIMED_OUT", 1, TIMEOUT_S, taken=True, complete=False),
    broken("fake-hang:900", "MODEL_TIMED_OUT", TIMEOUT_S),
    Case("fake-flood", "MODEL_TIMED_OUT", 1, TIMEOUT_S, taken=True, complete=False),
    Case("fake-drip:50", "MODEL_TIMED_OUT", 1, TIMEOUT_S, taken=True, complete=False),
    Case("fake-error:429:1:after=1", FINISHED, 2, 1, says=True, taken=True),
    Case("fake-error:503:2", FINISHED, 3, says=True, taken=True),
    refused("fake-error:429", "MODEL_RATE_LIMITED", 3),
    refused("fake-error:429:after=3600", "MODEL_RATE_LIMITED"),  # Longer than the server waits.
    refused("fake-error:500", "MODEL_OVERLOADED", 3),
    refused("fake-error:503", "MODEL_OVERLOADED", 3),
    refused("fake-error:401", "MODEL_UNAUTHORIZED"),
    refused("fake-error:402", "MODEL_OUT_OF_FUNDS"),
    refused("fake-error:400", "MODEL_REJECTED"),
    refused("fake-html:502", "MODEL_OVERLOADED", 3),
    refused("fake-html:200", "MODEL_BAD_ANSWER"),
    broken("fake-malformed", "MODEL_BAD_ANSWER"),
    broken("fake-midstream", "MODEL_REPORTED"),
    Case("fake-line:10000000", "MODEL_BAD_ANSWER", taken=True, complete=False),
    refused("nobody", "MODEL_UNREACHABLE", 3),
    Case("fake:usage=none", FINISHED, says=True, taken=True, complete=False),
    Case("fake:finish=none", FINISHED, says=True, taken=True),
    broken("fake:finish=none:done=no:usage=none", "MODEL_CUT"),
    Case("fake:finish=length", FINISHED, says=True, taken=True),
    Case("fake:finish=content_filter", FINISHED, says=True, taken=True),
)


class Failures(ModelCase):
    prices = price_list({"*": [{"per_million_tokens": {"input": INPUT, "output": OUTPUT}}]})

    @classmethod
    def setUpClass(cls):
        holder = nobody_listens()
        cls.nobody = "http://{}:{}/v1".format(*holder.__enter__())
        cls.addClassCleanup(holder.__exit__, None, None, None)
        super().setUpClass()

    @classmethod
    def make_config(cls) -> dict:
        timeouts = {"first_token_timeout_s": TIMEOUT_S, "idle_timeout_s": TIMEOUT_S}
        return model_config(cls.prices_file, [provider(cls.fake.base_url, **timeouts),
                                              provider(cls.nobody, "nobody", ("nobody",), **timeouts)])

    def timed(self, case: Case):
        began = time.monotonic()
        run = self.run_model(case.model)
        return run, time.monotonic() - began

    def test_USE_1_each_misbehaviour_ends_the_run_once_with_its_code(self):
        before = self.metrics()
        with ThreadPoolExecutor(len(CASES)) as pool:
            seen = list(pool.map(self.timed, CASES))

        for case, (run, took) in zip(CASES, seen):
            with self.subTest(case.model):
                self.check(case, run)
                self.assertLess(took, case.in_time_s)
        self.check_metrics(before)
        with ThreadPoolExecutor(len(CASES)) as pool:
            again = list(pool.map(lambda one: self.run_model("fake", "and now?", thread=one[0].thread), seen))
        for case, run in zip(CASES, again):
            with self.subTest(case.model, what="the thread stays usable"):
                self.assertEqual(run.outcome, FINISHED)
                self.assertIn("You said: and now?", run.text)
                self.assert_books(run.thread)

    def check(self, case: Case, run) -> None:
        self.assertEqual(len(run.terminals), 1)
        self.assertEqual(run.outcome, case.outcome)
        self.assertEqual(bool(run.text), case.says)
        self.assertFalse([kind for kind in run.kinds if kind.startswith("TOOL_")], "no tool may be executed")
        for dialect in ("v2", "ag-ui"):
            frames = self.api.read_events(run.thread, run.run, dialect=dialect, agui="0.0")
            self.assertEqual(frames[-1].json.get("code", FINISHED), case.outcome)
        if case.outcome != FINISHED:
            status = self.api.status(run.thread, run.run).json
            self.assertEqual(status["status"], "failed")
            self.assertEqual(run.kinds.count("TEXT_MESSAGE_START"), run.kinds.count("TEXT_MESSAGE_END"))
        self.check_ledger(case, run)

    def check_ledger(self, case: Case, run) -> None:
        calls = self.calls(run.thread)
        self.assertEqual([call["attempt"] for call in calls], list(range(1, case.attempts + 1)))
        ended = ["failed"] * (case.attempts - 1) + ["completed" if case.outcome == FINISHED else "failed"]
        self.assertEqual([call["status"] for call in calls], ended)
        if case.outcome != FINISHED:
            self.assertEqual({call["error_code"] for call in calls}, {case.outcome})
        last = calls[-1]
        self.assertEqual(bool(last["total_tokens"]), case.taken)
        self.assertEqual(self.assert_books(run.thread) > 0, case.taken)
        self.assertEqual(self.usage(run.thread)["total"]["usageComplete"], case.complete)
        if not case.complete:
            estimate = (self.asked_estimate(), max(1, text_estimate(run.text)))
            self.assertEqual((last["input_tokens"], last["output_tokens"]), estimate)
            self.assertEqual(last["cost"], (estimate[0] * INPUT + estimate[1] * OUTPUT) * 10**6)
            self.assertFalse(run.end["metadata"]["usageComplete"])

    def check_metrics(self, before: dict[str, float]) -> None:
        after = self.metrics()
        done = [case for case in CASES if case.outcome == FINISHED]
        attempts = sum(case.attempts for case in CASES)
        grown = {name: after[name] - before[name] for name in after if name.startswith("runnel_model_")}
        self.assertEqual(grown["runnel_model_retries_total"], attempts - len(CASES))
        self.assertEqual(grown['runnel_model_calls_total{status="completed"}'], len(done))
        self.assertEqual(grown['runnel_model_calls_total{status="failed"}'], attempts - len(done))
        self.assertEqual(grown["runnel_model_fallbacks_total"], 0)


class NoWordOfAnAnswer(ModelCase):
    """V2-6: a model that calls tools that were not offered, and says nothing."""

    def check(self, model: str, code: str, calls: int) -> None:
        run = self.run_model(model)

        self.assertEqual((run.outcome, run.text, run.terminals), (code, "", ["RUN_ERROR"]))
        self.assertFalse([kind for kind in run.kinds if kind.startswith("TOOL_")], "no tool may be executed")
        self.assertEqual([call["status"] for call in self.calls(run.thread)], ["completed"] * calls)
        self.assert_books(run.thread)

    def test_V2_6_it_is_asked_twice_more(self):
        self.check("fake-tool:weather:calls=empty-id", "MODEL_EMPTY_ANSWER", 3)

    def test_V2_6_it_is_asked_once_more_where_it_ran_out_of_tokens(self):
        self.check("fake-tool:weather:calls=cut", "MODEL_TOO_LONG", 2)


class TheWireOfAnEstimate(ModelCase):
    def test_USE_10_usage_that_was_not_reported_is_marked_in_v2(self):
        run = self.run_model("fake:usage=none")

        end = [f.json for f in self.api.read_events(run.thread, run.run) if f.event == "TEXT_MESSAGE_END"][0]
        self.assertEqual((end["usageComplete"], end["costSource"]), (False, "incomplete_usage_fallback"))
        self.assertEqual(end["totalTokens"], self.asked_estimate() + text_estimate(run.text))

    def test_USE_8_a_run_without_an_answer_is_booked_on_a_row_that_nobody_sees(self):
        run = self.run_model("fake-midstream")

        rows = message_rows(self.server, run.thread)
        booked = [row for row in rows if row["cost"]]
        self.assertEqual([(row["visibility_mask"], row["seq"] < 0) for row in booked], [(0, True)])
        self.assertEqual([m["role"] for m in self.api.full_history(run.thread)], ["user", "assistant"])


if __name__ == "__main__":
    unittest.main()
