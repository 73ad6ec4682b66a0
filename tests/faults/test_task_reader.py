"""The checks of readers of tasks find what they are for."""

import unittest

from task_reader import TaskReader, task_problems

EVENTS = [{"idx": n, "type": "text_chunk", "data": {"content": str(n)}, "ts": n / 10} for n in range(5)]


class TaskReaderTest(unittest.TestCase):
    def seen(self, events: list[dict]) -> list[str]:
        reader = TaskReader(None, "run")
        for event in events:
            reader.take(event)
        return reader.problems

    def test_events_in_order_are_right(self):
        self.assertEqual(self.seen(EVENTS), [])
        self.assertEqual(task_problems(EVENTS, list(EVENTS)), [])

    def test_lost_doubled_and_exchanged_events_are_found(self):
        for events in (EVENTS[1:], EVENTS[:2] + EVENTS[3:], EVENTS[:2] + EVENTS[1:], [EVENTS[1], EVENTS[0], *EVENTS[2:]]):
            self.assertNotEqual(self.seen(events), [])

    def test_other_events_than_everybody_gets_are_found(self):
        other = [*EVENTS[:3], {**EVENTS[3], "data": {"content": "void"}}, EVENTS[4]]
        self.assertIn("differ from number 3 on", task_problems(other, EVENTS)[0])
        self.assertIn("saw 4 events of 5", task_problems(EVENTS[:4], EVENTS)[0])
        self.assertIn("saw 5 events of 4", task_problems(EVENTS, EVENTS[:4])[0])


if __name__ == "__main__":
    unittest.main()
