"""USE-2: what a new server in dev mode has to show, and that it is added once."""

import datetime
import unittest

from e2e_case import E2eCase, offline


class DemoData(E2eCase):
    config = offline(dev={"demo_data": True})

    def events(self) -> list[dict]:
        now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        first, last = ((now + datetime.timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ") for days in (-2, 6))
        return self.api.get(f"/api/v1/calendar/events?from={first}&to={last}").json["items"]

    def test_USE_2_first_start_adds_events_an_invitation_and_contacts_once(self):
        titles = [event["title"] for event in self.events()]
        contacts = [contact["name"] for contact in self.api.get("/api/v1/contacts").json["items"]]
        [invite] = self.api.get("/api/v1/calendar/invites").json["items"]
        self.assertEqual((len(titles), len(contacts), invite["organizer"]), (4, 3, "wei"))
        found = self.api.get("/api/v1/contacts?q=%E7%8E%8B%E4%BC%9F").json["items"]
        self.assertEqual([contact["user_id"] for contact in found], ["wei"])

        # What the user deletes does not come back.
        self.api.request("DELETE", "/api/v1/calendar/events/evt_demo_call")
        self.server.restart()
        self.api.address = self.server.address
        self.assertEqual([event["title"] for event in self.events()], [title for title in titles if "Ann" not in title])

    def test_HTTP_5_other_users_begin_with_nothing(self):
        ann = self.server.api("someone")
        self.assertEqual(ann.get("/api/v1/contacts").json["items"], [])
        self.assertEqual(ann.get("/api/v1/calendar/invites").json["items"], [])


class NoDemoData(E2eCase):
    def test_USE_2_setting_switches_it_off(self):
        self.assertEqual(self.api.get("/api/v1/contacts").json["items"], [])


if __name__ == "__main__":
    unittest.main()
