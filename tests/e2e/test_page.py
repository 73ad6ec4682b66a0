"""HTTP-5: the built-in page works with the address that the server prints, and without it says how to get it. It shows
a run to its end in spite of cut connections, crashes and reloads."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from e2e_case import E2eCase, Server, eventually, new_id, offline

from http_client import Http
from runnel_server import environment

# The parts of a browser that the page's script needs. ACT is what the user does. CUT is the event after which the first
# stream breaks. LOSE is the path whose first answer is lost, and EXPIRED the path whose first answer is a 401.
DRIVER = """
const bubbles = [];
const element = () => ({
  addEventListener() {},
  append(text) { this.text = (this.text ?? "") + text; if (typeof text === "string") console.error("word"); },
  remove() { this.removed = true; },
  scrollIntoView() {},
});
const elements = {};
globalThis.document = {
  getElementById: (id) => (elements[id] ??= element()),
  createElement: () => { bubbles.push(element()); return bubbles.at(-1); },
};
globalThis.location = { origin: process.env.ORIGIN, hash: process.env.HASH };
globalThis.addEventListener = () => {};
const stored = { runnel: process.env.STORED };
globalThis.sessionStorage = { getItem: (key) => stored[key], setItem: (key, value) => { stored[key] = value; } };

const asked = [];
const realFetch = globalThis.fetch;
let { CUT: cut, LOSE: lose, EXPIRED: expired } = process.env;
globalThis.fetch = async (url, options) => {
  const path = new URL(url).pathname;
  asked.push(options.method + " " + path);
  if (path === expired) {
    expired = "";
    return Response.json({ error: { message: "The bearer token has expired." } }, { status: 401 });
  }
  const answer = await realFetch(url, options);
  if (path === lose) {
    lose = "";
    throw new TypeError("fetch failed");
  }
  if (!cut || !answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer;
  const until = cut;
  cut = "";
  const body = answer.body.pipeThrough(new TransformStream({
    transform(piece, out) {
      out.enqueue(piece);
      if (new TextDecoder().decode(piece).includes(until)) setTimeout(() => out.error(new Error("cut")), 20);
    },
  }));
  return new Response(body, { status: answer.status, headers: answer.headers });
};

await new Function(process.env.SCRIPT + "; return " + process.env.ACT + ";")();
while (elements.send.disabled) await new Promise((done) => setTimeout(done, 20));
const shown = bubbles.filter((bubble) => !bubble.removed);
console.log(JSON.stringify({
  asked, stored: stored.runnel, curl: elements.curl.textContent,
  bubbles: shown.map((bubble) => ({ kind: bubble.className, text: bubble.textContent + (bubble.text ?? "") })),
}));
process.exit(0);
"""


def open_page(server: Server, fragment: str | None = None, act: str = "ask('hello')", **extra: str) -> subprocess.Popen:
    page = Http(server.address).get("/").body.decode()
    script = re.search(r"<script>(.*)</script>", page, re.S)[1]
    if fragment is None:
        fragment = "#dev=" + server.dev_headers()["X-Runnel-Dev"]
    return subprocess.Popen(["node", "--input-type=module", "-e", DRIVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment({"ORIGIN": f"http://127.0.0.1:{server.port}", "HASH": fragment, "SCRIPT": script,
                                             "ACT": act, "STORED": "", "CUT": "", "LOSE": "", "EXPIRED": "", **extra}))


class PageCase(unittest.TestCase):
    def finish(self, browser: subprocess.Popen) -> dict:
        self.addCleanup(browser.kill)
        out, errors = browser.communicate(timeout=60)
        self.assertEqual(browser.returncode, 0, errors)
        return json.loads(out)

    def texts(self, seen: dict) -> list[tuple[str, str]]:
        return [(bubble["kind"], bubble["text"]) for bubble in seen["bubbles"] if "kind" in bubble]  # Buttons have none.

    def in_history(self, api, thread: str) -> list[tuple[str, str]]:
        kinds = {"user": "me", "assistant": "it"}
        return [(kinds[message["role"]], message["content"]) for message in api.full_history(thread)]


@unittest.skipUnless(shutil.which("node"), "needs node")
class PageTest(PageCase, E2eCase):
    def ask(self, fragment: str | None = None, **extra: str) -> dict:
        return self.finish(open_page(self.server, fragment, **extra))

    def test_HTTP_5_the_page_answers_at_the_printed_address(self):
        mine, answer = self.ask()["bubbles"]

        self.assertEqual((mine["kind"], answer["kind"]), ("me", "it"))
        self.assertIn("offline model", answer["text"])

    def test_HTTP_5_without_the_secret_the_page_says_how_to_get_it(self):
        for fragment in ("", "#dev=", "#dev=dev_wrong"):
            _, refusal = self.ask(fragment)["bubbles"]

            self.assertEqual(refusal["kind"], "bad")
            self.assertIn(f"http://127.0.0.1:{self.server.port}/#dev=…", refusal["text"])
            self.assertIn("dev.secret", refusal["text"])

    def test_SSE_3_a_stream_that_is_cut_goes_on_behind_what_was_read(self):
        seen = self.ask(CUT="TEXT_MESSAGE_CONTENT")

        thread = json.loads(seen["stored"])["thread"]
        self.assertIn(f"GET /api/v1/agent/runs/{thread}/events", seen["asked"])
        self.assertEqual(self.texts(seen), self.in_history(self.server.api(), thread))

    def test_RUN_2_a_start_whose_answer_is_lost_is_sent_again_and_runs_once(self):
        seen = self.ask(LOSE="/api/v1/agent/ag-ui")

        self.assertEqual(seen["asked"].count("POST /api/v1/agent/ag-ui"), 2)
        thread = json.loads(seen["stored"])["thread"]
        self.assertEqual(self.texts(seen), self.in_history(self.server.api(), thread))
        self.assertEqual(len(self.texts(seen)), 2)

    def test_HTTP_3_an_expired_token_is_replaced(self):
        seen = self.ask(EXPIRED="/api/v1/agent/ag-ui")

        self.assertEqual(seen["asked"].count("POST /api/v1/auth/dev-token"), 2)
        self.assertEqual([kind for kind, _ in self.texts(seen)], ["me", "it"])

    def test_a_reload_before_anything_was_said_shows_nothing(self):
        seen = self.ask(act="undefined", STORED=json.dumps({"thread": new_id("t")}))

        self.assertEqual(self.texts(seen), [])

    def test_SSE_3_a_reload_shows_what_was_said_and_goes_on_with_the_run(self):
        api = self.server.api()
        thread = new_id("t")
        api.finish(*api.start_run("before", thread=thread))
        _, run = api.start_run("now", thread=thread)

        seen = self.ask(act="undefined", STORED=json.dumps({"thread": thread, "run": run}))

        self.assertEqual(len(self.texts(seen)), 4)
        self.assertEqual(sorted(self.texts(seen)), sorted(self.in_history(api, thread)))
        self.assertEqual(json.loads(seen["stored"]), {"thread": thread})

    def test_the_commands_of_the_page_work_as_they_are_and_show_no_secret_to_others(self):
        lines = self.ask()["curl"].replace("runnel-data", str(self.server.data)).splitlines()

        done = subprocess.run(["bash", "-euc", "\n".join(lines)], capture_output=True, text=True, timeout=60)

        self.assertIn("event: RUN_FINISHED", done.stdout, done.stderr)
        self.assertIn("event: TEXT_MESSAGE_CONTENT", done.stdout, "the commands must use the same dialect as the page")
        self.assertNotRegex("\n".join(lines), r'curl[^|\n]*-H "')


@unittest.skipUnless(shutil.which("node"), "needs node")
class CrashTest(PageCase):
    def test_RUN_14_what_a_crash_made_void_leaves_the_screen(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as directory, \
                Server(Path(directory) / "s", offline(word_delay_ms=5, words=300)) as server:
            browser = open_page(server)
            self.assertIn("word", browser.stderr.readline())
            server.restart()

            seen = self.finish(browser)

            thread = json.loads(seen["stored"])["thread"]
            self.assertTrue(eventually(lambda: len(server.api().full_history(thread)) == 2))
            self.assertEqual(self.texts(seen), self.in_history(server.api(), thread))


if __name__ == "__main__":
    unittest.main()
