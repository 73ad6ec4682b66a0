"""TASK-8, RUN-11: every wire tells the same run. The text of a message is the same on all of them, and in the history."""

import json
import unittest

from e2e_case import DIALECTS
from flow_case import Says
from model_case import ModelRun
from tool_case import ROUTED, ToolCase, call, create

from tasks import Task
from web_socket import follow


class Wires(ToolCase):
    def texts(self, run) -> dict[str, list[str]]:
        """The texts of the run's messages as each wire joins them, in order; those that were replaced are left out."""
        out = {}
        for name in ("ag-ui 1.0", "ag-ui 0.0"):
            joined, left_out = {}, set()
            for frame in run.api.read_events(run.thread, run.run, **DIALECTS[name]):
                event = frame.json
                if frame.event == "TEXT_MESSAGE_START":
                    joined[event["messageId"]] = ""
                elif frame.event == "TEXT_MESSAGE_CONTENT":
                    joined[event["messageId"]] += event["delta"]
                elif frame.event == "TEXT_MESSAGE_END" and event["metadata"]["status"] == "superseded":
                    left_out.add(event["messageId"])
            out[name] = [text for message, text in joined.items() if message not in left_out]
        for name in ("v2", "v1"):
            out[name] = [frame.json["answer"] for frame in run.api.read_events(run.thread, run.run, **DIALECTS[name])
                         if frame.event == "TEXT_MESSAGE_END"]
        out["history"] = [message["content"] for message in run.api.full_history(run.thread)
                          if message["role"] == "assistant" and message["type"] == "assistant_output"]
        polled = Task(run.api, run.run).finish().events
        with follow(run.api, run.run) as socket:
            self.assertEqual(socket.read_to_close(), (polled, 1000))
        out["tasks"] = [event["data"]["full_content"] for event in polled if event["type"] == "text_end"]
        chunks = "".join(event["data"]["content"] for event in polled if event["type"] == "text_chunk")
        self.assertEqual(chunks, "".join(out["tasks"]))
        return out

    def check(self, *turns, answer: str = "Done.", replaced: int = 0) -> None:
        texts = self.texts(self.ask(*turns))
        for wire in ("ag-ui 1.0", "ag-ui 0.0", "history"):
            self.assertEqual(texts[wire][-1], answer, wire)
            self.assertEqual(texts[wire], texts["ag-ui 1.0"], wire)
        for wire in ("v2", "v1"):
            self.assertEqual(texts[wire], [answer], wire)
        # A reader of tasks also sees what was replaced: it ends, and the answer follows.
        self.assertEqual(texts["tasks"][-1], answer)
        self.assertEqual(len(texts["tasks"]), len(texts["ag-ui 1.0"]) + replaced)

    def test_TASK_8_a_plain_answer(self):
        self.check()

    def test_TASK_8_an_answer_after_tools(self):
        self.check(create(), call("calendar.delete", event_id="evt_none"))

    def test_TASK_8_an_answer_in_many_scripts(self):
        text = "κόσμε 你好 😀 \"quoted\" \\ back\nnew line \u2028 end"
        said = Says({"status": "SUCCESS", "result_type": "execution_report", "key_points": [], "suggested_actions": [], "error": None,
                     "answer": text})
        self.script(ROUTED, said)
        run = ModelRun(self.api, *self.api.start_run("Please.")).read()
        texts = self.texts(run)
        self.assertEqual({json.dumps(value) for value in texts.values()}, {json.dumps([text])})

    def test_TASK_8_an_answer_that_replaces_another(self):
        """The first output streams its text and then breaks its contract."""
        broken = Says({"answer": "Half a", "status": "NONSENSE"})
        self.check(broken, replaced=1)


if __name__ == "__main__":
    unittest.main()
