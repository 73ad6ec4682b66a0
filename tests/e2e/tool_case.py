"""What the tests of tools share: a server whose model calls project_cli, the rows that a call leaves, and another program
in project_cli's place."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from e2e_case import eventually
from flow_case import FlowCase, Says
from model_case import ModelRun, message_rows, model_config, provider, query

import fake_scripts as scripts
from fake_answer import Answer
from fake_chunks import ToolCall, usage
from fake_http import Request
from runnel_server import BINARY, ROOT, Api, copy_programs

FLOW = "router_worker"
ROUTED = Says({"route": "NEEDS_EXECUTION", "intent_summary": "Something with the calendar", "safety_flags": [],
               "execution_brief": "Do it with calendar.create", "assistant_text": None})
DONE = Says({"status": "SUCCESS", "result_type": "execution_report", "key_points": [], "suggested_actions": [],
             "error": None, "answer": "Done."})
LUNCH = {"title": "Lunch", "start_at": "2026-11-20T12:00:00+08:00", "end_at": "2026-11-20T13:00:00+08:00"}
AS_ROOT = os.geteuid() == 0
CREDENTIAL = "RUNNEL_TOOL_CREDENTIAL="


@dataclass(frozen=True)
class Asks:
    """The model's turn with these tool calls, each the text of its arguments, valid JSON or not, after some words."""

    arguments: tuple[str, ...]
    before: str = ""

    def answer(self, number: int) -> Answer:
        calls = [ToolCall("project_cli", text, f"p-{number}-{i}", i, pieces=3) for i, text in enumerate(self.arguments)]
        return scripts.stream([*([self.before] if self.before else []), *calls], "tool_calls", usage(100, 10))


def call(method: str, **given) -> Asks:
    """One call of MODULE.METHOD, as a whole turn."""
    module, _, name = method.partition(".")
    return Asks((json.dumps({"module": module, "method": name, "input": given}, ensure_ascii=False),))


def create(**given) -> Asks:
    return call("calendar.create", **{**LUNCH, **given})


def creates(*titles: str, **given) -> Asks:
    """One turn with one call of calendar.create for each title."""
    return Asks(tuple(create(title=title, **given).arguments[0] for title in titles))


def answer_by(turns: Callable[[Request], tuple[Asks, ...]]) -> Callable[[Request], Answer]:
    """An answer for any call of a run whose worker takes these turns and then answers, so that several runs can be under
    way at the same time. Each needs a thread of its own."""
    def answer(request: Request) -> Answer:
        messages = request.json["messages"]
        taken = sum("tool_calls" in message for message in messages)
        if not taken and "tools" not in request.json:
            return ROUTED.answer(1)
        left = turns(request)[taken:]
        return (left[0] if left else DONE).answer(taken + 2)

    return answer


class ToolCase(FlowCase):
    """The real tool, with the real programs."""

    tools: dict = {}

    @classmethod
    def make_config(cls) -> dict:
        folder = cls.make_flows()
        return model_config(cls.prices_file, [provider(cls.fake.base_url)], {"default": "fake"},
                            flows={"default": FLOW, **({"dir": json.dumps(str(folder))} if folder else {})},
                            tools=cls.tools)

    def script(self, *steps) -> None:
        self.fake.script(*(step.answer(number) for number, step in enumerate(steps, 1)))

    def ask(self, *turns, user: str = "demo", thread: str | None = None) -> ModelRun:
        """A whole run whose worker takes these turns and then answers."""
        api: Api = self.api if user == "demo" else self.server.api(user)
        self.asked = len(self.fake.calls)
        self.script(ROUTED, *turns, DONE)
        run = ModelRun(api, *api.start_run("Please.", thread=thread)).read()
        self.assertEqual(run.outcome, "RUN_FINISHED", run.end)
        return run

    def results(self, run: ModelRun) -> list[dict]:
        """TOOL_CALL_RESULT of v2, in order."""
        return [frame.json for frame in run.api.read_events(run.thread, run.run) if frame.event == "TOOL_CALL_RESULT"]

    def result_of(self, *turns, **how) -> dict:
        results = self.results(self.ask(*turns, **how))
        self.assertEqual(len(results), 1, results)
        return results[0]

    def code_of(self, *turns, **how) -> str:
        """The code with which the only call of the run was refused."""
        result = self.result_of(*turns, **how)
        self.assertEqual(result["status"], "failure", result)
        self.assertEqual(result["error"], result["result"])
        return result["error"]["error"]["code"]

    def events(self, user: str = "demo") -> list[dict]:
        """The events in the user's calendar."""
        return query(self.server, "SELECT * FROM calendar_events WHERE owner_id = ? ORDER BY start_at, id", user)

    def calls_of(self, run: ModelRun) -> list[dict]:
        return query(self.server, "SELECT c.* FROM tool_calls c JOIN runs r ON r.id = c.run_id WHERE r.run_ref = ?",
                     run.run)

    def rows_of(self, run: ModelRun) -> list[dict]:
        return message_rows(self.server, run.thread)

    def facts(self, run: ModelRun) -> list[dict]:
        """The run's log."""
        bodies = query(self.server, "SELECT l.body FROM log l JOIN runs r ON r.id = l.run_id WHERE r.run_ref = ? "
                                    "ORDER BY l.first_n", run.run)
        return [fact for row in bodies for fact in json.loads(row["body"])]


def children_of(pid: int) -> list[int]:
    """The processes that this one has started, also those that nobody has reaped."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):
            pass  # It has ended meanwhile.
    return found


def command_lines() -> dict[int, bytes]:
    """The arguments of every process that can be seen, by its id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found[int(folder.name)] = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


class ProgramCase(ToolCase):
    """hostile_tool.c is in the place of project_cli. It does what the title in its input says."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = cls.folder / "programs"
        cls.server.stop()
        cls.server.binary = copy_programs(cls.programs)
        cls.hostile = cls.build_hostile()
        cls.put_in_place(cls.hostile)
        cls.server.start()

    @classmethod
    def build_hostile(cls) -> Path:
        """The server starts only with a program that says the same version."""
        version = subprocess.run([BINARY.with_name("project_cli"), "--version"], check=True, capture_output=True, text=True)
        target = cls.folder / "hostile_tool"
        subprocess.run([os.environ.get("CC", "cc"), "-static", "-O1", "-Wall", "-Wextra", "-Werror",
                        f'-DVERSION="{version.stdout.strip()}"', f"-I{ROOT / 'tests' / 'support'}", "-o", str(target),
                        str(Path(__file__).with_name("hostile_tool.c"))], check=True)
        return target

    @classmethod
    def put_in_place(cls, program: Path) -> None:
        """The next call starts this program. A program that runs goes on."""
        copy = shutil.copy(program, cls.programs / "new")
        os.chmod(copy, 0o755)
        os.replace(copy, cls.programs / "project_cli")

    @classmethod
    def put_back(cls) -> None:
        """The next call starts the real project_cli."""
        cls.put_in_place(BINARY.with_name("project_cli"))

    def tool_processes(self) -> list[int]:
        """The processes of tool calls: children of the server, and whatever names one of the copied programs."""
        pid = self.server.process.pid
        ours = str(self.programs).encode()
        return sorted({*children_of(pid), *(other for other, line in command_lines().items() if ours in line)} - {pid})

    def assert_nothing_runs(self) -> None:
        self.assertTrue(eventually(lambda: not self.tool_processes(), 1), self.tool_processes())

    def wait_for_process(self) -> int:
        """The process of the only call that runs, once the sandbox has become the program."""
        def program():
            return [pid for pid, line in command_lines().items() if line.startswith(bytes(self.programs / "project_cli"))]

        [pid] = eventually(program)
        return pid

    def credential(self, **how) -> str:
        """The credential of a call that has ended, as its program saw it."""
        result = self.result_of(create(title="tell backwards"), **how)
        return self.read_backwards("".join(result["result"]["data"]["environment"]))

    def read_backwards(self, text: str) -> str:
        variable = text[::-1]
        self.assertTrue(variable.startswith(CREDENTIAL + "eyJ"), variable)
        return variable.removeprefix(CREDENTIAL)
