"""HTTP-5: the built-in page gets in with the address that the server printed, and says how to get that address."""

import json
import re
import shutil
import subprocess
import unittest

from e2e_case import E2eCase

from http_client import Http
from runnel_server import environment

# As much of a browser as the page's script needs to ask a question.
DRIVER = """
const bubbles = [];
const element = () => ({ addEventListener() {}, append(text) { this.text = (this.text ?? "") + text; }, scrollIntoView() {} });
const elements = {};
globalThis.document = {
  getElementById: (id) => (elements[id] ??= element()),
  createElement: () => { bubbles.push(element()); return bubbles.at(-1); },
};
globalThis.location = { origin: process.env.ORIGIN, hash: process.env.HASH };
globalThis.addEventListener = () => {};
await new Function(process.env.SCRIPT + "; return ask('hello');")();
console.log(JSON.stringify(bubbles.map((bubble) => ({ kind: bubble.className, text: bubble.textContent + (bubble.text ?? "") }))));
process.exit(0);
"""


@unittest.skipUnless(shutil.which("node"), "needs node")
class PageTest(E2eCase):
    def ask(self, fragment: str) -> list[dict]:
        page = Http(self.server.address).get("/").body.decode()
        script = re.search(r"<script>(.*)</script>", page, re.S)[1]
        done = subprocess.run(["node", "--input-type=module", "-e", DRIVER], capture_output=True, text=True, timeout=60,
                              env=environment({"ORIGIN": f"http://127.0.0.1:{self.server.port}", "HASH": fragment,
                                               "SCRIPT": script}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_HTTP_5_the_page_answers_at_the_printed_address(self):
        mine, answer = self.ask("#dev=" + self.server.dev_headers()["X-Runnel-Dev"])

        self.assertEqual((mine["kind"], answer["kind"]), ("me", "it"))
        self.assertIn("offline model", answer["text"])

    def test_HTTP_5_without_the_secret_the_page_says_how_to_get_it(self):
        for fragment in ("", "#dev=", "#dev=dev_wrong"):
            _, refusal = self.ask(fragment)

            self.assertEqual(refusal["kind"], "bad")
            self.assertIn(f"http://127.0.0.1:{self.server.port}/#dev=…", refusal["text"])
            self.assertIn("dev.secret", refusal["text"])


if __name__ == "__main__":
    unittest.main()
