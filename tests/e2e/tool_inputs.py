"""TOOL-4, TOOL-12: inputs of the methods of calendar, contacts and memory, and what each of them gives."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Row:
    """A call of a user who has nothing but what is given.

    `gives` is the data of a success or a partial one, or "CODE: message" of a failure. `$0`, `$1` … are the ids of the given
    events, `$invite` is that of an invitation from another user to the event `$shared`, and `$new` is an id that the call has
    made. A message of INVALID_ACTION_INPUT is told without its beginning, which is the same for each method."""

    method: str
    input: dict
    gives: dict | str
    given: tuple[dict, ...] = ()
    zone: str = "Asia/Shanghai"


def timed(title: str = "Tea", start: str = "2026-05-01T07:00:00Z", end: str = "2026-05-01T08:00:00Z", **more) -> dict:
    return {"title": title, "start_at": start, "end_at": end, **more}


def days(title: str = "Fair", first: str = "2026-05-01", **more) -> dict:
    return {"title": title, "all_day": True, "start_date": first, **more}


def batch(*items) -> dict:
    return {"mode": "batch", "items": list(items)}


def event(number: int = 0, **changes) -> dict:
    return {"event_id": f"${number}", **changes}


def day(date: str) -> dict:
    return {"mode": "day", "date": date}


def span(start: str, end: str) -> dict:
    return {"mode": "range", "start_at": start, "end_at": end}


def user(**content) -> dict:
    return {"kind": "user", "content": content}


def work(**content) -> dict:
    return {"kind": "work_profile", "content": content}


def without(given: dict, name: str) -> dict:
    return {key: value for key, value in given.items() if key != name}


def around(first: str, last: str) -> tuple[dict, ...]:
    """Events of a second before, at the beginning, at the end, and after a span of time."""
    def at(instant: str, seconds: int) -> str:
        return (datetime.fromisoformat(instant.replace("Z", "+00:00")) + timedelta(seconds=seconds)).isoformat()

    return (timed("before", at(first, -1), first), timed("first", first, at(first, 1)),
            timed("last", at(last, -1), last), timed("after", last, at(last, 1)))


INSTANT = "must be an RFC 3339 instant with Z or an offset from UTC, such as 2026-05-01T09:00:00+02:00"
DATE = "must be a date that exists, as YYYY-MM-DD, such as 2026-05-01"
ZONE = "timezone must be a time zone in the IANA database, such as Europe/Berlin"
NO_EVENT = "NOT_FOUND: the user has no event with this event_id"
NO_INVITE = "NOT_FOUND: the user has no invitation with this invite_id"
TIMED = "mode, title, start_at, end_at, all_day, location, description, timezone, reminders, rrule, exdates"
CREATED = {"event_id": "$new", "outcome": "created"}
TEA = timed()
BAD = "INVALID_ACTION_INPUT: "
PARTS = ("rrule must have parts such as FREQ=WEEKLY;BYDAY=MO,WE, which can be FREQ, INTERVAL, COUNT, UNTIL, BYMONTH, "
         "BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYSETPOS and WKST")
UNTIL_INSTANT = ("rrule UNTIL must be an instant in UTC such as 20261231T235959Z, because the event is at a time of day")
NO_OCCURRENCE = "NO_SUCH_OCCURRENCE: the event has no occurrence with this occurrence_start"
UNKNOWN_EXDATE = ("exdates must be starts of occurrences, as the occurrence_start of calendar.read names them; at least one "
                  "is not")
DAILY = {"rrule": "FREQ=DAILY;COUNT=3"}


def three_days(zone, first, starts, ends):
    """A row: what is read of an event at nine o'clock on three days, on the second of which the clocks change."""
    asked = {"title": "Tea", "start_at": f"{first[0]}T09:00:00{first[1]}", "end_at": f"{first[0]}T09:30:00{first[1]}", "timezone": zone, **DAILY}
    items = [{"event_id": "$0", "title": "Tea", "start_at": start, "end_at": end, "timezone": zone, **DAILY, "occurrence_start": start}
             for start, end in zip(starts, ends)]
    begin = datetime.fromisoformat(first[0])
    window = {"mode": "range", "start_at": f"{begin - timedelta(1):%Y-%m-%d}T00:00:00Z", "end_at": f"{begin + timedelta(4):%Y-%m-%d}T00:00:00Z"}
    return Row("calendar.read", window, {"items": items, "count": 3}, given=(asked,))


NOT_ORGANIZER = ("NOT_ORGANIZER: only the user who made this event can change, delete or share it; reject_invite removes it "
                 "from this user's calendar")

ROWS = [
    Row("calendar.create", TEA, CREATED),
    Row("calendar.create", {"mode": "single", **TEA}, CREATED),
    Row("calendar.create", {}, BAD + "/title: is required; /start_at: is required; /end_at: is required"),
    Row("calendar.create", {"mode": "one", **TEA}, BAD + "/mode: must be one of single or batch"),
    Row("calendar.create", {"mode": None, **TEA}, BAD + "/mode: must be a string"),
    Row("calendar.create", without(TEA, "title"), BAD + "/title: is required"),
    Row("calendar.create", without(TEA, "start_at"), BAD + "/start_at: is required"),
    Row("calendar.create", without(TEA, "end_at"), BAD + "/end_at: is required"),
    Row("calendar.create", {**TEA, "colour": "red"}, f"{BAD}/colour: is not known; known: {TIMED}"),
    Row("calendar.create", {**TEA, "owner_id": "bob"}, f"{BAD}/owner_id: is not known; known: {TIMED}"),
    Row("calendar.create", {**TEA, "attendees": []}, f"{BAD}/attendees: is not known; known: {TIMED}"),
    Row("calendar.create", {**TEA, "title": 5}, BAD + "/title: must be a string"),
    Row("calendar.create", {**TEA, "start_at": 5}, BAD + "/start_at: must be a string"),
    Row("calendar.create", {**TEA, "end_at": 5}, BAD + "/end_at: must be a string"),
    Row("calendar.create", {**TEA, "location": 5}, BAD + "/location: must be a string"),
    Row("calendar.create", {**TEA, "description": 5}, BAD + "/description: must be a string"),
    Row("calendar.create", {**TEA, "timezone": 5}, BAD + "/timezone: must be a string"),
    Row("calendar.create", {**TEA, "title": None}, BAD + "/title: must be a string"),
    Row("calendar.create", {**TEA, "title": ["Tea"]}, BAD + "/title: must be a string"),
    Row("calendar.create", {**TEA, "reminders": 10}, BAD + "/reminders: must be a list"),
    Row("calendar.create", {**TEA, "reminders": ["10"]}, BAD + "/reminders/0: must be a whole number"),
    Row("calendar.create", {**TEA, "reminders": [10, 10]}, BAD + "/reminders: must not have two equal items"),
    Row("calendar.create", {**TEA, "reminders": [-1]}, BAD + "/reminders/0: must be at least 0"),
    Row("calendar.create", {**TEA, "reminders": [40321]}, BAD + "/reminders/0: must be at most 40320"),
    Row("calendar.create", {**TEA, "reminders": [1.5]}, BAD + "/reminders/0: must be a whole number"),
    Row("calendar.create", {**TEA, "reminders": [0, 1, 2, 3, 4, 5]}, BAD + "/reminders: must have at most 5 items"),
    Row("calendar.create", {**TEA, "reminders": [0, 40320]}, CREATED),
    Row("calendar.create", timed(""), BAD + "/title: must not be empty"),
    Row("calendar.create", timed(" \t\n"), BAD + "title must not be blank"),
    Row("calendar.create", timed("\u3000"), BAD + "title must not be blank"),
    Row("calendar.create", timed("茶" * 200), CREATED),
    Row("calendar.create", timed("茶" * 201), BAD + "/title: must have at most 200 characters"),
    Row("calendar.create", timed("👩‍👩‍👧 🎉"), CREATED),
    Row("calendar.create", timed("اجتماع مع وِلِيّ"), CREATED),
    Row("calendar.create", timed("\u202eevil\u202c"), CREATED),
    Row("calendar.create", timed("<script>alert(1)</script>"), CREATED),
    Row("calendar.create", timed("a\u0000b"),
        BAD + "the arguments are no JSON that can be used: line 1, column 72: a string must not contain U+0000"),
    Row("calendar.create", {**TEA, "description": "x" * 4000}, CREATED),
    Row("calendar.create", {**TEA, "description": "x" * 4001}, BAD + "/description: must have at most 4000 characters"),
    Row("calendar.create", {**TEA, "location": "x" * 201}, BAD + "/location: must have at most 200 characters"),
    Row("calendar.create", {**TEA, "location": "", "description": ""}, CREATED),
    Row("calendar.create", {**TEA, "description": "x" * 300_000},
        "INPUT_TOO_LARGE: the arguments have 300158 bytes; at most 262144 are allowed"),
    Row("calendar.create", {**TEA, "description": "x" * 1_000_000},
        "INPUT_TOO_LARGE: the arguments have 1000158 bytes; at most 262144 are allowed"),
    Row("calendar.create", {**TEA, "start_at": ""}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01T09:00:00"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01T09:00Z"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-02-29T09:00:00Z"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01T24:00:00Z"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01 09:00:00Z"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01T09:00:00+0200"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "2026-05-01T09:00:00[Europe/Berlin]"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "1777618800"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "start_at": "tomorrow at ten"}, f"{BAD}start_at {INSTANT}"),
    Row("calendar.create", {**TEA, "end_at": "2026-05-01T08:00:00"}, f"{BAD}end_at {INSTANT}"),
    Row("calendar.create", timed(start="2028-02-29T09:00:00Z", end="2028-02-29T10:00:00Z"), CREATED),
    Row("calendar.create", timed(start="2026-05-01T08:00:00Z"), BAD + "end_at must be after start_at"),
    Row("calendar.create", timed(end="2026-05-01T06:59:59Z"), BAD + "end_at must be after start_at"),
    Row("calendar.create", timed(end="2026-05-01T09:00:00+02:00"), BAD + "end_at must be after start_at"),
    Row("calendar.create", timed(end="2027-05-02T07:00:00Z"), CREATED),
    Row("calendar.create", timed(end="2027-05-02T07:00:01Z"), BAD + "end_at must be at most 366 days after start_at"),
    Row("calendar.create", timed(start="1969-12-31T23:59:59Z", end="1970-01-01T01:00:00Z"),
        BAD + "start_at must be in the years 1970 to 9999, counted in UTC"),
    Row("calendar.create", timed(start="9999-12-31T23:00:00Z", end="9999-12-31T23:30:00-01:00"),
        BAD + "end_at must be in the years 1970 to 9999, counted in UTC"),
    Row("calendar.create", {**TEA, "timezone": "Mars/Base"}, BAD + ZONE),
    Row("calendar.create", {**TEA, "timezone": "europe/berlin"}, BAD + ZONE),
    Row("calendar.create", {**TEA, "timezone": ""}, BAD + ZONE),
    Row("calendar.create", {**TEA, "timezone": "+02:00"}, BAD + ZONE),
    Row("calendar.create", {**TEA, "timezone": "../../etc/passwd"}, BAD + ZONE),
    Row("calendar.create", {**TEA, "timezone": "Europe/Berlin"}, CREATED),
    Row("calendar.create", days(), {"event_id": "$new", "outcome": "created", "end_date": "2026-05-01"}),
    Row("calendar.create", days(end_date="2026-05-03"), CREATED),
    Row("calendar.create", days(first="2026-02-29"), f"{BAD}start_date {DATE}"),
    Row("calendar.create", days(first="2028-02-29"), {"event_id": "$new", "outcome": "created", "end_date": "2028-02-29"}),
    Row("calendar.create", days(end_date="2026-04-30"), BAD + "end_date must not be before start_date"),
    Row("calendar.create", days(end_date="2027-05-01"), CREATED),
    Row("calendar.create", days(first="2026-05-01T00:00:00Z"), f"{BAD}start_date {DATE}"),
    Row("calendar.create", days(start_at="2026-05-01T09:00:00Z"),
        BAD + "/start_at: is not known; known: mode, title, all_day, start_date, end_date, location, description, "
        "timezone, reminders, rrule, exdates"),
    Row("calendar.create", {**TEA, "all_day": True},
        BAD + "/start_date: is required; /start_at: is not known; known: mode, title, all_day, start_date, end_date, "
        "location, description, timezone, reminders, rrule, exdates; /end_at: is not known; known: mode, title, all_day, "
        "start_date, end_date, location, description, timezone, reminders, rrule, exdates"),
    Row("calendar.create", {**TEA, "all_day": False}, CREATED),
    Row("calendar.create", {**TEA, "all_day": "no"}, BAD + "/all_day: must be true or false"),
    Row("calendar.create", without(days(), "start_date"), BAD + "/start_date: is required"),
    Row("calendar.create", days(first="9999-12-31"), BAD + "end_date must be before 9999-12-31"),
    Row("calendar.create", TEA,
        {"event_id": "$new", "outcome": "created", "conflicts": [{"event_id": "$0", "title": "Call",
        "start_at": "2026-05-01T07:00:00.000Z", "end_at": "2026-05-01T08:00:00.000Z"}]}, given=(timed("Call"),)),
    Row("calendar.create", timed(start="2026-05-01T08:00:00Z", end="2026-05-01T09:00:00Z"),
        CREATED, given=(timed("Call"),)),
    Row("calendar.create", TEA, CREATED, given=(days(),)),
    Row("calendar.create", batch(), BAD + "/items: must not be empty"),
    Row("calendar.create", {"mode": "batch"}, BAD + "/items: is required"),
    Row("calendar.create", {"mode": "batch", "items": {}}, BAD + "/items: must be a list"),
    Row("calendar.create", {**batch(TEA), "title": "Tea"}, BAD + "/title: is not known; known: mode, items"),
    Row("calendar.create", batch(TEA, days()),
        {"items": [{"index": 0, "event_id": "$new", "outcome": "created"}, {"index": 1, "event_id": "$new",
        "outcome": "created", "end_date": "2026-05-01"}], "count": 2, "failed": 0}),
    Row("calendar.create", batch(TEA, {"title": "No time"}),
        {"items": [{"index": 0, "event_id": "$new", "outcome": "created"}, {"index": 1, "outcome": "failed",
        "error": {"code": "INVALID_ACTION_INPUT", "message": "/start_at: is required; /end_at: is required"}}],
        "count": 2, "failed": 1}),
    Row("calendar.create", batch(TEA, 5, None),
        {"items": [{"index": 0, "event_id": "$new", "outcome": "created"}, {"index": 1, "outcome": "failed",
        "error": {"code": "INVALID_ACTION_INPUT", "message": "must be an object"}}, {"index": 2, "outcome": "failed",
        "error": {"code": "INVALID_ACTION_INPUT", "message": "must be an object"}}], "count": 3, "failed": 2}),
    Row("calendar.create", batch({}, timed(end="2026-05-01T06:00:00Z")),
        {"code": "BATCH_FAILED", "items": [{"index": 0, "outcome": "failed", "error": {"code": "INVALID_ACTION_INPUT",
        "message": "/title: is required; /start_at: is required; /end_at: is required"}}, {"index": 1,
        "outcome": "failed", "error": {"code": "INVALID_ACTION_INPUT", "message": "end_at must be after start_at"}}]}),
    Row("calendar.create", batch({"mode": "single", **TEA}),
        {"code": "BATCH_FAILED", "items": [{"index": 0, "outcome": "failed", "error": {"code": "INVALID_ACTION_INPUT",
        "message": "/mode: is not known; known: title, start_at, end_at, all_day, location, description, timezone, "
        "reminders, rrule, exdates"}}]}),
    Row("calendar.create", batch(*[TEA] * 1001), BAD + "/items: must have at most 1000 items"),
    Row("calendar.create", timed(rrule="freq=weekly;byday=fr"), CREATED),
    Row("calendar.create", timed(rrule=""), CREATED),
    Row("calendar.create", timed(rrule=5), BAD + "/rrule: must be a string"),
    Row("calendar.create", timed(rrule="x" * 513), BAD + "/rrule: must have at most 512 characters"),
    Row("calendar.create", timed(rrule="every Friday"), BAD + PARTS),
    Row("calendar.create", timed(rrule="RRULE:FREQ=DAILY"), BAD + PARTS),
    Row("calendar.create", timed(rrule="FREQ=HOURLY"), BAD + "rrule FREQ must be DAILY, WEEKLY, MONTHLY or YEARLY"),
    Row("calendar.create", timed(rrule="FREQ=DAILY;BYHOUR=9"),
        BAD + "rrule cannot have BYHOUR, BYMINUTE or BYSECOND: an event is at one time of day, that of its start"),
    Row("calendar.create", timed(rrule="FREQ=DAILY;COUNT=2;UNTIL=20270101T000000Z"),
        BAD + "rrule cannot have both COUNT and UNTIL"),
    Row("calendar.create", timed(rrule="FREQ=DAILY;COUNT=1001"), BAD + "rrule COUNT must be a number from 1 to 1000"),
    Row("calendar.create", timed(rrule="FREQ=DAILY;INTERVAL=0"), BAD + "rrule INTERVAL must be a number from 1 to 9999"),
    Row("calendar.create", timed(rrule="FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"),
        BAD + "rrule must name a day on or after the start of the event; this one names none"),
    Row("calendar.create", timed(rrule="FREQ=DAILY;UNTIL=20270101"), BAD + UNTIL_INSTANT),
    Row("calendar.create", timed(rrule="FREQ=DAILY;UNTIL=20270101T000000"), BAD + UNTIL_INSTANT),
    Row("calendar.create", timed(rrule="FREQ=DAILY;UNTIL=20260501T065959Z"),
        BAD + "rrule must have an UNTIL that is not before the start of the event"),
    Row("calendar.create", days(rrule="FREQ=YEARLY;UNTIL=20300501"), {**CREATED, "end_date": "2026-05-01"}),
    Row("calendar.create", days(rrule="FREQ=YEARLY;UNTIL=20300501T000000Z"),
        BAD + "rrule UNTIL must be a date such as 20261231, because the event takes whole days"),
    Row("calendar.create", timed(**DAILY, exdates=["2026-05-02T09:00:00+02:00"]), CREATED),
    Row("calendar.create", timed(**DAILY, exdates=["2026-05-04T07:00:00Z"]), BAD + UNKNOWN_EXDATE),
    Row("calendar.create", timed(**DAILY, exdates=["2026-05-02"]),
        BAD + "exdates must each be an RFC 3339 instant with Z or an offset from UTC, such as 2026-05-01T09:00:00+02:00"),
    Row("calendar.create", timed(exdates=["2026-05-01T07:00:00Z"]),
        BAD + "exdates can only be used for an event that repeats, which has an rrule"),
    Row("calendar.create", timed(**DAILY, exdates="2026-05-02"), BAD + "/exdates: must be a list"),
    Row("calendar.update", event(rrule="FREQ=DAILY;COUNT=3"),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}, given=(TEA,)),
    Row("calendar.update", event(title="Cake", occurrence_start="2026-05-02T07:00:00Z"),
        {"event_id": "$new", "series_id": "$0", "outcome": "updated", "end_at": "2026-05-02T08:00:00.000Z"},
        given=(timed(**DAILY),)),
    Row("calendar.update", event(title="Cake", occurrence_start="2026-05-04T07:00:00Z"), NO_OCCURRENCE,
        given=(timed(**DAILY),)),
    Row("calendar.update", event(title="Cake", occurrence_start="2026-05-01T07:00:00Z"),
        "NO_SUCH_OCCURRENCE: this event does not repeat, so it has no occurrence_start", given=(TEA,)),
    Row("calendar.update", event(rrule="", occurrence_start="2026-05-01T07:00:00Z"),
        BAD + "rrule and exdates cannot be used with occurrence_start", given=(timed(**DAILY),)),
    Row("calendar.delete", event(occurrence_start="2026-05-02T07:00:00Z"),
        {"event_id": "$0", "outcome": "deleted", "title": "Tea", "end_at": "2026-05-02T08:00:00.000Z"},
        given=(timed(**DAILY),)),
    Row("calendar.delete", event(occurrence_start="2026-05-02"),
        {"event_id": "$0", "outcome": "deleted", "title": "Fair", "all_day": True, "end_date": "2026-05-02"},
        given=(days(**DAILY),)),
    Row("calendar.delete", event(occurrence_start="tomorrow"),
        BAD + "occurrence_start must be a date such as 2026-05-01, because the event takes whole days",
        given=(days(**DAILY),)),
    three_days("Europe/Berlin", ("2026-10-24", "+02:00"),
               ("2026-10-24T07:00:00.000Z", "2026-10-25T08:00:00.000Z", "2026-10-26T08:00:00.000Z"),
               ("2026-10-24T07:30:00.000Z", "2026-10-25T08:30:00.000Z", "2026-10-26T08:30:00.000Z")),
    three_days("America/New_York", ("2027-03-13", "-05:00"),
               ("2027-03-13T14:00:00.000Z", "2027-03-14T13:00:00.000Z", "2027-03-15T13:00:00.000Z"),
               ("2027-03-13T14:30:00.000Z", "2027-03-14T13:30:00.000Z", "2027-03-15T13:30:00.000Z")),
    three_days("Australia/Sydney", ("2026-10-03", "+10:00"),
               ("2026-10-02T23:00:00.000Z", "2026-10-03T22:00:00.000Z", "2026-10-04T22:00:00.000Z"),
               ("2026-10-02T23:30:00.000Z", "2026-10-03T22:30:00.000Z", "2026-10-04T22:30:00.000Z")),
    Row("calendar.read", day("2026-05-02"),
        {"items": [{"event_id": "$0", "title": "Fair", "all_day": True, "start_date": "2026-05-02",
        "end_date": "2026-05-02", "timezone": "UTC", "rrule": "FREQ=DAILY;COUNT=3", "occurrence_start": "2026-05-02"}],
        "count": 1}, given=(days(**DAILY),)),
    Row("calendar.update", event(title="Cake"),
        {"event_id": "$0", "outcome": "updated", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}, given=(TEA,)),
    Row("calendar.update", event(start_at="2026-05-02T09:00:00+02:00"),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "end_at": "2026-05-02T08:00:00.000Z"}, given=(TEA,)),
    Row("calendar.update", event(end_at="2026-05-01T09:00:00Z"),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z"}, given=(TEA,)),
    Row("calendar.update", event(end_at="2026-05-01T07:00:00Z"), BAD + "end_at must be after start_at", given=(TEA,)),
    Row("calendar.update", event(start_at="2026-05-02"), f"{BAD}start_at {INSTANT}", given=(TEA,)),
    Row("calendar.update", event(), BAD + "must have at least 2 members", given=(TEA,)),
    Row("calendar.update", {"mode": "single", "event_id": "$0"},
        BAD + "the input must have at least one field to change besides event_id and occurrence_start", given=(TEA,)),
    Row("calendar.update", {"title": "Cake"}, BAD + "must have at least 2 members; /event_id: is required"),
    Row("calendar.update", {"event_id": "evt_none", "title": "Cake"}, NO_EVENT),
    Row("calendar.update", event(colour="red"),
        BAD + "/colour: is not known; known: mode, event_id, title, start_at, end_at, all_day, start_date, end_date, "
        "location, description, timezone, reminders, rrule, exdates, occurrence_start", given=(TEA,)),
    Row("calendar.update", event(title=""), BAD + "/title: must not be empty", given=(TEA,)),
    Row("calendar.update", event(title=" "), BAD + "title must not be blank", given=(TEA,)),
    Row("calendar.update", event(all_day=True),
        BAD + "start_date is required to make this an event of whole days", given=(TEA,)),
    Row("calendar.update", event(all_day=True, start_date="2026-05-01"),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "end_date": "2026-05-01"}, given=(TEA,)),
    Row("calendar.update", event(start_date="2026-05-01"),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "all_day": True, "end_date": "2026-05-01"}, given=(TEA,)),
    Row("calendar.update", event(start_date="2026-02-29"), f"{BAD}start_date {DATE}", given=(days(),)),
    Row("calendar.update", event(start_date="2028-02-29"),
        {"event_id": "$0", "outcome": "updated", "title": "Fair", "all_day": True, "end_date": "2028-02-29"},
        given=(days(),)),
    Row("calendar.update", event(start_at="2026-05-01T09:00:00Z"),
        BAD + "end_at is required to make this an event at a time of day", given=(days(),)),
    Row("calendar.update", event(start_at="2026-05-01T09:00:00Z", start_date="2026-05-01"),
        BAD + "start_date and end_date cannot be used with start_at and end_at", given=(TEA,)),
    Row("calendar.update", event(all_day=False, start_at="2026-05-01T09:00:00Z", end_at="2026-05-01T10:00:00Z"),
        {"event_id": "$0", "outcome": "updated", "title": "Fair"}, given=(days(),)),
    Row("calendar.update", event(timezone="Mars/Base"), BAD + ZONE, given=(TEA,)),
    Row("calendar.update", event(reminders=[]),
        {"event_id": "$0", "outcome": "updated", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}, given=(TEA,)),
    Row("calendar.update", event(title="Cake", start_at="2026-05-01T07:30:00Z"),
        {"event_id": "$0", "outcome": "updated", "end_at": "2026-05-01T08:30:00.000Z", "conflicts": [{"event_id": "$1",
        "title": "Call", "start_at": "2026-05-01T08:15:00.000Z", "end_at": "2026-05-01T09:00:00.000Z"}]},
        given=(TEA, timed("Call", "2026-05-01T08:15:00Z", "2026-05-01T09:00:00Z"))),
    Row("calendar.update", {"event_id": "$shared", "title": "Mine"}, NOT_ORGANIZER),
    Row("calendar.update", batch(event(title="Cake"), event(title="Pie")),
        {"items": [{"index": 0, "event_id": "$0", "outcome": "updated", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}, {"index": 1, "outcome": "failed", "error": {"code": "INVALID_ACTION_INPUT",
        "message": "event_id is that of an earlier item; an event can be in a batch only once"}}], "count": 2,
        "failed": 1}, given=(TEA,)),
    Row("calendar.update", batch({"event_id": "evt_none", "title": "x"}),
        {"code": "BATCH_FAILED", "items": [{"index": 0, "outcome": "failed", "error": {"code": "NOT_FOUND",
        "message": "the user has no event with this event_id"}}]}),
    Row("calendar.update", batch(), BAD + "/items: must not be empty"),
    Row("calendar.delete", event(),
        {"event_id": "$0", "outcome": "deleted", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}, given=(TEA,)),
    Row("calendar.delete", event(title="Tea"), BAD + "/title: is not known; known: mode, event_id, occurrence_start",
        given=(TEA,)),
    Row("calendar.delete", {}, BAD + "/event_id: is required"),
    Row("calendar.delete", {"event_id": ""}, BAD + "/event_id: must not be empty"),
    Row("calendar.delete", {"event_id": 7}, BAD + "/event_id: must be a string"),
    Row("calendar.delete", {"event_id": "x" * 129}, BAD + "/event_id: must have at most 128 characters"),
    Row("calendar.delete", {"event_id": "evt_none"}, NO_EVENT),
    Row("calendar.delete", {"event_id": "$shared"}, NOT_ORGANIZER),
    Row("calendar.delete", batch(event(0), event(1), {"event_id": "evt_none"}),
        {"items": [{"index": 0, "event_id": "$0", "outcome": "deleted", "title": "Tea",
        "start_at": "2026-05-01T07:00:00.000Z", "end_at": "2026-05-01T08:00:00.000Z"}, {"index": 1, "event_id": "$1",
        "outcome": "deleted", "title": "Fair", "all_day": True, "start_date": "2026-05-01", "end_date": "2026-05-01"},
        {"index": 2, "outcome": "failed", "error": {"code": "NOT_FOUND",
        "message": "the user has no event with this event_id"}}], "count": 3, "failed": 1}, given=(TEA, days())),
    Row("calendar.delete", batch(event(0), event(0)),
        {"items": [{"index": 0, "event_id": "$0", "outcome": "deleted", "title": "Tea",
        "start_at": "2026-05-01T07:00:00.000Z", "end_at": "2026-05-01T08:00:00.000Z"}, {"index": 1, "outcome": "failed",
        "error": {"code": "INVALID_ACTION_INPUT",
        "message": "event_id is that of an earlier item; an event can be in a batch only once"}}], "count": 2,
        "failed": 1}, given=(TEA,)),
    Row("calendar.share", event(user_ids=["wei"]),
        {"title": "Tea", "start_at": "2026-05-01T07:00:00.000Z", "end_at": "2026-05-01T08:00:00.000Z",
        "items": [{"user_id": "wei", "invite_id": "$new", "outcome": "invited"}], "count": 1}, given=(TEA,)),
    Row("calendar.share", event(user_ids=["wei", "li"]),
        {"title": "Fair", "all_day": True, "start_date": "2026-05-01", "end_date": "2026-05-01",
        "items": [{"user_id": "wei", "invite_id": "$new", "outcome": "invited"}, {"user_id": "li", "invite_id": "$new",
        "outcome": "invited"}], "count": 2}, given=(days(),)),
    Row("calendar.share", event(user_ids=[]), BAD + "/user_ids: must not be empty", given=(TEA,)),
    Row("calendar.share", event(user_ids=["wei", "wei"]), BAD + "/user_ids: must not have two equal items", given=(TEA,)),
    Row("calendar.share", event(user_ids="wei"), BAD + "/user_ids: must be a list", given=(TEA,)),
    Row("calendar.share", event(user_ids=[""]), BAD + "/user_ids/0: must not be empty", given=(TEA,)),
    Row("calendar.share", event(user_ids=["$me"]), BAD + "user_ids must not have the user's own user_id", given=(TEA,)),
    Row("calendar.share", event(user_ids=["x" * 257]), BAD + "/user_ids/0: must have at most 256 characters", given=(TEA,)),
    Row("calendar.share", event(user_ids=[str(i) for i in range(51)]),
        BAD + "/user_ids: must have at most 50 items", given=(TEA,)),
    Row("calendar.share", {"event_id": "evt_none", "user_ids": ["wei"]}, NO_EVENT),
    Row("calendar.share", {"event_id": "$shared", "user_ids": ["wei"]}, NOT_ORGANIZER),
    Row("calendar.share", event(user_ids=["wei"], message="Come"),
        BAD + "/message: is not known; known: event_id, user_ids", given=(TEA,)),
    Row("calendar.accept_invite", {"invite_id": "$invite"},
        {"event_id": "$shared", "outcome": "accepted", "title": "Lunch", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}),
    Row("calendar.accept_invite", {"invite_id": "inv_none"}, NO_INVITE),
    Row("calendar.accept_invite", {}, BAD + "/invite_id: is required"),
    Row("calendar.accept_invite", {"invite_id": "$invite", "reason": "busy"},
        BAD + "/reason: is not known; known: invite_id"),
    Row("calendar.accept_invite", {"event_id": "$shared"},
        BAD + "/invite_id: is required; /event_id: is not known; known: invite_id"),
    Row("calendar.reject_invite", {"invite_id": "$invite"},
        {"event_id": "$shared", "outcome": "rejected", "title": "Lunch", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z"}),
    Row("calendar.reject_invite", {"invite_id": "inv_none"}, NO_INVITE),
    Row("calendar.reject_invite", {}, BAD + "/invite_id: is required"),
    Row("calendar.reject_invite", {"invite_id": "$invite", "reason": "busy"},
        BAD + "/reason: is not known; known: invite_id"),
    Row("calendar.reject_invite", {"event_id": "$shared"},
        BAD + "/invite_id: is required; /event_id: is not known; known: invite_id"),
    Row("calendar.read", {}, BAD + "/mode: is required and must be one of day, range, event or invites"),
    Row("calendar.read", {"mode": "week"}, BAD + "/mode: must be one of day, range, event or invites"),
    Row("calendar.read", {"date": "2026-05-01"},
        BAD + "/mode: is required and must be one of day, range, event or invites"),
    Row("calendar.read", day("2026-05-01"),
        {"items": [{"event_id": "$1", "title": "Fair", "all_day": True, "start_date": "2026-05-01",
        "end_date": "2026-05-01", "timezone": "UTC"}, {"event_id": "$0", "title": "Tea",
        "start_at": "2026-05-01T07:00:00.000Z", "end_at": "2026-05-01T08:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=(TEA, days())),
    Row("calendar.read", day("2026-02-29"), f"{BAD}date {DATE}"),
    Row("calendar.read", day("2026-5-1"), f"{BAD}date {DATE}"),
    Row("calendar.read", day("today"), f"{BAD}date {DATE}"),
    Row("calendar.read", day("1969-12-31"), BAD + "date must be in the years 1970 to 9999"),
    Row("calendar.read", {"mode": "day"}, BAD + "/date: is required"),
    Row("calendar.read", {**day("2026-05-01"), "limit": 3}, BAD + "/limit: is not known; known: mode, date"),
    Row("calendar.read", span("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
        {"items": [{"event_id": "$0", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z", "timezone": "UTC"}], "count": 1}, given=(TEA,)),
    Row("calendar.read", span("2026-05-01", "2026-05-02"), f"{BAD}start_at {INSTANT}"),
    Row("calendar.read", span("2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z"), BAD + "end_at must be after start_at"),
    Row("calendar.read", span("2026-05-01T00:00:00Z", "2027-05-02T00:00:01Z"),
        BAD + "end_at must be at most 366 days after start_at"),
    Row("calendar.read", {"mode": "event", "event_id": "$0"},
        {"items": [{"event_id": "$0", "title": "Tea", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z", "timezone": "UTC"}], "count": 1}, given=(TEA,)),
    Row("calendar.read", {"mode": "event", "event_id": "evt_none"}, NO_EVENT),
    Row("calendar.read", {"mode": "event"}, BAD + "/event_id: is required"),
    Row("calendar.read", {"mode": "invites"},
        {"items": [{"event_id": "$shared", "title": "Lunch", "start_at": "2026-05-01T07:00:00.000Z",
        "end_at": "2026-05-01T08:00:00.000Z", "timezone": "UTC", "organizer": "$host", "invite_id": "$invite",
        "invite_status": "pending"}], "count": 1, "more": False}),
    Row("calendar.read", {"mode": "invites", "date": "2026-05-01"}, BAD + "/date: is not known; known: mode"),
    Row("calendar.read", day("2026-03-29"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-03-28T23:00:00.000Z",
        "end_at": "2026-03-28T23:00:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-03-29T21:59:59.000Z", "end_at": "2026-03-29T22:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"), zone="Europe/Berlin"),
    Row("calendar.read", day("2026-10-25"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-10-24T22:00:00.000Z",
        "end_at": "2026-10-24T22:00:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-10-25T22:59:59.000Z", "end_at": "2026-10-25T23:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"), zone="Europe/Berlin"),
    Row("calendar.read", day("2026-03-08"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-03-08T05:00:00.000Z",
        "end_at": "2026-03-08T05:00:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-03-09T03:59:59.000Z", "end_at": "2026-03-09T04:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"), zone="America/New_York"),
    Row("calendar.read", day("2026-11-01"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-11-01T04:00:00.000Z",
        "end_at": "2026-11-01T04:00:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-11-02T04:59:59.000Z", "end_at": "2026-11-02T05:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"), zone="America/New_York"),
    Row("calendar.read", day("2026-10-04"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-10-03T13:30:00.000Z",
        "end_at": "2026-10-03T13:30:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-10-04T12:59:59.000Z", "end_at": "2026-10-04T13:00:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-10-03T13:30:00Z", "2026-10-04T13:00:00Z"), zone="Australia/Lord_Howe"),
    Row("calendar.read", day("2026-04-05"),
        {"items": [{"event_id": "$1", "title": "first", "start_at": "2026-04-04T13:00:00.000Z",
        "end_at": "2026-04-04T13:00:01.000Z", "timezone": "UTC"}, {"event_id": "$2", "title": "last",
        "start_at": "2026-04-05T13:29:59.000Z", "end_at": "2026-04-05T13:30:00.000Z", "timezone": "UTC"}],
        "count": 2}, given=around("2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z"), zone="Australia/Lord_Howe"),
    Row("calendar.create", timed(start="2026-03-29T02:30:00+01:00", end="2026-03-29T03:30:00+02:00"),
        BAD + "end_at must be after start_at", zone="Europe/Berlin"),
    Row("calendar.create", timed(start="2026-03-29T02:30:00+01:00", end="2026-03-29T04:30:00+02:00"),
        CREATED, zone="Europe/Berlin"),
    Row("calendar.create", timed(start="2026-10-25T02:30:00+02:00", end="2026-10-25T02:30:00+01:00"),
        CREATED, zone="Europe/Berlin"),
    Row("calendar.create", timed(start="2026-11-01T01:30:00-05:00", end="2026-11-01T01:30:00-04:00"),
        BAD + "end_at must be after start_at", zone="America/New_York"),
    Row("contacts.read", {}, BAD + "/mode: is required and must be one of list, search or get"),
    Row("contacts.read", {"mode": "list"}, {"items": [], "count": 0, "more": False}),
    Row("contacts.read", {"mode": "list", "limit": 0}, BAD + "/limit: must be at least 1"),
    Row("contacts.read", {"mode": "list", "limit": 101}, BAD + "/limit: must be at most 100"),
    Row("contacts.read", {"mode": "list", "cursor": "x"}, BAD + "cursor must be the next_cursor of an earlier list"),
    Row("contacts.read", {"mode": "search"}, BAD + "/query: is required"),
    Row("contacts.read", {"mode": "search", "query": ""}, BAD + "/query: must not be empty"),
    Row("contacts.read", {"mode": "search", "query": "王"}, {"items": [], "count": 0, "more": False}),
    Row("contacts.read", {"mode": "search", "query": "a b c d e f g h i"}, BAD + "query must have at most 8 words"),
    Row("contacts.read", {"mode": "get", "contact_id": "con_none"},
        "NOT_FOUND: the user has no contact with this contact_id"),
    Row("contacts.read", {"mode": "get"}, BAD + "/contact_id: is required"),
    Row("contacts.read", {"mode": "find", "query": "x"}, BAD + "/mode: must be one of list, search or get"),
    Row("contacts.read", {"mode": "search", "query": "x", "owner_id": "bob"},
        BAD + "/owner_id: is not known; known: mode, query, limit"),
    Row("memory.update", {}, BAD + "/content: is required; /kind: is required and must be one of user or work_profile"),
    Row("memory.update", user(likes=["green tea"]), {"outcome": "updated", "fields": ["likes"]}),
    Row("memory.update", {**user(likes=["green tea"]), "mode": "replace"}, {"outcome": "updated", "fields": ["likes"]}),
    Row("memory.update", {**user(likes=["green tea"]), "mode": "append"}, BAD + "/mode: must be one of merge or replace"),
    Row("memory.update", user(likes="green tea"), BAD + "/content/likes: must be a list"),
    Row("memory.update", user(likes=[""]), BAD + "/content/likes/0: must not be empty"),
    Row("memory.update", user(likes=["x"] * 51), BAD + "/content/likes: must have at most 50 items"),
    Row("memory.update", user(colour="red"),
        BAD + "/content/colour: is not known; known: preferred_name, about, likes, dislikes, people, dates, habits, notes"),
    Row("memory.update", user(role="designer"),
        BAD + "/content/role: is not known; known: preferred_name, about, likes, dislikes, people, dates, habits, notes"),
    Row("memory.update", work(role="designer"), {"outcome": "updated", "fields": ["role"]}),
    Row("memory.update", work(working_hours={"start": "9:00"}),
        BAD + "/content/working_hours/start: must match the pattern ^([01][0-9]|2[0-3]):[0-5][0-9]$"),
    Row("memory.update", work(working_hours={"start": "09:00", "days": ["mon", "mon"]}),
        BAD + "/content/working_hours/days: must not have two equal items"),
    Row("memory.update", user(dates=[{"name": "Birthday", "date": "1990-02-30"}]),
        BAD + "/content/dates/0/date: must be a date that exists, as YYYY-MM-DD, such as 1990-05-01"),
    Row("memory.update", user(dates=[{"name": "Birthday", "date": "1990-05-01"}]),
        {"outcome": "updated", "fields": ["dates"]}),
    Row("memory.update", user(people=[{"relation": "sister"}]), BAD + "/content/people/0/name: is required"),
    Row("memory.update", user(about="x" * 501), BAD + "/content/about: must have at most 500 characters"),
    Row("memory.update", {"kind": "other", "content": {}}, BAD + "/kind: must be one of user or work_profile"),
    Row("memory.update", {"kind": "user"}, BAD + "/content: is required"),
    Row("memory.update", user(), {"outcome": "unchanged", "fields": []}),
    Row("memory.update", user(notes=[f"{i:02}" + "茶" * 498 for i in range(20)]),
        BAD + "/content: the whole content would have 29991 bytes as JSON, and at most 16384 are allowed; replace it by "
        "what still matters"),
    Row("memory.read", {}, {"items": [], "count": 0}),
    Row("memory.read", {"kind": "user"}, {"items": [], "count": 0}),
    Row("memory.read", {"kind": "diary"}, BAD + "/kind: must be one of user or work_profile"),
    Row("memory.read", {"kind": "user", "limit": 1}, BAD + "/limit: is not known; known: kind"),
    Row("skills.read", {}, BAD + "/skill: is required"),
    Row("skills.read", {"skill": "../../etc/passwd"},
        "NOT_FOUND: there is no such skill; there are: calendar, contacts, memory"),
    Row("skills.read", {"skill": "calendar", "action": "../../../etc/passwd"},
        "NOT_FOUND: the skill calendar has no such action; there are: accept_invite, create, delete, read, "
        "reject_invite, share, update"),
    Row("skills.read", {"skill": "calendar", "action": "fly"},
        "NOT_FOUND: the skill calendar has no such action; there are: accept_invite, create, delete, read, "
        "reject_invite, share, update"),
    Row("skills.read", {"skill": "calendar", "page": 2}, BAD + "/page: is not known; known: skill, action"),
]
