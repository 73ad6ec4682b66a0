"""USE-1, USE-3, USE-10: answers that are unusual but valid."""

import json
import unittest

from model_case import ModelCase, message_rows, text_estimate

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import Raw, usage
from fake_provider import FakeProvider

WORDS = "You said: grüß dich, 你好 🙂\n\nI am a fake model. I only repeat what I hear, but token by token."


class Answers(ModelCase):
    def test_USE_1_framings_of_all_kinds(self):
        for how in ("eol=crlf", "eol=crlf:size=1", "space=no", "comments=yes", "multiline=yes:size=3", "done=no",
                    "blank=no", "done=no:blank=no", "usage=finish", "usage=null-details", "size=whole"):
            with self.subTest(how):
                run = self.run_model(f"fake:{how}", "grüß dich, 你好 🙂")
                self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", WORDS))
                self.assertTrue(run.end["metadata"]["usageComplete"])
                self.assert_books(run.thread)

    def test_USE_1_a_body_that_ends_with_its_connection(self):
        self.fake.script(scripts.text("Hel", "lo").until_close())

        self.assertEqual(self.run_model("fake").text, "Hello")

    def test_USE_1_text_that_cannot_be_stored_as_it_is(self):
        chunk = b'{"choices":[{"index":0,"delta":{"content":"a%sb"},"finish_reason":"stop"}]}'
        for bad in (rb"\u0000", b"\xff"):
            with self.subTest(bad):
                self.fake.script(Answer((b"data: " + chunk % bad + b"\n\n", b"data: [DONE]\n\n")))
                run = self.run_model("fake")
                self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", "a\ufffdb"))
                self.assertEqual(self.api.full_history(run.thread)[-1]["content"], run.text)

    def test_USE_10_a_character_that_is_split_over_two_chunks_is_joined(self):
        chunk = r'{"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}'
        for pieces, text in (((r"a\ud83d", r"\ude00b"), "a\U0001f600b"), ((r"a\ud83d", "b"), "a\ufffdb"),
                             ((r"a\ude00",), "a\ufffd"), ((r"a\ud83d",), "a\ufffd")):
            with self.subTest(pieces):
                self.fake.script(scripts.stream([Raw(chunk % piece) for piece in pieces], numbers=usage()))
                run = self.run_model("fake")
                self.assertEqual((run.outcome, run.text), ("RUN_FINISHED", text))
                self.assertEqual(self.api.full_history(run.thread)[-1]["content"], text)

    def test_USE_3_the_providers_time_is_the_latency(self):
        self.fake.script(scripts.stream(["Hello"], numbers=usage(time=12.3456)))
        run = self.run_model("fake")
        self.assertEqual(self.calls(run.thread)[0]["latency_ms"], 12346)
        summary = json.loads(message_rows(self.server, run.thread)[-1]["metadata"])["usage_summary"]
        self.assertEqual(summary["latency_ms"], 12346)

    def test_USE_10_numbers_that_nobody_would_believe_are_estimated(self):
        for numbers in ({"prompt_tokens": -10, "completion_tokens": -5},
                        {"prompt_tokens": 10**30, "completion_tokens": 1e300},
                        {"prompt_tokens": "many", "completion_tokens": []}, {"total_tokens": 7}):
            with self.subTest(numbers):
                self.fake.script(scripts.stream(["Hello there"], numbers=numbers))
                run = self.run_model("fake")
                self.assertEqual(run.outcome, "RUN_FINISHED")
                [used] = run.end["usage"]
                self.assertEqual((used["inputTokens"], used["outputTokens"]),
                                 (self.asked_estimate(), text_estimate("Hello there")))
                self.assertFalse(run.end["metadata"]["usageComplete"])
                self.assert_books(run.thread)

    def test_USE_1_connections_are_used_again(self):
        thread = self.run_model("fake").thread
        before = len(self.fake.connections)

        for _ in range(5):
            self.run_model("fake", thread=thread)

        self.assertLess(len(self.fake.connections) - before, 5)

    def test_USE_1_a_redirect_is_not_followed(self):
        with FakeProvider() as other:
            self.fake.script(scripts.error(307).with_headers(Location=other.base_url + "/chat/completions"))
            self.assertEqual(self.run_model("fake").outcome, "MODEL_BAD_ANSWER")
            self.assertEqual(other.requests, [], "the target of a redirect must not get the key")


class Restarted(ModelCase):
    def test_USE_1_a_provider_that_comes_back(self):
        thread = self.run_model("fake").thread
        self.fake.close()
        type(self).fake = FakeProvider(self.fake.port).start()

        self.assertEqual(self.run_model("fake", thread=thread).outcome, "RUN_FINISHED")
        self.assertEqual(len(self.calls(thread)), 2, "a connection that was closed meanwhile is not a failed attempt")


if __name__ == "__main__":
    unittest.main()
