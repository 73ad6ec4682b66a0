"""TOOL-4, TOOL-12: a table of inputs with what each gives, and inputs made from the schema that a failure carries."""

import json
import re
import unittest

from e2e_case import new_id
from schema_generator import inputs
from tool_case import ToolCase, call
from tool_inputs import ROWS, Row, timed

EVENTS = "/api/v1/calendar/events"
PREFIX = "{} input does not match method schema: "
# Nobody knows then which method was meant.
UNREADABLE = "the arguments are no JSON that can be used"
MADE = re.compile(r"(evt|inv)_[0-9a-f-]{36}")


class ToolInputs(ToolCase):
    def prepare(self, row: Row) -> tuple[str, dict[str, str]]:
        """A user with what the row says is given, and the ids that the row's names stand for."""
        user = new_id("user")
        api = self.server.api(user)
        if row.zone != "Asia/Shanghai":
            profile = api.get("/api/v1/profile").json
            profile["settings"]["preferences"]["timezone"] = row.zone
            answer = api.request("PUT", "/api/v1/profile", profile)
            self.assertEqual(answer.status, 200, answer.body)
        names = {"$me": user}
        for number, event in enumerate(row.given):
            names[f"${number}"] = self.add(api, event)
        text = json.dumps(row.input)
        if "$invite" in text or "$shared" in text or row.input == {"mode": "invites"}:
            names["$host"] = new_id("host")
            host = self.server.api(names["$host"])
            names["$shared"] = self.add(host, timed("Lunch"))
            shared = host.request("POST", f"{EVENTS}/{names['$shared']}/share", {"user_ids": [user]})
            names["$invite"] = shared.json["items"][0]["invite_id"]
        return user, names

    def add(self, api, event: dict) -> str:
        answer = api.request("POST", EVENTS, event)
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["event_id"]

    def given_by(self, row: Row) -> tuple[dict | str, dict]:
        """What the call gives, as a row tells it, and its whole result."""
        user, names = self.prepare(row)
        text = json.dumps(row.input)
        for name, meant in names.items():
            text = text.replace(f'"{name}"', f'"{meant}"')
        result = self.result_of(call(row.method, **json.loads(text)), user=user)
        told = json.dumps(result["result"].get("data") or result["result"]["error"], ensure_ascii=False)
        for name, meant in names.items():
            told = told.replace(f'"{meant}"', f'"{name}"')
        told = json.loads(MADE.sub("$new", told))
        if "items" in told and result["status"] == "failure":
            return {"code": told["code"], "items": told["items"]}, result
        if result["status"] == "failure":
            return f"{told['code']}: {told['message'].removeprefix(PREFIX.format(row.method))}", result
        self.assertEqual(result["status"], "partial" if told.get("failed") else "success")
        return told, result

    def test_TOOL_4_every_input_gives_exactly_this(self):
        self.assertGreaterEqual(len(ROWS), 150)
        schemas = {tool["name"]: tool["inputSchema"] for tool in self.api.get("/api/v1/tools").json["tools"]}
        for row in ROWS:
            with self.subTest(f"{row.method} {str(row.input)[:200]}"):
                given, result = self.given_by(row)

                self.assertEqual(given, row.gives)
                if isinstance(given, str) and given.startswith("INVALID_ACTION_INPUT") and UNREADABLE not in given:
                    error = result["error"]["error"]
                    self.assertEqual((error["module"], error["method"]), tuple(row.method.split(".")))
                    self.assertTrue(error["message"].startswith(PREFIX.format(row.method)), error["message"])
                    self.assertEqual(error["input_schema"], schemas[row.method])

    def test_TOOL_4_the_schema_of_a_failure_is_enough_to_make_a_good_input(self):
        methods = sorted({row.method for row in ROWS})
        self.assertEqual(len(methods), 11)
        for method in methods:
            failed = self.result_of(call(method, nonsense=True), user=new_id("user"))["error"]["error"]
            self.assertEqual(failed["code"], "INVALID_ACTION_INPUT")
            for made in inputs(failed["input_schema"]):
                with self.subTest(f"{method} {made}"):
                    result = self.result_of(call(method, **made), user=new_id("user"))
                    # The ids in examples are those of nobody's events.
                    code = result["error"]["error"]["code"] if result["error"] else None
                    items = (result["error"] or {}).get("error", {}).get("items", [])
                    codes = {item["error"]["code"] for item in items}
                    self.assertTrue(code in (None, "NOT_FOUND") or codes == {"NOT_FOUND"}, result)


if __name__ == "__main__":
    unittest.main()
