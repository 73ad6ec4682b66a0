"""AGUI-1: the stock AG-UI clients of both versions, run by node against a real server."""

import shutil
import subprocess
import sys
import unittest

from e2e_case import E2eCase, offline
from test_flows import SCENARIOS, GoldenCase

from runnel_server import ROOT, environment

FOLDER = ROOT / "tests/conformance/ag_ui"


def need_clients() -> None:
    missing = [str(what) for what, there in (
        (FOLDER / "node_modules", (FOLDER / "node_modules").exists()), ("node", shutil.which("node"))) if not there]
    if missing:
        text = f"SKIPPED, AGUI-1 IS NOT PROVEN HERE: the stock AG-UI clients need {', '.join(missing)}"
        print(f"\n*** {text} ***", file=sys.stderr)
        raise unittest.SkipTest(text)


def node(script: str, *arguments: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(["node", str(FOLDER / script), *arguments], cwd=FOLDER, env=environment(env),
                          capture_output=True, text=True, timeout=180)


class StockClientTest(E2eCase):
    config = offline(word_delay_ms=2)

    @classmethod
    def setUpClass(cls):
        need_clients()
        super().setUpClass()

    def test_AGUI_1_stock_clients_accept_the_stream_without_a_warning(self):
        done = node("stock_client.mjs", RUNNEL_URL=f"http://127.0.0.1:{self.server.port}", RUNNEL_TOKEN=self.api.token)

        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")


READ_STREAM = """
const answer = await fetch(process.env.STREAM, {headers: {Authorization: `Bearer ${process.env.RUNNEL_TOKEN}`}});
try {
  for await (const piece of answer.body) console.log("piece", piece.length);
  console.log("ended");
} catch (error) {
  console.log("cut");
}
"""


class CutStreamTest(E2eCase):
    config = offline(word_delay_ms=20, words=1000)

    def test_SSE_7_fetch_of_node_sees_that_a_killed_server_has_not_finished(self):
        if not shutil.which("node"):
            self.skipTest("needs node")
        thread, run = self.api.start_run()
        url = f"http://127.0.0.1:{self.server.port}{self.api.events_path(thread, run, 'ag-ui')}"
        env = environment({"STREAM": url, "RUNNEL_TOKEN": self.api.token})
        with subprocess.Popen(["node", "--input-type=module", "-e", READ_STREAM], env=env, text=True,
                              stdout=subprocess.PIPE) as reader:
            self.assertTrue(reader.stdout.readline().startswith("piece"))
            self.server.kill()
            told = reader.stdout.read().split("\n")

        self.assertEqual(told[-2], "cut")


class StockClientsAndFlows(GoldenCase):
    @classmethod
    def setUpClass(cls):
        need_clients()
        super().setUpClass()

    def test_AGUI_1_stock_clients_accept_the_runs_of_all_golden_scenarios(self):
        streams = self.folder / "streams"
        streams.mkdir()
        for scenario in SCENARIOS:
            run = self.play(scenario)
            for version in ("1.0", "0.0"):
                with self.api.events(run.thread, run.run, dialect="ag-ui", agui=version) as stream:
                    list(stream)
                    (streams / f"{scenario.name}.ag-ui-{version}.sse").write_bytes(stream.raw)

        done = node("verify_golden.mjs", str(streams))

        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        self.assertIn(f"{2 * len(SCENARIOS)} passed", done.stdout)


if __name__ == "__main__":
    unittest.main()
