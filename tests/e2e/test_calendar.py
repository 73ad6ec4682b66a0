"""TOOL-12, HTTP-3: the calendar, over the API for apps and through the methods for models."""

import json
import unittest
from urllib.parse import urlencode

from e2e_case import Api, E2eCase, new_id, offline
from tool_case import LUNCH, ToolCase, call, create

EVENTS = "/api/v1/calendar/events"
INVITES = "/api/v1/calendar/invites"
# Lunch as answers have it.
NOON, ONE = "2026-11-20T04:00:00.000Z", "2026-11-20T05:00:00.000Z"
STAMPS = ("created_at", "updated_at")


def without_stamps(event: dict) -> dict:
    return {key: value for key, value in event.items() if key not in STAMPS}


def minutes(number: int) -> str:
    """An instant of November 2026, so many minutes after its beginning."""
    days, rest = divmod(number, 1440)
    return f"2026-11-{days + 1:02d}T{rest // 60:02d}:{rest % 60:02d}:00Z"


def listed(api: Api, first: str, last: str, **more) -> list[dict]:
    """The events between two instants."""
    answer = api.get(f"{EVENTS}?{urlencode({'from': first, 'to': last, **more})}")
    assert answer.status == 200, answer.body
    assert answer.json["count"] == len(answer.json["items"]), answer.body
    return answer.json["items"]


def in_november(api: Api) -> list[dict]:
    return listed(api, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z")


class CalendarCase(E2eCase):
    def users(self, *names: str) -> list[Api]:
        """New users, who know nobody. Their ids are in self.ids."""
        self.ids = {name: new_id(name) for name in names}
        return [self.server.api(self.ids[name]) for name in names]

    def add(self, api: Api, **fields) -> dict:
        answer = api.request("POST", EVENTS, {**LUNCH, **fields})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def add_days(self, api: Api, **fields) -> dict:
        answer = api.request("POST", EVENTS, {"title": "Fair", "all_day": True, **fields})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def share(self, api: Api, event: dict, *users: str) -> list[dict]:
        answer = api.request("POST", f"{EVENTS}/{event['event_id']}/share", {"user_ids": list(users)})
        self.assertEqual((answer.status, answer.json.get("count")), (200, len(users)), answer.body)
        return answer.json["items"]

    def answer(self, api: Api, invite: str, verb: str) -> dict:
        answer = api.request("POST", f"{INVITES}/{invite}/{verb}")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json


class Apps(CalendarCase):
    def test_TOOL_12_an_event_is_shared_accepted_moved_and_deleted(self):
        ann, bob, eve = self.users("ann", "bob", "eve")
        event = self.add(ann, location="Room 3", timezone="Asia/Shanghai", reminders=[10, 1440])
        self.assertEqual(without_stamps(event), {"event_id": event["event_id"], "title": "Lunch", "start_at": NOON,
                                                 "end_at": ONE, "timezone": "Asia/Shanghai", "location": "Room 3",
                                                 "reminders": [10, 1440]})
        path = f"{EVENTS}/{event['event_id']}"

        [invited] = self.share(ann, event, self.ids["bob"])
        invite = invited["invite_id"]
        self.assertEqual(invited, {"user_id": self.ids["bob"], "invite_id": invite, "outcome": "invited"})
        self.assertEqual(self.share(ann, event, self.ids["bob"]), [{**invited, "outcome": "already_invited"}])
        as_guest = {**event, "organizer": self.ids["ann"], "invite_id": invite, "invite_status": "pending"}
        del as_guest["reminders"]  # They are the organizer's own.
        self.assertEqual(bob.get(INVITES).json, {"items": [as_guest], "count": 1, "more": False})
        self.assertEqual(in_november(bob), [as_guest])

        self.assertEqual(self.answer(bob, invite, "accept"),
                         {"event_id": event["event_id"], "outcome": "accepted", "title": "Lunch", "start_at": NOON,
                          "end_at": ONE})
        as_guest["invite_status"] = "accepted"
        self.assertEqual(bob.get(path).json, as_guest)
        self.assertEqual(bob.get(INVITES).json["items"], [])
        self.assertEqual(bob.get(f"{INVITES}?status=accepted").json["items"], [as_guest])
        self.assertEqual(ann.get(path).json["guests"],
                         [{"invite_id": invite, "user_id": self.ids["bob"], "status": "accepted"}])

        moved = ann.request("PATCH", path, {"start_at": "2026-12-24T18:00:00+01:00"}).json
        self.assertEqual((moved["start_at"], moved["end_at"]), ("2026-12-24T17:00:00.000Z", "2026-12-24T18:00:00.000Z"))
        self.assertEqual(in_november(bob), [])
        self.assertEqual(listed(bob, "2026-12-24T00:00:00Z", "2026-12-25T00:00:00Z"),
                         [{**as_guest, **{key: moved[key] for key in ("start_at", "end_at", "updated_at")}}])

        self.assertEqual(ann.request("DELETE", path).status, 204)
        self.assert_error(bob.get(path), 404, "NOT_FOUND")
        self.assertEqual(listed(bob, "2026-12-24T00:00:00Z", "2026-12-25T00:00:00Z"), [])
        for status in ("pending", "accepted", "rejected"):
            self.assertEqual(bob.get(f"{INVITES}?status={status}").json["items"], [])
        self.assert_error(bob.request("POST", f"{INVITES}/{invite}/accept"), 404, "NOT_FOUND")
        self.assertEqual(in_november(eve), [])

    def test_HTTP_3_a_guest_may_look_and_a_stranger_sees_nothing(self):
        ann, bob, eve = self.users("ann", "bob", "eve")
        event = self.add(ann, title="Secret lunch")
        path = f"{EVENTS}/{event['event_id']}"
        [invited] = self.share(ann, event, self.ids["bob"])

        def attempts(api: Api) -> list:
            return [api.request("PATCH", path, {"title": "Mine"}), api.request("DELETE", path),
                    api.request("POST", f"{path}/share", {"user_ids": ["mallory"]})]

        for status in ("pending", "accept"):
            if status == "accept":
                self.answer(bob, invited["invite_id"], status)
            for answer in attempts(bob):
                self.assert_error(answer, 403, "NOT_ORGANIZER")
        self.assertNotIn("guests", bob.get(path).json)
        for answer in (eve.get(path), *attempts(eve),
                       *(eve.request("POST", f"{INVITES}/{invited['invite_id']}/{verb}") for verb in ("accept", "reject")),
                       *(ann.request("POST", f"{INVITES}/{invited['invite_id']}/{verb}") for verb in ("accept", "reject"))):
            self.assert_error(answer, 404, "NOT_FOUND")
        self.assertEqual(in_november(eve), [])
        self.assertEqual(in_november(ann), [event])

    def test_TOOL_12_a_guest_who_says_no_is_a_stranger_until_invited_again(self):
        ann, bob = self.users("ann", "bob")
        event = self.add(ann)
        path = f"{EVENTS}/{event['event_id']}"
        [invited] = self.share(ann, event, self.ids["bob"])

        for _ in range(2):
            self.answer(bob, invited["invite_id"], "accept")
            self.assertEqual(self.answer(bob, invited["invite_id"], "reject")["outcome"], "rejected")
            for answer in (bob.get(path), bob.request("PATCH", path, {"title": "Mine"}), bob.request("DELETE", path)):
                self.assert_error(answer, 404, "NOT_FOUND")
            self.assertEqual(in_november(bob), [])
            self.assertEqual([item["event_id"] for item in bob.get(f"{INVITES}?status=rejected").json["items"]],
                             [event["event_id"]])
            self.assertEqual(ann.get(path).json["guests"][0]["status"], "rejected")
            self.assertEqual(self.share(ann, event, self.ids["bob"]), [invited])
            self.assertEqual(in_november(bob)[0]["invite_status"], "pending")

    def test_TOOL_12_an_event_has_at_most_200_guests(self):
        [ann] = self.users("ann")
        event = self.add(ann)
        for first in range(0, 200, 50):
            self.share(ann, event, *(f"guest-{first + i}" for i in range(50)))

        answer = ann.request("POST", f"{EVENTS}/{event['event_id']}/share", {"user_ids": ["guest-0", "one-more"]})

        self.assert_error(answer, 400, "TOO_MANY_GUESTS")
        self.assertEqual(len(ann.get(f"{EVENTS}/{event['event_id']}").json["guests"]), 200)
        self.assertEqual(self.share(ann, event, "guest-0")[0]["outcome"], "already_invited")

    def test_TOOL_12_events_at_the_same_time_are_told_of(self):
        ann, bob = self.users("ann", "bob")
        lunch = self.add(ann)
        self.assertNotIn("conflicts", lunch)
        self.add_days(ann, start_date="2026-11-20")
        theirs = self.add(bob, title="Bob's lunch")
        [invited] = self.share(bob, theirs, self.ids["ann"])
        later = {"start_at": "2026-11-20T13:00:00+08:00", "end_at": "2026-11-20T14:00:00+08:00"}

        def told(event: dict) -> list[str]:
            return [conflict["title"] for conflict in event.get("conflicts", [])]

        self.assertEqual(told(self.add(ann, title="After it", **later)), [])
        self.assertEqual(self.add(ann, title="During it")["conflicts"],
                         [{"event_id": lunch["event_id"], "title": "Lunch", "start_at": NOON, "end_at": ONE}])
        self.answer(ann, invited["invite_id"], "accept")
        self.assertEqual(sorted(told(self.add(ann, title="Again"))), ["Bob's lunch", "During it", "Lunch"])
        changed = ann.request("PATCH", f"{EVENTS}/{lunch['event_id']}", later).json
        self.assertEqual(told(changed), ["After it"])

    def test_TOOL_12_an_event_of_whole_days_has_the_same_dates_everywhere(self):
        [ann] = self.users("ann")
        fair = self.add_days(ann, start_date="2026-11-20", end_date="2026-11-21")
        self.assertEqual(without_stamps(fair), {"event_id": fair["event_id"], "title": "Fair", "all_day": True,
                                                "start_date": "2026-11-20", "end_date": "2026-11-21", "timezone": "UTC"})

        def days_seen(timezone: str, offset: str) -> list[int]:
            """The days of November on which a reader in this zone sees the event."""
            return [day for day in range(18, 24) if listed(ann, f"2026-11-{day}T00:00:00{offset}",
                                                           f"2026-11-{day}T23:59:59{offset}", timezone=timezone)]

        for timezone, offset in (("UTC", "Z"), ("Asia/Shanghai", "+08:00"), ("America/Los_Angeles", "-08:00"),
                                 ("Pacific/Kiritimati", "+14:00")):
            with self.subTest(timezone):
                self.assertEqual(days_seen(timezone, offset), [20, 21])

        path = f"{EVENTS}/{fair['event_id']}"
        moved = ann.request("PATCH", path, {"start_date": "2026-12-31"}).json
        self.assertEqual((moved["start_date"], moved["end_date"]), ("2026-12-31", "2027-01-01"))
        timed = ann.request("PATCH", path, {"start_at": LUNCH["start_at"], "end_at": LUNCH["end_at"]}).json
        self.assertEqual((timed["start_at"], timed["end_at"], "all_day" in timed, "start_date" in timed),
                         (NOON, ONE, False, False))
        again = ann.request("PATCH", path, {"all_day": True, "start_date": "2026-11-22"}).json
        self.assertEqual((again["start_date"], again["end_date"]), ("2026-11-22", "2026-11-22"))

    def test_TOOL_12_a_change_keeps_what_it_does_not_name(self):
        [ann] = self.users("ann")
        event = self.add(ann, location="Room 3", description="Bring tea.", reminders=[5])
        path = f"{EVENTS}/{event['event_id']}"

        longer = ann.request("PATCH", path, {"end_at": "2026-11-20T14:00:00+08:00", "location": ""}).json
        self.assertEqual(longer, {**{key: value for key, value in event.items() if key != "location"},
                                  "end_at": "2026-11-20T06:00:00.000Z", "updated_at": longer["updated_at"]})
        bare = ann.request("PATCH", path, {"reminders": [], "description": ""}).json
        self.assertEqual(sorted(bare), sorted({"event_id", "title", "start_at", "end_at", "timezone", *STAMPS}))
        self.assertEqual({**bare, "guests": []}, ann.get(path).json)

    def test_TOOL_12_a_range_is_never_shortened(self):
        [ann] = self.users("ann")
        for number in range(1001):
            self.add(ann, start_at=minutes(number * 10), end_at=minutes(number * 10 + 5))

        answer = ann.get(f"{EVENTS}?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z")

        self.assert_error(answer, 400, "TOO_MANY_RESULTS")
        self.assertEqual(len(listed(ann, minutes(0), minutes(10_000))), 1000)

    def test_TOOL_12_events_and_invitations_survive_a_crash(self):
        ann, bob = self.users("ann", "bob")
        event = self.add(ann, reminders=[0])
        [invited] = self.share(ann, event, self.ids["bob"])
        self.answer(bob, invited["invite_id"], "accept")
        changed = ann.request("PATCH", f"{EVENTS}/{event['event_id']}", {"title": "Tea"}).json

        self.server.kill()
        self.server.start()

        self.assertEqual(in_november(ann), [changed])
        self.assertEqual([(item["title"], item["invite_status"]) for item in in_november(bob)], [("Tea", "accepted")])

    def test_HTTP_1_every_mistake_in_a_body_is_named(self):
        event = f"{EVENTS}/{self.add(self.api)['event_id']}"
        day = {"title": "Fair", "all_day": True}
        bad = ((EVENTS, {**LUNCH, "title": "", "owner_id": "bob"}, ["/owner_id", "/title"]),
               (EVENTS, {"title": "Lunch"}, ["/end_at", "/start_at"]),
               (EVENTS, {**LUNCH, "all_day": True}, ["/end_at", "/start_at", "/start_date"]),
               (EVENTS, {**day, "start_date": 20261120}, ["/start_date"]),
               (EVENTS, {**LUNCH, "reminders": [-1, 40321, "10"]}, ["/reminders/0", "/reminders/1", "/reminders/2"]),
               (EVENTS, {**LUNCH, "reminders": [1, 2, 3, 4, 5, 6]}, ["/reminders"]),
               (EVENTS, {**LUNCH, "description": "x" * 4001}, ["/description"]),
               (EVENTS, {"mode": "batch", "items": [LUNCH]}, ["/end_at", "/items", "/mode", "/start_at", "/title"]),
               (event, {}, [""]), (event, {"event_id": "evt_1"}, ["/event_id"]), (event, {"location": None}, ["/location"]),
               (f"{event}/share", {"user_ids": []}, ["/user_ids"]), (f"{event}/share", {}, ["/user_ids"]),
               (f"{event}/share", {"user_ids": ["bob", "bob"]}, ["/user_ids"]))
        for path, body, paths in bad:
            with self.subTest(path=path, body=body):
                details = self.assert_error(self.api.request("PATCH" if path == event else "POST", path, body), 400,
                                            "INVALID_REQUEST")
                self.assertEqual(sorted(violation["path"] for violation in details["violations"]), paths)

    def test_HTTP_1_a_time_that_makes_no_sense_is_explained(self):
        event = f"{EVENTS}/{self.add(self.api)['event_id']}"
        fair = f"{EVENTS}/{self.add_days(self.api, start_date='2026-11-20')['event_id']}"
        new, day = LUNCH, {"title": "Fair", "all_day": True}
        bad = ((EVENTS, {**new, "title": " \t"}, "title must not be blank"),
               (EVENTS, {**new, "end_at": new["start_at"]}, "end_at must be after start_at"),
               (EVENTS, {**new, "end_at": "2027-11-22T12:00:00+08:00"}, "end_at must be at most 366 days after start_at"),
               (EVENTS, {**new, "start_at": "2026-11-20"}, "start_at must be an RFC 3339 instant with Z or an offset"),
               (EVENTS, {**new, "start_at": "2026-11-20T12:00:00"}, "start_at must be an RFC 3339 instant"),
               (EVENTS, {**new, "start_at": "1969-12-31T23:59:59Z"}, "start_at must be in the years 1970 to 9999"),
               (EVENTS, {**new, "timezone": "Mars/Olympus"}, "timezone must be a time zone in the IANA database"),
               (EVENTS, {**day, "start_date": "2026-02-30"}, "start_date must be a date that exists"),
               (EVENTS, {**day, "start_date": "2026-11-20", "end_date": "2026-11-19"}, "end_date must not be before"),
               (EVENTS, {**day, "start_date": "2026-01-01", "end_date": "2027-01-02"}, "end_date must be at most 365 days"),
               (event, {"all_day": True}, "start_date is required to make this an event of whole days"),
               (event, {"start_at": new["start_at"], "start_date": "2026-11-20"}, "cannot be used with start_at and end_at"),
               (fair, {"start_at": new["start_at"]}, "end_at is required to make this an event at a time of day"),
               (fair, {"all_day": True, "end_at": new["end_at"]}, "cannot be used for an event of whole days"),
               (f"{event}/share", {"user_ids": ["demo"]}, "user_ids must not have the user's own user_id"))
        for path, body, message in bad:
            with self.subTest(path=path, body=body):
                answer = self.api.request("PATCH" if path in (event, fair) else "POST", path, body)
                self.assert_error(answer, 400, "INVALID_REQUEST")
                self.assertIn(message, answer.json["error"]["message"])
        for question, message in (("", "'from' must be"), ("?from=2026-11-20T00:00:00Z", "'to' must be"),
                                  ("?from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z", "'to' must be after 'from'"),
                                  ("?from=2026-11-20T00:00:00Z&to=2028-11-20T00:00:00Z", "at most 366 days after 'from'"),
                                  ("?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&timezone=Mars", "'timezone' must be")):
            with self.subTest(question):
                self.assert_error(self.api.get(EVENTS + question), 400, "INVALID_REQUEST")
                self.assertIn(message, self.api.get(EVENTS + question).json["error"]["message"])
        self.assert_error(self.api.get(f"{INVITES}?status=maybe"), 400, "INVALID_REQUEST")


class Models(ToolCase, CalendarCase):
    def one(self, user: str, method: str, **given) -> dict:
        """The data of a call that succeeds."""
        result = self.result_of(call(method, **given), user=user)
        self.assertEqual((result["status"], result["error"]), ("success", None), result)
        return result["result"]["data"]

    def test_TOOL_12_the_models_of_two_users_share_move_and_delete_an_event(self):
        ann, bob, eve = new_id("ann"), new_id("bob"), new_id("eve")
        event = self.one(ann, "calendar.create", **LUNCH, reminders=[10])["event_id"]
        [invited] = self.one(ann, "calendar.share", event_id=event, user_ids=[bob])["items"]
        invite = invited["invite_id"]

        [seen] = self.one(bob, "calendar.read", mode="invites")["items"]
        self.assertEqual(seen, {"event_id": event, "title": "Lunch", "start_at": NOON, "end_at": ONE,
                                "timezone": "Asia/Shanghai", "organizer": ann, "invite_id": invite,
                                "invite_status": "pending"})
        self.assertEqual(self.one(bob, "calendar.accept_invite", invite_id=invite),
                         {"event_id": event, "outcome": "accepted", "title": "Lunch", "start_at": NOON, "end_at": ONE})
        moved = {"title": "Lunch", "start_at": "2026-12-24T04:00:00.000Z", "end_at": "2026-12-24T05:00:00.000Z"}
        self.assertEqual(self.one(ann, "calendar.update", event_id=event, start_at="2026-12-24T12:00:00+08:00"),
                         {"event_id": event, "outcome": "updated", "title": "Lunch", "end_at": moved["end_at"]})
        day = {"mode": "day", "date": "2026-12-24"}
        self.assertEqual(self.one(bob, "calendar.read", **day)["items"],
                         [{**seen, **moved, "invite_status": "accepted"}])
        self.assertEqual(self.one(ann, "calendar.read", mode="event", event_id=event)["items"][0]["guests"],
                         [{"invite_id": invite, "user_id": bob, "status": "accepted"}])

        for method, given in (("calendar.update", {"title": "Mine"}), ("calendar.delete", {}),
                              ("calendar.share", {"user_ids": ["mallory"]})):
            self.assertEqual(self.code_of(call(method, event_id=event, **given), user=bob), "NOT_ORGANIZER")
            self.assertEqual(self.code_of(call(method, event_id=event, **given), user=eve), "NOT_FOUND")
        self.assertEqual(self.code_of(call("calendar.accept_invite", invite_id=invite), user=eve), "NOT_FOUND")

        self.assertEqual(self.one(ann, "calendar.delete", event_id=event),
                         {"event_id": event, "outcome": "deleted", **moved})
        self.assertEqual(self.one(bob, "calendar.read", **day), {"items": [], "count": 0})
        self.assertEqual(self.code_of(call("calendar.reject_invite", invite_id=invite), user=bob), "NOT_FOUND")

    def test_TOOL_12_an_app_and_a_model_see_the_same_event(self):
        [ann] = self.users("ann")
        fair = self.add_days(ann, start_date="2026-11-20", timezone="Europe/Berlin")
        tea = self.add(ann, title="茶 Tea", description="Oolong")

        shown = self.one(self.ids["ann"], "calendar.read", mode="day", date="2026-11-20")
        made = self.one(self.ids["ann"], "calendar.create", **LUNCH, mode="single")

        self.assertEqual(shown, {"items": [without_stamps(fair), without_stamps(tea)], "count": 2})
        self.assertEqual([conflict["title"] for conflict in made["conflicts"]], ["茶 Tea"])
        self.assertEqual(ann.get(f"{EVENTS}/{made['event_id']}").json["title"], "Lunch")

    def test_TOOL_12_a_batch_of_which_a_part_fails_is_partial(self):
        user = new_id("user")
        backwards = {**LUNCH, "end_at": "2026-11-20T11:00:00+08:00"}
        run = self.ask(call("calendar.create", mode="batch", items=[LUNCH, {"title": "Never"}, backwards, 5]), user=user)
        [result] = self.results(run)

        made = self.events(user)
        self.assertEqual([row["title"] for row in made], ["Lunch"])

        def failed(index: int, message: str) -> dict:
            return {"index": index, "outcome": "failed", "error": {"code": "INVALID_ACTION_INPUT", "message": message}}

        self.assertEqual((result["status"], result["error"]), ("partial", None))
        self.assertEqual(result["result"], {"status": "partial", "module": "calendar", "method": "create", "data": {
            "items": [{"index": 0, "event_id": made[0]["id"], "outcome": "created"},
                      failed(1, "/start_at: is required; /end_at: is required"),
                      failed(2, "end_at must be after start_at"), failed(3, "must be an object")],
            "count": 4, "failed": 3}})
        # The model, the history, the other dialect and the stages say the same.
        told = self.requests[-1]["messages"][-1]
        self.assertEqual((told["role"], json.loads(told["content"])), ("tool", result["result"]))
        history = [message["content"] for message in run.api.full_history(run.thread) if message["role"] == "tool"]
        self.assertEqual(history, [told["content"]])
        [ended] = [frame.json for frame in run.api.read_events(run.thread, run.run, dialect="ag-ui", agui="1.0")
                   if frame.event == "TOOL_CALL_RESULT"]
        self.assertEqual((ended["metadata"]["status"], ended["content"]), ("partial", told["content"]))
        stages = run.api.get(f"/api/v1/agent/runs/{run.thread}/stages?runId={run.run}").json["stages"]
        self.assertEqual([made["status"] for stage in stages for made in stage["toolCalls"]], ["partial"])

    def test_TOOL_12_a_batch_of_which_nothing_can_be_done_is_a_failure(self):
        user = new_id("user")
        result = self.result_of(call("calendar.delete", mode="batch", items=[{"event_id": "evt_1"}, {"event_id": "evt_1"}]),
                                user=user)

        error = result["error"]["error"]
        self.assertEqual((result["status"], error["code"]), ("failure", "BATCH_FAILED"))
        self.assertEqual([(item["index"], item["outcome"], item["error"]["code"]) for item in error["items"]],
                         [(0, "failed", "NOT_FOUND"), (1, "failed", "INVALID_ACTION_INPUT")])

    def test_TOOL_12_events_are_moved_and_deleted_in_batches(self):
        user = new_id("user")
        added = self.one(user, "calendar.create", mode="batch", items=[
            LUNCH, {"title": "Fair", "all_day": True, "start_date": "2026-11-20", "end_date": "2026-11-22"}])
        self.assertEqual((added["count"], added["failed"]), (2, 0))
        lunch, fair = (item["event_id"] for item in added["items"])

        moved = self.one(user, "calendar.update", mode="batch", items=[
            {"event_id": lunch, "start_at": "2026-11-21T12:00:00+08:00"}, {"event_id": fair, "start_date": "2026-11-25"}])
        shown = self.one(user, "calendar.read", mode="range", start_at="2026-11-21T00:00:00+08:00",
                         end_at="2026-11-30T00:00:00+08:00")["items"]
        gone = self.one(user, "calendar.delete", mode="batch", items=[{"event_id": lunch}, {"event_id": fair}])

        self.assertEqual([item["outcome"] for item in moved["items"]], ["updated"] * 2)
        self.assertEqual([(item["title"], item.get("start_at"), item.get("end_date")) for item in shown],
                         [("Lunch", "2026-11-21T04:00:00.000Z", None), ("Fair", None, "2026-11-27")])
        self.assertEqual([item["outcome"] for item in gone["items"]], ["deleted"] * 2)
        self.assertEqual(self.events(user), [])

    def test_TOOL_12_a_batch_of_1000_with_3_bad_items_makes_997_events(self):
        user = new_id("user")
        items = [{"title": f"Event {i}", "start_at": minutes(i * 10), "end_at": minutes(i * 10 + 5)} for i in range(1000)]
        bad = {7: {"title": "No time"}, 500: {**items[500], "end_at": items[500]["start_at"]},
               999: {**items[999], "colour": "red"}}
        for index, item in bad.items():
            items[index] = item
        batch = call("calendar.create", mode="batch", items=items)
        self.assertLess(len(batch.arguments[0]), 256 * 1024)

        result = self.result_of(batch, user=user)

        self.assertEqual(result["status"], "partial", str(result)[:500])
        data = result["result"]["data"]
        self.assertEqual((data["count"], data["failed"], [item["index"] for item in data["items"]]),
                         (1000, 3, list(range(1000))))
        self.assertEqual([item["index"] for item in data["items"] if item["outcome"] != "created"], sorted(bad))
        made = {row["id"]: row["title"] for row in self.events(user)}
        self.assertEqual({item["event_id"]: f"Event {item['index']}" for item in data["items"]
                          if item["outcome"] == "created"}, made)
        self.assertEqual(len(made), 997)

    def test_TOOL_4_a_batch_of_another_form_is_refused_as_a_whole(self):
        user = new_id("user")
        for given, fault in (({"items": []}, "/items: must not be empty"),
                             ({"items": [LUNCH] * 1001}, "/items: must have at most 1000 items"),
                             ({"items": LUNCH}, "/items: must be a list"), ({}, "/items: is required"),
                             ({"items": [LUNCH], "title": "More"}, "/title: is not known")):
            with self.subTest(str(given)[:60]):
                error = self.result_of(call("calendar.create", mode="batch", **given), user=user)["error"]["error"]
                self.assertEqual(error["code"], "INVALID_ACTION_INPUT")
                self.assertIn(fault, error["message"])
                self.assertIn("oneOf", error["input_schema"])
        self.assertEqual(self.events(user), [])

    def test_TOOL_4_the_schemas_of_all_methods_are_listed(self):
        listed_tools = {tool["name"]: tool["inputSchema"] for tool in self.api.get("/api/v1/tools").json["tools"]}

        self.assertEqual({name for name in listed_tools if name.startswith("calendar.")},
                         {f"calendar.{method}" for method in ("read", "create", "update", "delete", "share",
                                                              "accept_invite", "reject_invite")})
        for method in ("create", "update", "delete"):
            batch = listed_tools[f"calendar.{method}"]["oneOf"][-1]["properties"]
            self.assertEqual((batch["mode"]["enum"], batch["items"]["maxItems"]), (["batch"], 1000))


class Storage(ToolCase, CalendarCase):
    @classmethod
    def make_config(cls) -> dict:
        return {**super().make_config(), "runtime": {"storage_bytes_per_user": 10_000}}

    def test_HTTP_9_without_storage_events_can_be_deleted_and_answered_but_not_added(self):
        ann, bob, cleo = self.users("ann", "bob", "cleo")
        theirs = self.add(cleo)
        [invited] = self.share(cleo, theirs, self.ids["ann"])
        kept = self.add(ann)
        full = self.add(ann, description="茶" * 3500)
        path = f"{EVENTS}/{kept['event_id']}"

        for answer in (ann.request("POST", EVENTS, LUNCH), ann.request("PATCH", path, {"title": "Tea"}),
                       ann.request("POST", f"{path}/share", {"user_ids": [self.ids["bob"]]})):
            self.assert_error(answer, 507, "STORAGE_QUOTA_EXCEEDED")
        self.assertEqual(ann.get(path).status, 200)
        self.answer(ann, invited["invite_id"], "accept")
        self.answer(ann, invited["invite_id"], "reject")
        self.assertEqual(ann.request("DELETE", path).status, 204)
        self.assert_error(ann.request("POST", EVENTS, LUNCH), 507, "STORAGE_QUOTA_EXCEEDED")
        self.assertEqual(ann.request("DELETE", f"{EVENTS}/{full['event_id']}").status, 204)
        self.add(ann)
        self.add(bob)

    def test_HTTP_9_an_invitation_takes_storage_of_the_organizer_until_the_event_is_deleted(self):
        ann, bob = self.users("ann", "bob")
        event = self.add(ann)
        self.share(ann, event, self.ids["bob"], *(f"guest-{i}" for i in range(40)))

        self.assert_error(ann.request("POST", EVENTS, LUNCH), 507, "STORAGE_QUOTA_EXCEEDED")
        self.add(bob)
        self.assertEqual(ann.request("DELETE", f"{EVENTS}/{event['event_id']}").status, 204)
        self.add(ann)

    def test_HTTP_9_a_model_without_storage_can_delete_but_not_add(self):
        [ann] = self.users("ann")
        event = self.add(ann)["event_id"]
        # The storage runs out while the run is under way: a new run would be refused.
        turns = (create(title="Large", description="茶" * 3500), create(), call("calendar.update", event_id=event, title="Tea"),
                 call("calendar.delete", mode="batch", items=[{"event_id": event}]))
        results = self.results(self.ask(*turns, user=self.ids["ann"]))

        self.assertEqual([result["status"] for result in results], ["success", "failure", "failure", "success"])
        self.assertEqual([result["error"]["error"]["code"] for result in results[1:3]], ["STORAGE_QUOTA_EXCEEDED"] * 2)
        self.assertEqual([row["title"] for row in self.events(self.ids["ann"])], ["Large"])


if __name__ == "__main__":
    unittest.main()
