"""Cards of tool results (TOOL-8, V2-4, RUN-10): the same bytes in the stream, its replay and the history."""

import json
import unittest

from model_case import ModelRun
from tool_case import LUNCH, ToolCase, call, create


def card_in(frame_data: bytes) -> str:
    """The card's text, as the last member of the result of a tool call in v2."""
    head, _, card = frame_data.decode().rpartition(',"ui_schema":')
    assert head, frame_data
    return card[:-1]


def texts_of(card: dict) -> list[str]:
    """Everything that the card shows, in its order."""
    model = card["messages"][2]["updateDataModel"]["value"]
    lines = [text for item in model["items"] for text in (item["title"], item["badge"], *(each["text"] for each in item["lines"]))]
    return [text for text in (model["title"], *lines, model["note"]) if text]


class Cards(ToolCase):
    def setUp(self):
        super().setUp()
        for row in self.events():
            self.api.request("DELETE", f"/api/v1/calendar/events/{row['id']}")

    def frames(self, run: ModelRun, dialect: str, kind: str) -> list:
        return [frame for frame in run.api.read_events(run.thread, run.run, dialect=dialect) if frame.event == kind]

    def streamed(self, run: ModelRun) -> list[str]:
        return [card_in(frame.data) for frame in self.frames(run, "v2", "TOOL_CALL_RESULT")]

    def in_history(self, run: ModelRun) -> list[str]:
        page = run.api.get(f"/api/v1/agent/history?threadId={run.thread}").body.decode()
        cards = []
        for part in page.split('"ui_schema":')[1:]:
            _, end = json.JSONDecoder().raw_decode(part)
            cards.append(part[:end])
        return cards

    def test_TOOL_8_card_shows_what_was_asked_for_in_the_language_of_the_user(self):
        run = self.ask(create(location="三号会议室"))

        [card] = self.streamed(run)

        self.assertEqual(texts_of(json.loads(card)), ["日程已创建", "Lunch", "2026年11月20日 周五 12:00–13:00", "地点：三号会议室"])

    def test_TOOL_8_card_is_in_english_for_all_who_do_not_read_chinese(self):
        api = self.server.api("ann")
        settings = {"preferences": {"interface_language": "de", "ai_language": "de", "timezone": "Europe/Berlin", "country": "DE"}}
        self.assertEqual(api.request("PUT", "/api/v1/profile", {"settings": settings}).status, 200)

        run = self.ask(create(), user="ann")

        self.assertEqual(texts_of(json.loads(self.streamed(run)[0])), ["Event created", "Lunch", "Fri, 20 Nov 2026, 05:00–06:00"])

    def test_V2_4_card_stands_at_the_result_and_nowhere_else(self):
        run = self.ask(create())

        frames = list(run.api.read_events(run.thread, run.run))

        self.assertEqual([frame.event for frame in frames if b"ui_schema" in frame.data], ["TOOL_CALL_RESULT"])
        self.assertNotIn(b"ui_hints", b"".join(frame.data for frame in frames))

    def test_RUN_10_history_replay_and_stream_have_the_same_bytes_also_after_a_restart(self):
        run = self.ask(create(title='a "b" \\ \u2028 🍜 </script>'), call("calendar.read", mode="day", date="2026-11-20"))
        streamed = self.streamed(run)
        self.assertEqual(len(streamed), 2)

        self.assertEqual(self.in_history(run), streamed)
        self.server.restart()
        run.api = self.server.api()
        self.assertEqual(self.streamed(run), streamed)
        self.assertEqual(self.in_history(run), streamed)

    def test_AGUI_3_card_is_an_activity_and_in_the_metadata(self):
        run = self.ask(create())
        [card] = self.streamed(run)

        [activity] = self.frames(run, "ag-ui", "ACTIVITY_SNAPSHOT")
        [result] = self.frames(run, "ag-ui", "TOOL_CALL_RESULT")

        self.assertEqual(activity.json["content"], json.loads(card))
        self.assertEqual(result.json["metadata"]["ui_schema"], json.loads(card))

    def test_TOOL_8_surface_is_named_by_its_call(self):
        run = self.ask(create(), create())

        named = [json.loads(card)["messages"][0]["createSurface"]["surfaceId"] for card in self.streamed(run)]

        self.assertEqual(named, [row["id"] for row in self.calls_of(run)])

    def test_TOOL_8_failures_and_other_methods_have_no_card(self):
        run = self.ask(call("calendar.delete", event_id="evt_none"), call("skills.read", skill="calendar"), call("memory.read"))

        for frame in self.frames(run, "v2", "TOOL_CALL_RESULT"):
            self.assertNotIn("ui_schema", frame.json, frame.data)
        self.assertEqual(self.in_history(run), [])
        self.assertEqual(self.frames(run, "ag-ui", "ACTIVITY_SNAPSHOT"), [])

    def test_TOOL_8_hints_stay_on_the_server(self):
        run = self.ask(create())

        [row] = [row for row in self.rows_of(run) if row["role"] == "tool"]
        hints = json.loads(row["metadata"])["tool_agent_output"]["ui_hints"]

        self.assertEqual((hints["outcome"], hints["events"][0]["title"]), ("created", "Lunch"))
        page = self.api.get(f"/api/v1/agent/history?threadId={run.thread}").body.decode()
        self.assertNotIn("ui_hints", page)

    def test_TOOL_8_last_card_is_kept_with_the_answer(self):
        with_card = self.ask(create())
        without = self.ask(create(), call("memory.read"))

        kept = [[fact.get("last_card") for fact in self.facts(run) if fact["fact"] == "answer_completed"] for run in (with_card, without)]

        self.assertEqual(kept, [[self.streamed(with_card)[0]], [None]])


class Story(ToolCase):
    """Two users and an event, through models and through the API."""

    def only_event_of(self, user: str) -> dict:
        path = "/api/v1/calendar/events?from=2026-11-20T00:00:00Z&to=2026-11-22T00:00:00Z"
        [event] = self.server.api(user).get(path).json["items"]
        return event

    def titles_of(self, user: str) -> list[str]:
        path = "/api/v1/calendar/events?from=2026-11-20T00:00:00Z&to=2026-11-22T00:00:00Z"
        return [event["title"] for event in self.server.api(user).get(path).json["items"]]

    def data_of(self, *turns, user: str) -> dict:
        result = self.result_of(*turns, user=user)
        self.assertEqual(result["status"], "success", result)
        return result["result"]["data"]

    def test_TOOL_12_event_is_created_shared_accepted_moved_seen_and_deleted(self):
        event = self.data_of(create(), user="ann")["event_id"]
        [invited] = self.data_of(call("calendar.share", event_id=event, user_ids=["bob"]), user="ann")["items"]
        self.assertEqual(self.only_event_of("bob")["invite_status"], "pending")

        # Bob's model finds the invitation by itself and accepts it.
        [waiting] = self.data_of(call("calendar.read", mode="invites"), user="bob")["items"]
        self.assertEqual((waiting["invite_id"], waiting["organizer"]), (invited["invite_id"], "ann"))
        self.data_of(call("calendar.accept_invite", invite_id=waiting["invite_id"]), user="bob")
        self.assertEqual(self.only_event_of("bob")["invite_status"], "accepted")

        # Ann's app moves it by an hour, and Bob sees that; he may not move it himself.
        moved = self.server.api("ann").request("PATCH", f"/api/v1/calendar/events/{event}", {"start_at": "2026-11-20T13:00:00+08:00"})
        self.assertEqual(moved.status, 200, moved.body)
        self.assertEqual(self.only_event_of("bob")["start_at"], "2026-11-20T05:00:00.000Z")
        self.assertEqual(self.code_of(call("calendar.update", event_id=event, title="Mine"), user="bob"), "NOT_ORGANIZER")

        # Nobody else sees it.
        self.assertEqual(self.code_of(call("calendar.read", mode="event", event_id=event), user="cy"), "NOT_FOUND")
        self.assertEqual(self.titles_of("cy"), [])

        self.data_of(call("calendar.delete", event_id=event), user="ann")
        self.assertEqual((self.titles_of("ann"), self.titles_of("bob")), ([], []))

    def test_TOOL_12_the_same_story_through_the_api(self):
        dan, eve = self.server.api("dan"), self.server.api("eve")
        event = dan.post("/api/v1/calendar/events", LUNCH).json["event_id"]
        dan.post(f"/api/v1/calendar/events/{event}/share", {"user_ids": ["eve"]})
        [invite] = eve.get("/api/v1/calendar/invites").json["items"]
        self.assertEqual(eve.post(f"/api/v1/calendar/invites/{invite['invite_id']}/accept").json["outcome"], "accepted")

        # Dan's model moves it.
        self.data_of(call("calendar.update", event_id=event, start_at="2026-11-20T14:00:00+08:00"), user="dan")

        self.assertEqual(self.only_event_of("eve")["start_at"], "2026-11-20T06:00:00.000Z")
        self.assertEqual(eve.request("DELETE", f"/api/v1/calendar/events/{event}").status, 403)
        self.assertEqual(dan.request("DELETE", f"/api/v1/calendar/events/{event}").status, 204)
        self.assertEqual(self.titles_of("eve"), [])


if __name__ == "__main__":
    unittest.main()
