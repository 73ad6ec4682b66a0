"""TOOL-12: feeds and imports of calendars. What the server writes is read by another tool, python3-icalendar."""

import datetime as dt
import sys
import threading
import time
import unittest
import zoneinfo

# Debian's package is also for a Python from another source, which does not look there.
sys.path.append("/usr/lib/python3/dist-packages")
import icalendar  # noqa: E402

from e2e_case import Api, E2eCase, eventually, new_id, offline  # noqa: E402

from http_client import Http, Response  # noqa: E402

EVENTS = "/api/v1/calendar/events"
FEED = "/api/v1/calendar/feed"
IMPORT = "/api/v1/calendar/import"
UTC = dt.timezone.utc


def file(*events: str) -> bytes:
    return ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + "".join(events) + "END:VCALENDAR\r\n").encode()


def vevent(uid: str, *lines: str, title: str = "Tea", start: str = "20261120T070000Z", end: str = "20261120T080000Z") -> str:
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{title}", f"DTSTART:{start}", f"DTEND:{end}", *lines,
                        "END:VEVENT", ""])


class FeedCase(E2eCase):
    def user(self) -> Api:
        self.name = new_id("user")
        return self.server.api(self.name)

    def add(self, api: Api, **fields) -> dict:
        answer = api.request("POST", EVENTS, fields)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def address(self, api: Api) -> str:
        answer = api.request("POST", FEED)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["address"]

    def read(self, address: str, **headers) -> Response:
        return Http(self.server.address).get(address, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def upload(self, api: Api, body: bytes, query: str = "") -> Response:
        return api.request("POST", IMPORT + query, body, headers={"Content-Type": "text/calendar"})

    def outcomes(self, api: Api, body: bytes) -> list[str]:
        answer = self.upload(api, body)
        self.assertEqual(answer.status, 200, answer.body[:500])
        self.assertEqual(answer.json["count"], len(answer.json["items"]))
        return [item["error"]["code"] if "error" in item else item["outcome"] for item in answer.json["items"]]


class SecondReader(FeedCase):
    def test_TOOL_12_another_tool_reads_the_same_events(self):
        ann = self.user()
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
        lunch = self.add(ann, title="Lunch; 午饭, \"x\"\nof\\two 🙂", start_at="2026-11-20T12:00:00+08:00",
                         end_at="2026-11-20T13:00:00+08:00", timezone="Asia/Shanghai", location="Room 3, left",
                         description="long " * 300, reminders=[10, 1440])
        fair = self.add(ann, title="Fair", all_day=True, start_date="2026-11-20", end_date="2026-11-21")
        weekly = "FREQ=WEEKLY;COUNT=5;BYDAY=MO"
        series = self.outcomes(ann, file(
            "BEGIN:VEVENT\r\nUID:series@example.com\r\nSUMMARY:Weekly\r\nDTSTART;TZID=Europe/Berlin:20261019T090000\r\n"
            f"DTEND;TZID=Europe/Berlin:20261019T100000\r\nRRULE:{weekly}\r\n"
            "EXDATE;TZID=Europe/Berlin:20261102T090000\r\nEND:VEVENT\r\n"))
        self.assertEqual(series, ["created"])

        answer = self.read(self.address(ann))
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "text/calendar; charset=utf-8"))
        calendar = icalendar.Calendar.from_ical(answer.body)
        found = {str(event["UID"]): event for event in calendar.walk("VEVENT")}

        self.assertEqual(set(found), {lunch["event_id"], fair["event_id"], "series@example.com"})
        event = found[lunch["event_id"]]
        self.assertEqual(str(event["SUMMARY"]), lunch["title"])
        self.assertEqual(str(event["LOCATION"]), lunch["location"])
        self.assertEqual(str(event["DESCRIPTION"]), lunch["description"])
        self.assertEqual(event["DTSTART"].dt, dt.datetime(2026, 11, 20, 4, tzinfo=UTC))
        self.assertEqual(event["DTEND"].dt, dt.datetime(2026, 11, 20, 5, tzinfo=UTC))
        self.assertEqual([alarm["TRIGGER"].dt for alarm in event.walk("VALARM")],
                         [dt.timedelta(minutes=-10), dt.timedelta(days=-1)])
        event = found[fair["event_id"]]
        self.assertEqual((event["DTSTART"].dt, event["DTEND"].dt), (dt.date(2026, 11, 20), dt.date(2026, 11, 22)))
        event = found["series@example.com"]
        self.assertEqual(event["DTSTART"].dt.astimezone(UTC),
                         dt.datetime(2026, 10, 19, 9, tzinfo=berlin).astimezone(UTC))
        self.assertEqual(event["DTSTART"].params["TZID"], "Europe/Berlin")
        self.assertEqual(event["RRULE"], {"FREQ": ["WEEKLY"], "COUNT": [5], "BYDAY": ["MO"]})
        self.assertEqual(event["EXDATE"].dts[0].dt.astimezone(UTC), dt.datetime(2026, 11, 2, 8, tzinfo=UTC))
        [zone] = calendar.walk("VTIMEZONE")
        clocks = zone.to_tz()
        for month in (1, 7):
            at = dt.datetime(2027, month, 1, 12)
            self.assertEqual(clocks.utcoffset(at), berlin.utcoffset(at))

    def test_TOOL_12_import_of_anothers_feed_gives_the_same_events(self):
        ann, bob = self.user(), self.user()
        self.add(ann, title="Lunch", start_at="2026-11-20T12:00:00+08:00", end_at="2026-11-20T13:00:00+08:00",
                 timezone="Asia/Shanghai", location="Room 3", description="two\nlines", reminders=[10])
        feed = self.read(self.address(ann)).body

        self.assertEqual(self.outcomes(bob, feed), ["created"])
        self.assertEqual(self.outcomes(bob, feed), ["unchanged"])
        self.assertEqual(self.outcomes(ann, feed), ["unchanged"])

        def events(api: Api) -> list[dict]:
            items = api.get(EVENTS + "?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z").json["items"]
            return [{name: value for name, value in item.items() if name not in ("event_id", "created_at", "updated_at")}
                    for item in items]

        self.assertEqual(events(bob), events(ann))


class Addresses(FeedCase):
    config = offline(http={"requests_per_user_per_s": 1, "request_burst_per_user": 6})

    def test_TOOL_12_a_renewed_or_ended_address_does_not_exist(self):
        ann = self.user()
        first, second = self.address(ann), self.address(ann)
        unknown = self.read("/api/v1/calendar/nothing")

        self.assertEqual(self.read(first).body, unknown.body)
        self.assertEqual((self.read(first).status, self.read(second).status), (404, 200))
        self.assertEqual(ann.request("DELETE", FEED).status, 204)
        self.assertEqual(self.read(second).body, unknown.body)

    def test_TOOL_12_a_text_that_the_reader_has_is_not_sent_again(self):
        address = self.address(self.user())
        first = self.read(address)

        again = self.read(address, If_None_Match=first.headers["etag"])

        self.assertEqual((again.status, again.body), (304, b""))
        self.assertIn("private", first.headers["cache-control"])
        self.assertEqual(again.headers["etag"], first.headers["etag"])

    def test_HTTP_6_readers_of_a_feed_share_the_limit_of_its_user(self):
        ann = self.user()
        address = self.address(ann)
        answers = [self.read(address).status for _ in range(7)]

        self.assertIn(429, answers)
        self.assertEqual(ann.get(FEED).status, 429)
        self.assertEqual(self.user().get(FEED).status, 200)
        self.assertGreater(int(self.read(address).headers["retry-after"]), 0)

    def test_CFG_4_the_address_is_in_no_log_line_and_no_metric(self):
        api = self.user()
        address = self.address(api)
        secret = address.rsplit("/", 1)[1].removesuffix(".ics")
        encoded = address.replace("cal_", "%63%61l_")
        asked = [self.read(address), self.read(encoded), self.read(address + "/x"), self.read(address + "%zz"),
                 Http(self.server.address).request("POST", address), Http(self.server.address).request("PUT", encoded),
                 self.read(address + "?token=x"), self.read("/api/v1/calendar/feeds/" + secret)]
        self.assertEqual([answer.status for answer in asked], [200, 200, 404, 400, 405, 405, 400, 404])

        marker = new_id("marker")
        self.read(f"/{marker}")
        log = eventually(lambda: marker in (text := self.server.log.read_text()) and text)
        self.assertIn("/api/v1/calendar/feeds/{feed}", log)
        for text in (log, self.read("/metrics").body.decode(), *(answer.body.decode() for answer in asked)):
            self.assertNotIn(secret.removeprefix("cal_"), text)


class HostileFiles(FeedCase):
    def assert_refused(self, body: bytes, code: str = "INVALID_CALENDAR") -> None:
        answer = self.upload(self.api, body)
        self.assert_error(answer, 400, code)

    def test_TOOL_12_broken_files_are_refused(self):
        for body in (b"{}", b"\x00", b"BEGIN:VCALENDAR\r\n", b"BEGIN:VCALENDAR\r\nBEGIN:\r\n",
                     file("BEGIN:VEVENT\r\n"), file("X:\0\r\n"), b"BEGIN:VCALENDAR\r\n" + b"BEGIN:X\r\n" * 100_000):
            with self.subTest(body[:40]):
                self.assert_refused(body)
        self.assert_refused(file(*(vevent(str(number)) for number in range(10_000))), "TOO_MANY_EVENTS")
        self.assert_error(self.upload(self.api, b"x" * (5 << 20)), 413, "BODY_TOO_LARGE")

    def test_TOOL_12_what_is_wrong_with_one_event_harms_no_other(self):
        api = self.user()
        long = "DESCRIPTION:" + "x" * (1 << 20)

        outcomes = self.outcomes(api, file(
            vevent("1", long), vevent("2", "X-LONG:" + "x" * (1 << 20)), vevent("3", "nonsense"),
            vevent("4", "RRULE:FREQ=SECONDLY"), vevent("5", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
            vevent("6", "BEGIN:X-A\r\nSUMMARY:other\r\nEND:X-A"), vevent("7", start="20261120T250000Z"),
            vevent("8", title="bad")).replace(b"SUMMARY:bad", b"SUMMARY:\xff"))

        self.assertEqual(outcomes, ["INVALID_EVENT", "created", "INVALID_EVENT", "UNSUPPORTED_EVENT",
                                    "UNSUPPORTED_EVENT", "created", "INVALID_EVENT", "INVALID_EVENT"])

    def test_HTTP_9_expensive_rules_delay_nobody(self):
        api, other = self.user(), self.user()
        bomb = file(*(vevent(str(number), "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30") for number in range(1000)))
        slowest = 0.0
        uploading = threading.Thread(target=lambda: self.upload(api, bomb))
        uploading.start()
        while uploading.is_alive():
            began = time.monotonic()
            self.assertEqual(other.get(FEED).status, 200)
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.03)
        self.assertLess(slowest, 0.5)


if __name__ == "__main__":
    unittest.main()
