"""The scripted answers of the fake provider have the form that was asked for."""

import json
import time
import unittest

import fake_scripts as scripts
from fake_case import ROUTE, FakeCase, chat, chunks, content, finish, fragments
from fake_chunks import USAGE_NOWHERE, USAGE_ON_FINISH, Raw, Reasoning, Wire, null_details, usage


class Answers(FakeCase):
    def test_the_friendly_answer_repeats_the_words_and_counts(self):
        answer = self.ask(text="Grüße, 你好")

        self.assertTrue(content(answer).startswith("You said: Grüße, 你好\n"))
        last = chunks(answer)[-1]
        self.assertEqual((last["choices"], last["usage"]["prompt_tokens"]), ([], 2))
        self.assertEqual(last["usage"]["completion_tokens"], len(chunks(answer)) - 3)

    def test_an_object_that_succeeded_has_no_error(self):
        schema = {"type": "object", "properties": {"status": {"type": "string", "enum": ["SUCCESS", "FAILED"]},
                                                   "brief": {"type": ["string", "null"]}, "error": {"type": ["string", "null"]},
                                                   "error_code": {"type": "string"}, "answer": {"type": "string"}}}
        answer = self.ask(text="As JSON:\n" + json.dumps(schema, separators=(",", ":")), response_format={"type": "json_object"})

        said = json.loads(content(answer))
        self.assertEqual((said["status"], said["error"]), ("SUCCESS", None))
        self.assertTrue(said["brief"] and said["error_code"] and said["answer"])

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


if __name__ == "__main__":
    unittest.main()
