"""TOOL-9, CFG-4: the credential of a tool call is nowhere but in the environment of the call's program."""

import base64
import json
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from e2e_case import DIALECTS, eventually
from model_case import ModelRun
from tool_case import AS_ROOT, CREDENTIAL, DONE, ROUTED, ProgramCase, children_of, command_lines, create, creates, is_running

from http_client import Http

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def credentials_in(content: bytes) -> list[dict]:
    """The claims of all tokens in the content that are for tools."""
    claims = []
    for text in re.findall(rb"eyJ[\w-]+\.(eyJ[\w-]+)\.", content):
        claims.append(json.loads(base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))))
    return [found for found in claims if found.get("aud") == "tool-runtime"]


class Secrets(ProgramCase):
    """The programs write their environment to stderr, as it is and backwards, or to stdout."""

    env = {"RUNNEL_LOG_LEVEL": "debug"}
    tools = {"timeout_s": 2}

    def start(self, *turns) -> ModelRun:
        self.script(ROUTED, *turns, DONE)
        return ModelRun(self.api, *self.api.start_run("Please."))

    def test_TOOL_9_the_credential_appears_nowhere(self):
        told = self.start(create(title="tell"), create(title="tell and crash"), create(title="tell backwards")).read()
        asked = self.start(create(title="ask twice"), create(title="ask another method")).read()
        hanging = self.start(create(title="tell and hang"))
        process = self.wait_for_process()
        arguments = b"".join(command_lines().values())
        self.assertIn(b"calendar\0create\0", arguments)
        rows = b"".join(repr(row).encode() for row in self.calls_of(hanging))
        self.assertEqual(hanging.read().outcome, "RUN_FINISHED")
        self.assertFalse(is_running(process))

        places = {"arguments": arguments, "rows": rows, **self.places([told, asked, hanging])}

        told_backwards = re.findall(rb"[\w.-]+" + CREDENTIAL[::-1].encode(), places["log"] + places["events of v2"])
        seen = {self.read_backwards(text.decode()) for text in told_backwards}
        self.assertEqual(len(seen), 3, "those that crashed, hung and told it backwards")
        for place, content in places.items():
            with self.subTest(place):
                self.assertTrue(content)
                self.assertEqual(credentials_in(content), [])
                for credential in seen:
                    for part in credential.split("."):
                        self.assertFalse(len(part) > 40 and part.encode() in content)

    def places(self, runs: list[ModelRun]) -> dict[str, bytes]:
        """Everything that can be read from the server from outside, by name."""
        answers = [self.api.get("/api/v1/usage"), self.api.get("/api/v1/agent/threads")]
        for run in runs:
            answers += [self.api.status(run.thread, run.run), self.api.history(run.thread), self.api.thread(run.thread)]
        places = {"answers": b"".join(repr(answer.headers).encode() + answer.body for answer in answers),
                  "metrics": Http(self.server.address).get("/metrics").body,
                  "requests to the model": b"".join(request.body for request in self.fake.calls)}
        for name, wire in DIALECTS.items():
            frames = [frame for run in runs for frame in self.api.read_events(run.thread, run.run, **wire)]
            places[f"events of {name}"] = b"".join(frame.data for frame in frames)
        self.assertEqual(self.server.stop(), 0)
        places["log"] = self.server.log.read_bytes()
        self.assertIn(b"[redacted]", places["log"], "the log must have what the programs wrote to stderr")
        self.server.start()
        files = [Path(folder) / name for folder, _, names in os.walk(self.server.directory) for name in names]
        return places | {f"file {path.name}": path.read_bytes() for path in files if path.stat().st_size}

    # The real program.

    def stopped_call(self) -> int | None:
        """The process of a call, at whatever point it is. The server, which has been stopped, does not answer it. None if
        no call runs."""
        server = self.server.process.pid
        os.kill(server, signal.SIGSTOP)
        pids = children_of(server)
        if not pids or not eventually(lambda: not is_running(pids[0]) or self.is_program(pids[0])):
            return None
        return pids[0] if is_running(pids[0]) else None

    def is_program(self, pid: int) -> bool:
        """Whether the process is project_cli, and no longer a part of the server."""
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(bytes(self.programs / "project_cli"))
        except (FileNotFoundError, ProcessLookupError):
            return False

    def look(self) -> tuple | None:
        """Tries to read the environment of a running program as its own user. None if the program ended before that."""
        try:
            if (pid := self.stopped_call()) is None:
                return None
            done = subprocess.run([*NOBODY, "cat", f"/proc/{pid}/environ"], capture_output=True, text=True)
            arguments = command_lines().get(pid, b"").split(b"\0")[1:3]
            return (arguments, done.returncode, done.stdout) if is_running(pid) else None
        finally:
            self.server.process.send_signal(signal.SIGCONT)
            time.sleep(0.01)

    @unittest.skipUnless(AS_ROOT, "needs two users, and to look into a process")
    def test_TOOL_9_a_running_project_cli_is_closed_to_its_own_user(self):
        self.put_back()
        self.addCleanup(self.put_in_place, self.hostile)
        run = self.start(*[creates(*["Lunch"] * 20)] * 7)

        looks = [look for look in (self.look() for _ in range(60)) if look]

        self.assertEqual(run.read().outcome, "RUN_FINISHED")
        self.assertTrue(looks)
        self.assertEqual(looks, [([b"calendar", b"create"], 1, "")] * len(looks))


if __name__ == "__main__":
    unittest.main()
