"""The fake provider records its requests, replays recordings byte for byte, and works as a command."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fake_scripts as scripts
from fake_answer import WHOLE
from fake_case import ROUTE, FakeCase, chat, content
from fake_models import KINDS, fixture_folder
from fake_provider import FakeProvider, nobody_listens
from http_client import Connection, Http

SIZES = (1, 2, 3, 7, 64, 1500, WHOLE)


class Requests(FakeCase):
    def test_every_request_is_kept_with_headers_and_body(self):
        self.ask(text="one")
        self.http.get("/v1/models")

        call = self.fake.calls[0]
        self.assertEqual(call.headers["authorization"], "Bearer sk-canary")
        self.assertEqual(call.json["messages"][0]["content"], "one")
        self.assertEqual([request.method for request in self.fake.requests], ["POST", "GET"])

    def test_models_are_listed(self):
        answer = self.http.get("/v1/models")

        self.assertEqual([entry["id"] for entry in answer.json["data"]], list(KINDS))

    def test_a_connection_serves_one_request_after_the_other(self):
        body = json.dumps(chat()).encode()
        with Connection(self.fake.address) as connection:
            for _ in range(3):
                connection.send("POST", ROUTE, {"Connection": "keep-alive"}, body)
                self.assertIn("fake model", content(connection.response()))

        self.assertEqual((len(self.fake.calls), len(self.fake.connections)), (3, 1))

    def test_a_chunked_body_and_an_expectation_are_understood(self):
        body = json.dumps(chat(text="in chunks")).encode()
        halves = b"".join(b"%x\r\n%s\r\n" % (len(half), half) for half in (body[:20], body[20:])) + b"0\r\n\r\n"
        with Connection(self.fake.address) as connection:
            head = f"POST {ROUTE} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
            connection.socket.sendall(head.encode())
            self.assertTrue(connection.socket.recv(100).startswith(b"HTTP/1.1 100 "))
            connection.socket.sendall(halves)

            self.assertIn("in chunks", content(connection.response()))

    def test_the_script_is_used_in_order_and_then_the_name_counts(self):
        self.fake.script(scripts.error(500), lambda request: scripts.text(request.json["model"]))

        self.assertEqual(self.ask().status, 500)
        self.assertEqual(content(self.ask("any-name")), "any-name")
        self.assertEqual(self.fake.unused_script, 0)
        self.assertIn("Good morning", content(self.ask("any-name")))

    def test_what_no_provider_takes_is_refused(self):
        bad = [b"{", b"[]", chat() | {"model": 1}, chat() | {"messages": []}, chat() | {"messages": ["x"]},
               chat() | {"stream": False}]

        for body in bad:
            with self.subTest(body=body):
                self.assertEqual(self.http.post(ROUTE, body).status, 400)
        self.assertEqual(self.http.get("/v1/else").status, 404)

    def test_a_port_where_nobody_listens_refuses(self):
        with nobody_listens() as address, self.assertRaises(ConnectionRefusedError):
            Http(address).get("/")


class Recordings(FakeCase):
    """RUNNEL_FIXTURES names the folder of the recordings."""

    def setUp(self):
        super().setUp()
        if fixture_folder() is None:
            self.skipTest("there are no recorded streams: set RUNNEL_FIXTURES to their folder")
        self.files = [path for path in sorted(fixture_folder().iterdir())
                      if path.name.endswith((".chunks.txt", ".raw.sse"))]
        self.assertTrue(self.files)

    @staticmethod
    def framed(path: Path) -> bytes:
        raw = path.read_bytes()
        if path.name.endswith(".raw.sse"):
            return raw
        return b"".join(b"data: " + line + b"\n\n" for line in raw.split(b"\n")) + b"data: [DONE]\n\n"

    def rest_of(self, connection: Connection) -> bytes:
        """All bytes after the head, transfer coding included."""
        raw = bytearray()
        while piece := connection.socket.recv(1 << 20):
            raw += piece
        head, _, rest = bytes(raw).partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200 OK\r\n"))
        return rest

    def test_at_every_size_the_bytes_are_those_of_the_file_and_each_write_a_chunk(self):
        for path in self.files:
            body = self.framed(path)
            for size in SIZES:
                step = size or len(body)
                pieces = [body[at:at + step] for at in range(0, len(body), step)]
                expected = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
                with self.subTest(path.name, size=size):
                    name = path.name.removesuffix(".chunks.txt").removesuffix(".raw.sse")
                    connection = self.open(f"fake-fixture:{name}:size={size or 'whole'}")
                    self.assertTrue(self.rest_of(connection) == expected)
                    connection.close()

    def test_event_by_event_it_is_the_same(self):
        for path in self.files:
            with self.subTest(path.name):
                self.assertTrue(self.scripted(scripts.replay(path)).body == self.framed(path))

    def test_a_name_cannot_leave_the_folder(self):
        for name in ("none", "../fixtures/deepseek-text", ""):
            self.assertEqual(self.ask(f"fake-fixture:{name}").status, 404)


class Command(unittest.TestCase):
    SCRIPT = Path(__file__).with_name("fake_provider.py")

    def start(self, *args: str) -> Http:
        process = subprocess.Popen([sys.executable, str(self.SCRIPT), "--port", "0", "--delay-ms", "0", *args],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.output = process.stdout
        port = self.output.readline().rpartition(":")[2].removesuffix("/v1\n")
        return Http(("127.0.0.1", int(port)), "sk-canary")

    def test_it_answers_any_model_and_prints_no_secret(self):
        answer = self.start().post(ROUTE, chat("some-model", "private words"))

        self.assertIn("You said: private words", content(answer))
        self.output.readline()
        self.assertEqual(self.output.readline(), f"POST {ROUTE} model=some-model -> 200\n")

    def test_a_recording_answers_all_names_but_its_own(self):
        recording = Path(self.enterContext(tempfile.TemporaryDirectory())) / "one.chunks.txt"
        recording.write_bytes(b'{"a":1}\n{"b":2}')
        http = self.start("--fixture", str(recording))

        self.assertEqual(http.post(ROUTE, chat("x")).body, b'data: {"a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n')
        self.assertIn("You said", content(http.post(ROUTE, chat("fake"))))

    def test_help_names_every_kind(self):
        told = subprocess.run([sys.executable, str(self.SCRIPT), "--help"], capture_output=True, text=True, check=True)

        for name in KINDS:
            self.assertIn(f"  {name}", told.stdout)
        self.assertIn("(default: 11500)", told.stdout, "the default port must not be Ollama's")

    def test_a_taken_port_is_told(self):
        with FakeProvider() as fake:
            done = subprocess.run([sys.executable, str(self.SCRIPT), "--port", str(fake.port)], capture_output=True,
                                  text=True, timeout=20)

        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot listen", done.stderr)


if __name__ == "__main__":
    unittest.main()
