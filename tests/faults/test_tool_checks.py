"""The checks of the tool walk accept a sound booking, and catch each seeded bug."""

import copy
import unittest

from tool_checks import EFFECT, NO_CALL, RESULT, STARTED, Booking, check_booking, check_state, state_of

SOUND = Booking(
    events=["e1"], status="completed",
    results=[{"status": "success", "result": {"status": "success", "method": "create",
                                              "data": {"event_id": "e1", "outcome": "created"}}},
             {"status": "success", "result": {"status": "success", "method": "read",
                                              "data": {"items": [{"event_id": "e0"}, {"event_id": "e1"}]}}}])


def failed(code: str) -> dict:
    result = {"status": "failure", "error": {"code": code, "message": ""}}
    return {"status": "failure", "result": result, "error": result}


class ToolChecksTest(unittest.TestCase):
    def assert_caught(self, words: str, **changes):
        found = check_booking(Booking(**{**vars(copy.deepcopy(SOUND)), **changes}))
        self.assertTrue(any(words in text for text in found), f"wanted {words!r} in {found}")

    def test_a_sound_booking_passes(self):
        self.assertEqual(check_booking(SOUND), [])

    def test_a_call_that_was_cut_off_while_its_arguments_arrived_is_no_bug(self):
        cut = copy.deepcopy(SOUND)
        cut.results.insert(0, failed("INTERRUPTED"))
        self.assertEqual(check_booking(cut), [])

    def test_RUN_12_catches_an_event_twice(self):
        self.assert_caught("the event exists 2 times", events=["e1", "e2"])

    def test_RUN_12_catches_a_success_without_its_event(self):
        self.assert_caught("the calendar has []", events=[])

    def test_RUN_12_catches_a_result_with_another_event(self):
        self.assert_caught("the calendar has ['e2']", events=["e2"])

    def test_RUN_12_catches_a_failure_whose_event_exists(self):
        self.assert_caught("1 events, and the results are", results=[failed("TOOL_CRASHED"), SOUND.results[1]])

    def test_RUN_12_catches_an_unknown_outcome(self):
        self.assert_caught("OUTCOME_UNKNOWN", results=[failed("OUTCOME_UNKNOWN"), *SOUND.results])

    def test_RUN_12_catches_a_result_twice(self):
        self.assert_caught("the results are", results=[SOUND.results[0], *SOUND.results])

    def test_RUN_12_catches_a_call_without_a_result(self):
        self.assert_caught("the results are", results=SOUND.results[:1])

    def test_RUN_12_catches_an_event_that_the_next_call_does_not_see(self):
        read = copy.deepcopy(SOUND.results[1])
        read["result"]["data"]["items"].pop()
        self.assert_caught("the day that was read afterwards", results=[SOUND.results[0], read])

    def test_RUN_12_catches_a_run_that_did_not_recover(self):
        self.assert_caught("the run is failed", status="failed")

    def test_RUN_12_an_effect_and_its_receipt_are_one_commit(self):
        for state, events in ((NO_CALL, 0), (STARTED, 0), (EFFECT, 1), (RESULT, 1)):
            self.assertEqual(check_state(state, events), [])
            self.assertTrue(check_state(state, 1 - events), state)
            self.assertTrue(check_state(state, 2), state)

    def test_the_row_of_a_call_tells_its_state(self):
        self.assertEqual([state_of(rows) for rows in ([], [("open", False)], [("open", True)], [("closed", False)])],
                         [NO_CALL, STARTED, EFFECT, RESULT])


if __name__ == "__main__":
    unittest.main()
