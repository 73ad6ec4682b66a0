"""AGUI-1: the stock AG-UI clients of both versions, run by node against a real server."""

import shutil
import subprocess
import sys
import unittest

from e2e_case import E2eCase, offline

from runnel_server import ROOT, environment

SCRIPT = ROOT / "tests/conformance/ag_ui/stock_client.mjs"


class StockClientTest(E2eCase):
    config = offline(word_delay_ms=2)

    @classmethod
    def setUpClass(cls):
        missing = [str(what) for what, there in (
            (SCRIPT, SCRIPT.exists()), (SCRIPT.parent / "node_modules", (SCRIPT.parent / "node_modules").exists()),
            ("node", shutil.which("node"))) if not there]
        if missing:
            text = f"SKIPPED, AGUI-1 IS NOT PROVEN HERE: the stock AG-UI clients need {', '.join(missing)}"
            print(f"\n*** {text} ***", file=sys.stderr)
            raise unittest.SkipTest(text)
        super().setUpClass()

    def test_AGUI_1_stock_clients_accept_the_stream_without_a_warning(self):
        env = environment({"RUNNEL_URL": f"http://127.0.0.1:{self.server.port}", "RUNNEL_TOKEN": self.api.token})

        done = subprocess.run(["node", str(SCRIPT)], cwd=SCRIPT.parent, env=env, capture_output=True, text=True,
                              timeout=180)

        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    unittest.main()
