"""FLOW-4, TASK-8: the answer streams out of JSON that is still being written, wherever it is cut."""

import json
import random
import unittest

from flow_case import FlowCase, Says

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import even, usage

DIRECT, WORKER = "intent_execution_organization", "router_worker"
ALPHABETS = ("abc xyz", "äöüßéñ", "你好世界", "🙂👩‍👩‍👧🏳️‍🌈", "\"\\/\b\f\n\r\t", "{}[]:,", "\u0001\u007f\u2028\ufeff",
             "\ud7ff\ue000\U0010ffff")


def random_text(rng: random.Random) -> str:
    """With something in it beside blanks."""
    return "".join(rng.choice(rng.choice(ALPHABETS)) for _ in range(rng.randint(0, 60))) + "."


def direct(text: str, ascii_only: bool = False) -> str:
    return json.dumps({"route": "DIRECT_EXECUTION", "intent_summary": "talks", "safety_flags": [],
                       "assistant_text": text}, ensure_ascii=ascii_only)


def worker(text: str, ascii_only: bool = False) -> str:
    return json.dumps({"status": "SUCCESS", "suggested_actions": [], "answer": text}, ensure_ascii=ascii_only)


def by_character(document: str) -> Answer:
    """A delta for each."""
    return scripts.stream(list(document), numbers=usage())


def by_byte(document: str) -> Answer:
    """Three deltas, in TCP writes of a byte."""
    return scripts.stream(even(document, 3), numbers=usage()).paced(size=1)


class Streams(FlowCase):
    def check(self, text: str, document: str, run) -> None:
        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", text), document)
        self.assertEqual(self.last_words(run), text)
        self.assertEqual(self.api.full_history(run.thread)[-1]["content"], text)

    def test_FLOW_4_joined_deltas_are_the_answer(self):
        rng = random.Random(5)
        for number in range(200):
            text = random_text(rng)
            send = by_byte if number % 5 == 0 else by_character
            with self.subTest(number=number, text=text):
                if number % 2:
                    document = direct(text, bool(number % 3))
                    run = self.run_flow(DIRECT, send(document))
                else:
                    document = worker(text, bool(number % 3))
                    run = self.run_flow(WORKER, Says({"intent_summary": "talks"}), send(document))
                self.check(text, document, run)

    def test_FLOW_4_the_first_character_arrives_while_the_json_is_open(self):
        """The provider sends a character at a time, and nothing after those of `begun`."""
        for flow, before, begun, shown in (
                (DIRECT, (), direct("Good morning")[:-6], "Good mor"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("Good morning")[:-6], "Good mor"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("😀😀", True)[:-5], "😀"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("a")[:-3] + "b", "b")):
            with self.subTest(flow=flow, begun=begun):
                run = self.start_flow(flow, *before, scripts.stalled(list(begun)))
                self.wait_for_text(run, shown)
                self.assertIsNone(self.fake.calls[-1].outcome, "the provider has not ended")
                self.api.cancel(run.thread, run.run)
                self.assertEqual(run.read().text, shown)

    def test_FLOW_4_what_is_not_for_the_user_never_streams(self):
        run = self.run_flow(DIRECT, by_character(json.dumps({
            "route": "NEEDS_EXECUTION", "intent_summary": "x", "execution_brief": "secret", "assistant_text": "secret"})),
            by_character(json.dumps({"status": "SUCCESS", "execution_summary": "secret", "report_brief": "secret"})),
            by_character('{"assistant_text":"Hello"}'))

        self.assertEqual(run.text, "Hello")
        self.assertFalse([frame for frame in run.frames if b"secret" in frame.data])

    def test_FLOW_4_text_ahead_of_what_it_depends_on_waits_for_it(self):
        """The text comes first here, and the wrong status behind it: nothing of it may be shown."""
        run = self.run_flow(WORKER, Says({"intent_summary": "talks"}),
                            by_character('{"answer": "Never shown", "status": "WRONG"}'), by_character(worker("Right")))

        self.assertEqual(run.text, "Right")
        self.assertEqual(run.kinds.count("TEXT_MESSAGE_START"), 1)


if __name__ == "__main__":
    unittest.main()
