"""The examples and transcripts in docs/event_streams.md and docs/ag_ui.md, against a real server."""

import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from e2e_case import E2eCase, new_id, offline
from flow_case import Says
from test_approvals import ApprovalCase
from test_client_tools import BLUE, RED, ClientToolsCase, asks
from test_stock_clients import FOLDER, need_clients
from tool_case import DONE, ROUTED, Asks, create

from cutting_proxy import CuttingProxy
from model_case import ModelRun
from runnel_server import ROOT, Api, environment
from sse import Frame, SseParser, parse_all

DOCS = ROOT / "docs"
# Ids, times and counts of tokens.
VOLATILE = re.compile(r'(call_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|(?<="timestamp":)[0-9]+|(?<=Tokens":)[0-9]+')


# Node 18 has no global `crypto`.
WEB_CRYPTO = "import { webcrypto } from 'node:crypto'; globalThis.crypto ??= webcrypto;"
# After how many bytes each of the first connections is lost.
CUTS = [900, 1500, 4001, 10, 1000]


def base_of(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)


def block(page: str, language: str, words: str) -> str:
    """The only code block that has these words."""
    [found] = [text for text in blocks(page, language) if words in text]
    return found


def steady(frame: Frame) -> tuple[str, str]:
    """The frame without what is different in every run."""
    return frame.event, VOLATILE.sub("#", frame.data.decode())


class Examples(E2eCase):
    """How the code of a page is run."""

    config = offline(word_delay_ms=2, flows={"default": "router_worker"})

    def variables(self, **more: str) -> dict[str, str]:
        base = base_of(self.server.port)
        return environment({"BASE": base, "API": f"{base}/api/v1/agent", "TOKEN": self.api.token, **more})

    def shell(self, code: str, **env: str) -> str:
        done = subprocess.run(["bash", "-ec", code], capture_output=True, text=True, timeout=60, env=self.variables(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def node(self, code: str, folder: Path | None = None, **env: str) -> str:
        done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, timeout=60,
                              cwd=folder, env=self.variables(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def python(self, *code: str, **env: str) -> str:
        done = subprocess.run([sys.executable, "-c", "import os, json\n" + "\n".join(code)], capture_output=True, text=True,
                              timeout=60, env=self.variables(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_transcript(self, page: str, number: int, shown: list[Frame]) -> None:
        """The page shows these frames, or says how many it leaves out."""
        text = blocks(page, "text")[number]
        at = 0
        for part in text.strip().split("\n\n"):
            if left_out := re.fullmatch(r": ([0-9]+) events are left out here", part):
                at += int(left_out[1])
                continue
            [frame] = SseParser().feed(part.encode() + b"\n\n")
            self.assertLess(at, len(shown), f"{page} shows more than there is: {part}")
            self.assertEqual(steady(frame), steady(shown[at]))
            at += 1
        self.assertEqual(at, len(shown), "the page shows less than there is")


class EventStreams(Examples):
    PAGE = "event_streams.md"

    def seen(self, thread: str, run: str, dialect: str = "v2") -> list[list]:
        return [[frame.id, frame.json] for frame in self.api.read_events(thread, run, dialect=dialect)]

    def test_SSE_3_the_commands_and_their_transcript(self):
        start, back, thread = blocks(self.PAGE, "sh")
        accepted, _, stream = self.shell(start).partition("}")
        self.assertIn('"runId":"streams-1-a"', accepted)
        frames = parse_all(stream.encode())
        self.assert_transcript(self.PAGE, 0, frames)

        # `timeout` ends the stream of the thread, which then counts as a failure.
        self.assertEqual(parse_all(self.shell(f"{thread.strip()} || true").encode()), frames)

        older = self.api.read_events("streams-1", "streams-1-a", dialect="v1")
        rest = parse_all(self.shell(back, LAST_ID=frames[2].id).encode())
        self.assertEqual(rest, [frame for frame in older if frame.position > frames[2].position])
        changed = [frame for frame in older if frame.event in ("TOOL_CALL_RESULT", "TEXT_MESSAGE_END")]
        self.assert_transcript(self.PAGE, 1, changed)
        others = [steady(frame) for frame in older if frame not in changed]
        self.assertEqual(others, [steady(frame) for frame in frames if frame.event not in {f.event for f in changed}])

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_SSE_3_the_example_in_javascript(self):
        thread, run = self.api.start_run("hello")
        code = block(self.PAGE, "js", "function* readRun") + """
            const seen = [];
            for await (const item of readRun(process.env.PROXY, process.env.TOKEN, process.env.THREAD, process.env.RUN, "ag-ui"))
              seen.push(item);
            console.log(JSON.stringify(seen));"""
        with CuttingProxy(self.server.address, "/events", CUTS) as proxy:
            seen = json.loads(self.node(code, PROXY=base_of(proxy.port), THREAD=thread, RUN=run))
        self.assertEqual(seen, self.seen(thread, run, "ag-ui"))
        self.assertEqual(proxy.exchanges[-1].status, 204)
        self.assertGreater(len(proxy.exchanges), len(CUTS))

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_HTTP_3_the_example_in_javascript_says_why_it_was_refused(self):
        code = block(self.PAGE, "js", "function* readRun") + """
            try { for await (const item of readRun(process.env.BASE, process.env.TOKEN, "none", "none")); }
            catch (error) { console.log(error.message); }"""
        self.assertIn("NOT_FOUND", self.node(code))

    def test_SSE_3_the_example_in_python(self):
        thread, run = self.api.start_run("hello")
        code = block(self.PAGE, "python", "def read_run"), """
e = os.environ
print(json.dumps(list(read_run(e["PROXY"], e["TOKEN"], e["THREAD"], e["RUN"], "ag-ui"))))"""
        with CuttingProxy(self.server.address, "/events", CUTS) as proxy:
            seen = json.loads(self.python(*code, PROXY=base_of(proxy.port), THREAD=thread, RUN=run))
        self.assertEqual(seen, self.seen(thread, run, "ag-ui"))
        self.assertEqual(proxy.exchanges[-1].status, 204)
        self.assertGreater(len(proxy.exchanges), len(CUTS))


class AgUiTranscript(Examples):
    """On a server of its own, on which nothing has been noted."""

    def test_AGUI_2_the_command_and_its_transcript(self):
        frames = parse_all(self.shell(block("ag_ui.md", "sh", '"threadId":"agui-1"')).encode())
        self.assert_transcript("ag_ui.md", 0, frames)

        parser = SseParser()
        parser.needs_ids = False
        joined = parser.feed(self.shell(block("ag_ui.md", "sh", "join=1")).encode())
        self.assertEqual([frame.event for frame in joined[:3]], ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"])
        self.assertEqual(joined[-1], frames[-1])
        self.assertEqual(len(parser.places), 1)


class AgUi(Examples):
    PAGE = "ag_ui.md"

    def test_AGUI_3_the_example_in_python(self):
        thread = new_id("t")

        answer = self.python(block("event_streams.md", "python", "def read_run"), block(self.PAGE, "python", "def ask"), """
e = os.environ
print("".join(ask(e["BASE"], e["TOKEN"], "hello", e["THREAD"])), end="")""", THREAD=thread)

        self.assertEqual(answer, self.api.full_history(thread)[-1]["content"])

    def test_AGUI_1_the_example_with_a_stock_client(self):
        need_clients()
        code = WEB_CRYPTO + block(self.PAGE, "js", "new HttpAgent")
        noted, told = self.node(code, FOLDER).strip().split("\n", 1)
        self.assertTrue(noted)
        self.assertIn("mornings", told)

    def test_AGUI_1_asking_again_needs_an_agent_without_the_messages(self):
        """The trap of the page: a client adds the same text once more to a message that it has."""
        need_clients()
        code = WEB_CRYPTO + """
            import { HttpAgent } from "@ag-ui/client";
            const make = () => new HttpAgent({ url: `${process.env.API}/ag-ui`, headers: { Authorization: `Bearer ${process.env.TOKEN}` },
              threadId: process.env.THREAD, initialMessages: [{ id: "1", role: "user", content: "hello" }] });
            const [first, second] = [make(), make()];
            await first.runAgent({ runId: "again" });
            const said = first.messages.at(-1).content;
            await second.runAgent({ runId: "again" });
            const fresh = second.messages.at(-1).content;
            await first.runAgent({ runId: "again" });
            console.log(JSON.stringify([said, fresh, first.messages.at(-1).content]));"""
        said, fresh, twice = json.loads(self.node(code, FOLDER, THREAD=new_id("t")))
        self.assertEqual((fresh, twice), (said, said + said))


class Stopping(Examples):
    config = offline(word_delay_ms=20, words=1000)

    @unittest.skipUnless(shutil.which("node"), "needs node")
    def test_RUN_4_the_example_that_stops(self):
        thread, run = self.api.start_run("hello")
        code = block("ag_ui.md", "js", "async function stop") + """
            await stop({ threadId: process.env.THREAD }, process.env.BASE, { Authorization: `Bearer ${process.env.TOKEN}` }, process.env.RUN);"""
        self.node(code, THREAD=thread, RUN=run)
        self.wait_status(thread, run, "canceled")


class WithTools(ClientToolsCase):
    @classmethod
    def make_config(cls) -> dict:
        config = super().make_config()
        return {**config, "flows": {**config["flows"], "default": "chat"}}

    def test_AGUI_6_the_example_that_brings_tools(self):
        need_clients()
        self.script(asks(RED, BLUE), asks(RED), Says("Painted."))
        code = WEB_CRYPTO + block("ag_ui.md", "js", "askWithTools") + """
            import { HttpAgent } from "@ag-ui/client";
            const agent = new HttpAgent({ url: `${process.env.API}/ag-ui`, headers: { Authorization: `Bearer ${process.env.TOKEN}` } });
            const painted = [];
            const tool = { name: "set_color", description: "Sets the color.", parameters: { type: "object" },
              run: ({ color }) => painted.push(color) };
            console.log(JSON.stringify([await askWithTools(agent, "Paint!", [tool]), painted]));"""
        env = environment({"API": base_of(self.server.port) + "/api/v1/agent", "TOKEN": self.api.token})

        done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, timeout=60, cwd=FOLDER, env=env)

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), ["Painted.", ["red", "blue", "red"]])


class Approving(ApprovalCase):
    def test_AGUI_4_the_example_that_answers_interrupts(self):
        need_clients()
        self.script(ROUTED, Asks((*create(title="Yes").arguments, *create(title="No").arguments)), DONE)
        code = WEB_CRYPTO + block("ag_ui.md", "js", "askWithApprovals") + """
            import { HttpAgent } from "@ag-ui/client";
            const agent = new HttpAgent({ url: `${process.env.API}/ag-ui`, headers: { Authorization: `Bearer ${process.env.TOKEN}` } });
            const asked = [];
            const answer = await askWithApprovals(agent, "Please.", ({ toolCallId }) => asked.push(toolCallId) === 1);
            console.log(JSON.stringify([answer, new Set(asked).size]));"""
        api: Api = self.server.api("resuming")
        env = environment({"API": base_of(self.server.port) + "/api/v1/agent", "TOKEN": api.token})

        done = subprocess.run(["node", "--input-type=module", "-e", code], capture_output=True, text=True, timeout=60, cwd=FOLDER, env=env)

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), ["Done.", 2])
        self.assertEqual([event["title"] for event in self.events("resuming")], ["Yes"])

    def test_AGUI_4_the_commands_that_approve(self):
        api: Api = self.server.api("approving")
        self.script(ROUTED, create(title="From the page"), DONE)
        env = environment({"API": base_of(self.server.port) + "/api/v1/agent", "TOKEN": api.token})
        asked = subprocess.run(["bash", "-ec", block("ag_ui.md", "sh", '"threadId":"agui-2"')], capture_output=True, text=True,
                               timeout=60, env=env)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        last = parse_all(asked.stdout.encode())[-1]
        [interrupt] = last.json["outcome"]["interrupts"]
        self.wait(ModelRun(api, "agui-2", "agui-2-a"))
        env |= {"CALL": interrupt["toolCallId"], "LAST_ID": last.id}

        done = subprocess.run(["bash", "-ec", block("ag_ui.md", "sh", "approvals/$CALL")], capture_output=True, text=True,
                              timeout=60, env=env)

        self.assertEqual(done.returncode, 0, done.stderr)
        decided, _, rest = done.stdout.partition("}")
        self.assertIn('"approved"', decided)
        frames = parse_all(rest.encode())
        self.assertEqual([(f.event, f.json["runId"]) for f in (frames[0], frames[-1])],
                         [("RUN_STARTED", "agui-2-a~2"), ("RUN_FINISHED", "agui-2-a~2")])
        self.assertEqual([event["title"] for event in self.events("approving")], ["From the page"])


if __name__ == "__main__":
    unittest.main()
