"""TOOL-13: modules that a team adds with a YAML file and a program: the example of the documentation, and one that
misbehaves."""

import json
import os
import shutil
import socket
import tempfile
import time
import unittest
from pathlib import Path

from e2e_case import eventually
from model_case import ModelRun
from runnel_server import ROOT, run_cli
from test_sandbox import has_landlock
from tool_case import AS_ROOT, DONE, ROUTED, ToolCase, call, command_lines

EXAMPLE = ROOT / "docs" / "examples" / "units"
SECRET = 'the "secret" of\nthe bäd module'  # As a key in PEM or JSON has them: characters that JSON escapes.
BAD = """
module: bad
program: bad_module.py
timeout_s: 1
environment: [BAD_MODULE_KEY]
methods:
  behave:
    description: Does what its input says.
    input: &input
      type: object
      additionalProperties: false
      required: [how]
      properties:
        how: {type: string, maxLength: 40}
        path: {type: string, maxLength: 4000}
  behave_again:
    description: Does what its input says, also if it has done so before.
    idempotent: true
    input: *input
  ask_first:
    description: Does what its input says if the user agrees.
    approval: required
    input: *input
  match:
    description: Has an input whose pattern can be matched in very many ways.
    input:
      type: object
      additionalProperties: false
      properties:
        name: {type: string, maxLength: 1000, pattern: "^([a-zA-Z0-9]+[._-]?)+@[a-z]+$"}
  elsewhere:
    description: Belongs to another flow.
    allow: [chat]
    input: *input
"""
# The same program with more rights.
FREE = BAD.replace("module: bad", "module: free").replace("timeout_s: 1", "timeout_s: 3\nnetwork: true\nprocesses: 4000")
SLOW = BAD.replace("module: bad", "module: slow").replace("timeout_s: 1", "timeout_s: 30")


def make_modules() -> Path:
    """A folder that every user may read, unlike the tests' own."""
    folder = Path(tempfile.mkdtemp(prefix="runnel-modules-"))
    folder.chmod(0o755)
    for source in (EXAMPLE / "units.yaml", EXAMPLE / "units.py", ROOT / "tests" / "e2e" / "bad_module.py"):
        shutil.copy(source, folder)
    for name, text in (("bad", BAD), ("free", FREE), ("slow", SLOW)):
        (folder / f"{name}.yaml").write_text(text)
    return folder


class CustomModuleCase(ToolCase):
    env = {"BAD_MODULE_KEY": SECRET}

    @classmethod
    def make_config(cls) -> dict:
        cls.modules = make_modules()
        cls.addClassCleanup(shutil.rmtree, cls.modules)
        cls.tools = {"modules": json.dumps(str(cls.modules))}
        return super().make_config()

    def behave(self, how: str, method: str = "bad.behave", **given) -> dict:
        return self.result_of(call(method, how=how, **given))

    def code_when(self, how: str, method: str = "bad.behave", **given) -> str:
        return self.code_of(call(method, how=how, **given))

    def processes_with(self, mark: str) -> list[int]:
        return [pid for pid, line in command_lines().items() if mark.encode() in line]


class CustomModules(CustomModuleCase):
    def test_TOOL_13_the_example_of_the_documentation_works(self):
        result = self.result_of(call("units.convert", **{"value": 3, "from": "mile", "to": "km"}))

        self.assertEqual((result["status"], result["tool_name"]), ("success", "project_cli"), result)
        self.assertEqual(result["result"], {"status": "success", "module": "units", "method": "convert",
                                            "data": {"value": 4.828032, "unit": "km"}})
        self.assertEqual(json.loads(self.requests[-1]["messages"][-1]["content"]), result["result"])

    def test_TOOL_13_its_own_failures_reach_the_model(self):
        self.assertEqual(self.code_of(call("units.convert", **{"value": -1, "from": "m", "to": "km"})), "NEGATIVE_LENGTH")

    def test_TOOL_13_a_program_can_say_that_a_part_has_failed(self):
        result = self.behave("do a part")

        self.assertEqual((result["status"], result["error"]), ("partial", None))
        self.assertEqual(result["result"], {"status": "partial", "module": "bad", "method": "behave",
                                            "data": {"done": 2, "failed": 1}})
        self.assertEqual(self.behave("do all")["result"]["status"], "success")

    def test_TOOL_4_a_bad_input_starts_nothing_and_shows_the_schema(self):
        error = self.result_of(call("units.convert", value="3", unit="m"))["error"]["error"]

        self.assertEqual((error["code"], error["module"], error["method"]), ("INVALID_ACTION_INPUT", "units", "convert"))
        self.assertIn("units.convert input does not match method schema: ", error["message"])
        self.assertEqual(error["input_schema"]["required"], ["value", "from", "to"])

    def test_TOOL_13_models_and_clients_are_told_of_the_methods(self):
        self.ask()
        [tool] = [request["tools"] for request in self.requests if "tools" in request][0]
        self.assertIn("- units.convert: Converts a number", tool["function"]["description"])
        listed = {each["name"]: each for each in self.api.get("/api/v1/tools").json["tools"]}
        self.assertEqual(listed["units.convert"]["inputSchema"]["required"], ["value", "from", "to"])

    def test_TOOL_3_a_method_is_allowed_only_in_the_flows_that_its_module_names(self):
        self.assertEqual(self.code_when("hang", "bad.elsewhere"), "METHOD_NOT_ALLOWED")

    def test_TOOL_10_each_way_to_fail_has_its_own_code(self):
        for how, code in {"hang": "TOOL_TIMEOUT", "crash": "TOOL_CRASHED", "flood": "OUTPUT_TOO_LARGE",
                          "garbage": "INVALID_OUTPUT", "two documents": "INVALID_OUTPUT", "do something": "INVALID_OUTPUT",
                          "say nothing": "INVALID_OUTPUT",
                          "another method": "INVALID_OUTPUT", "exit 126": "TOOL_CRASHED",
                          "debug and die": "INVALID_OUTPUT"}.items():
            with self.subTest(how):
                error = self.behave(how)["error"]["error"]
                self.assertEqual(error["code"], code)
                self.assertIn("it is unknown whether it took effect", error["message"])

    def test_TOOL_13_what_a_program_writes_before_it_breaks_is_logged(self):
        self.behave("debug and die")
        self.assertIn("a traceback of the module", self.server.log.read_text())

    def test_TOOL_13_a_failure_of_its_own_is_passed_on_as_it_is(self):
        error = self.behave("fail with a code of the server")["error"]["error"]
        self.assertEqual(error, {"code": "TOOL_TIMEOUT", "message": "upstream", "retry": 3})

    def test_TOOL_4_no_input_keeps_the_server_busy(self):
        began = time.monotonic()
        self.assertEqual(self.code_of(call("bad.match", name="a" * 900 + "!")), "INVALID_ACTION_INPUT")
        self.assertLess(time.monotonic() - began, 5)

    def test_TOOL_13_a_secret_of_the_module_is_shown_to_nobody(self):
        self.assertEqual(self.code_when("tell the secret"), "INVALID_OUTPUT")
        self.assertEqual(self.code_when("tell the secret to stderr"), "TOOL_CRASHED")

        self.server.stop()
        self.addCleanup(self.server.start)
        for path in (*self.server.data.rglob("*"), self.server.log):
            if path.is_file():
                for form in (SECRET, json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1]):
                    self.assertNotIn(form.encode(), path.read_bytes(), path)

    @unittest.skipUnless(has_landlock(), "the kernel has no Landlock")
    def test_TOOL_13_the_program_has_neither_credential_nor_connection_nor_rights(self):
        seen = self.behave("try everything", path=str(self.server.database))["result"]["data"]

        self.assertEqual(seen["environment"], ["BAD_MODULE_KEY", "LANG", "PATH", "RUNNEL_REPEAT", "RUNNEL_RUN_ID",
                                               "RUNNEL_TOOL_CALL_ID", "RUNNEL_USER_ID"])
        self.assertEqual(seen["descriptors"], [0, 1, 2])
        self.assertEqual({what: outcome for what, outcome in seen["tried"].items() if outcome != "PermissionError"}, {})
        if AS_ROOT:
            self.assertEqual(seen["uid"], 65533)  # project_cli is another user.

    def test_TOOL_13_network_true_allows_sockets(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = str(listener.getsockname()[1])
            self.assertEqual(self.behave("connect", "free.behave", path=port)["status"], "success")
            self.assertEqual(self.code_when("connect", path=port), "TOOL_CRASHED")

    def test_TOOL_10_processes_that_it_started_end_with_the_call(self):
        for number, how in enumerate(("leave a tree", "leave a tree and hang")):
            with self.subTest(how):
                mark = f"{self.modules}/tree-{number}"
                result = self.behave(how, "free.behave", path=mark)
                self.assertEqual(result["status"], "success" if number == 0 else "failure", result)
                self.assertTrue(eventually(lambda: not self.processes_with(mark), 1), self.processes_with(mark))

    def test_RUN_13_a_module_can_ask_for_approval(self):
        self.script(ROUTED, call("bad.ask_first", how="say nothing"), DONE)
        run = ModelRun(self.api, *self.api.start_run("Please."))
        [waiting] = eventually(lambda: self.api.get("/api/v1/agent/approvals").json["approvals"])
        self.assertEqual(waiting["name"], "bad.ask_first")
        answer = self.api.request("POST", f"/api/v1/agent/runs/{run.thread}/approvals/{waiting['toolCallId']}",
                                  {"decision": "approve"})
        self.assertEqual(answer.status, 202)
        self.assertEqual(run.read().outcome, "RUN_FINISHED")
        self.assertEqual(self.results(run)[0]["error"]["error"]["code"], "INVALID_OUTPUT")


class CustomModulesAndCrashes(CustomModuleCase):
    def running(self, method: str, mark: str, how: str) -> ModelRun:
        self.script(ROUTED, call(method, how=how, path=mark), DONE)
        run = ModelRun(self.api, *self.api.start_run("Please."))
        self.assertTrue(eventually(lambda: self.calls_of(run)), self.server.log_tail())
        return run

    def test_RUN_12_after_a_crash_only_an_idempotent_method_is_called_again(self):
        for method, expected in (("slow.behave", "OUTCOME_UNKNOWN"), ("slow.behave_again", {"repeat": "1"})):
            with self.subTest(method):
                run = self.running(method, "", "wait for a file")
                time.sleep(0.5)
                self.server.restart()
                self.assertEqual(run.read().outcome, "RUN_FINISHED")
                [result] = self.results(run)
                seen = result["result"]["data"] if result["status"] == "success" else result["error"]["error"]["code"]
                self.assertEqual(seen, expected)

    def test_TOOL_10_the_whole_tree_ends_with_the_server(self):
        mark = f"{self.modules}/orphans"
        self.running("free.behave", mark, "leave a tree and hang")
        self.assertTrue(eventually(lambda: len(self.processes_with(mark)) >= 2), self.server.log_tail())
        self.server.kill()
        self.addCleanup(self.server.start)
        self.assertTrue(eventually(lambda: not self.processes_with(mark), 1), self.processes_with(mark))

    def test_RUN_4_a_cancel_ends_the_whole_tree(self):
        mark = f"{self.modules}/canceled"
        run = self.running("free.behave", mark, "leave a tree and hang")
        self.assertTrue(eventually(lambda: len(self.processes_with(mark)) >= 2), self.server.log_tail())
        self.assertEqual(self.api.cancel(run.thread, run.run).status, 202)
        self.assertTrue(eventually(lambda: not self.processes_with(mark), 1), self.processes_with(mark))
        run.read()
        self.assertEqual(self.results(run)[0]["error"]["error"]["code"], "CANCELED")


class CustomModuleChecks(unittest.TestCase):
    def setUp(self):
        self.modules = make_modules()
        self.addCleanup(shutil.rmtree, self.modules)

    def check(self, **env: str) -> tuple[int, str]:
        done = run_cli("check", "--data-dir", str(self.modules / "data"),
                       env={"BAD_MODULE_KEY": SECRET, "RUNNEL_TOOLS_MODULES": str(self.modules), **env})
        return done.returncode, done.stdout + done.stderr

    def test_CFG_3_the_check_names_the_modules(self):
        code, told = self.check()
        self.assertEqual(code, 0, told)
        self.assertIn(f"custom modules as user {65533 if AS_ROOT else os.getuid()}: bad, free, slow, units", told)
        self.assertIn("approval is needed for bad.ask_first", told)

    def test_CFG_3_the_check_tells_all_mistakes_of_modules(self):
        (self.modules / "units.yaml").write_text((EXAMPLE / "units.yaml").read_text().replace("program", "programme"))
        (self.modules / "bad.yaml").write_text(BAD.replace("allow: [chat]", "allow: [nowhere]"))
        code, told = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn("units.yaml:3:1: unknown key 'programme'", told)

        shutil.copy(EXAMPLE / "units.yaml", self.modules)
        code, told = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn("bad.elsewhere is allowed in a flow 'nowhere', which does not exist", told)

    def test_CFG_3_a_module_cannot_read_what_belongs_to_the_server(self):
        (self.modules / "data").mkdir()
        for path in ("data", "."):
            (self.modules / "bad.yaml").write_text(BAD.replace("timeout_s: 1", f"timeout_s: 1\nread: [{path}]"))
            code, told = self.check()
            self.assertNotEqual(code, 0)
            self.assertIn("belongs to the server", told)

    @unittest.skipUnless(AS_ROOT, "only root gives modules another user")
    def test_CFG_3_modules_and_project_cli_are_different_users(self):
        for env in ({"RUNNEL_TOOLS_USER": "65533:65533"}, {"RUNNEL_TOOLS_MODULES_USER": "65534:65534"}):
            code, told = self.check(**env)
            self.assertNotEqual(code, 0)
            self.assertIn("programs of custom modules need another user", told)

    @unittest.skipUnless(AS_ROOT, "only root gives modules another user")
    def test_CFG_3_a_script_that_its_user_cannot_read_is_a_mistake(self):
        self.modules.chmod(0o700)
        code, told = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn("is a script that the user 65533:65533 cannot read", told)


if __name__ == "__main__":
    unittest.main()
