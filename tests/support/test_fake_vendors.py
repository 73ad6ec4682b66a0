"""The strict mode of the fake provider refuses what vendors refuse, in their words."""

import unittest

import fake_scripts as scripts
from fake_case import ROUTE, FakeCase, chat, content
from http_client import Http


def history(**assistant) -> list[dict]:
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    return [{"role": "user", "content": "time?"},
            {"role": "assistant", "content": None, "tool_calls": [call], **assistant},
            {"role": "tool", "tool_call_id": "c1", "content": "noon"}]


class Strict(FakeCase):
    """Each row: what is changed in a valid request, and the vendor's error message, or None if it is accepted."""

    def check(self, vendor: str, rows: list[tuple[dict, str | None]]):
        for changes, message in rows:
            with self.subTest(vendor, changes=changes):
                answer = self.ask(f"fake:strict={vendor}", **changes)
                self.assertEqual(answer.status, 400 if message else 200)
                if message:
                    self.assertEqual(answer.json["error"]["message"], message)

    UNANSWERED = ("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                  "'tool_call_id'. (insufficient tool messages following tool_calls message)")
    EVERYWHERE = [
        ({}, None),
        ({"stream_options": None}, "fake provider: stream_options.include_usage must be true"),
        ({"stream_options": {"include_usage": False}}, "fake provider: stream_options.include_usage must be true"),
        ({"messages": history(reasoning_content="")[:2]}, UNANSWERED),
        ({"messages": history(reasoning_content="")[:2] + chat()["messages"]}, UNANSWERED),
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
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Basic eDp5"}):
            answer = Http(self.fake.address).post(ROUTE, chat("fake:strict=openai"), headers=headers)
            self.assertEqual(answer.status, 401)


class StrictProvider(FakeCase):
    strict = "deepseek"

    def test_a_refused_request_takes_nothing_from_the_script(self):
        self.fake.script(scripts.text("scripted"))

        self.assertEqual(self.ask(stream_options=None).status, 400)
        self.assertEqual(content(self.ask("deepseek-flash")), "scripted")


if __name__ == "__main__":
    unittest.main()
