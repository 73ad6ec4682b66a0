"""FLOW-1, CFG-3: `runnel check` reports all mistakes in flow files at once, with file and line, and `serve` does not
start with them."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from e2e_case import Server, eventually

from fake_provider import FakeProvider
from model_case import model_config, price_list, provider
from runnel_server import ROOT, run_cli

WORKER = "flows/router_worker.yaml"
INTENT = "flows/intent_execution_organization.yaml"
CHAT = "flows/chat.yaml"

# The file, what is replaced, the replacement, the place that the message names (empty: the whole file), the message.
MISTAKES = [
    ("agents.yaml", "  role: Helpful", "  rle: Helpful", "rle:", "unknown key 'rle'"),
    ("agents.yaml", "You add no facts", "{execution} You add no facts", "{execution} You", "belongs in a task"),
    ("agents.yaml", "role: Task executor", "role: [a, b]", "[a, b]", "'role' must be a single value"),
    ("agents.yaml", "router:\n  role", "router:\n  role: Twice\n  role", "role: Router", "'role' is set twice"),
    ("tasks.yaml", "agent: worker", "agent: wroker", "wroker", "has no agent 'wroker'"),
    ("tasks.yaml", "    {router}\n", "    {ruter}\n", "{ruter}", "unknown placeholder"),
    ("tasks.yaml", "{intent.execution_brief}", "{intent.brief}", "{intent.brief}", "has no field 'brief'"),
    ("tasks.yaml", "Decide how it goes on.", "Decide {organization}.", "{organization}.", "does not come before 'intent'"),
    ("tasks.yaml", "  expected_output: The answer itself, as plain text or Markdown.\n", "", "converse:",
     "'expected_output' is missing"),
    ("system_agents.yaml", "enabled_skills: []", "enabled_skills: [calender]", "[calender]",
     "there is no skill 'calender'; the skills are calendar, contacts, memory"),
    ("system_agents.yaml", "max_iters: 7", "max_iters: 0", "max_iters: 0", "from 1 to 100"),
    ("system_agents.yaml", "router:\n  context_messages: 40", "router:\n  context_messages: many", "context_messages: many",
     "'context_messages' must be a whole number"),
    ("system_agents.yaml", "task_executor:\n", "task_executor:\n  model: gpt-0\n", "gpt-0",
     "no provider has a model 'gpt-0'"),
    ("system_agents.yaml", "\nworker:", "\nwroker:", "wroker:", "has no agent 'wroker'; it has"),
    ("contracts.yaml", "execution_data: {type: object}", "execution_data: {typ: object}", "{typ:", "not supported"),
    ("contracts.yaml", "WorkerResult:", "Odd-One: {schema: {type: object}}\n\nWorkerResult:", "Odd-One",
     "a contract is called 'Odd-One'"),
    ("contracts.yaml", "WorkerResult:", "Ruled:\n  schema: {type: object, properties: {a: {enum: [X]}, b: {type: string}}}\n"
     "  rules:\n    - when: {a: Y}\n      needs: c\n\nWorkerResult:", "needs: c", "no field 'c'"),
    ("contracts.yaml", "when: {a: Y}", "when: {a: Z}", "when: {a: Z}", "'a' can never be 'Z'"),
    ("prompts.yaml", "  {backstory}\n", "  {history}\n", "{history}", "unknown placeholder {history}"),
    ("prompts.yaml", "  {errors}\n", "", "repair: |", "must have the placeholder {errors}"),
    ("prompts.yaml", "closing: |", "clsing: |", "clsing", "unknown key 'clsing'"),
    (WORKER, "model_calls: 20", "model_calls: -1", "-1", "'model_calls' must be a whole number"),
    (WORKER, "prose: true", "prose: yes", "prose: yes", "'prose' must be true or false"),
    (WORKER, "result_type: result_type", "result_type: kind", "kind", "has no field 'kind'"),
    (WORKER, "listen: router", "listen: ruter", "listen: ruter", "no stage 'ruter'"),
    (INTENT, "listen: execution", "listen: execution.SUCCESS", "execution.SUCCESS", "'execution' is not a router"),
    (INTENT, "context: input", "context: all", "context: all", "'context' must be one of thread, input, none"),
    (INTENT, "status: execution.status", "status: exec.status", "exec.status", "no stage 'exec'"),
    (CHAT, "answer: true", "answer: yes", "answer: yes", "'answer' must be a map"),
    (CHAT, "task: converse", "task: convers", "task: convers", "has no task 'convers'"),
    ("flows/circle.yaml", "", """name: circle
stages:
  one: {start: true, task: route_request, contract: IntentResult, router: route, answer: {text: assistant_text, on: DIRECT_EXECUTION}}
  two: {listen: [one.NEEDS_EXECUTION, three], task: route_request}
  three: {listen: two, task: route_request}
""", "two: {listen", "form a cycle: two → three → two"),
    ("flows/nowhere.yaml", "", """name: nowhere
stages:
  one: {start: true, task: route_request, contract: IntentResult, router: route, answer: {text: assistant_text, on: DIRECT_EXECUTION}}
""", "one:", "'one.NEEDS_EXECUTION' leads nowhere"),
    ("flows/both.yaml", "", """name: both
stages:
  one: {start: true, task: route_request}
  two: {listen: one, task: route_request, answer: true}
  three: {listen: one, task: route_request, answer: true}
""", "three:", "'one' already has a listener in line 4"),
    ("flows/startless.yaml", "", "name: startless\nstages:\n  one: {task: route_request, answer: true}\n", "one:",
     "no stage has 'start: true'"),
    ("flows/silent.yaml", "", "name: silent\nstages:\n  one: {start: true, task: route_request}\n", "one:",
     "needs 'answer'"),
    ("flows/copy.yaml", "", "name: circle\nstages:\n  one: {start: true, task: route_request, answer: true}\n", "circle",
     "already has a flow 'circle'"),
    ("flows/broken.yaml", "", "name: broken\nstages: [\n", "", "broken.yaml:3"),
    ("flows/empty.yaml", "", "# Nothing yet.\n", "", "the file is empty"),
]


class CheckTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-check-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)
        self.conf = self.directory / "conf"
        shutil.copytree(ROOT / "conf", self.conf)

    def seed(self, file: str, old: str, new: str) -> None:
        path = self.conf / file
        text = path.read_text() if path.exists() else ""
        self.assertIn(old, text, file)
        path.write_text(text.replace(old, new, 1) if old else new)

    def line_of(self, file: str, marker: str) -> int:
        before, found, _ = (self.conf / file).read_text().partition(marker)
        self.assertTrue(found, f"{marker} in {file}")
        return before.count("\n") + 1

    def settings(self, text: str = "") -> str:
        path = self.directory / "runnel.yaml"
        path.write_text(f"flows: {{dir: {self.conf}}}\n{text}")
        return str(path)

    def test_FLOW_1_the_shipped_files_are_good_as_a_folder_too(self):
        done = run_cli("check", "--config", self.settings())

        self.assertEqual(done.returncode, 0, done.stderr)

    def test_FLOW_1_every_one_of_many_mistakes_is_told_at_once(self):
        for file, old, new, _, _ in MISTAKES:
            self.seed(file, old, new)

        done = run_cli("check", "--config", self.settings())

        self.assertEqual(done.returncode, 1, done.stdout)
        lines = [line for line in done.stderr.splitlines() if str(self.conf) in line]
        self.assertGreaterEqual(len(MISTAKES), 30)
        for file, _, _, marker, words in MISTAKES:
            with self.subTest(file, words=words):
                place = f"{self.conf}/{file}:" + (f"{self.line_of(file, marker)}:" if marker else "")
                self.assertEqual(len([line for line in lines if place in line and words in line]), 1, done.stderr)
        self.assertEqual(len(lines), len(MISTAKES), "no mistake may be reported twice or cause another message:\n" + done.stderr)

    def test_FLOW_1_a_mistake_stops_the_start_with_the_words_of_the_check(self):
        self.seed(WORKER, "task: do_work", "task: do_wrk")
        config = self.settings()

        checked = run_cli("check", "--config", config)
        served = run_cli("serve", "--listen", "127.0.0.1:0", "--data-dir", str(self.directory / "data"), "--config", config)

        self.assertRegex(checked.stderr, rf"router_worker\.yaml:{self.line_of(WORKER, 'do_wrk')}:\d+: .*'do_wrk'")
        self.assertEqual(len(checked.stderr.splitlines()), 1)
        self.assertEqual((served.returncode, served.stderr), (1, checked.stderr))

    def test_CFG_3_mistakes_in_settings_prices_and_flows_are_told_together(self):
        self.seed(CHAT, "task: converse", "task: convers")

        words = run_cli("check", "--listen", "nonsense", "--config",
                        self.settings("models: {default: nowhere, prices: /nonexistent/prices.yaml}\n")).stderr

        for told in ("nonsense", "/nonexistent/prices.yaml", "nowhere", "'convers'"):
            self.assertIn(told, words)

    def test_TOOL_9_the_audience_of_tool_calls_is_not_for_users(self):
        for command in ("check", "serve"):
            done = run_cli(command, "--data-dir", str(self.directory / "data"), env={"RUNNEL_AUTH_AUDIENCE": "tool-runtime"})
            self.assertEqual(done.returncode, 1)
            self.assertIn("auth.audience is 'tool-runtime', which is reserved", done.stderr)

    def test_CFG_3_a_good_check_says_what_will_happen(self):
        done = run_cli("check", "--data-dir", str(self.directory / "data"), env={"OPENAI_API_KEY": "sk-canary"})

        self.assertEqual(done.returncode, 0, done.stderr)
        told = {line[:10].strip(): line[10:] for line in done.stdout.splitlines() if line[:10].strip()}
        self.assertRegex(told["version"], r"runnel \d+\.\d+")
        self.assertIn("dev mode", told["mode"])
        self.assertEqual(told["data"], f"{self.directory / 'data'} (sqlite)")
        self.assertEqual(told["model"], "offline (default): free, built in")
        self.assertIn("router_worker (default)", told["flows"])
        self.assertEqual(told["skills"], "calendar, contacts, memory; built in")
        self.assertEqual(told["budgets"], "none")
        self.assertIn("requests per second", told["limits"])
        self.assertIn("warning: OPENAI_API_KEY is set, but nothing uses it; to use it, set RUNNEL_MODEL_BASE_URL="
                      "https://api.openai.com/v1", done.stderr)
        self.assertNotIn("canary", done.stdout + done.stderr)
        self.assertFalse((self.directory / "data").exists(), "a check must not create anything")

    def test_CFG_3_a_flow_that_the_offline_model_cannot_run_is_a_warning_at_check_and_start(self):
        self.seed("contracts.yaml", "WorkerResult:", "TripPlan:\n  schema: {type: object, properties: {text: {type: string}}, "
                  "required: [text]}\n\nWorkerResult:")
        self.seed("flows/trip.yaml", "", "name: trip\nstages:\n  plan: {start: true, task: route_request, contract: TripPlan, "
                  "answer: {text: text}}\n")
        words = "flow trip cannot run on the offline model, which cannot write contract TripPlan"

        done = run_cli("check", "--config", self.settings())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"warning: {words}", done.stderr)
        with Server(self.directory / "s", {"flows": {"dir": json.dumps(str(self.conf))}}) as server:
            pass
        self.assertTrue(eventually(lambda: "Stop with Ctrl-C" in server.log.read_text()))
        log = server.log.read_text()
        self.assertIn(f'warn  configuration warning="{words}"', log)
        self.assertIn("flows     chat (default), intent_execution_organization, router_worker, trip; from ", log)

    def test_FLOW_1_a_folder_or_a_default_that_is_not_there(self):
        gone = run_cli("check", env={"RUNNEL_FLOWS_DIR": str(self.directory / "gone")})
        unknown = run_cli("check", env={"RUNNEL_FLOWS_DEFAULT": "dance"})

        self.assertIn("flows.dir", gone.stderr)
        self.assertIn("flows.default: there is no flow 'dance'; the flows are chat, ", unknown.stderr)

    def test_FLOW_1_changed_words_reach_a_server_without_building(self):
        self.seed("agents.yaml", "Helpful assistant", "Grumpy assistant")

        prices = self.directory / "prices.yaml"
        prices.write_text(json.dumps(price_list()))

        with FakeProvider() as fake:
            config = model_config(prices, [provider(fake.base_url)], {"default": "fake"},
                                  flows={"dir": json.dumps(str(self.conf)), "default": "chat"})
            with Server(self.directory / "s", config) as server:
                api = server.api()
                self.assertEqual(api.finish(*api.start_run("hello")), "RUN_FINISHED")
            messages = fake.calls[0].json["messages"]

        told = "\n".join(message["content"] for message in messages if message["role"] == "system")
        self.assertIn("# Role\nGrumpy assistant\n", told)
        self.assertNotIn("Helpful assistant", told)


if __name__ == "__main__":
    unittest.main()
