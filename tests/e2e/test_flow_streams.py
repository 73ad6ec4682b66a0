"""FLOW-4, TASK-8: the answer is streamed from JSON that is still incomplete, wherever the JSON is cut into pieces."""

import json
import random
import time
import unittest

from flow_case import FlowCase, Says

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import even, usage

DIRECT, WORKER = "intent_execution_organization", "router_worker"
ALPHABETS = ("abc xyz", "äöüßéñ", "你好世界", "🙂👩‍👩‍👧🏳️‍🌈", "\"\\/\b\f\n\r\t", "{}[]:,", "\u0001\u007f\u2028\ufeff",
             "\ud7ff\ue000\U0010ffff")


def random_text(rng: random.Random) -> str:
    """A random text that is never blank."""
    return "".join(rng.choice(rng.choice(ALPHABETS)) for _ in range(rng.randint(0, 60))) + "."


def direct(text: str, ascii_only: bool = False) -> str:
    return json.dumps({"route": "DIRECT_EXECUTION", "intent_summary": "talks", "safety_flags": [],
                       "assistant_text": text}, ensure_ascii=ascii_only)


def worker(text: str, ascii_only: bool = False) -> str:
    return json.dumps({"status": "SUCCESS", "suggested_actions": [], "answer": text}, ensure_ascii=ascii_only)


def by_character(document: str) -> Answer:
    """One delta per character."""
    return scripts.stream(list(document), numbers=usage())


def by_byte(document: str) -> Answer:
    """Three deltas, in TCP writes of one byte."""
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
        """The provider sends one character at a time, and nothing after `begun`."""
        for flow, before, begun, shown in (
                (DIRECT, (), direct("Good morning")[:-6], "Good mor"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("Good morning")[:-6], "Good mor"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("😀😀", True)[:-5], "😀"),
                (WORKER, (Says({"intent_summary": "talks"}),), worker("a")[:-3] + "b", "b")):
            with self.subTest(flow=flow, begun=begun):
                run = self.start_flow(flow, *before, scripts.stalled(list(begun)))
                self.wait_for_text(run, shown)
                self.assertIsNone(self.fake.calls[-1].outcome, "the provider's answer must not have ended")
                self.api.cancel(run.thread, run.run)
                self.assertEqual(run.read().text, shown)

    def test_FLOW_4_what_is_not_for_the_user_never_streams(self):
        run = self.run_flow(DIRECT, by_character(json.dumps({
            "route": "NEEDS_EXECUTION", "intent_summary": "x", "execution_brief": "secret", "assistant_text": "secret"})),
            by_character(json.dumps({"status": "SUCCESS", "execution_summary": "secret", "report_brief": "secret"})),
            by_character('{"assistant_text":"Hello"}'))

        self.assertEqual(run.text, "Hello")
        self.assertFalse([frame for frame in run.frames if b"secret" in frame.data])

    def test_FLOW_4_text_streams_wherever_its_field_stands_and_a_repair_replaces_it(self):
        run = self.run_flow(WORKER, Says({"intent_summary": "talks"}),
                            by_character('{"answer": "Shown at once", "status": "WRONG"}'), by_character(worker("Right")))

        self.assertEqual(run.outcome, "RUN_FINISHED")
        first, second = [frame.json["messageId"] for frame in run.frames if frame.event == "TEXT_MESSAGE_START"]
        self.assertEqual((self.words_of(run, first), self.words_of(run, second)), ("Shown at once", "Right"))
        ends = {frame.json["messageId"]: frame.json["metadata"]["status"] for frame in run.frames
                if frame.event == "TEXT_MESSAGE_END"}
        self.assertEqual(ends, {first: "superseded", second: "success"})
        self.assertNotIn("Shown at once", [message["content"] for message in self.api.full_history(run.thread)])

    @staticmethod
    def words_of(run, message: str) -> str:
        return "".join(frame.json["delta"] for frame in run.frames
                       if frame.event == "TEXT_MESSAGE_CONTENT" and frame.json["messageId"] == message)

    def test_FLOW_4_a_direct_text_ahead_of_its_route_waits_for_it(self):
        begun = '{"assistant_text": "Hello", "intent_summary": "x"'
        run = self.start_flow(DIRECT, scripts.stalled(list(begun)))
        self.wait_for_calls(self.asked + 1)
        time.sleep(0.2)
        self.api.cancel(run.thread, run.run)
        self.assertEqual(run.read().text, "")

        run = self.run_flow(DIRECT, by_character(begun + ', "route": "DIRECT_EXECUTION"}'))
        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Hello"))

    def test_FLOW_4_what_no_request_may_hold_is_no_reason_for_a_repair(self):
        asked = len(self.fake.calls)
        run = self.run_flow(DIRECT,
                            by_character('{"route": "NEEDS_EXECUTION", "intent_summary": "a", "intent_summary": "b", '
                                         '"id": 123456789012345678901234567890, "execution_brief": "do it"}'),
                            by_character('{"status": "SUCCESS", "execution_summary": "did", "execution_data": {"order": '
                                         '123456789012345678901234567890, "x": 1, "x": 2}, "report_brief": "done"}'),
                            by_character('{"assistant_text": "Hi \\ud83d there"}'))

        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Hi \ufffd there"))
        self.assertEqual(len(self.fake.calls) - asked, 3)
        told = json.dumps(self.fake.calls[-1].json)
        self.assertIn("123456789012345678901234567890", told)

    def test_V2_6_an_answer_without_a_word_is_sent_back_and_then_fails_the_run(self):
        blank = scripts.stream(["\u3000 \n"], numbers=usage())
        run = self.run_flow("chat", blank, scripts.text("Hello"))
        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Hello"))
        self.assertEqual(run.kinds.count("TEXT_MESSAGE_START"), 1)
        self.assert_books(run.thread)

        for answers, code in (((blank, blank, blank), "MODEL_EMPTY_ANSWER"),
                              ((self.cut(""), self.cut("")), "MODEL_TOO_LONG"),
                              ((self.cut(""), blank, blank), "MODEL_EMPTY_ANSWER")):
            with self.subTest(code):
                run = self.run_flow("chat", *answers)
                self.assertEqual((run.outcome, run.terminals, run.text), (code, ["RUN_ERROR"], ""))
                self.assertEqual(self.fake.unused_script, 0)
                self.assert_books(run.thread)

    @staticmethod
    def cut(text: str) -> Answer:
        return scripts.stream(list(text), finish="length", numbers=usage())

    def test_V2_6_text_that_was_shown_and_then_cut_for_length_is_an_answer_in_part(self):
        for flow, before, begun in ((WORKER, (Says({"intent_summary": "talks"}),), worker("Good morning")[:-6]),
                                    (DIRECT, (), direct("Good morning")[:-6]), ("chat", (), "Good mor")):
            with self.subTest(flow):
                run = self.run_flow(flow, *before, self.cut(begun))
                self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Good mor"))
                [end] = [frame.json for frame in run.frames if frame.event == "TEXT_MESSAGE_END"]
                self.assertEqual(end["metadata"]["status"], "partial_success")
                self.assertEqual(self.api.full_history(run.thread)[-1]["content"], "Good mor")

    def test_V2_6_a_router_that_is_cut_for_length_is_asked_once_more(self):
        run = self.run_flow(WORKER, self.cut('{"intent_'), self.cut('{"intent_summ'))
        self.assertEqual((run.outcome, self.fake.unused_script), ("MODEL_TOO_LONG", 0))

    def test_USE_1_what_was_cut_before_anything_of_it_was_shown_is_asked_again(self):
        dropped = by_character('{"intent_summary": "talks"}').dropped(700)
        before_answer = by_character('{"status": "SUCCESS", "suggested_actions": [], "answer": "Hi"}').dropped(700)
        run = self.run_flow(WORKER, dropped, by_character('{"intent_summary": "talks"}'), before_answer,
                            by_character(worker("Hi")))

        self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "Hi"))
        self.assertEqual([(call["stage"], call["attempt"], call["status"]) for call in self.calls(run.thread)],
                         [("router", 1, "failed"), ("router", 2, "completed"), ("worker", 1, "failed"),
                          ("worker", 2, "completed")])
        self.assert_books(run.thread)


if __name__ == "__main__":
    unittest.main()
