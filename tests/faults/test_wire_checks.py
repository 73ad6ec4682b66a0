"""The checks of the walk over all wires find what they are for (SSE-3, RUN-15, TASK-3, TASK-4), and its readers remember what they saw."""

import json
import unittest
from dataclasses import replace

from agui_order import order_violations
from wire_bugs import missed_bugs
from wire_checks import TASKS, Item, Seen, Wholes, check_walk, counts
from wire_readers import Started, StreamReader, events_in, frames_in

RUN = "run r1"


def frame(n: int, kind: str = "STEP_STARTED", epoch: int = 1000, **body) -> Item:
    return Item((epoch, n), kind, json.dumps({"type": kind, **body}))


def event(idx: int) -> Item:
    return Item((0, idx), "text_chunk", f'{{"idx":{idx}}}')


V2 = [frame(1, "RUN_STARTED"), *[frame(n) for n in range(3, 15, 2)], frame(20, "RUN_FINISHED")]
AG_UI = [frame(1, "RUN_STARTED"), *[frame(n, "CUSTOM") for n in range(2, 20)], frame(20, "RUN_FINISHED")]
EVENTS = [event(idx) for idx in range(30, 60)]
WHOLES: Wholes = {(RUN, "v2"): V2, (RUN, "ag-ui 1.0"): AG_UI, (RUN, TASKS): EVENTS}


def seen(items: list[Item], after=None, dialect: str = "v2", **more) -> Seen:
    return Seen(1, RUN, dialect, "get", after, list(items), **more)


def poll(items: list[Item], start: int, first: int = 30, behind: int | None = None, **more) -> Seen:
    after = (0, start - 1) if start else None
    next_offset = items[-1].place[1] + 1 if behind is None else behind
    return replace(seen(items, after, TASKS, first_offset=first, next_offset=next_offset, **more), wire="poll")


def socket(items: list[Item], start: int, first: int | None = None, **more) -> Seen:
    return replace(seen(items, (0, start - 1) if start else None, TASKS, first_offset=first, **more), wire="websocket")


class WireChecks(unittest.TestCase):
    def assert_right(self, *trail: Seen) -> None:
        self.assertEqual(check_walk([list(trail)], WHOLES), [])

    def assert_wrong(self, words: str, *trail: Seen) -> None:
        found = check_walk([list(trail)], WHOLES)
        self.assertTrue(any(words in text for text in found), f"wanted {words!r} in {found}")

    def test_readers_who_miss_nothing_pass(self):
        self.assert_right(seen(V2, ended=True), seen([], (1000, 20), ended=True))
        self.assert_right(seen(V2[:3]), seen(AG_UI[5:9], (1000, 5), "ag-ui 1.0"), seen(V2[5:], (1000, 9), ended=True))
        self.assert_right(seen(V2[:3]), seen(AG_UI[:4], None, "ag-ui 1.0", aside=True), seen(V2[3:5], (1000, 5)))
        self.assert_right(poll(EVENTS[:4], 0), socket(EVENTS[4:9], 34, aside=True), poll(EVENTS[4:], 34, ended=True), poll([], 70, behind=60, ended=True))

    def test_lost_repeated_and_changed_frames_are_found(self):
        self.assert_wrong("instead of", seen(V2[:2] + V2[3:]))
        self.assert_wrong("instead of", seen(V2[:2] + V2[1:]))
        self.assert_wrong("instead of", seen([V2[1], V2[0], *V2[2:]]))
        self.assert_wrong("instead of", seen([replace(V2[0], data="{}")]))
        self.assert_wrong("instead of None", seen([*V2, frame(21)]))

    def test_gap_at_a_reconnect_is_found(self):
        self.assert_wrong("instead of", seen(V2[:3]), seen(V2[4:], (1000, 5)))
        self.assert_wrong("instead of", seen(V2[:3]), seen(AG_UI[6:], (1000, 5), "ag-ui 1.0"))

    def test_repetition_at_a_reconnect_is_found(self):
        self.assert_wrong("of step 1", seen(V2[:3]), seen(V2[2:], (1000, 3)))

    def test_stream_that_ends_too_early_is_found(self):
        self.assert_wrong("ended behind", seen(V2[:3], ended=True))
        self.assert_wrong("ended behind", seen([], (1000, 5), ended=True))

    def test_only_a_post_ends_at_an_interrupt(self):
        pause = frame(5, "RUN_FINISHED", outcome={"type": "interrupt"})
        pause = replace(pause, data=pause.data.replace(": ", ":"))
        whole = [frame(1, "RUN_STARTED"), pause, frame(6, "RUN_STARTED"), frame(9, "RUN_FINISHED")]
        wholes = {(RUN, "ag-ui 1.0"): whole}
        body = seen(whole[:2], None, "ag-ui 1.0", ended=True)
        self.assertEqual(check_walk([[replace(body, wire="post")]], wholes), [])
        self.assertNotEqual(check_walk([[body]], wholes), [])
        self.assertNotEqual(check_walk([[replace(body, wire="post", items=whole[:1])]], wholes), [])

    def test_TASK_4_what_is_no_longer_kept(self):
        forgotten = [event(idx) for idx in range(30)]
        self.assert_right(socket(forgotten + EVENTS[:3], 0), poll(EVENTS[:5], 3, aside=True), poll(EVENTS[3:], 33))
        self.assert_right(socket(forgotten[:3], 0), socket(forgotten[6:9], 3, 7, aside=True), poll(forgotten[7:] + EVENTS[:2], 3, first=7))
        self.assert_right(socket(forgotten[:3], 0), socket(EVENTS, 3, 30, ended=True))
        other = [*forgotten[:5], replace(forgotten[5], data="{}"), *forgotten[6:]]
        self.assert_wrong("instead of", seen(forgotten, None, TASKS), seen(other, None, TASKS))
        self.assert_wrong("begins with", socket(forgotten[:10], 0), socket(forgotten[11:], 10))
        self.assert_wrong("begins with", socket(forgotten[:10], 0), socket(forgotten[11:], 10, 5))

    def test_TASK_4_what_is_kept_must_be_given(self):
        self.assert_wrong("begins with", seen(EVENTS[3:], (0, 20), TASKS))
        self.assert_wrong("a gap", socket(EVENTS[:3] + EVENTS[4:], 30))
        self.assert_wrong("begins with", poll(EVENTS[1:], 20))
        self.assert_wrong("first_offset 31", poll(EVENTS[1:], 20, first=31))
        self.assert_wrong("next_offset", poll(EVENTS[:4], 30, behind=35))
        self.assert_wrong("next_offset", poll([], 33, behind=35))
        self.assert_wrong("ended behind", poll(EVENTS[:4], 30, ended=True))

    def test_TASK_5_offset_beyond_the_end_counts_as_the_end(self):
        beyond = socket(EVENTS[7:9], 900, beyond=EVENTS[4].place, aside=True)
        self.assert_right(socket(EVENTS[:5], 30), beyond, socket(EVENTS[5:], 35))
        self.assert_wrong("begins with", replace(beyond, beyond=None))
        self.assert_wrong("begins with", replace(beyond, beyond=EVENTS[7].place))
        self.assert_wrong("begins with", replace(beyond, wire="poll", first_offset=30))

    def test_RUN_15_stream_of_a_thread(self):
        name, dialect = "thread t1", "v2"
        later = [frame(1, "RUN_STARTED", 2000), frame(4, "RUN_FINISHED", 2000)]
        wholes = {(name, dialect): V2 + later}

        def read(items: list[Item], after=None, **more) -> Seen:
            return replace(seen(items, after, **more), source=name, wire="thread")

        for trail in ([read(V2[:3]), read(V2[3:] + later, V2[2].place), read([], later[-1].place)],
                      [read(later, any_run=True)], [read(V2, any_run=True)]):
            self.assertEqual(check_walk([trail], wholes), [])
        for trail in ([read(later)], [read(V2[1:], any_run=True)], [read(V2 + later[1:])],
                      [read(V2[:3]), read(later, V2[2].place)], [read(V2 + later, ended=True)],
                      [read([], later[-1].place, ended=True)]):
            self.assertNotEqual(check_walk([trail], wholes), [], trail)

    def test_AGUI_5_joining_goes_on_behind_the_place_that_is_named(self):
        joined = replace(seen(AG_UI[5:9], AG_UI[4].place, "ag-ui 1.0"), wire="join")
        self.assert_right(seen(AG_UI[:12], None, "ag-ui 1.0"), joined, seen(AG_UI[9:], AG_UI[8].place, "ag-ui 1.0"))
        self.assert_wrong("instead of", replace(joined, items=AG_UI[6:9]))

    def test_complete_read_that_is_wrong_itself_is_found(self):
        for whole in (V2[::-1], [*V2, V2[-1]]):
            self.assertNotEqual(check_walk([], {(RUN, "v2"): whole}), [])
        self.assertIn("a gap", check_walk([], {(RUN, TASKS): EVENTS[:3] + EVENTS[4:]})[0])
        self.assertIn("begins with", check_walk([], {(RUN, "ag-ui 0.0"): AG_UI[1:]})[0])

    def test_seeded_bugs_are_found(self):
        trails = [[seen(V2[:2]), seen(V2[2:], (1000, 3), ended=True)], [seen(AG_UI[3:9], (1000, 3), "ag-ui 1.0")],
                  [poll(EVENTS[3:20], 33)]]
        self.assertEqual(check_walk(trails, WHOLES), [])
        self.assertEqual(missed_bugs(trails, WHOLES), [])
        self.assertEqual(len(missed_bugs(trails[:1], WHOLES)), 2, "a dialect in which nothing can be seeded is told")

    def test_counts_tell_what_was_done(self):
        done = counts([[seen(V2[:2]), seen(AG_UI[5:], (1000, 5), "ag-ui 1.0", ended=True)], [poll(EVENTS, 7)]])
        self.assertEqual((done["gets"], done["resumed"], done["resumed in another dialect"], done["ended"],
                          done["older than what is kept"]), (2, 2, 1, 1, 1))


class Order(unittest.TestCase):
    def frames(self, *events: dict) -> list[tuple[str, str, str]]:
        return [(f"1-{n}", event["type"], json.dumps(event)) for n, event in enumerate(events, 1)]

    def test_AGUI_4_run_goes_on_after_an_interrupt_and_only_then(self):
        start, end = {"type": "RUN_STARTED"}, {"type": "RUN_FINISHED"}
        pause = {**end, "outcome": {"type": "interrupt"}}
        self.assertEqual(order_violations(self.frames(start, pause, start, end)), [])
        for wrong in ((start, end, start, end), (start, pause, end), (start, pause, start, start, end),
                      (start, pause, start, end, start)):
            self.assertNotEqual(order_violations(self.frames(*wrong)), [], wrong)


class Readers(unittest.TestCase):
    BODY = b'id: 1-1\nevent: A\ndata: {"type":"A"}\n\n: keep-alive\n\nid: 1-2\nevent: B\ndata: {"type":"B"}\n\n'

    def test_a_cut_frame_is_not_seen(self):
        whole = frames_in(self.BODY, True)
        self.assertEqual([item.place for item in whole], [(1, 1), (1, 2)])
        for size in range(len(self.BODY)):
            self.assertEqual(frames_in(self.BODY[:size], False), whole[:self.BODY[:size].count(b"}\n\n")])

    def test_AGUI_5_beginning_for_a_client_that_joins(self):
        def begin(*kinds: str) -> tuple[StreamReader, Seen, list[Item]]:
            reader, into = StreamReader(Started(None, "t1", "r1"), None), seen([], None, "ag-ui 1.0")
            prelude = "".join(f'event: {kind}\ndata: {{"type":"{kind}"}}\n\n' for kind in kinds)
            return reader, into, reader.beginning(into, prelude.encode() + b"id: 7-3\n\nid: 7-4\nevent: CUSTOM\ndata: "
                                                  b'{"type":"CUSTOM"}\n\n')

        reader, into, items = begin("RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT")
        self.assertEqual((reader.problems, into.after, [item.place for item in items]), ([], (7, 3), [(7, 4)]))
        for wrong in (("RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"), ("MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"),
                      ("RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_STARTED")):
            self.assertNotEqual(begin(*wrong)[0].problems, [], wrong)

    def test_events_of_a_poll_are_the_bytes_that_were_sent(self):
        body = '{"status":"running","events":[{"idx":4,"type":"a","data":{"x":"\\"events\\":[ü"},"ts":1.50},\n{"idx":5,"type":"b"}],"next_offset":6}'
        self.assertEqual(events_in(body.encode()), [
            Item((0, 4), "a", '{"idx":4,"type":"a","data":{"x":"\\"events\\":[ü"},"ts":1.50}'), Item((0, 5), "b", '{"idx":5,"type":"b"}')])
        self.assertEqual(events_in(b'{"events":[],"next_offset":6}'), [])

    def test_a_reader_that_forgets_where_it_was_is_caught(self):
        """The bugs of `wire_bugs`, made by a reader: it comes back with a cursor that is not its own."""
        trail = [seen(V2[:3])]
        for cursor in (V2[1].place, V2[3].place):
            start = [frame.place for frame in V2].index(cursor) + 1
            wrong = [*trail, seen(V2[start:], cursor if cursor < V2[2].place else V2[2].place)]
            self.assertNotEqual(check_walk([wrong], WHOLES), [], cursor)


if __name__ == "__main__":
    unittest.main()
