"""The models for measurements (RUN-1: a provider may serve all model names of a pattern)."""

import re
import unittest

from e2e_case import E2eCase, offline, run_input


class MeasuringModel(E2eCase):
    config = {"models": {"offline": {"word_delay_ms": 0}, "test": {"enabled": True}}}

    def test_RUN_1_a_name_of_the_pattern_is_taken_and_says_how_many_tokens_come(self):
        thread, run = self.api.start_run(forwarded={"model": "tok-20-500"})

        frames = self.api.read_events(thread, run, dialect="ag-ui")

        deltas = [frame.json["delta"] for frame in frames if frame.event == "TEXT_MESSAGE_CONTENT"]
        self.assertEqual(len(deltas), 20)
        for delta in deltas:
            self.assertRegex(delta, re.compile(r"\A@[0-9a-f]{14}~\Z"))
        self.assertEqual(frames[-1].event, "RUN_FINISHED")

    def test_RUN_1_a_malformed_name_is_refused_and_the_pattern_is_listed(self):
        for name in ("tok-*", "tok-20", "tok-20-x", "tok-1000001-0"):
            answer = self.api.post_run(run_input("hello", forwarded={"model": name}))

            details = self.assert_error(answer, 400, "UNKNOWN_MODEL")
            self.assertEqual(details["models"], ["offline", "tok-*"])


class WithoutMeasuringModel(E2eCase):
    config = offline()

    def test_RUN_1_it_is_there_only_where_the_settings_say_so(self):
        answer = self.api.post_run(run_input("hello", forwarded={"model": "tok-20-500"}))

        details = self.assert_error(answer, 400, "UNKNOWN_MODEL")
        self.assertEqual(details["models"], ["offline"])


if __name__ == "__main__":
    unittest.main()
