"""The check of what a reader of a whole thread saw finds every kind of mistake."""

import unittest

from thread_reader import thread_problems

FIRST = [("1-1", "RUN_STARTED", "{}"), ("1-2", "TEXT", "a"), ("1-3", "RUN_FINISHED", "{}")]
SECOND = [("2-1", "RUN_STARTED", "{}"), ("2-2", "RUN_FINISHED", "{}")]
VOID = ("1-9", "TEXT", "b")


def problems(seen) -> list[str]:
    return thread_problems(seen, [FIRST, SECOND], lambda frame: frame[1] == "TEXT")


class ThreadProblemsTest(unittest.TestCase):
    def test_RUN_15_the_runs_in_their_order_are_right(self):
        self.assertEqual(problems(FIRST + SECOND), [])
        self.assertEqual(problems(FIRST[:2] + [VOID] + FIRST[2:] + SECOND), [], "a crash took the delta")

    def test_RUN_15_what_is_lost_doubled_swapped_or_invented_is_found(self):
        for name, seen in {"lost": FIRST + SECOND[1:], "a run lost": FIRST, "doubled": FIRST + FIRST[2:] + SECOND,
                           "swapped": SECOND + FIRST, "invented": FIRST + [("1-9", "RUN_FINISHED", "{}")] + SECOND,
                           "changed": FIRST[:1] + [("1-2", "TEXT", "x")] + FIRST[2:] + SECOND}.items():
            with self.subTest(name):
                self.assertTrue(problems(seen))


if __name__ == "__main__":
    unittest.main()
