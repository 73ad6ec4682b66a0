"""HTTP-9, USE-8, RUN-5, RUN-6: what one user has stored is bounded and does not slow down other users."""

import sqlite3
import unittest

from e2e_case import E2eCase, eventually, new_id, offline

THREADS = "/api/v1/agent/threads"


def query(server, sql: str, *values) -> list[tuple]:
    db = sqlite3.connect(server.database)
    try:
        return db.execute(sql, values).fetchall()
    finally:
        db.close()


class PagesTest(E2eCase):
    config = offline(http={"history_page_bytes": 4096}, runtime={"context_bytes": 8192})

    def test_HTTP_9_a_page_of_history_has_bytes_as_well_as_rows(self):
        thread = new_id("t")
        for number in range(4):
            self.finished_run(f"{number}" + "x" * 3000, thread=thread)

        whole = self.api.full_history(thread, 200)
        pages, before = [], {}
        while True:
            page = self.api.history(thread, limit=200, **before).json
            pages.append(page["messages"])
            if page["nextBefore"] is None:
                break
            before = {"before": page["nextBefore"]}

        self.assertEqual([m["seq"] for m in whole], list(range(1, 9)))
        self.assertGreaterEqual(len(pages), 4)
        for page in pages:
            self.assertTrue(len(page) == 1 or sum(len(m["content"]) for m in page) <= 4096)

    def test_HTTP_9_rows_from_before_the_limit_are_survived(self):
        thread, _ = self.finished_run("hello")
        db = sqlite3.connect(self.server.database)
        with db:
            db.execute("UPDATE agent_chat_messages SET content = ? WHERE seq = 1 AND session_id = "
                       "(SELECT id FROM agent_chat_sessions WHERE thread_ref = ?)", ("y" * (4 << 20), thread))
        db.close()

        self.finished_run("hi", thread=thread)
        history = self.api.full_history(thread)
        self.assertEqual([len(m["content"]) for m in history][0], 4 << 20)
        self.assertEqual(len(history), 4)

    def test_USE_8_groups_of_usage_come_in_pages(self):
        threads = sorted(self.finished_run()[0] for _ in range(5))

        seen, cursor = [], ""
        while cursor is not None:
            page = self.api.get(f"/api/v1/usage?groupBy=thread&limit=2&cursor={cursor}").json
            self.assertLessEqual(len(page["groups"]), 2)
            seen += [group["key"] for group in page["groups"]]
            cursor = page.get("nextCursor")
        self.assertEqual([thread for thread in seen if thread in threads], threads)
        self.assertEqual(seen, sorted(set(seen)))


class DeleteTest(E2eCase):
    def test_RUN_5_a_deleted_thread_is_gone_at_once_and_its_rows_follow(self):
        thread, run = self.finished_run("first")
        key = query(self.server, "SELECT id FROM agent_chat_sessions WHERE thread_ref = ?", thread)[0][0]

        self.assertEqual(self.api.request("DELETE", f"{THREADS}/{thread}").status, 204)
        self.assert_error(self.api.history(thread), 404, "NOT_FOUND")
        self.assert_error(self.api.status(thread, run), 404, "NOT_FOUND")
        self.finished_run("again", thread=thread, run=run)

        self.assertEqual([m["content"] for m in self.api.full_history(thread)][0], "again")
        self.assertTrue(eventually(lambda: not query(
            self.server, "SELECT 1 FROM agent_chat_messages WHERE session_id = ?1 UNION ALL "
                         "SELECT 1 FROM agent_chat_sessions WHERE id = ?1 UNION ALL SELECT 1 FROM purges", key)))


class QuotaTest(E2eCase):
    config = offline(runtime={"storage_bytes_per_user": 20_000})

    def test_HTTP_9_storage_is_bounded_by_user_and_deleting_makes_room(self):
        threads = []
        answer = None
        for _ in range(20):
            answer = self.api.post_run({"messages": [{"id": new_id("m"), "role": "user", "content": "x" * 4000}]})
            if answer.status != 202:
                break
            threads.append(answer.json["threadId"])
            self.api.finish(answer.json["threadId"], answer.json["runId"])

        details = self.assert_error(answer, 507, "STORAGE_QUOTA_EXCEEDED")
        self.assertEqual(details["limitBytes"], 20_000)
        self.assertGreaterEqual(details["usedBytes"], 20_000)
        other = self.server.api("other")
        self.assertEqual(other.finish(*other.start_run("hello")), "RUN_FINISHED")

        for thread in threads[:2]:
            self.assertEqual(self.api.request("DELETE", f"{THREADS}/{thread}").status, 204)

        def starts() -> bool:
            return self.api.post_run({"messages": [{"id": new_id("m"), "role": "user", "content": "x"}]}).status == 202

        self.assertTrue(eventually(starts))


if __name__ == "__main__":
    unittest.main()
