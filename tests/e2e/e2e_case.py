"""What the end-to-end tests share: one real server per test class, and checks that several contract rows need."""

import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from http_client import Response  # noqa: E402
from runnel_server import BINARY, Api, Server, new_id, run_input  # noqa: E402

__all__ = ["DIALECTS", "Api", "E2eCase", "Server", "eventually", "new_id", "offline", "run_input"]

DIALECTS = {"v2": {"dialect": "v2"}, "v1": {"dialect": "v1"},
            "ag-ui 1.0": {"dialect": "ag-ui", "agui": "1.0"},
            "ag-ui 0.0": {"dialect": "ag-ui", "agui": "0.0"}}


def offline(word_delay_ms: int = 1, words: int = 0, **more) -> dict:
    """A configuration with the offline model, which says one word every `word_delay_ms`."""
    return {"models": {"offline": {"word_delay_ms": word_delay_ms, "words": words}}, **more}


def eventually(condition, seconds: float = 10.0):
    """Calls `condition` until its answer is true or the time is over. Returns the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return answer


class E2eCase(unittest.TestCase):
    config: dict = offline()
    env: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        if not BINARY.exists():
            raise AssertionError(f"there is no server at {BINARY}: build it, or set RUNNEL_BIN")
        directory = tempfile.TemporaryDirectory(prefix="runnel-e2e-")
        cls.addClassCleanup(directory.cleanup)
        cls.server = Server(Path(directory.name), cls.config, cls.env)
        cls.server.start()
        cls.addClassCleanup(cls.server.close)
        cls.api: Api = cls.server.api()

    def finished_run(self, text: str = "hello", **kw) -> tuple[str, str]:
        thread, run = self.api.start_run(text, **kw)
        self.assertEqual(self.api.finish(thread, run), "RUN_FINISHED")
        return thread, run

    def assert_error(self, answer: Response, status: int, code: str | None = None) -> dict:
        """HTTP-2: the error has the common form and shows nothing of the server's internals. Returns its details."""
        self.assertEqual(answer.status, status, answer.body)
        self.assertIn("x-request-id", answer.headers)
        self.assertEqual(list(answer.json), ["error"])
        error = answer.json["error"]
        self.assertRegex(error["code"], r"\A[A-Z][A-Z0-9_]+\Z")
        self.assertTrue(error["message"])
        self.assertIsInstance(error.get("details", {}), dict)
        for inside in ("sqlite", "src/", "exception", "0x"):
            self.assertNotIn(inside, error["message"].lower())
        if code:
            self.assertEqual(error["code"], code)
        return error.get("details", {})

    def wait_status(self, thread: str, run: str, *wanted: str, seconds: float = 10.0) -> str:
        def status():
            seen = self.api.status(thread, run).json["status"]
            return seen if seen in wanted else None

        seen = eventually(status, seconds)
        self.assertIn(seen, wanted, f"run {run}")
        return seen
