"""The checker accepts correct evidence of runs with two writers, and catches each seeded bug."""

import copy
import json
import unittest

from checker import check
from evidence import Account, Call, Checkpoint, Database, Evidence, LogRow, Message, Read, Run

OLD, NEW = 1000, 2000  # Epochs.

# A run whose first writer died after showing the deltas n = 6 and 7, which were not durable.
FACTS = [
    (OLD, {"n": 1, "fact": "run_started"}),
    (OLD, {"n": 2, "fact": "step_started", "stage": "chat"}),
    (OLD, {"n": 3, "fact": "text_started", "message": "a1", "stage": "chat"}),
    (OLD, {"n": 4, "fact": "text_delta", "message": "a1", "text": "Hel"}),
    (OLD, {"n": 5, "fact": "text_delta", "message": "a1", "text": "lo"}),
    (NEW, {"n": 6, "fact": "writer_changed", "previous_epoch": OLD, "after_n": 5}),
    (NEW, {"n": 7, "fact": "text_ended", "message": "a1", "text": "Hello", "outcome": "superseded"}),
    (NEW, {"n": 8, "fact": "text_started", "message": "a2", "stage": "chat"}),
    (NEW, {"n": 9, "fact": "text_delta", "message": "a2", "text": "Hi"}),
    (NEW, {"n": 10, "fact": "text_delta", "message": "a2", "text": " all"}),
    (NEW, {"n": 11, "fact": "answer_completed", "message": "a2", "answer": "Hi all", "stage": "chat"}),
    (NEW, {"n": 12, "fact": "step_finished", "stage": "chat"}),
    (NEW, {"n": 13, "fact": "run_finished"}),
]
ROWS = [(1, 3), (4, 5), (6, 8), (9, 10), (11, 13)]


def frame(epoch: int, n: int, event: str, **fields) -> tuple[str, str, str]:
    return f"{epoch}-{n}", event, json.dumps({"type": event, **fields})


V2 = [
    frame(OLD, 1, "RUN_STARTED"), frame(OLD, 2, "STEP_STARTED", stepName="chat"),
    frame(NEW, 11, "TEXT_MESSAGE_END", messageId="a2", answer="Hi all"),
    frame(NEW, 12, "STEP_FINISHED", stepName="chat"), frame(NEW, 13, "RUN_FINISHED"),
]
AG_UI = [
    frame(OLD, 1, "RUN_STARTED"), frame(OLD, 2, "STEP_STARTED", stepName="chat"),
    frame(OLD, 3, "TEXT_MESSAGE_START", messageId="a1"),
    frame(OLD, 4, "TEXT_MESSAGE_CONTENT", messageId="a1", delta="Hel"),
    frame(OLD, 5, "TEXT_MESSAGE_CONTENT", messageId="a1", delta="lo"),
    frame(NEW, 6, "CUSTOM", name="runnel.writer_changed"),
    frame(NEW, 7, "TEXT_MESSAGE_END", messageId="a1", metadata={"status": "superseded"}),
    frame(NEW, 8, "TEXT_MESSAGE_START", messageId="a2"),
    frame(NEW, 9, "TEXT_MESSAGE_CONTENT", messageId="a2", delta="Hi"),
    frame(NEW, 10, "TEXT_MESSAGE_CONTENT", messageId="a2", delta=" all"),
    frame(NEW, 11, "TEXT_MESSAGE_END", messageId="a2", metadata={"status": "success"}),
    frame(NEW, 12, "STEP_FINISHED", stepName="chat"), frame(NEW, 13, "RUN_FINISHED"),
]
VOID = [frame(OLD, 6, "TEXT_MESSAGE_CONTENT", messageId="a1", delta=" wor"),
        frame(OLD, 7, "TEXT_MESSAGE_CONTENT", messageId="a1", delta="ld")]


# A run of two stages: the router's first output was rejected, the worker's first tool call (c0) was cut off while its
# arguments arrived, and its second (c1) has a result.
FLOW_ROWS = [
    (OLD, [{"fact": "run_started"}, {"fact": "step_started", "stage": "router"}]),
    (OLD, [{"fact": "usage_recorded"}]),
    (OLD, [{"fact": "usage_recorded"}, {"fact": "step_finished", "stage": "router"},
           {"fact": "step_started", "stage": "worker"}]),
    (OLD, [{"fact": "tool_call_started", "message": "m0", "call": "c0"}]),
    (NEW, [{"fact": "writer_changed", "previous_epoch": OLD, "after_n": 7},
           {"fact": "tool_args", "message": "m0", "call": "c0"},
           {"fact": "tool_call_ended", "message": "m0", "call": "c0"},
           {"fact": "tool_result", "message": "m0r", "call": "c0", "result": {}}, {"fact": "usage_recorded"}]),
    (NEW, [{"fact": "tool_call_started", "message": "m1", "call": "c1"}]),
    (NEW, [{"fact": "usage_recorded"}, {"fact": "tool_args", "message": "m1", "call": "c1"},
           {"fact": "tool_call_ended", "message": "m1", "call": "c1"}]),
    (NEW, [{"fact": "tool_started", "call": "c1"}]),
    (NEW, [{"fact": "tool_result", "message": "m1r", "call": "c1", "result": {"x": 1}}]),
    (NEW, [{"fact": "text_started", "message": "m2"}, {"fact": "text_delta", "message": "m2", "text": "Done"},
           {"fact": "answer_completed", "message": "m2", "answer": "Done", "stage": "worker"},
           {"fact": "step_finished", "stage": "worker"}, {"fact": "run_finished"}]),
]


def flow_run(database: Database, history: dict[str, list[str]]) -> None:
    """Adds the run above as r2."""
    n, log = 0, []
    for epoch, facts in copy.deepcopy(FLOW_ROWS):
        for at, fact in enumerate(facts, n + 1):
            fact["n"] = at
        log.append(LogRow("r2", n + 1, n + len(facts), epoch, facts))
        n += len(facts)
    database.runs["r2"] = Run("r2", "demo", "t2", "completed", NEW, n, False, [(OLD, 1), (NEW, 8)])
    database.log["r2"] = log
    database.checkpoints["r2"] = [
        Checkpoint("r2", 1, "router", "rejected", {"output": "no JSON", "repair": "wrong"}),
        Checkpoint("r2", 2, "router", "stage", {"result": "{}", "label": ""}),
        Checkpoint("r2", 3, "worker", "turn", {"text": "", "calls": [{"id": "c1"}]}),
        Checkpoint("r2", 4, "worker", "tool", {"call": "c1", "result": '{"x":1}'})]
    database.calls["r2"] = [Call("router", "completed"), Call("router", "completed"), Call("worker", "interrupted"),
                            Call("worker", "completed"), Call("worker", "completed")]
    ids = ["u2", "m0", "m0r", "m1", "m1r", "m2"]
    roles = ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    database.messages += [Message("t2", "r2", ident, seq, role, 3, "Done" if ident == "m2" else "")
                          for seq, (ident, role) in enumerate(zip(ids, roles), 1)]
    for seq, (stage, status) in enumerate((("router", "rejected"), ("router", "success"), ("worker", "success")), 1):
        database.messages.append(Message("t2", "r2", f"x{seq}", -seq, "assistant", 0, "raw",
                                         {"stage": stage, "status": status}))
    database.threads["t2"] = "completed"
    history["t2"] = ids


def sound() -> Evidence:
    rows = [LogRow("r1", first, last, FACTS[first - 1][0], [fact for _, fact in FACTS[first - 1 : last]])
            for first, last in ROWS]
    database = Database(
        integrity="ok",
        runs={"r1": Run("r1", "demo", "t1", "completed", NEW, 13, False, [(OLD, 1), (NEW, 6)])},
        log={"r1": rows},
        messages=[Message("t1", "r1", "a1x", -1, "assistant", 0, "raw"), Message("t1", "r1", "u1", 1, "user", 3, "hello"),
                  Message("t1", "r1", "a1", 2, "assistant", 0, "Hello"),
                  Message("t1", "r1", "a2", 3, "assistant", 3, "Hi all")],
        threads={"t1": "completed"}, accounts={"r1": Account((10, 5, 700), (10, 5, 700))})
    reads = [Read("r1", "v2", list(V2), True), Read("r1", "ag-ui 1.0", AG_UI[:5] + VOID + AG_UI[5:], True),
             Read("r1", "ag-ui 0.0", AG_UI[:4], False)]
    history = {"t1": ["u1", "a2"]}
    flow_run(database, history)
    return copy.deepcopy(Evidence({"r1", "r2"}, {"r0"}, {"r0", "r1", "r2"}, database, reads,
                                  {"r1": {"v2": V2, "ag-ui 1.0": AG_UI, "ag-ui 0.0": AG_UI}}, history))


class CheckerTest(unittest.TestCase):
    def assert_caught(self, evidence: Evidence, words: str):
        found = check(evidence)
        self.assertTrue(any(words in text for text in found), f"wanted {words!r} in {found}")

    def test_sound_evidence_over_two_writers_passes(self):
        self.assertEqual(check(sound()), [])

    def test_a_new_epoch_names_the_writer_of_the_fact_it_goes_on_after(self):
        good = sound()
        silent = OLD + 1  # A writer that claimed the run and died before it wrote anything.
        good.database.runs["r1"].epochs.insert(1, (silent, 6))
        self.assertEqual(check(good), [])

        good.database.log["r1"][2].facts[0]["previous_epoch"] = silent
        self.assert_caught(good, "begins with")

    # --- The store ---

    def test_catches_a_terminal_twice(self):
        bad = sound()
        bad.database.log["r1"].append(LogRow("r1", 14, 14, NEW, [{"n": 14, "fact": "run_failed"}]))
        bad.database.runs["r1"].last_n = 14
        self.assert_caught(bad, "2 terminals")

    def test_catches_a_run_without_a_terminal(self):
        bad = sound()
        bad.database.log["r1"][-1].facts.pop()
        self.assert_caught(bad, "0 terminals")

    def test_catches_a_status_that_differs_from_the_terminal(self):
        bad = sound()
        bad.database.runs["r1"].status = "failed"
        self.assert_caught(bad, "its terminal is run_finished")

    def test_catches_a_run_that_never_ended(self):
        bad = sound()
        bad.database.runs["r1"].status = "running"
        self.assert_caught(bad, "still running")

    def test_catches_a_forgotten_202(self):
        bad = sound()
        bad.accepted.add("r9")
        self.assert_caught(bad, "accepted, but it does not exist")

    def test_catches_a_refused_run_that_exists(self):
        bad = sound()
        bad.refused.add("r1")
        self.assert_caught(bad, "refused with 409")

    def test_catches_a_lost_log_row(self):
        bad = sound()
        del bad.database.log["r1"][2]
        self.assert_caught(bad, "after n 5")

    def test_catches_overlapping_log_rows(self):
        bad = sound()
        bad.database.log["r1"].insert(2, copy.deepcopy(bad.database.log["r1"][1]))
        self.assert_caught(bad, "log row 4..5")

    def test_catches_a_new_writer_that_does_not_say_so(self):
        bad = sound()
        bad.database.log["r1"][2].facts[0] = {"n": 6, "fact": "system_note", "text": ""}
        self.assert_caught(bad, "begins with")

    def test_catches_a_stale_writer(self):
        bad = sound()
        bad.database.log["r1"][3].epoch = OLD
        self.assert_caught(bad, f"epoch {OLD} after {NEW}")

    def test_catches_a_duplicated_seq(self):
        bad = sound()
        bad.database.messages[3].seq = 2
        self.assert_caught(bad, "thread t1: seq")

    def test_catches_a_gap_in_seq(self):
        bad = sound()
        bad.database.messages[3].seq = 4
        self.assert_caught(bad, "thread t1: seq")

    def test_catches_a_text_that_is_not_its_deltas(self):
        bad = sound()
        bad.database.log["r1"][3].facts[1]["text"] = " ALL"
        self.assert_caught(bad, "its deltas are")

    def test_catches_a_second_user_row(self):
        bad = sound()
        bad.database.messages.append(Message("t1", "r1", "u2", 4, "user", 3, "hello"))
        self.assert_caught(bad, "2 user rows")

    def test_USE_8_catches_calls_that_the_rows_do_not_add_up_to(self):
        bad = sound()
        bad.database.accounts["r1"].rows = (10, 5, 699)
        self.assert_caught(bad, "its calls spent")

    def test_USE_8_catches_a_call_that_nobody_settled(self):
        bad = sound()
        bad.database.accounts["r1"].unsettled = 1
        self.assert_caught(bad, "open or not booked")

    def test_catches_an_answer_that_history_lacks(self):
        bad = sound()
        bad.database.messages.pop(3)
        bad.history["t1"].pop()
        self.assert_caught(bad, "has no row in history")

    def test_RUN_14_catches_a_superseded_message_that_is_still_seen(self):
        bad = sound()
        next(m for m in bad.database.messages if m.id == "a1").mask = 1
        bad.history["t1"].insert(1, "a1")
        self.assert_caught(bad, "superseded a1 has no row, or its row is visible")

    def test_catches_history_under_another_id(self):
        bad = sound()
        bad.history["t1"][1] = "other"
        self.assert_caught(bad, "visible rows")

    def test_catches_a_rollback_that_left_rows(self):
        bad = sound()
        bad.database.runs["r1"].rolled_back = True
        self.assert_caught(bad, "rolled back")

    def test_catches_corruption(self):
        bad = sound()
        bad.database.integrity = "row 3 missing from index"
        self.assert_caught(bad, "integrity_check")

    # --- Flows ---

    def without_checkpoint(self, number: int) -> Evidence:
        """The evidence without this checkpoint; the later ones are renumbered so that there is no gap."""
        bad = sound()
        del bad.database.checkpoints["r2"][number - 1]
        for at, checkpoint in enumerate(bad.database.checkpoints["r2"], 1):
            checkpoint.number = at
        return bad

    def test_RUN_12_catches_a_gap_in_the_checkpoints(self):
        bad = sound()
        del bad.database.checkpoints["r2"][1]
        self.assert_caught(bad, "checkpoints are numbered [1, 3, 4]")

    def test_RUN_12_catches_a_checkpoint_twice(self):
        bad = sound()
        bad.database.checkpoints["r2"].insert(1, copy.deepcopy(bad.database.checkpoints["r2"][1]))
        self.assert_caught(bad, "checkpoints are numbered [1, 2, 2, 3, 4]")

    def test_RUN_12_catches_a_lost_stage(self):
        self.assert_caught(self.without_checkpoint(2), "facts show the result of router, but no checkpoint has it")

    def test_RUN_12_catches_a_lost_turn(self):
        bad = self.without_checkpoint(3)
        self.assert_caught(bad, "call c1 was started, but no checkpoint has it")
        self.assert_caught(bad, "call c1 has a result, but no checkpoint has the call")

    def test_RUN_12_catches_a_lost_tool_result(self):
        self.assert_caught(self.without_checkpoint(4), "facts show the result of c1, but no checkpoint has it")

    def test_RUN_12_catches_a_lost_rejection(self):
        self.assert_caught(self.without_checkpoint(1), "stage router had 2 answers, but checkpoints for 1")

    def test_RUN_12_catches_a_checkpoint_of_a_writer_that_had_lost_the_run(self):
        for late in (Checkpoint("r2", 5, "worker", "stage", {"result": "{}", "label": ""}),
                     Checkpoint("r2", 5, "worker", "turn", {"text": "", "calls": [{"id": "c9"}]}),
                     Checkpoint("r2", 5, "worker", "tool", {"call": "c1", "result": "{}"})):
            with self.subTest(late.kind):
                bad = sound()
                bad.database.checkpoints["r2"].append(late)
                self.assert_caught(bad, "which no fact shows")

    def test_RUN_12_catches_checkpoints_in_another_order_than_their_facts(self):
        bad = sound()
        second, third = bad.database.checkpoints["r2"][1:3]
        second.number, third.number = 3, 2
        bad.database.checkpoints["r2"][1:3] = [third, second]
        self.assert_caught(bad, "checkpoints have [('the request', 'c1')")

    def test_RUN_12_catches_a_call_without_a_result(self):
        bad = sound()
        bad.database.log["r2"][8].facts[0] = {"n": 17, "fact": "system_note", "text": ""}
        self.assert_caught(bad, "call c1 has 0 results")

    def test_RUN_12_catches_a_second_result(self):
        bad = sound()
        again = copy.deepcopy(bad.database.log["r2"][8].facts[0])
        bad.database.log["r2"][9].facts[0] = {**again, "n": 18}
        self.assert_caught(bad, "call c1 has 2 results")

    def test_RUN_12_catches_a_result_that_the_model_was_told_otherwise(self):
        bad = sound()
        bad.database.checkpoints["r2"][3].body["result"] = '{"x":2}'
        self.assert_caught(bad, "has another result than its fact")

    def test_RUN_12_catches_a_call_that_a_new_writer_made_again(self):
        bad = sound()
        started = bad.database.log["r2"][7]
        started.epoch = OLD
        self.assert_caught(bad, "call c1, which another writer had started, has the result {'x': 1}")

    def test_RUN_12_catches_an_unknown_outcome_of_a_call_that_nobody_else_made(self):
        bad = sound()
        unknown = {"status": "failure", "error": {"code": "OUTCOME_UNKNOWN"}}
        bad.database.log["r2"][8].facts[0]["result"] = unknown
        bad.database.checkpoints["r2"][3].body["result"] = json.dumps(unknown)
        self.assert_caught(bad, "call c1, which no other writer had started")

    def test_RUN_12_catches_an_unknown_outcome_of_a_tool_with_receipts(self):
        good = sound()
        good.database.has_receipts = True
        good.database.log["r2"][7].epoch = OLD  # The call is made again, and its result is known.
        self.assertFalse([text for text in check(good) if "call c1" in text])
        unknown = {"status": "failure", "error": {"code": "OUTCOME_UNKNOWN"}}
        good.database.log["r2"][8].facts[0]["result"] = unknown
        good.database.checkpoints["r2"][3].body["result"] = json.dumps(unknown)
        self.assert_caught(good, "has the result {'status': 'failure'")

    def test_RUN_12_catches_a_tool_call_that_stays_open(self):
        bad = sound()
        bad.database.open_tool_calls["r2"] = ["c1"]
        self.assert_caught(bad, "call c1 is open, but the run has ended")

    def test_RUN_12_catches_a_finished_stage_that_is_asked_again(self):
        bad = sound()
        bad.database.calls["r2"].append(Call("router", "interrupted"))
        self.assert_caught(bad, "the model calls were made by the stages ['router', 'worker', 'router']")

    def test_RUN_12_catches_an_answer_that_was_forgotten(self):
        bad = sound()
        bad.database.calls["r2"].insert(0, Call("router", "completed"))
        self.assert_caught(bad, "stage router had 3 answers, but checkpoints for 2")

    def test_RUN_12_catches_a_stage_that_finished_twice(self):
        bad = sound()
        bad.database.checkpoints["r2"].append(Checkpoint("r2", 5, "router", "stage", {"result": "{}", "label": ""}))
        self.assert_caught(bad, "stage router finished 2 times")

    def test_RUN_14_catches_words_that_a_recovery_replaced_in_the_context(self):
        good = sound()
        before = good.database.log["r2"][3].facts
        before.insert(0, {"fact": "text_started", "message": "m9", "n": 6})
        before.insert(1, {"fact": "text_ended", "message": "m9", "n": 6, "text": "", "outcome": "complete"})
        words = Message("t2", "r2", "m9", 7, "assistant", 1, "I look.")
        good.database.messages.append(words)
        self.assertFalse([text for text in check(good) if "replaced" in text])
        words.mask = 3
        self.assert_caught(good, "the text m9 was replaced")

    def test_RUN_8_catches_a_result_without_its_audit_row(self):
        bad = sound()
        next(m for m in bad.database.messages if m.id == "x2").metadata["status"] = "rejected"
        self.assert_caught(bad, "stage router has 0 rows with its result")

    def test_RUN_8_catches_an_audit_row_twice(self):
        for ident, stage in (("x1", "router"), ("x1", "worker")):
            with self.subTest(stage):
                bad = sound()
                next(m for m in bad.database.messages if m.id == ident).metadata.update(stage=stage, status="success")
                self.assert_caught(bad, f"stage {stage} has 2 rows with its result")

    # --- The wire ---

    def test_catches_a_lost_event(self):
        bad = sound()
        bad.reads[0].frames.pop(2)
        self.assert_caught(bad, "lost ['2000-11']")

    def test_catches_a_lost_durable_delta(self):
        bad = sound()
        bad.reads[1].frames.pop(4)
        self.assert_caught(bad, "lost ['1000-5']")

    def test_catches_an_event_shown_twice(self):
        bad = sound()
        bad.reads[0].frames.insert(3, V2[2])
        self.assert_caught(bad, "(twice)")

    def test_catches_a_fact_shown_that_is_not_durable(self):
        bad = sound()
        bad.reads[1].frames.insert(7, frame(OLD, 8, "TEXT_MESSAGE_END", messageId="a1",
                                            metadata={"status": "success"}))
        self.assert_caught(bad, "which is not durable")

    def test_catches_a_delta_that_is_neither_durable_nor_void(self):
        bad = sound()
        bad.reads[2].frames.append(frame(NEW, 14, "TEXT_MESSAGE_CONTENT", messageId="a1", delta="?"))
        self.assert_caught(bad, "neither durable nor void")

    def test_catches_an_id_reused_with_other_data(self):
        bad = sound()
        bad.reads[1].frames[3] = frame(OLD, 4, "TEXT_MESSAGE_CONTENT", messageId="a1", delta="Heh")
        self.assert_caught(bad, "1000-4 was")

    def test_catches_a_replay_that_hides_a_fact(self):
        bad = sound()
        bad.replays["r1"]["v2"] = V2[:2] + V2[3:]
        self.assert_caught(bad, "answer_completed at 2000-11 shown as None")

    def test_catches_a_replay_that_invents_one(self):
        bad = sound()
        bad.replays["r1"]["v2"] = V2 + [frame(NEW, 14, "RUN_ERROR")]
        self.assert_caught(bad, "which is not in the log")

    def test_catches_an_order_that_stock_clients_refuse(self):
        bad = sound()
        bad.replays["r1"]["ag-ui 1.0"] = [f for f in AG_UI if f[0] != "2000-12"]
        self.assert_caught(bad, "open")

    def test_catches_a_refused_resume(self):
        bad = sound()
        bad.reads[0].error = "resume at 1000-2 answered 400"
        self.assert_caught(bad, "answered 400")


if __name__ == "__main__":
    unittest.main()
