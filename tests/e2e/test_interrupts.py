"""AGUI-4, RUN-13: a client's next run answers the interrupt at which the last one ended (`resume`). Its run id becomes an
alias of the run that waits."""

import shutil
import sqlite3
import subprocess
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from e2e_case import eventually, new_id, run_input
from model_case import ModelRun, query
from test_approvals import ApprovalCase
from test_stock_clients import FOLDER, need_clients
from tool_case import ROUTED, DONE, Asks, create

from http_client import Http
from runnel_server import environment
from tasks import task_path

AG_UI = "/api/v1/agent/ag-ui"
RUNS = "/api/v1/agent/runs"


def answer(approved: bool = True, **payload) -> dict:
    return {"status": "resolved", "payload": {"approved": approved, **payload}}


class ResumeCase(ApprovalCase):
    def body(self, run: ModelRun, given: dict, alias: str | None = None, call: str | None = None) -> dict:
        """The input of the client's next run. Clients send their whole history again."""
        return {"threadId": run.thread, "protocolVersion": "1.0", "state": {}, "tools": [], "context": [],
                "messages": [{"id": "m-1", "role": "user", "content": "Please."}],
                **({"runId": alias} if alias else {}),
                "resume": [{"interruptId": f"approval_{call or self.call_of(run)}", **given}]}

    def stream(self, run: ModelRun, body: dict) -> list:
        """The frames of a POST that must be answered with a stream."""
        with run.api.open("POST", AG_UI, body) as stream:
            self.assertEqual(stream.status, 200)
            return list(stream)

    def decide_on(self, run: ModelRun, given: dict, alias: str | None = None, call: str | None = None):
        return run.api.post_run(self.body(run, given, alias, call))

    @staticmethod
    def edges(frames: list) -> list[tuple]:
        return [(frame.event, frame.json["runId"], (frame.json.get("outcome") or {}).get("type"))
                for frame in frames if frame.event in ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR")]

    def aliases(self) -> list[str]:
        return [row["alias"] for row in query(self.server, "SELECT alias FROM run_aliases ORDER BY alias")]


class Resuming(ResumeCase):
    def test_AGUI_4_the_clients_next_run_answers_the_interrupt(self):
        api = self.server.api("ann")
        self.script(ROUTED, create(title="Resumed"), DONE)
        first = run_input("Please.", new_id("t"), new_id("r"))
        with api.open("POST", AG_UI, first) as stream:
            frames = list(stream)
        interrupt = frames[-1].json["outcome"]["interrupts"][0]
        run, alias = ModelRun(api, first["threadId"], first["runId"]), new_id("r")
        self.assertEqual(interrupt["id"], f"approval_{interrupt['toolCallId']}")

        body = {**self.body(run, answer()), "runId": alias}
        body["messages"].append({"id": "m-2", "role": "user", "content": "Something new."})
        frames = self.stream(run, body)

        self.assertEqual(self.edges(frames), [("RUN_STARTED", alias, None), ("RUN_FINISHED", alias, None)])
        self.assertEqual([event["title"] for event in self.events("ann")], ["Resumed"])
        self.assertEqual(self.status(run), "completed")
        self.assertEqual([m["content"] for m in api.full_history(run.thread) if m["role"] == "user"], ["Please."])
        again = api.read_events(run.thread, alias, dialect="ag-ui", agui="1.0")
        self.assertEqual([(f.id, f.data) for f in again], [(f.id, f.data) for f in frames])
        whole = self.finished(run).frames
        self.assertEqual([f.data for f in whole[-len(frames):]], [f.data for f in frames])
        self.assertEqual(self.edges(whole)[:2], [("RUN_STARTED", run.run, None), ("RUN_FINISHED", run.run, "interrupt")])

    def test_AGUI_4_a_denial_and_a_cancelled_interrupt_are_told_to_the_model(self):
        for number, given in enumerate((answer(False, reason="Not on a Friday."),
                                        {"status": "cancelled", "payload": {"reason": "Not on a Friday."}},
                                        {"status": "cancelled"}, answer(False, reason=None))):
            run = self.begin(create(), user="denying")
            frames = self.stream(run, self.body(run, given, new_id("r")))

            self.assertEqual(frames[-1].event, "RUN_FINISHED")
            error = self.results(run)[0]["error"]["error"]
            self.assertEqual(error["code"], "APPROVAL_REJECTED")
            if number < 2:
                self.assertIn("Not on a Friday.", error["message"])
            self.assertEqual(self.approvals_shown(run), ["required", "rejected"])
        self.assertEqual(self.events("denying"), [])

    def test_AGUI_4_the_route_of_runs_answers_with_the_alias(self):
        run, alias = self.begin(create(), user="runs"), new_id("r")
        body = self.body(run, answer(), alias)

        started = run.api.post_run(body)

        self.assertEqual((started.status, started.json["threadId"], started.json["runId"], started.json["status"]),
                         (202, run.thread, alias, "pending"))
        with run.api.open("GET", started.json["eventsUrl"] + "&dialect=ag-ui&agui=1.0") as stream:
            self.assertEqual(self.edges(list(stream)), [("RUN_STARTED", alias, None), ("RUN_FINISHED", alias, None)])
        again = run.api.post_run(body)
        self.assertEqual((again.status, again.json["runId"], again.json["status"]), (200, alias, "completed"))
        self.assertEqual(len(self.events("runs")), 1)

    def test_AGUI_4_without_a_run_id_the_server_makes_one(self):
        run = self.begin(create(), user="minted")
        started = self.decide_on(run, answer())
        self.assertEqual((started.status, started.json["runId"]), (202, f"{run.run}~2"))
        self.finished(run)
        self.assertIn(("RUN_STARTED", f"{run.run}~2", None), self.edges(run.frames))
        self.assertEqual(run.api.status(run.thread, f"{run.run}~2").json["runId"], run.run)

    def test_AGUI_4_an_alias_names_the_run_everywhere(self):
        run, alias = self.begin(create(), user="names"), new_id("r")
        with run.api.open("POST", AG_UI, self.body(run, answer(), alias)) as stream:
            self.assertEqual(stream.next().json["runId"], alias)
            list(stream)

        self.assertEqual(run.api.status(run.thread, alias).json, run.api.status(run.thread, run.run).json)
        stages = f"{RUNS}/{run.thread}/stages?runId="
        self.assertEqual(run.api.get(stages + alias).json, run.api.get(stages + run.run).json)
        self.assertEqual(run.api.cancel(run.thread, alias).json["status"], "completed")
        task = run.api.get(task_path(alias))
        self.assertEqual((task.status, task.json), (200, run.api.get(task_path(run.run)).json))
        self.assertEqual(run.api.post(task_path(alias) + "/cancel").status, 200)
        ticket = run.api.post("/api/v1/auth/tickets", {"for": "sse", "threadId": run.thread, "runId": alias}).json["ticket"]
        anybody = Http(self.server.address)
        with anybody.open("GET", f"{run.api.events_path(run.thread, alias, 'ag-ui')}&ticket={ticket}") as stream:
            self.assertEqual(stream.next().json["runId"], alias)
        stranger = self.server.api("stranger")
        self.assertEqual(stranger.status(run.thread, alias).status, 404)
        self.assertEqual(stranger.get(task_path(alias)).status, 404)
        self.assertEqual(run.api.status(new_id("t"), alias).status, 404)

    def test_RUN_4_a_run_is_cancelled_by_its_alias(self):
        turn = Asks((*create(title="One").arguments, *create(title="Two").arguments))
        run, alias = self.begin(turn, user="cancel"), new_id("r")
        self.assertEqual(self.decide_on(run, answer(), alias).status, 202)
        self.assertTrue(eventually(lambda: len(self.waiting_of(run)) == 1 and self.events("cancel")))
        self.wait(run)

        self.assertEqual(run.api.cancel(run.thread, alias).status, 202)
        self.finished(run)
        self.assertEqual((self.status(run), len(self.events("cancel"))), ("canceled", 1))
        self.assertEqual(self.edges(run.frames)[-3:], [("RUN_FINISHED", alias, "interrupt"),
                                                       ("RUN_STARTED", f"{run.run}~3", None),
                                                       ("RUN_FINISHED", f"{run.run}~3", "cancelled")])

    def test_AGUI_4_every_pause_ends_the_body_and_has_its_alias(self):
        turn = Asks((*create(title="One").arguments, *create(title="Two").arguments))
        run, one, two = self.begin(turn, user="each"), new_id("r"), new_id("r")
        frames = self.stream(run, self.body(run, answer(), one))
        self.assertEqual(self.edges(frames), [("RUN_STARTED", one, None), ("RUN_FINISHED", one, "interrupt")])
        interrupt = frames[-1].json["outcome"]["interrupts"][0]["id"]

        frames = self.stream(run, self.body(run, answer(False), two, interrupt.removeprefix("approval_")))

        self.assertEqual(self.edges(frames), [("RUN_STARTED", two, None), ("RUN_FINISHED", two, None)])
        self.assertEqual([event["title"] for event in self.events("each")], ["One"])
        self.assertEqual(self.edges(run.api.read_events(run.thread, one, dialect="ag-ui", agui="1.0")),
                         [("RUN_STARTED", one, None), ("RUN_FINISHED", one, "interrupt"),
                          ("RUN_STARTED", two, None), ("RUN_FINISHED", two, None)])

    def test_AGUI_4_the_stream_begins_at_the_alias_while_others_read_the_run(self):
        run, alias = self.begin(create(), user="others"), new_id("r")
        with run.api.events(run.thread, run.run, dialect="ag-ui", agui="1.0") as whole:
            whole.wait_for(lambda: b"interrupt" in whole.raw)
            frames = self.stream(run, self.body(run, answer(), alias))
            seen = list(whole)
        self.assertEqual(self.edges(frames), [("RUN_STARTED", alias, None), ("RUN_FINISHED", alias, None)])
        self.assertEqual([f.data for f in seen[-len(frames):]], [f.data for f in frames])


class Repeats(ResumeCase):
    def test_RUN_2_the_same_answer_again_joins_and_another_is_refused(self):
        run, alias = self.begin(create(), user="again"), new_id("r")
        call = self.call_of(run)
        body = self.body(run, answer(), alias, call)
        frames = self.stream(run, body)

        self.assertEqual([f.data for f in self.stream(run, body)], [f.data for f in frames])
        joined = self.stream(run, self.body(run, answer(), new_id("r"), call))
        self.assertEqual(self.edges(joined)[0], ("RUN_STARTED", alias, None))
        other = self.decide_on(run, answer(), new_id("r"), call)
        self.assertEqual((other.status, other.json["runId"]), (200, alias))
        for run_id in (alias, new_id("r"), None):
            for given in (answer(False), {"status": "cancelled"}):
                details = self.assert_error(self.decide_on(run, given, run_id, call), 409, "ALREADY_DECIDED")
                self.assertEqual(details, {"toolCallId": call, "status": "approved"})
                self.assert_error(run.api.post(AG_UI, self.body(run, given, run_id, call)), 409, "ALREADY_DECIDED")
        self.assertEqual(len(self.events("again")), 1)
        self.assertEqual(self.aliases().count(alias), 1)

    def test_AGUI_4_an_answer_of_the_approvals_route_is_joined(self):
        run = self.begin(create(), user="route")
        call = self.call_of(run)
        decided = self.decide(run, "approve", call)
        self.assertEqual((decided.status, decided.json["runId"]), (202, f"{run.run}~2"))

        frames = self.stream(run, self.body(run, answer(), new_id("r"), call))

        self.assertEqual(self.edges(frames), [("RUN_STARTED", f"{run.run}~2", None), ("RUN_FINISHED", f"{run.run}~2", None)])
        self.assert_error(self.decide_on(run, answer(False), None, call), 409, "ALREADY_DECIDED")

    def test_RUN_2_an_id_is_used_once(self):
        run, alias = self.begin(create(), user="ids"), new_id("r")
        self.script(DONE)
        other = run.api.start_run("hello", forwarded={"flow": "chat"})
        self.assertEqual(run.api.finish(*other), "RUN_FINISHED")
        for taken in (other[1], run.run):
            self.assert_error(self.decide_on(run, answer(), taken), 409, "RUN_ID_CONFLICT")
            self.assert_error(run.api.post(AG_UI, self.body(run, answer(), taken)), 409, "RUN_ID_CONFLICT")
        self.assertEqual(self.status(run), "awaiting_approval")
        call = self.call_of(run)
        self.stream(run, self.body(run, answer(), alias))

        for thread in (run.thread, new_id("t")):
            self.assert_error(run.api.post_run(run_input("hello", thread, alias)), 409, "RUN_ID_CONFLICT")
            self.assert_error(run.api.post(AG_UI, run_input("hello", thread, alias)), 409, "RUN_ID_CONFLICT")
        second = self.begin(create(), user="ids")
        self.assert_error(self.decide_on(second, answer(), alias), 409, "RUN_ID_CONFLICT")
        self.assert_error(self.decide_on(second, answer(), other[1], self.call_of(second)), 409, "RUN_ID_CONFLICT")
        self.assert_error(self.decide_on(second, answer(), "mine~2"), 400, "INVALID_REQUEST")
        self.assertEqual(self.decide_on(run, answer(), alias, call).status, 200)
        self.assertEqual(self.decide_on(second, answer(False)).status, 202)
        self.finished(second)

    def test_RUN_2_ids_are_each_users_own(self):
        run, alias = self.begin(create(), user="mine"), new_id("r")
        self.stream(run, self.body(run, answer(), alias))
        theirs = self.begin(create(), user="theirs")
        frames = self.stream(theirs, self.body(theirs, answer(), alias))
        self.assertEqual(self.edges(frames)[0], ("RUN_STARTED", alias, None))
        self.assertEqual((len(self.events("mine")), len(self.events("theirs"))), (1, 1))

    def test_AGUI_4_the_aliases_of_a_deleted_thread_are_free(self):
        run, alias = self.begin(create(), user="deleting"), new_id("r")
        self.stream(run, self.body(run, answer(), alias))
        self.assertEqual(run.api.request("DELETE", f"/api/v1/agent/threads/{run.thread}").status, 204)
        self.assertEqual(run.api.get(task_path(alias)).status, 404)

        again = self.begin(create(), user="deleting")
        self.assertEqual(self.edges(self.stream(again, self.body(again, answer(), alias)))[0], ("RUN_STARTED", alias, None))
        run.api.request("DELETE", f"/api/v1/agent/threads/{again.thread}")
        self.script(DONE)
        started = run.api.post_run(run_input("hello", None, alias, {"flow": "chat"}))
        self.assertEqual(started.status, 202)
        self.assertEqual(run.api.finish(started.json["threadId"], alias), "RUN_FINISHED")

    def test_RUN_13_answers_by_resume_and_by_the_route_at_once_give_one_effect(self):
        for number in range(4):
            run = self.begin(create(title=f"Race {number}"), user=f"race-{number}")
            call = self.call_of(run)

            def decide(i: int):
                if i % 2:
                    return self.decide(run, "approve" if i % 4 == 1 else "reject", call)
                return self.decide_on(run, answer(i % 4 == 0), f"{run.run}-{i}", call)

            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(decide, range(8)))
            accepted = [a for a in answers if a.status == 202]
            self.assertEqual(len(accepted), 1, [(a.status, a.body) for a in answers])
            self.finished(run)
            approved = self.approvals_shown(run)[-1] == "approved"
            self.assertEqual(len(self.events(f"race-{number}")), int(approved))
            name = accepted[0].json["runId"]
            self.assertEqual(self.edges(run.frames)[-1], ("RUN_FINISHED", name, None))
            for given in answers:
                if given.status == 409:
                    self.assertEqual(given.error_code, "ALREADY_DECIDED")
                else:
                    self.assertEqual(given.json["runId"], name)


class Refusals(ResumeCase):
    def test_AGUI_4_an_interrupt_that_does_not_wait_is_named_with_what_does(self):
        run = self.begin(create(), user="unknown")
        call = self.call_of(run)
        for path in (RUNS, AG_UI):
            for wrong in (f"approval_{call}-no", call, "other"):
                body = self.body(run, answer())
                body["resume"][0]["interruptId"] = wrong
                details = self.assert_error(run.api.post(path, body), 404, "UNKNOWN_INTERRUPT")
                self.assertEqual(details, {"interruptIds": [f"approval_{call}"]})
        stranger = ModelRun(self.server.api("stranger"), run.thread, run.run)
        nobody = self.assert_error(self.decide_on(stranger, answer(), None, call), 404, "UNKNOWN_INTERRUPT")
        self.assertEqual(nobody, {"interruptIds": []})
        elsewhere = ModelRun(run.api, new_id("t"), run.run)
        self.assertEqual(self.assert_error(self.decide_on(elsewhere, answer(), None, call), 404), nobody)
        self.assertEqual(self.status(run), "awaiting_approval")
        run.api.cancel(run.thread, run.run)
        self.finished(run)
        self.assertEqual(self.assert_error(self.decide_on(run, answer(), None, call), 404), nobody)

    def test_AGUI_4_a_wrong_answer_is_refused_and_the_run_waits_on(self):
        run = self.begin(create(), user="wrong")
        good = {"interruptId": f"approval_{self.call_of(run)}", **answer()}
        bad = ([{**good, "payload": {"approved": "yes"}}], [{**good, "payload": {}}], [{**good, "payload": None}],
               [{**good, "payload": {"approved": True, "args": {}}}], [{**good, "status": "done"}], [good, good],
               [{"interruptId": good["interruptId"]}], [{"status": "cancelled"}], ["no"], {}, "no",
               [{**good, "payload": {"approved": True, "reason": "x" * 1001}}], [{**good, "metadata": 7}],
               [{**good, "status": "cancelled"}])
        for resume in bad:
            for path in (RUNS, AG_UI):
                body = {**self.body(run, answer(), new_id("r")), "resume": resume}
                self.assert_error(run.api.post(path, body), 400, "INVALID_REQUEST")
        no_thread = self.body(run, answer())
        del no_thread["threadId"]
        self.assert_error(run.api.post_run(no_thread), 400, "INVALID_REQUEST")
        self.assertEqual(self.status(run), "awaiting_approval")
        for none in ([], None):
            body = {**self.body(run, answer(), new_id("r")), "resume": none}
            self.assert_error(run.api.post_run(body), 409, "THREAD_BUSY")
        self.assertEqual(self.decide_on(run, answer(False)).status, 202)
        self.finished(run)


class Expired(ResumeCase):
    tools = {"approval": "[calendar.create]", "approval_timeout_s": 2}

    def test_AGUI_4_an_answer_that_comes_too_late_is_told_so(self):
        run = self.begin(create(), user="late")
        call = self.call_of(run)
        self.finished(run)
        for given in (answer(), answer(False), {"status": "cancelled"}):
            details = self.assert_error(self.decide_on(run, given, new_id("r"), call), 409, "ALREADY_DECIDED")
            self.assertEqual(details["status"], "expired")
        self.assertEqual(self.edges(run.frames)[-1], ("RUN_FINISHED", f"{run.run}~2", None))


class Crashes(ResumeCase):
    def test_RUN_12_a_run_that_was_killed_behind_the_decision_goes_on_under_the_alias(self):
        run, alias = self.begin(create(), user="killed"), new_id("r")
        body = self.body(run, answer(), alias)
        call = self.call_of(run)
        self.server.kill()
        # As the transaction of the answer leaves it, before anybody claims the run.
        with sqlite3.connect(self.server.database, timeout=10) as database:
            database.execute("INSERT INTO run_aliases SELECT owner_id, ?, id, ?, epoch, last_n FROM runs WHERE run_ref = ?",
                             (alias, call, run.run))
            database.execute("UPDATE approvals SET decision = 'approved', decided_at = asked_at + 1 WHERE call_id = ?", (call,))
            database.execute("UPDATE runs SET status = 'pending' WHERE run_ref = ?", (run.run,))
        database.close()
        self.server.start()
        run.api = self.server.api("killed")

        frames = self.stream(run, body)

        self.assertEqual(self.edges(frames), [("RUN_STARTED", alias, None), ("RUN_FINISHED", alias, None)])
        self.assertEqual((len(self.events("killed")), self.status(run)), (1, "completed"))

    def test_RUN_12_a_client_whose_server_was_killed_sends_its_answer_again(self):
        for number in range(5):
            user, alias = f"retry-{number}", new_id("r")
            run = self.begin(create(), user=user)
            body = self.body(run, answer(), alias)
            killer = threading.Timer(0.004 * number, self.server.kill)
            killer.start()
            try:
                run.api.post_run(body)
            except (OSError, ValueError, RuntimeError):
                pass
            except Exception as error:  # The connection was cut somewhere in the answer.
                self.assertIn("closed", str(error))
            killer.join()
            self.server.start()
            run.api = self.server.api(user)

            frames = self.stream(run, body)

            self.assertEqual(self.edges(frames)[0], ("RUN_STARTED", alias, None))
            self.finished(run)
            self.assertEqual((len(self.events(user)), self.status(run)), (1, "completed"))

    def test_RUN_13_ten_approvals_answered_both_ways_with_restarts(self):
        turns = [Asks((*create(title=f"A{i}").arguments, *create(title=f"B{i}").arguments)) for i in range(5)]
        run = self.begin(*turns, user="ten")
        names = [run.run]
        for number in range(10):
            self.wait(run)
            if number in (3, 6):
                self.server.kill()
                self.server.start()
                run.api = self.server.api("ten")
                self.wait(run)
            call, approved = self.call_of(run), bool(number % 3)
            if number % 2:
                alias = new_id("r")
                frames = self.stream(run, self.body(run, answer(approved), alias, call))
                self.assertEqual(self.edges(frames)[0], ("RUN_STARTED", alias, None))
                names.append(alias)
            else:
                self.assertEqual(self.decide(run, "approve" if approved else "reject", call).status, 202)
                names.append(f"{run.run}~{number + 2}")
                self.assertTrue(eventually(lambda: self.waiting_of(run) and self.call_of(run) != call))
        self.finished(run)
        self.assertEqual((self.status(run), len(self.events("ten"))), ("completed", 6))
        self.assertEqual([edge[1] for edge in self.edges(run.frames) if edge[0] == "RUN_STARTED"], names)
        for name in names:
            frames = run.api.read_events(run.thread, name, dialect="ag-ui", agui="1.0")
            self.assertEqual(self.edges(frames)[0], ("RUN_STARTED", name, None))

    def test_AGUI_4_the_aliases_of_an_older_version_are_found_in_the_log(self):
        run = self.begin(create(), user="older")
        call = self.call_of(run)
        self.decide(run, "approve", call)
        self.finished(run)
        with sqlite3.connect(self.server.database, timeout=10) as database:
            database.execute("DELETE FROM run_aliases")
        database.close()
        alias = f"{run.run}~2"
        self.assertEqual(run.api.status(run.thread, alias).json["runId"], run.run)
        frames = self.stream(run, self.body(run, answer(), new_id("r"), call))
        self.assertEqual(self.edges(frames), [("RUN_STARTED", alias, None), ("RUN_FINISHED", alias, None)])


class StockClients(ResumeCase):
    @classmethod
    def setUpClass(cls):
        need_clients()
        super().setUpClass()

    def test_AGUI_4_stock_clients_answer_their_interrupts(self):
        for user, ways in (("stock", ("approve", "deny", "cancel")),):
            for version in ("1.0", "0.0"):
                for way in ways:
                    turn = Asks((*create(title=f"{way} one").arguments, *create(title=f"{way} two").arguments))
                    self.script(ROUTED, turn, DONE)
                    api = self.server.api(f"{user}-{version}-{way}")
                    done = subprocess.run(
                        ["node", str(Path(FOLDER) / "resume_client.mjs"), version, way], cwd=FOLDER, text=True, timeout=120,
                        capture_output=True, env=environment({"RUNNEL_URL": f"http://127.0.0.1:{self.server.port}",
                                                              "RUNNEL_TOKEN": api.token}))
                    self.assertEqual(done.returncode, 0, f"{version} {way}\n{done.stdout}\n{done.stderr}")
                    made = len(self.events(f"{user}-{version}-{way}"))
                    self.assertEqual(made, 2 if way == "approve" else 0)


if __name__ == "__main__":
    unittest.main()
