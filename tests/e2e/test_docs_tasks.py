"""The examples in docs/tasks.md, run by node against a real server: they show what a poll gives."""

import json
import re
import shutil
import subprocess
import unittest

from e2e_case import E2eCase, offline

from runnel_server import ROOT, environment
from tasks import Task

DRIVERS = {
    "poll": "const status = await poll(process.env.BASE, process.env.TOKEN, process.env.TASK, (event) => events.push(event));",
    "follow": "await follow(process.env.BASE, process.env.TOKEN, process.env.TASK, (event) => events.push(event));",
}


@unittest.skipUnless(shutil.which("node"), "needs node")
class TaskExamples(E2eCase):
    config = offline(word_delay_ms=2, words=100)

    def shown(self, name: str, task: Task, *options: str) -> list[dict]:
        blocks = re.findall(r"```js\n(.*?)```", (ROOT / "docs/tasks.md").read_text(), re.S)
        code = "\n".join(["const events = [];", *blocks, DRIVERS[name], "console.log(JSON.stringify(events)); process.exit(0);"])
        done = subprocess.run(["node", "--input-type=module", *options, "-e", code], capture_output=True, text=True, timeout=60,
                              env=environment({"BASE": f"http://127.0.0.1:{self.server.port}", "TOKEN": self.api.token, "TASK": task.id}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_TASK_2_the_example_that_polls(self):
        task = Task.start(self.api, "Hello")
        self.assertEqual(self.shown("poll", task), task.finish().events)

    def test_TASK_5_the_example_that_follows(self):
        version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
        major = int(version.lstrip("v").split(".")[0])
        if major < 20:
            self.skipTest(f"node {version.strip()} has no WebSocket; browsers have")
        task = Task.start(self.api, "Hello")
        self.assertEqual(self.shown("follow", task, *(["--experimental-websocket"] if major < 22 else [])), task.finish().events)


if __name__ == "__main__":
    unittest.main()
