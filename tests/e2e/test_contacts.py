"""TOOL-12, HTTP-3: contacts, over the API for apps and through contacts.read."""

import json
import unittest
from urllib.parse import quote

from e2e_case import new_id
from tool_case import ToolCase, call

CONTACTS = "/api/v1/contacts"


class Contacts(ToolCase):
    def add(self, api, **fields) -> dict:
        answer = api.request("POST", CONTACTS, fields)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def test_TOOL_12_an_app_and_a_model_see_the_same_contacts(self):
        user = new_id("user")
        app = self.server.api(user)
        wei = self.add(app, name="王伟 Wang Wei", email="wei@example.com", phone="+86 138 0013 8000", user_id="wei")
        self.add(app, name="Li Na")

        by_app = app.get(f"{CONTACTS}?q={quote('ＷＡＮＧ')}").json
        found, listed, one = self.results(self.ask(
            call("contacts.read", mode="search", query="伟"), call("contacts.read", mode="list"),
            call("contacts.read", mode="get", contact_id=wei["contact_id"]), user=user))

        self.assertEqual(by_app, {"items": [wei], "count": 1, "more": False, "next_cursor": None})
        shown = {key: value for key, value in wei.items() if key not in ("created_at", "updated_at")}
        self.assertEqual(found["result"], {"status": "success", "module": "contacts", "method": "read",
                                           "data": {"items": [shown], "count": 1, "more": False}})
        self.assertEqual([item["name"] for item in listed["result"]["data"]["items"]], ["Li Na", "王伟 Wang Wei"])
        self.assertEqual(one["result"]["data"]["items"], [shown])

    def test_HTTP_3_nobody_sees_or_changes_the_contacts_of_others(self):
        ann, bob = (self.server.api(user) for user in (new_id("ann"), new_id("bob")))
        contact = self.add(ann, name="Secret Friend")
        path = f"{CONTACTS}/{contact['contact_id']}"

        for answer in (bob.get(path), bob.request("PATCH", path, {"name": "Mine"}), bob.request("DELETE", path)):
            self.assert_error(answer, 404, "NOT_FOUND")
        self.assertEqual(bob.get(f"{CONTACTS}?q=secret").json["items"], [])
        self.assertEqual(self.code_of(call("contacts.read", mode="get", contact_id=contact["contact_id"]),
                                      user=new_id("bob")), "NOT_FOUND")
        self.assertEqual(ann.get(path).json, contact)

    def test_TOOL_4_a_wrong_input_brings_the_schema(self):
        result = self.result_of(call("contacts.read", mode="search", query="wei", owner_id="bob"))

        error = result["error"]["error"]
        self.assertEqual((error["code"], error["module"], error["method"]), ("INVALID_ACTION_INPUT", "contacts", "read"))
        self.assertTrue(error["message"].startswith("contacts.read input does not match method schema"), error["message"])
        listed = {tool["name"]: tool for tool in self.api.get("/api/v1/tools").json["tools"]}
        self.assertEqual(error["input_schema"], listed["contacts.read"]["inputSchema"])

    def test_TOOL_12_contacts_survive_a_crash(self):
        api = self.server.api(new_id("user"))
        contact = self.add(api, name="Durable")
        changed = api.request("PATCH", f"{CONTACTS}/{contact['contact_id']}", {"note": "tea"}).json
        self.assertEqual(changed, {**contact, "note": "tea", "updated_at": changed["updated_at"]})

        self.server.kill()
        self.server.start()

        self.assertEqual(api.get(f"{CONTACTS}/{contact['contact_id']}").json, changed)
        self.assertEqual(api.get(f"{CONTACTS}?q=dur").json["count"], 1)
        self.assertEqual(api.request("DELETE", f"{CONTACTS}/{contact['contact_id']}").status, 204)
        self.assertEqual(api.get(CONTACTS).json["items"], [])

    def test_HTTP_1_every_mistake_in_a_body_is_named(self):
        answer = self.api.request("POST", CONTACTS, {"name": " ", "email": "nobody", "owner_id": "bob"})

        details = self.assert_error(answer, 400, "INVALID_REQUEST")
        self.assertEqual(sorted(violation["path"] for violation in details["violations"]),
                         ["/email", "/name", "/owner_id"])
        self.assertNotIn("owner_id", json.dumps(self.api.get(CONTACTS).json))


if __name__ == "__main__":
    unittest.main()
