"""The example in docs/event_streams.md for a browser, run by node against a real server: it shows the same text as /history."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from e2e_case import Server, eventually, new_id, offline

from runnel_server import ROOT, environment

DRIVER = """
const run = { threadId: process.env.THREAD, runId: process.env.RUN };
const shown = {};
const source = await follow(process.env.TOKEN, run, (id, text, status) => {
  if (Object.keys(shown).length === 0) console.error("first word");
  shown[id] = { text, status };
});
while (source.readyState !== EventSource.CLOSED) await new Promise((done) => setTimeout(done, 20));
console.log(JSON.stringify(shown));
process.exit(0);
"""


@unittest.skipUnless(shutil.which("node"), "needs node")
class FollowExampleTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-e2e-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)
        self.server = Server(self.directory / "s", offline(word_delay_ms=5, words=300))
        self.server.start()
        self.addCleanup(self.server.close)
        self.api = self.server.api()

    def follow(self) -> tuple[subprocess.Popen, str, str]:
        blocks = re.findall(r"```js\n(.*?)```", (ROOT / "docs/event_streams.md").read_text(), re.S)
        example = next(block for block in blocks if "async function follow(" in block)
        script = self.directory / "example.mjs"
        script.write_text(Path(__file__).with_name("event_source.mjs").read_text() + example + DRIVER)
        thread, run = self.api.start_run("hello", thread=new_id("t"))
        client = subprocess.Popen(
            ["node", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment({"RUNNEL_URL": f"http://127.0.0.1:{self.server.port}", "TOKEN": self.api.token, "THREAD": thread,
                             "RUN": run}))
        self.addCleanup(client.kill)
        return client, thread, run

    def finish(self, client: subprocess.Popen) -> dict:
        out, errors = client.communicate(timeout=60)
        self.assertEqual(client.returncode, 0, errors)
        return json.loads(out.splitlines()[-1])

    def answers(self, thread: str) -> dict[str, str]:
        return {message["id"]: message["content"] for message in self.api.full_history(thread)
                if message["role"] == "assistant" and message["status"] != "superseded"}

    def test_it_shows_what_the_history_has(self):
        client, thread, _ = self.follow()

        shown = self.finish(client)

        self.assertEqual({key: value["text"] for key, value in shown.items()}, self.answers(thread))
        self.assertEqual({value["status"] for value in shown.values()}, {"success"})

    def test_a_message_that_a_crash_made_void_is_told_apart_from_the_answer(self):
        client, thread, run = self.follow()
        self.assertIn("first word", client.stderr.readline())
        self.server.restart()

        shown = self.finish(client)

        self.assertTrue(eventually(lambda: self.api.status(thread, run).json["status"] == "completed"))
        void = {key for key, value in shown.items() if value["status"] == "superseded"}
        self.assertEqual(len(void), 1, shown.keys())
        self.assertEqual({key: value["text"] for key, value in shown.items() if key not in void}, self.answers(thread))


if __name__ == "__main__":
    unittest.main()
