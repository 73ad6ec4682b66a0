"""The fake provider does what it is told, to the byte."""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from email.utils import parsedate_to_datetime
from pathlib import Path

import fake_scripts as scripts
from fake_answer import WHOLE
from fake_chunks import USAGE_NOWHERE, USAGE_ON_FINISH, Raw, Reasoning, ToolCall, Wire, null_details, usage
from fake_models import KINDS, fixture_folder
from fake_provider import FakeProvider, nobody_listens
from http_client import Connection, Cut, Http, Response

ROUTE = "/v1/chat/completions"
SIZES = (1, 2, 3, 7, 64, 1500, WHOLE)


def chat(model: str = "fake", text: str = "Good morning", **more) -> dict:
    return {"model": model, "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": text}], **more}


def chunks(response: Response) -> list[dict]:
    """The chunks of a well-formed stream with LF and `[DONE]`."""
    *events, done, nothing = response.body.split(b"\n\n")
    assert (done, nothing) == (b"data: [DONE]", b""), response.body[-100:]
    return [json.loads(event.removeprefix(b"data: ")) for event in events if not event.startswith(b":")]


def content(response: Response) -> str:
    return "".join(choice["delta"].get("content") or "" for chunk in chunks(response) for choice in chunk["choices"])


def fragments(response: Response) -> list[dict]:
    return [entry for chunk in chunks(response) for choice in chunk["choices"]
            for entry in choice["delta"].get("tool_calls", ())]


def finish(response: Response) -> str | None:
    return ([choice["finish_reason"] for chunk in chunks(response) for choice in chunk["choices"]
             if choice["finish_reason"]] or [None])[-1]


class FakeCase(unittest.TestCase):
    strict: str | None = None

    def setUp(self):
        self.fake = FakeProvider(strict=self.strict).start()
        self.addCleanup(self.fake.close)
        self.http = Http(self.fake.address, "sk-canary")

    def ask(self, model: str = "fake", **how) -> Response:
        return self.http.post(ROUTE, chat(model, **how))

    def scripted(self, answer) -> Response:
        self.fake.script(answer)
        return self.ask()

    def open(self, model: str = "fake") -> Connection:
        """A call whose answer is not read so far."""
        connection = Connection(self.fake.address, timeout=5)
        self.addCleanup(connection.close)
        body = json.dumps(chat(model)).encode()
        connection.send("POST", ROUTE, {}, body)
        return connection

    def assert_left(self, connection: Connection, sent: int | None = None):
        """The call goes on until the client closes, and that is seen."""
        self.assertTrue(self.fake.wait_for(lambda: bool(self.fake.calls)))
        self.assertEqual((self.fake.open_connections, self.fake.calls[0].outcome), (1, None))
        connection.close()
        self.assertTrue(self.fake.wait_for(lambda: self.fake.calls[0].outcome == "abandoned", 5))
        self.assertEqual((self.fake.open_connections, self.fake.connections[0].closed_by), (0, "client"))
        if sent is not None:
            self.assertEqual(self.fake.calls[0].sent, sent)


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
    """RUNNEL_FIXTURES names their folder."""

    def setUp(self):
        super().setUp()
        if fixture_folder() is None:
            self.skipTest("no recorded streams: RUNNEL_FIXTURES names no folder and there is none beside the project")
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


class Answers(FakeCase):
    def test_the_friendly_answer_repeats_the_words_and_counts(self):
        answer = self.ask(text="Grüße, 你好")

        self.assertTrue(content(answer).startswith("You said: Grüße, 你好\n"))
        last = chunks(answer)[-1]
        self.assertEqual((last["choices"], last["usage"]["prompt_tokens"]), ([], 2))
        self.assertEqual(last["usage"]["completion_tokens"], len(chunks(answer)) - 3)

    def test_usage_comes_only_if_it_was_asked_for(self):
        answer = self.ask(stream_options={})

        self.assertFalse(any("usage" in chunk for chunk in chunks(answer)))

    def test_reasoning_comes_in_the_field_of_the_vendor(self):
        answer = self.scripted(scripts.stream([Reasoning("hm"), Reasoning("so", "reasoning"), "Yes"]))

        deltas = [chunk["choices"][0]["delta"] for chunk in chunks(answer)]
        self.assertEqual(deltas[1:4], [{"content": None, "reasoning_content": "hm"},
                                       {"content": None, "reasoning": "so"}, {"content": "Yes"}])

    def test_usage_stands_where_it_was_put(self):
        numbers = usage(3, 4, prompt_cache_hit_tokens=1)
        places = {
            "chunk": (scripts.stream(["a"], numbers=numbers), [[], numbers]),
            "finish": (scripts.stream(["a"], numbers=numbers, usage_on=USAGE_ON_FINISH), [["stop"], numbers]),
            "none": (scripts.stream(["a"], numbers=numbers, usage_on=USAGE_NOWHERE), [["stop"], None]),
            "null": (scripts.stream(["a"], numbers=null_details(numbers)), [[], null_details(numbers)]),
        }

        for name, (answer, expected) in places.items():
            with self.subTest(name):
                last = chunks(self.scripted(answer))[-1]
                self.assertEqual([[c["finish_reason"] for c in last["choices"]], last.get("usage")], expected)

    def test_a_finish_reason_may_be_missing(self):
        self.assertIsNone(finish(self.scripted(scripts.stream(["a"], finish=None))))
        self.assertIsNone(finish(self.ask("fake:finish=none")))
        self.assertEqual(finish(self.ask("fake:finish=content_filter")), "content_filter")

    def test_tool_calls_are_whole_in_every_style(self):
        for style in ("plain", "whole", "empty", "no-index", "no-id", "empty-id"):
            with self.subTest(style):
                answer = self.ask(f"fake-tool:weather:calls={style}", text='{"city": "Bern"}')

                entries = fragments(answer)
                self.assertEqual("".join(e["function"]["arguments"] for e in entries), '{"city": "Bern"}')
                self.assertEqual([e["function"]["name"] for e in entries if e["function"].get("name")], ["weather"])
                self.assertEqual(all("index" in e for e in entries), style != "no-index")
                self.assertEqual(any(e.get("id") for e in entries), style not in ("no-id", "empty-id"))
                repeats = any(e["function"].get("name") == "" and e["id"] == "" for e in entries[1:])
                self.assertEqual(repeats, style == "empty")
                self.assertEqual(finish(answer), "tool_calls")

    def test_a_cut_tool_call_ends_by_length_inside_its_arguments(self):
        for answer in (self.ask("fake-tool:weather:calls=cut"), self.scripted(scripts.cut_tool_call())):
            with self.assertRaises(ValueError):
                json.loads("".join(entry["function"]["arguments"] for entry in fragments(answer)))
            self.assertEqual(finish(answer), "length")

    def test_the_offered_tool_is_called_and_its_result_answered(self):
        tools = [{"type": "function", "function": {"name": "clock", "parameters": {}}}]
        called = self.ask("fake-tool", tools=tools)
        result = {"role": "tool", "tool_call_id": fragments(called)[0]["id"], "content": "noon"}
        told = self.http.post(ROUTE, chat("fake-tool", messages=[*chat()["messages"], result], tools=tools))

        self.assertEqual(fragments(called)[0]["function"]["name"], "clock")
        self.assertEqual(content(told), "The tool answered: noon")

    def test_the_wire_is_as_asked(self):
        one = '{"a":1}'
        wires = {
            "plain": (Wire(), b'data: {"a":1}\n\ndata: [DONE]\n\n'),
            "crlf": (Wire(end_of_line=b"\r\n"), b'data: {"a":1}\r\n\r\ndata: [DONE]\r\n\r\n'),
            "no space": (Wire(space=False), b'data:{"a":1}\n\ndata:[DONE]\n\n'),
            "comments": (Wire(comment=b"alive"), b': alive\n\ndata: {"a":1}\n\n: alive\n\ndata: [DONE]\n\n'),
            "no done": (Wire(done=False), b'data: {"a":1}\n\n'),
            "no blank": (Wire(final_blank=False), b'data: {"a":1}\n\ndata: [DONE]'),
            "crlf, no blank, no done": (Wire(b"\r\n", final_blank=False, done=False), b'data: {"a":1}'),
        }

        for name, (wire, expected) in wires.items():
            with self.subTest(name):
                self.assertEqual(b"".join(wire.frame([Raw(one)])), expected)
        self.assertEqual(Wire(multiline=True, done=False).frame([{"a": 1}]), [b'data: {\ndata:  "a": 1\ndata: }\n\n'])

    def test_names_shape_the_wire_too(self):
        body = self.ask("fake:eol=crlf:space=no:comments=yes:multiline=yes:done=no:blank=no:size=5").body

        self.assertTrue(body.startswith(b": keep-alive\r\n\r\ndata:{\r\ndata: \"id\""), body[:60])
        self.assertTrue(body.endswith(b"data:}"), body[-60:])

    def test_delays_come_before_each_write(self):
        began = time.monotonic()
        self.scripted(scripts.text("a", "b").paced(delay=0.02))

        self.assertGreaterEqual(time.monotonic() - began, 5 * 0.02)


class Misbehaviour(FakeCase):
    def test_a_dropped_connection_has_given_exactly_so_many_bytes(self):
        for count in (0, 1, 200, 333):
            for model in (f"fake-drop:{count}", f"fake-drop:{count}:size=7"):
                with self.subTest(model), self.http.open("POST", ROUTE, chat(model)) as stream:
                    got = b""
                    with self.assertRaises(Cut):
                        while piece := stream.connection.read_body():
                            got += piece
                    self.assertEqual(len(got), count)
        self.assertEqual({call.outcome for call in self.fake.calls}, {"dropped"})

    def test_a_reset_is_an_error_of_the_connection(self):
        with self.assertRaises(ConnectionResetError):
            self.ask("fake-reset:100")

    def test_a_body_may_end_with_the_connection(self):
        self.assertEqual(content(self.scripted(scripts.text("a", "b").until_close())), "ab")

    def test_hanging_before_the_head_sends_nothing(self):
        connection = self.open("fake-hang:head")
        connection.socket.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            connection.read_head()

        self.assertIsNone(self.fake.calls[0].status)
        self.assert_left(connection)

    def test_hanging_after_the_head_sends_nothing_of_the_body(self):
        connection = self.open("fake-hang:0")
        connection.read_head()

        self.assert_left(connection, sent=0)

    def test_hanging_midway_sends_so_many_bytes(self):
        connection = self.open("fake-hang:250")
        connection.read_head()
        got = b""
        while len(got) < 250:
            got += connection.read_body()

        self.assert_left(connection, sent=250)

    def test_a_late_head_and_a_late_body_come_after_all(self):
        began = time.monotonic()
        answer = self.scripted(scripts.text("late").late(head=0.05, body=0.05))

        self.assertEqual(content(answer), "late")
        self.assertGreaterEqual(time.monotonic() - began, 0.1)

    def test_a_client_that_leaves_in_the_middle_of_a_stream_is_seen_at_once(self):
        connection = self.open("fake-drip:20")
        connection.read_head()
        connection.read_body()

        self.assert_left(connection)
        self.assertLess(self.fake.calls[0].sent, 100)

    def test_a_flood_has_only_comments_and_no_end(self):
        connection = self.open("fake-flood:0")
        connection.read_head()
        got = b""
        while len(got) < 100_000:
            got += connection.read_body()

        self.assertEqual(set(got[:14_000].split(b"\n\n")[:-1]), {b": keep-alive"})
        self.assert_left(connection)

    def test_a_client_that_does_not_read_stops_the_flood(self):
        connection = self.open("fake-flood:0")
        self.assertTrue(self.fake.wait_for(lambda: bool(self.fake.calls)))
        before = -1
        while before != (before := self.fake.calls[0].sent):
            time.sleep(0.3)

        self.assert_left(connection)

    def test_errors_succeed_after_so_many_times(self):
        statuses = [self.ask("fake-error:429:2").status for _ in range(6)]
        other = self.ask("fake-error:429:2:tag=other").status

        self.assertEqual(statuses, [429, 429, 200, 429, 429, 200])
        self.assertEqual(other, 429)

    def test_retry_after_is_told_in_three_ways(self):
        self.assertEqual(self.ask("fake-error:429:after=2").headers["retry-after"], "2")
        self.assertEqual(self.ask("fake-error:503:after_ms=150").headers["retry-after-ms"], "150")
        date = parsedate_to_datetime(self.scripted(scripts.rate_limited(date=30)).headers["retry-after"])
        self.assertAlmostEqual(date.timestamp(), time.time() + 30, delta=3)
        self.assertIn("GMT", self.ask("fake-error:429:after_date=30").headers["retry-after"])

    def test_every_status_has_an_error_of_a_provider(self):
        for status in (400, 401, 402, 403, 404, 422, 429, 500, 503, 529):
            with self.subTest(status):
                answer = self.ask(f"fake-error:{status}:code=special")
                self.assertEqual((answer.status, answer.error_code), (status, "special"))
                self.assertTrue(answer.json["error"]["message"])

    def test_html_is_html(self):
        for status in (502, 200):
            answer = self.ask(f"fake-html:{status}")
            self.assertEqual(answer.status, status)
            self.assertTrue(answer.headers["content-type"].startswith("text/html"))
            self.assertTrue(answer.body.startswith(b"<html>"))

    def test_malformed_json_comes_after_some_text(self):
        *good, bad = self.ask("fake-malformed").body.split(b"\n\n")[:4]

        self.assertEqual(json.loads(good[-1].removeprefix(b"data: "))["choices"][0]["delta"], {"content": "text"})
        with self.assertRaises(ValueError):
            json.loads(bad.removeprefix(b"data: "))

    def test_an_error_object_comes_in_the_middle(self):
        answer = self.ask("fake-midstream:code=overloaded")

        *before, error = answer.body.removesuffix(b"\n\ndata: [DONE]\n\n").split(b"\n\n")
        self.assertEqual((answer.status, len(before)), (200, 3))
        self.assertEqual(json.loads(error.removeprefix(b"data: "))["error"]["code"], "overloaded")

    def test_a_line_of_ten_megabytes(self):
        with self.http.open("POST", ROUTE, chat("fake-line")) as stream:
            pieces = []
            while piece := stream.connection.read_body(1 << 20):
                pieces.append(piece)

        self.assertGreater(max(len(line) for line in b"".join(pieces).split(b"\n")), 10_000_000)

    def test_the_canary_shows_the_key_wherever_a_client_might_log_it(self):
        for where, status in (("body", 401), ("stream", 200), ("html", 502)):
            with self.subTest(where):
                answer = self.ask(f"fake-canary:{where}")
                self.assertEqual(answer.status, status)
                self.assertIn(b"Bearer sk-canary", answer.body)

    def test_a_name_that_asks_for_what_there_is_not_is_told_so(self):
        for name in ("fake-nothing", "fake:color=red", "fake-drop:x", "fake-drop:1:2", "fake:eol=cr",
                     "fake-canary:moon", "fake:strict=nobody", "fake-tool:calls=loud"):
            with self.subTest(name):
                answer = self.ask(name)
                self.assertEqual((answer.status, answer.error_code), (404, "model_not_found"))
                self.assertIn("fake provider: ", answer.json["error"]["message"])


def history(**assistant) -> list[dict]:
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    return [{"role": "user", "content": "time?"},
            {"role": "assistant", "content": None, "tool_calls": [call], **assistant},
            {"role": "tool", "tool_call_id": "c1", "content": "noon"}]


class Strict(FakeCase):
    """Each row: what is changed in a good request, and what the vendor says of it (None: nothing)."""

    def check(self, vendor: str, rows: list[tuple[dict, str | None]]):
        for changes, message in rows:
            with self.subTest(vendor, changes=changes):
                answer = self.ask(f"fake:strict={vendor}", **changes)
                self.assertEqual(answer.status, 400 if message else 200)
                if message:
                    self.assertEqual(answer.json["error"]["message"], message)

    EVERYWHERE = [
        ({}, None),
        ({"stream_options": None}, "fake provider: stream_options.include_usage must be true"),
        ({"stream_options": {"include_usage": False}}, "fake provider: stream_options.include_usage must be true"),
        ({"messages": history(reasoning_content="")[:2]},
         "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
         "(insufficient tool messages following tool_calls message)"),
        ({"messages": history()[2:]},
         "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
        ({"response_format": {"type": "json_object"}},
         "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."),
        ({"response_format": {"type": "json_object"}, "text": "as JSON"}, None),
    ]

    def test_deepseek(self):
        no_choice = "Thinking mode does not support this tool_choice"
        no_reasoning = "The reasoning_content in the thinking mode must be passed back to the API."
        off = {"thinking": {"type": "disabled"}}
        self.check("deepseek", self.EVERYWHERE + [
            ({"tool_choice": "auto"}, None),
            ({"tool_choice": "required"}, no_choice),
            ({"tool_choice": {"type": "function", "function": {"name": "clock"}}}, no_choice),
            ({"tool_choice": "required", **off}, None),
            ({"messages": history()}, no_reasoning),
            ({"messages": history(reasoning_content=None)}, no_reasoning),
            ({"messages": history(reasoning_content="")}, None),
            ({"messages": history(reasoning_content="hm")}, None),
            ({"messages": history(), **off}, None),
        ])

    def test_dashscope(self):
        no_choice = ("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set "
                     "to required or object in thinking mode")
        self.check("dashscope", self.EVERYWHERE + [
            ({"tool_choice": "required"}, None),
            ({"tool_choice": "required", "enable_thinking": True}, no_choice),
            ({"tool_choice": {"type": "function"}, "enable_thinking": True}, no_choice),
            ({"tool_choice": "required", "enable_thinking": False}, None),
            ({"messages": history()}, None),
        ])

    def test_openai(self):
        self.check("openai", self.EVERYWHERE + [
            ({"enable_thinking": False}, "Unrecognized request argument supplied: enable_thinking"),
            ({"parallel_tool_calls": True}, "'parallel_tool_calls' is only allowed when 'tools' are specified."),
            ({"parallel_tool_calls": True, "tools": [{}]}, None),
        ])

    def test_a_call_without_a_key_is_refused(self):
        self.assertEqual(Http(self.fake.address).post(ROUTE, chat("fake:strict=openai")).status, 401)


class StrictProvider(FakeCase):
    strict = "deepseek"

    def test_a_refused_request_takes_nothing_from_the_script(self):
        self.fake.script(scripts.text("scripted"))

        self.assertEqual(self.ask(stream_options=None).status, 400)
        self.assertEqual(content(self.ask("deepseek-flash")), "scripted")


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

    def test_a_taken_port_is_told(self):
        with FakeProvider() as fake:
            done = subprocess.run([sys.executable, str(self.SCRIPT), "--port", str(fake.port)], capture_output=True,
                                  text=True, timeout=20)

        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot listen", done.stderr)


if __name__ == "__main__":
    unittest.main()
