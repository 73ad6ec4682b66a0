"""RUN-5, RUN-7, RUN-8, RUN-10: threads, titles and history."""

import unittest

from e2e_case import E2eCase, new_id, offline

TITLES = {
    "plain": ("hello", "hello"),
    "stripped": ("  \t hello \n ", "hello"),
    "line break": ("a\nb", "a b"),
    "no collapsing": ("a\n\nb", "a  b"),
    "CR LF counts once": ("a\r\nb", "a b"),
    "CR alone": ("a\rb", "a b"),
    "LF CR are two": ("a\n\rb", "a  b"),
    "vertical tab and form feed": ("a\vb\fc", "a b c"),
    "separators": ("a\x1cb\x1dc\x1ed", "a b c d"),
    "next line": ("a\u0085b", "a b"),
    "line and paragraph separator": ("a\u2028b\u2029c", "a b c"),
    "a tab is no line break": ("a\tb", "a\tb"),
    "64 code points": ("x" * 65, "x" * 64),
    "code points, not bytes": ("字" * 70, "字" * 64),
    "outside the basic plane": ("🌊" * 70, "🌊" * 64),
    "no trim after the cut": ("x" * 63 + " y", "x" * 63 + " "),
    "breaks become spaces before the cut": ("x" * 63 + "\ny", "x" * 63 + " "),
    "a strip of what breaks left": ("\u2028a\u2028", "a"),
    "Chinese": ("明天三点开会\n地点:三楼", "明天三点开会 地点:三楼"),
}


class TitleTest(E2eCase):
    def title_of(self, text: str) -> str:
        thread, _ = self.api.start_run(text)
        return self.api.thread(thread).json["title"]

    def test_RUN_7_titles(self):
        for name, (text, title) in TITLES.items():
            with self.subTest(name):
                self.assertEqual(self.title_of(text), title)

    def test_RUN_7_an_empty_one_has_a_name(self):
        for text in (" ", "\n\n", "\u2028\u3000"):
            with self.subTest(repr(text)):
                self.assertEqual(self.title_of(text), "新会话")

    def test_RUN_7_a_later_message_does_not_overwrite_it(self):
        thread, _ = self.finished_run("first")
        self.finished_run("second", thread=thread)

        self.assertEqual(self.api.thread(thread).json["title"], "first")

    def test_RUN_7_the_user_may_rename_and_it_stays(self):
        thread, _ = self.finished_run("first")

        renamed = self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", {"title": "我的会话"})
        self.finished_run("second", thread=thread)

        self.assertEqual(renamed.status, 200)
        self.assertEqual(self.api.thread(thread).json["title"], "我的会话")


class ThreadsTest(E2eCase):
    def test_RUN_5_threads_newest_first_in_pages(self):
        api = self.server.api("pager")
        made = [api.start_run(f"t{n}") for n in range(7)]
        for thread, run in made:
            api.finish(thread, run)
        api.finish(*api.start_run("again", thread=made[2][0]))

        seen, cursor = [], ""
        for _ in range(10):
            page = api.get(f"/api/v1/agent/threads?limit=3{cursor}").json
            self.assertLessEqual(len(page["threads"]), 3)
            seen += page["threads"]
            if page["nextCursor"] is None:
                break
            cursor = f"&cursor={page['nextCursor']}"

        self.assertEqual(seen[0]["threadId"], made[2][0], "the thread that was used last must be the first")
        self.assertEqual(sorted(t["threadId"] for t in seen), sorted(thread for thread, _ in made))
        updated = [t["updatedAt"] for t in seen]
        self.assertEqual(updated, sorted(updated, reverse=True))

    def test_RUN_5_threads_of_others_are_not_listed(self):
        thread, _ = self.finished_run()
        page = self.server.api("nobody").get("/api/v1/agent/threads").json

        self.assertEqual(page["threads"], [])

    def test_RUN_5_a_bad_page_is_refused(self):
        for query in ("limit=0", "limit=-1", "limit=x", "limit=100000", "cursor=%00", "cursor=x'--"):
            with self.subTest(query):
                self.assert_error(self.api.get(f"/api/v1/agent/threads?{query}"), 400)

    def test_RUN_5_delete(self):
        thread, run = self.finished_run()

        self.assertEqual(self.api.request("DELETE", f"/api/v1/agent/threads/{thread}").status, 204)

        self.assert_error(self.api.thread(thread), 404)
        self.assert_error(self.api.history(thread), 404)
        self.assert_error(self.api.status(thread, run), 404)
        self.assert_error(self.api.get(self.api.events_path(thread, run)), 404)
        self.assert_error(self.api.request("DELETE", f"/api/v1/agent/threads/{thread}"), 404)

    def test_HTTP_3_others_can_neither_rename_nor_delete(self):
        thread, _ = self.finished_run("mine")
        other = self.server.api("mallory")
        path = f"/api/v1/agent/threads/{thread}"
        absent = other.request("DELETE", f"/api/v1/agent/threads/{new_id('thread')}")

        for answer in (other.request("PATCH", path, {"title": "x"}), other.request("DELETE", path)):
            self.assert_error(answer, 404)
            self.assertEqual(answer.body, absent.body)
        self.assertEqual(self.api.thread(thread).json["title"], "mine")

    def test_HTTP_1_unknown_fields_are_named(self):
        thread, _ = self.finished_run()

        answer = self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", {"title": "x", "colour": "red"})

        self.assert_error(answer, 400)
        self.assertIn("colour", answer.body.decode())
        self.assertEqual(self.api.thread(thread).json["title"], "hello")

    def test_RUN_5_bad_titles_are_refused(self):
        thread, _ = self.finished_run()

        for body in ({}, {"title": ""}, {"title": None}, {"title": 5}, {"title": "x" * 10000}, [], b"{"):
            with self.subTest(str(body)[:30]):
                self.assert_error(self.api.request("PATCH", f"/api/v1/agent/threads/{thread}", body), 400)


class HistoryTest(E2eCase):
    def test_RUN_8_seq_and_RUN_10_pages(self):
        thread, _ = self.finished_run("m0")
        for n in range(1, 4):
            self.finished_run(f"m{n}", thread=thread)

        whole = self.api.history(thread).json
        self.assertEqual([m["seq"] for m in whole["messages"]], list(range(1, 9)))
        self.assertEqual([m["role"] for m in whole["messages"]], ["user", "assistant"] * 4)
        self.assertIsNone(whole["nextBefore"])
        for limit in range(1, 10):
            with self.subTest(limit=limit):
                self.assertEqual(self.api.full_history(thread, limit), whole["messages"])
        page = self.api.history(thread, before=5, limit=2).json
        self.assertEqual([m["seq"] for m in page["messages"]], [3, 4], "within a page the oldest message comes first")

    def test_RUN_8_ids_in_history_are_those_on_the_wire(self):
        thread, run = self.finished_run()
        answer = next(f.json for f in self.api.read_events(thread, run) if f.event == "TEXT_MESSAGE_END")
        shown = {f.json["messageId"] for f in self.api.read_events(thread, run, dialect="ag-ui")
                 if f.event == "TEXT_MESSAGE_START"}

        history = self.api.full_history(thread)

        self.assertEqual([(m["id"], m["content"]) for m in history if m["role"] == "assistant"],
                         [(answer["messageId"], answer["answer"])])
        self.assertEqual(shown, {answer["messageId"]})

    def test_RUN_11_what_a_client_has_seen_it_finds_in_history(self):
        thread, run = self.api.start_run()
        with self.api.events(thread, run) as stream:
            while (frame := stream.next()).event != "TEXT_MESSAGE_END":
                pass

            self.assertIn(frame.json["messageId"], [m["id"] for m in self.api.full_history(thread)])

    def test_RUN_10_metadata_tokens_and_cost_never_leave(self):
        thread, run = self.finished_run()

        for message in self.api.full_history(thread):
            self.assertLessEqual(set(message), {"id", "seq", "role", "content", "type", "stage", "status", "toolCallId", "toolName", "runId",
                                                "createdAt", "ui_schema"})
            self.assertEqual(message["runId"], run)

    def test_RUN_8_content_comes_back_as_it_was(self):
        for text in ("plain", "  spaces  ", "行\r\n二", "🌊 \u2028 \\ \" </script>", "x" * 20000):
            with self.subTest(text[:20]):
                thread, _ = self.finished_run(text)
                self.assertEqual(self.api.full_history(thread)[0]["content"], text)

    def test_RUN_10_bad_queries(self):
        thread, _ = self.finished_run()

        self.assert_error(self.api.get("/api/v1/agent/history"), 400)
        self.assert_error(self.api.history(new_id("thread")), 404)
        for query in ({"limit": 0}, {"limit": "x"}, {"before": "x"}, {"before": 0}, {"before": -1}, {"limit": 10**6},
                      {"before": 2**64}):
            with self.subTest(query):
                self.assert_error(self.api.history(thread, **query), 400)


class BusyThreadTest(E2eCase):
    config = offline(word_delay_ms=10, words=3000)

    def test_RUN_5_a_thread_with_an_active_run_is_not_deleted_under_it(self):
        thread, run = self.api.start_run()

        answer = self.api.request("DELETE", f"/api/v1/agent/threads/{thread}")

        self.assert_error(answer, 409, "THREAD_BUSY")
        self.assertEqual(answer.json["error"]["details"], {"activeRunId": run})
        self.assertIn(run, answer.json["error"]["message"])
        self.api.cancel(thread, run)
        self.wait_status(thread, run, "canceled")
        self.assertEqual(self.api.request("DELETE", f"/api/v1/agent/threads/{thread}").status, 204)


if __name__ == "__main__":
    unittest.main()
