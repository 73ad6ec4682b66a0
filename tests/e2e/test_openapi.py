"""HTTP-1, HTTP-2, HTTP-6, HTTP-7: the OpenAPI document, and a server that follows it."""

import json
import re
import unittest
from urllib.parse import urlencode

from e2e_case import DIALECTS, E2eCase, new_id, offline, run_input

from http_client import Http, Response
from runnel_server import ROOT


METHODS = ("get", "post", "put", "patch", "delete")


def references(node):
    """Every $ref inside `node`."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


class OpenApiCase(E2eCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.document = Http(cls.server.address).get("/openapi.json").json

    def resolve(self, node: dict) -> dict:
        while "$ref" in node:
            target = self.document
            for name in node["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            node = target
        return node

    def operations(self):
        """(method, path, the operation with the parameters of its path)."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    own = item[method]
                    parameters = [self.resolve(p) for p in item.get("parameters", []) + own.get("parameters", [])]
                    yield method.upper(), path, {**own, "parameters": parameters}

    def problems(self, schema: dict, value, where: str = "") -> list[str]:
        """How `value` differs from the schema. Supports only what the document uses for answers."""
        schema = self.resolve(schema)
        if value is None and schema.get("nullable"):
            return []
        if "oneOf" in schema:
            mapping = schema["discriminator"]["mapping"]
            if value.get("type") not in mapping:
                return [f"{where}: the event {value.get('type')} is not declared"]
            return self.problems({"$ref": mapping[value["type"]]}, value, where)
        kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
        kind = schema.get("type")
        if kind and (not isinstance(value, kinds[kind]) or (kind == "integer" and isinstance(value, bool))):
            return [f"{where}: not of type {kind}: {value!r}"]
        found = [f"{where}: {value!r} not in {schema['enum']}"] if value not in schema.get("enum", [value]) else []
        if kind == "array":
            for index, item in enumerate(value):
                found += self.problems(schema["items"], item, f"{where}/{index}")
        if kind == "object":
            found += [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
            known = schema.get("properties", {})
            for name, member in value.items():
                if name in known:
                    found += self.problems(known[name], member, f"{where}/{name}")
                elif known:
                    found.append(f"{where}: {name} is not declared")
        return found


class DocumentTest(OpenApiCase):
    def test_HTTP_7_it_is_served_to_anyone(self):
        answer = Http(self.server.address).get("/openapi.json")

        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/json"))
        self.assertTrue(answer.json["openapi"].startswith("3.0."))
        self.assertTrue({"title", "version"} <= set(answer.json["info"]))

    def test_HTTP_7_every_reference_leads_somewhere_and_nothing_is_unused(self):
        used = set(references(self.document))
        for reference in used:
            with self.subTest(reference):
                self.assertTrue(self.resolve({"$ref": reference}))
        for kind, members in self.document["components"].items():
            for name in members:
                if kind != "securitySchemes":
                    self.assertIn(f"#/components/{kind}/{name}", used)

    def test_HTTP_7_operations_are_complete(self):
        ids = []
        for method, path, operation in self.operations():
            with self.subTest(f"{method} {path}"):
                ids.append(operation["operationId"])
                self.assertTrue(operation["summary"])
                self.assertTrue(operation["responses"])
                for status, response in operation["responses"].items():
                    self.assertRegex(status, r"\A(101|[2-5]\d\d)\Z")
                    self.assertTrue(self.resolve(response)["description"])
                declared = [p["name"] for p in operation["parameters"] if p["in"] == "path"]
                self.assertEqual(sorted(declared), sorted(re.findall(r"{(\w+)}", path)))
                for parameter in operation["parameters"]:
                    self.assertIn(parameter["in"], ("path", "query", "header"))
                    self.assertIn("schema", parameter)
                    self.assertTrue(parameter.get("required") or parameter["in"] != "path")
                for needed in operation.get("security", self.document["security"]):
                    self.assertTrue(set(needed) <= set(self.document["components"]["securitySchemes"]))
        self.assertEqual(len(ids), len(set(ids)))

    def test_HTTP_7_every_operation_exists_and_what_is_not_declared_does_not(self):
        for path, item in self.document["paths"].items():
            for method in METHODS:
                with self.subTest(f"{method} {path}"):
                    answer = self.api.request(method.upper(), re.sub(r"\{\w+\}", "none", path))
                    if method in item:
                        self.assertNotIn(answer.status, (405, 501))
                        self.assertNotEqual(answer.body and answer.error_code == "NOT_FOUND"
                                            and "address" in answer.json["error"]["message"], True)
                    else:
                        self.assertEqual(answer.status, 405)

    def test_HTTP_1_an_operation_without_a_body_takes_an_empty_object(self):
        tried = 0
        for method, path, operation in self.operations():
            if "requestBody" in operation or method == "GET":
                continue
            with self.subTest(f"{method} {path}"):
                address = re.sub(r"\{\w+\}", "x", path) + "?runId=x"
                answer = self.api.request(method, address, b"{}")
                self.assertEqual(answer.status, self.api.request(method, address).status, answer.body)
                tried += 1
        self.assertGreater(tried, 4)


EVENT_SCHEMAS = {"v2": "V2Event", "v1": "V1Event", "ag-ui": "AgUiEvent", "tasks": "TaskEvent"}


class EventsTest(OpenApiCase):
    config = offline(flows={"default": "router_worker"})

    def check_events(self, dialect: str, events: list[dict], where: str) -> set[str]:
        """Each event is as declared. Returns their types."""
        schema = {"$ref": f"#/components/schemas/{EVENT_SCHEMAS[dialect]}"}
        for event in events:
            self.assertEqual(self.problems(schema, event, where), [])
        return {event["type"] for event in events}

    def test_HTTP_7_events_of_real_runs_are_as_declared(self):
        for flow in ("router_worker", "chat"):
            thread, run = self.finished_run(forwarded={"flow": flow})
            for name, query in DIALECTS.items():
                with self.subTest(flow, dialect=name):
                    seen = self.check_events(query["dialect"], [frame.json for frame in self.api.read_events(thread, run, **query)],
                                             flow)
                    self.assertLessEqual({"RUN_STARTED", "TEXT_MESSAGE_END", "RUN_FINISHED"}, seen)

    def test_HTTP_7_every_event_of_the_golden_transcripts_is_declared_and_none_else(self):
        seen = {dialect: set() for dialect in EVENT_SCHEMAS}
        golden = ROOT / "tests/conformance/golden"
        for path in sorted(golden.glob("*.sse")):
            dialect = next(name for name in EVENT_SCHEMAS if f".{name}" in path.name)
            events = [json.loads(line[6:]) for line in path.read_text().split("\n") if line.startswith("data: ")]
            seen[dialect] |= self.check_events(dialect, events, path.name)
        for path in sorted(golden.glob("*.elements")):
            events = json.loads(f"[{path.read_text().rstrip().removesuffix(',')}]")
            seen["tasks"] |= self.check_events("tasks", events, path.name)
        schemas = self.document["components"]["schemas"]
        for dialect, schema in EVENT_SCHEMAS.items():
            # The golden transcripts have no call whose arguments are read while they arrive, and no stream of a thread.
            later = {"tool_preparing", "tool_intent"} if dialect == "tasks" else {"CUSTOM"}
            self.assertEqual(seen[dialect] | later, set(schemas[schema]["discriminator"]["mapping"]), dialect)

    def test_HTTP_7_a_task_is_as_declared(self):
        answer = self.api.post("/api/v1/tasks", {"message": "Hello"})
        self.assertEqual(self.problems({"$ref": "#/components/schemas/StartedTask"}, answer.json), [])
        while (page := self.api.get(f"/api/v1/tasks/{answer.json['task_id']}?wait=5").json)["status"] == "running":
            self.assertEqual(self.problems({"$ref": "#/components/schemas/Task"}, page), [])
        self.assertEqual(self.problems({"$ref": "#/components/schemas/Task"}, page), [])
        self.assertLessEqual({"text_chunk", "task_complete"}, {event["type"] for event in page["events"]})

    def test_HTTP_7_a_profile_is_asked_and_answered_in_forms_of_their_own(self):
        operation = self.document["paths"]["/api/v1/profile"]["put"]
        asked = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        answered = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        self.assertEqual((asked.rsplit("/")[-1], answered.rsplit("/")[-1]), ("NewProfile", "Profile"))
        settings = self.resolve(self.resolve({"$ref": answered})["properties"]["settings"])
        self.assertNotIn("nullable", settings)
        self.assertLessEqual({"version", "preferences"}, set(settings["required"]))
        for body in ({}, {"settings": {"version": 1}}, {"username": "Ann", "settings": {"version": 2, "safety": {"a": 1}}}):
            answer = self.api.request("PUT", "/api/v1/profile", body)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(self.problems({"$ref": answered}, answer.json), [])


class KeptTest(OpenApiCase):
    """Requests of all kinds. The server's close fails the test if a status was not declared; the form of each answer is
    checked here."""

    config = offline(words=3)

    def bodies(self):
        yield None
        for raw in (b"", b"{", b"[]", b"null", b'{"a":1,"a":2}', b"\xff", b"[" * 100_000, b'{"title":"\\u0000"}'):
            yield raw
        yield {"title": "x"}
        yield {"title": "x", "colour": "red"}
        yield run_input("hello", new_id("thread"))
        yield run_input("hello", forwarded={"flow": "none"})
        yield {"messages": [{"role": "user"}]}

    def targets(self, path: str, operation: dict):
        """The path with a thread that exists and with one that does not; each without parameters, and with correct and
        wrong ones."""
        names = [p["name"] for p in operation["parameters"] if p["in"] == "query"]
        right = {"runId": self.run_id, "threadId": self.thread, "dialect": "ag-ui", "limit": "5"}
        queries = [{}, {n: right[n] for n in names if n in right}, {n: "wrong" for n in names},
                   {n: right.get(n, "0") if n in ("runId", "threadId") else "0" for n in names}]
        for thread in (self.thread, "none"):
            for query in queries:
                yield re.sub(r"\{\w+\}", thread, path) + ("?" + urlencode(query) if query else "")

    def check(self, operation: dict, answer):
        declared = operation["responses"]
        self.assertIn(str(answer.status), declared, answer.body[:300])
        self.assertLess(answer.status, 500, answer.body[:300])
        content = self.resolve(declared[str(answer.status)]).get("content")
        if content is None:
            self.assertEqual(answer.body, b"")
            return
        kind = answer.headers["content-type"].split(";")[0]
        self.assertIn(kind, content)
        if kind == "application/json":
            self.assertEqual(self.problems(content[kind]["schema"], answer.json), [])

    def opened(self, target: str) -> Response:
        """The stream of a thread does not end, so only what comes at once is read."""
        with self.api.open("GET", target) as stream:
            body = b"" if stream.status == 200 else stream.connection.read_body()
            return Response(stream.status, stream.headers, body)

    def test_HTTP_7_every_answer_is_as_declared(self):
        seen = set()
        for method, path, operation in self.operations():
            self.thread, self.run_id = self.finished_run()
            for target in self.targets(path, operation):
                for body in self.bodies() if method != "GET" else (None, b"x"):
                    with self.subTest(f"{method} {target}", body=str(body)[:60]):
                        if operation["operationId"] == "streamThreadEvents" and body is None:
                            answer = self.opened(target)
                        else:
                            answer = self.api.request(method, target, body)
                        self.check(operation, answer)
                        seen.add((method, path, answer.status))
            with self.subTest(f"{method} {path}, anonymous"):
                answer = Http(self.server.address).request(method, re.sub(r"\{\w+\}", self.thread, path))
                self.check(operation, answer)
                needed = operation.get("security", self.document["security"])
                self.assertEqual(answer.status == 401, needed != [] and {} not in needed)
        for wanted in (("POST", "/api/v1/agent/runs", 202), ("POST", "/api/v1/agent/ag-ui", 200),
                       ("PATCH", "/api/v1/agent/threads/{thread_id}", 200),
                       ("DELETE", "/api/v1/agent/threads/{thread_id}", 204),
                       ("POST", "/api/v1/agent/runs/{thread_id}/cancel", 200),
                       ("GET", "/api/v1/agent/history", 200)):
            self.assertIn(wanted, seen)

    def test_HTTP_6_a_large_body_is_answered_as_declared(self):
        for method, path, operation in self.operations():
            with self.subTest(f"{method} {path}"):
                answer = self.api.request(method, path.replace("{thread_id}", "t"), b" " * (5 << 20))
                self.assert_error(answer, 413, "BODY_TOO_LARGE")
                self.assertIn("413", operation["responses"])


class BodyTest(E2eCase):
    config = offline(http={"json_depth": 8})

    def test_HTTP_1_violations_are_named(self):
        details = self.assert_error(
            self.api.post_run({"threadId": 5, "messages": [{"role": "user", "content": "x"}, {"id": "2"}]}), 400,
            "INVALID_REQUEST")

        self.assertEqual(details["violations"], [{"path": "/threadId", "problem": "must be a string or null"},
                                                 {"path": "/messages/1/role", "problem": "is required"}])

    def test_HTTP_1_at_most_twenty_violations_are_told(self):
        details = self.assert_error(self.api.post_run({"messages": [5] * 1000}), 400, "INVALID_REQUEST")

        self.assertEqual(len(details["violations"]), 20)

    def test_HTTP_1_unknown_fields_are_named(self):
        thread, _ = self.finished_run()

        answer = self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", {"title": "x", "colour": "red"})

        details = self.assert_error(answer, 400, "INVALID_REQUEST")
        self.assertEqual([violation["path"] for violation in details["violations"]], ["/colour"])
        self.assertIn("colour", answer.json["error"]["message"])

    def test_HTTP_1_bad_json_is_told_with_its_place(self):
        details = self.assert_error(self.api.post_run(b'{\n"messages": [}'), 400, "INVALID_JSON")

        self.assertEqual(details, {"line": 2, "column": 14})

    def test_HTTP_1_keys_that_occur_twice_are_refused(self):
        body = json.dumps(run_input("hello"))[:-1] + ', "threadId": "a", "threadId": "b"}'

        self.assert_error(self.api.post_run(body.encode()), 400, "INVALID_JSON")

    def test_HTTP_6_the_depth_limit_is_configurable(self):
        def answer(depth: int):
            return self.api.post_run(run_input("hello", state=json.loads("[" * depth + "]" * depth)))

        self.assertEqual(answer(7).status, 202)
        self.assert_error(answer(8), 400, "INVALID_JSON")

    def test_HTTP_1_json_is_taken_whatever_it_is_called(self):
        for kind in ("application/json", "application/json; charset=utf-8", "application/x-www-form-urlencoded"):
            with self.subTest(kind):
                answer = self.api.post("/api/v1/agent/runs", run_input("hello"), headers={"Content-Type": kind})
                self.assertEqual(answer.status, 202, answer.body)

    def test_a_body_that_nobody_reads_is_refused(self):
        self.assert_error(self.api.request("GET", "/api/v1/agent/threads", {"a": 1}), 400, "INVALID_REQUEST")
        self.assertEqual(self.api.request("GET", "/api/v1/agent/threads", b"").status, 200)


if __name__ == "__main__":
    unittest.main()
