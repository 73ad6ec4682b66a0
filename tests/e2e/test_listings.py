"""RUN-1: the flows, models and methods that a run may use are listed."""

import unittest

from e2e_case import E2eCase, offline
from flow_case import FlowCase
from model_case import model_config, provider


class Listings(E2eCase):
    config = offline(flows={"default": "chat"})

    def test_RUN_1_flows(self):
        flows = {flow["name"]: flow for flow in self.api.get("/api/v1/flows").json["flows"]}

        self.assertEqual(set(flows), {"chat", "router_worker", "intent_execution_organization"})
        self.assertEqual([name for name, flow in flows.items() if flow["default"]], ["chat"])
        self.assertEqual(flows["router_worker"]["stages"],
                         [{"name": "router", "tools": []},
                          {"name": "worker", "tools": ["project_cli"], "clientTools": True}])
        self.assertEqual(flows["chat"]["description"], "A plain conversation.")
        unknown = self.assert_error(self.api.post("/api/v1/agent/runs", {
            "messages": [{"role": "user", "content": "x"}], "forwardedProps": {"flow": "none"}}), 400, "UNKNOWN_FLOW")
        self.assertEqual(unknown["flows"], list(flows))

    def test_RUN_1_each_listed_flow_can_be_named(self):
        for flow in self.api.get("/api/v1/flows").json["flows"]:
            with self.subTest(flow["name"]):
                thread, run = self.finished_run(forwarded={"flow": flow["name"]})
                stages = self.api.get(f"/api/v1/agent/runs/{thread}/stages?runId={run}").json["stages"]
                known = [stage["name"] for stage in flow["stages"]]
                self.assertLessEqual({stage["name"] for stage in stages}, set(known))
                self.assertEqual(stages[0]["name"], known[0])

    def test_RUN_1_the_offline_model_is_the_default_without_others(self):
        self.assertEqual(self.api.get("/api/v1/models").json,
                         {"models": [{"name": "offline", "pattern": False, "default": True}]})

    def test_RUN_1_tools(self):
        tools = {tool["name"]: tool for tool in self.api.get("/api/v1/tools").json["tools"]}

        self.assertLessEqual({"calendar.create", "calendar.read"}, set(tools))
        create = tools["calendar.create"]
        self.assertEqual(create["description"], create["inputSchema"]["description"])
        self.assertEqual(create["inputSchema"]["oneOf"][0]["required"], ["title", "start_at", "end_at"])

    def test_HTTP_3_they_are_for_users(self):
        for path in ("flows", "models", "tools"):
            with self.subTest(path):
                answers = [self.server.api(user).get(f"/api/v1/{path}").body for user in ("demo", "ann")]
                self.assertEqual(answers[0], answers[1])
                self.assert_error(self.api.get(f"/api/v1/{path}", headers={"Authorization": "Bearer x"}), 401)


class Models(FlowCase):
    @classmethod
    def make_config(cls) -> dict:
        key = cls.folder / "key"
        key.write_text("sk-hidden")
        key.chmod(0o600)
        return model_config(cls.prices_file,
                            [provider(cls.fake.base_url, models=("fake-1", "fake-*"), api_key_file=str(key))],
                            {"default": "fake-7"})

    def test_RUN_1_patterns_are_marked_and_the_default_is_listed(self):
        answer = self.api.get("/api/v1/models")

        self.assertEqual(answer.json["models"], [{"name": "fake-1", "pattern": False, "default": False},
                                                 {"name": "fake-*", "pattern": True, "default": False},
                                                 {"name": "offline", "pattern": False, "default": False},
                                                 {"name": "fake-7", "pattern": False, "default": True}])
        self.assertNotIn(b"sk-hidden", answer.body)
        self.assertNotIn(b"http", answer.body)


if __name__ == "__main__":
    unittest.main()
