"""USE-2: the offline model serves the demo's requests by itself, in Chinese and English, without any key."""

import time
import unittest
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from e2e_case import Api, E2eCase, eventually, new_id, offline

EVENTS = "/api/v1/calendar/events"
FLOWS = ("router_worker", "intent_execution_organization")


def instant(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class DemoCase(E2eCase):
    config = offline(word_delay_ms=0)

    def user(self, name: str, zone: str) -> Api:
        """A new user with this time zone, whose id is in self.ids."""
        self.ids = {**getattr(self, "ids", {}), name: new_id(name)}
        api = self.server.api(self.ids[name])
        answer = api.request("PUT", "/api/v1/profile", {"username": name, "settings": {
            "version": 1, "preferences": {"timezone": zone}}})
        self.assertEqual(answer.status, 200, answer.body)
        return api

    def knows(self, api: Api, name: str, **fields: str) -> None:
        answer = api.request("POST", "/api/v1/contacts", {"name": name, **fields})
        self.assertEqual(answer.status, 201, answer.body)

    def tomorrow(self, zone: str, hour: int, minute: int = 0) -> datetime:
        """That time of tomorrow. Waits until midnight is over, so that tomorrow stays what it is during a test."""
        here = ZoneInfo(zone)
        while (now := datetime.now(here)).strftime("%H:%M") >= "23:58":
            time.sleep(1)
        day = (now + timedelta(days=1)).date()
        return datetime(day.year, day.month, day.day, hour, minute, tzinfo=here)

    def say(self, api: Api, text: str, flow: str) -> dict:
        """Says something and returns the end of the answer, with the methods that were called."""
        thread, run = api.start_run(text, forwarded={"flow": flow})
        frames = api.read_events(thread, run)
        self.assertEqual(frames[-1].event, "RUN_FINISHED", frames[-1].data)
        end = next(frame.json for frame in frames if frame.event == "TEXT_MESSAGE_END")
        results = [frame.json["result"] for frame in frames if frame.event == "TOOL_CALL_RESULT"]
        calls = [f"{result['module']}.{result['method']}" for result in results]
        return {**end, "calls": calls}

    def events(self, api: Api) -> list[dict]:
        """The user's events of the next days, as an app sees them."""
        now = datetime.now(timezone.utc)
        query = urlencode({"from": instant(now - timedelta(days=2)), "to": instant(now + timedelta(days=40))})
        answer = api.get(f"{EVENTS}?{query}")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json["items"]

    def only_event(self, api: Api) -> dict:
        events = self.events(api)
        self.assertEqual(len(events), 1, events)
        return events[0]


class OfflineDemo(DemoCase):
    def test_USE_2_the_demo_in_chinese(self):
        for flow in FLOWS:
            with self.subTest(flow=flow):
                self.play_in_chinese(flow)

    def play_in_chinese(self, flow: str) -> None:
        zone = "Asia/Shanghai"
        ann, wei = self.user("ann", zone), self.user("wei", zone)
        self.knows(ann, "王伟", phone="+86 138 0013 8000", user_id=self.ids["wei"])
        ten, three = self.tomorrow(zone, 10), self.tomorrow(zone, 15)

        created = self.say(ann, "明天上午十点和王伟开会，在三号会议室", flow)
        self.assertEqual((created["status"], created["calls"]), ("success", ["calendar.create"]))
        self.assertIn("10:00–11:00", created["answer"])
        event = self.only_event(ann)
        self.assertEqual((event["title"], event["start_at"], event["end_at"], event["location"]),
                         ("和王伟开会", instant(ten), instant(ten + timedelta(hours=1)), "三号会议室"))

        read = self.say(ann, "明天有什么安排？", flow)
        self.assertEqual(read["calls"], ["calendar.read"])
        self.assertIn("和王伟开会", read["answer"])

        moved = self.say(ann, "把明天和王伟的会改到下午三点", flow)
        self.assertEqual(moved["calls"], ["calendar.read", "calendar.update"])
        self.assertIn("15:00–16:00", moved["answer"])
        self.assertEqual(self.only_event(ann)["start_at"], instant(three))

        shared = self.say(ann, "邀请王伟参加明天的会", flow)
        self.assertEqual(shared["calls"], ["contacts.read", "calendar.read", "calendar.share"])
        self.assertEqual(self.only_event(wei)["invite_status"], "pending")

        accepted = self.say(wei, "接受开会的邀请", flow)
        self.assertEqual(accepted["calls"], ["calendar.read", "calendar.accept_invite"])
        self.assertEqual(self.only_event(wei)["invite_status"], "accepted")

        self.assertIn("138 0013 8000", self.say(ann, "王伟的电话是多少", flow)["answer"])
        self.assertEqual(self.say(ann, "记住我喜欢喝茶", flow)["calls"], ["memory.update"])
        self.assertIn("喝茶", self.say(ann, "你记得我什么？", flow)["answer"])

        deleted = self.say(ann, "取消明天的会", flow)
        self.assertEqual(deleted["calls"], ["calendar.read", "calendar.delete"])
        self.assertEqual((self.events(ann), self.events(wei)), ([], []))

    def test_USE_2_the_demo_in_english(self):
        for flow in FLOWS:
            with self.subTest(flow=flow):
                self.play_in_english(flow)

    def play_in_english(self, flow: str) -> None:
        zone = "America/New_York"
        ann, wei = self.user("ann", zone), self.user("wei", "Europe/Berlin")
        self.knows(ann, "Wei", email="wei@example.com", user_id=self.ids["wei"])
        noon, one = self.tomorrow(zone, 12, 30), self.tomorrow(zone, 13)

        created = self.say(ann, "Lunch with Wei tomorrow at 12:30 for 45 minutes", flow)
        self.assertEqual((created["status"], created["calls"]), ("success", ["calendar.create"]))
        self.assertIn("12:30–13:15", created["answer"])
        event = self.only_event(ann)
        self.assertEqual((event["title"], event["start_at"], event["end_at"]),
                         ("Lunch with Wei", instant(noon), instant(noon + timedelta(minutes=45))))

        self.assertIn("Lunch with Wei", self.say(ann, "What do I have tomorrow?", flow)["answer"])

        moved = self.say(ann, "Move lunch to 1pm tomorrow", flow)
        self.assertEqual(moved["calls"], ["calendar.read", "calendar.update"])
        self.assertEqual(self.only_event(ann)["start_at"], instant(one))

        shared = self.say(ann, "Invite Wei to lunch", flow)
        self.assertEqual(shared["calls"], ["contacts.read", "calendar.read", "calendar.share"])
        accepted = self.say(wei, "Accept the invitation to lunch", flow)
        self.assertEqual(accepted["calls"], ["calendar.read", "calendar.accept_invite"])
        self.assertEqual(self.only_event(wei)["invite_status"], "accepted")

        self.assertIn("wei@example.com", self.say(ann, "Find Wei's e-mail", flow)["answer"])
        self.assertEqual(self.say(ann, "Cancel lunch tomorrow", flow)["calls"], ["calendar.read", "calendar.delete"])
        self.assertEqual((self.events(ann), self.events(wei)), ([], []))

    def test_USE_2_nothing_is_changed_without_one_event_that_is_meant(self):
        zone = "Asia/Shanghai"
        ann = self.user("ann", zone)
        for text in ("明天上午十点和王伟开会", "明天下午三点和李娜开会"):
            self.say(ann, text, "router_worker")
        before = self.events(ann)
        self.assertEqual(len(before), 2)

        for text in ("取消明天的会", "取消明天的聚餐", "不要取消明天和王伟的会", "王伟取消了明天的会", "什么是会议？"):
            answer = self.say(ann, text, "router_worker")

            self.assertNotIn("calendar.delete", answer["calls"], text)
            self.assertEqual(self.events(ann), before, text)

    def test_USE_2_what_is_missing_is_asked_for(self):
        ann = self.user("ann", "Asia/Shanghai")
        for flow in FLOWS:
            answer = self.say(ann, "安排和王伟开会", flow)

            self.assertEqual(answer["calls"], [])
            self.assertIn("请说明时间", answer["answer"])
        self.assertEqual(self.events(ann), [])

    def test_USE_2_a_flow_without_tools_says_so(self):
        ann = self.user("ann", "Asia/Shanghai")

        answer = self.say(ann, "明天上午十点和王伟开会", "chat")

        self.assertIn("没有工具", answer["answer"])
        self.assertEqual(self.events(ann), [])


class OfflineApprovals(DemoCase):
    config = offline(word_delay_ms=0, tools={"approval": "[calendar.delete]"})

    def test_USE_2_a_rejected_change_is_told(self):
        ann = self.user("ann", "Asia/Shanghai")
        self.say(ann, "明天上午十点和王伟开会", "router_worker")

        thread, run = ann.start_run("取消明天和王伟的会", forwarded={"flow": "router_worker"})
        self.assertTrue(eventually(lambda: ann.status(thread, run).json["status"] == "awaiting_approval"))
        [call] = ann.get("/api/v1/agent/approvals").json["approvals"]
        answer = ann.request("POST", f"/api/v1/agent/runs/{thread}/approvals/{call['toolCallId']}", {"decision": "reject"})
        self.assertEqual(answer.status, 202, answer.body)
        self.assertEqual(ann.finish(thread, run), "RUN_FINISHED")

        end = next(frame.json for frame in ann.read_events(thread, run) if frame.event == "TEXT_MESSAGE_END")
        self.assertEqual(end["status"], "failed")
        self.assertIn("您没有批准", end["answer"])
        self.assertEqual(len(self.events(ann)), 1)


if __name__ == "__main__":
    unittest.main()
