"""TOOL-12: events that repeat, over the API for apps."""

import time
import unittest

from test_calendar import EVENTS, CalendarCase, listed

STANDUP = {"title": "Standup", "start_at": "2006-10-16T09:00:00+02:00", "end_at": "2006-10-16T09:15:00+02:00",
           "timezone": "Europe/Berlin", "rrule": "FREQ=WEEKLY;BYDAY=MO,WE"}


def starts(items: list[dict]) -> list[str]:
    return [item["title"] + " " + item["start_at"][5:16] for item in items]


class Series(CalendarCase):
    def test_TOOL_12_a_series_is_shared_changed_and_deleted_one_occurrence_at_a_time(self):
        ann, bob = self.users("ann", "bob")
        series = self.add(ann, **STANDUP)["event_id"]
        shared = ann.request("POST", f"{EVENTS}/{series}/share", {"user_ids": [self.ids["bob"]]})
        self.assertEqual(shared.status, 200, shared.body)
        october = ("2026-10-19T00:00:00Z", "2026-11-01T00:00:00Z")
        # The clocks change on 25 October.
        all_of_them = ["Standup 10-19T07:00", "Standup 10-21T07:00", "Standup 10-26T08:00", "Standup 10-28T08:00"]
        self.assertEqual(starts(listed(bob, *october)), all_of_them)

        demo = ann.request("PATCH", f"{EVENTS}/{series}", {
            "occurrence_start": "2026-10-21T07:00:00Z", "title": "Demo", "start_at": "2026-10-22T07:00:00Z"})
        gone = ann.request("DELETE", f"{EVENTS}/{series}?occurrence_start=2026-10-26T08:00:00Z")

        self.assertEqual((demo.status, gone.status), (200, 204), demo.body)
        self.assertEqual(demo.json["series_id"], series)
        left = ["Standup 10-19T07:00", "Demo 10-22T07:00", "Standup 10-28T08:00"]
        self.assertEqual(starts(listed(ann, *october)), left)
        self.assertEqual(starts(listed(bob, *october)), left)

    def test_HTTP_9_a_full_calendar_of_series_is_read_in_a_moment(self):
        ann, = self.users("ann")
        for number in range(500):
            self.add(ann, **{**STANDUP, "title": f"s{number}", "rrule": "FREQ=DAILY"})
        refused = ann.request("POST", EVENTS, STANDUP)
        self.assertEqual((refused.status, refused.json["error"]["code"]), (400, "TOO_MANY_SERIES"))

        began = time.monotonic()
        items = listed(ann, "2026-10-19T00:00:00Z", "2026-10-20T00:00:00Z")
        took = time.monotonic() - began

        self.assertEqual(len(items), 500)
        self.assertLess(took, 2)  # A walk from 2006 on would take many times as long.


if __name__ == "__main__":
    unittest.main()
