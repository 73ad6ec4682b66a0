"""USE-1, USE-3, USE-10: answers that are odd and good all the same."""

import unittest

from model_case import ModelCase, text_estimate

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import usage
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
            self.assertEqual(other.requests, [], "whoever is there must not get the key")


class Restarted(ModelCase):
    def test_USE_1_a_provider_that_comes_back(self):
        thread = self.run_model("fake").thread
        self.fake.close()
        type(self).fake = FakeProvider(self.fake.port).start()

        self.assertEqual(self.run_model("fake", thread=thread).outcome, "RUN_FINISHED")
        self.assertEqual(len(self.calls(thread)), 2, "a connection that was closed meanwhile is no failure")


if __name__ == "__main__":
    unittest.main()
