"""The tests' own parser is strict and never returns a cut frame."""

import unittest

from sse import SseError, SseParser, parse_all

GOOD = (b"id: 1700000000000-1\nevent: RUN_STARTED\ndata: {\"type\":\"RUN_STARTED\"}\n\n"
        b": keep-alive\n\n"
        b"id: 1700000000000-2\nevent: RUN_FINISHED\ndata: {\"type\":\"RUN_FINISHED\"}\n\n")


class SseParserTest(unittest.TestCase):
    def test_frames_are_the_same_however_the_bytes_are_split(self):
        whole = parse_all(GOOD)

        for cut in range(len(GOOD) + 1):
            parser = SseParser()
            self.assertEqual(parser.feed(GOOD[:cut]) + parser.feed(GOOD[cut:]), whole, f"cut at {cut}")
            self.assertEqual(parser.comments, [b": keep-alive"])

    def test_a_cut_frame_is_never_delivered(self):
        ends = [i + 2 for i in range(len(GOOD)) if GOOD[i : i + 2] == b"\n\n"]

        for cut in range(len(GOOD) + 1):
            complete = sum(end <= cut for end in (ends[0], ends[2]))
            self.assertEqual(len(SseParser().feed(GOOD[:cut])), complete, f"cut at {cut}")

    def test_whatever_is_not_SSE_1_is_refused(self):
        bad = {
            "carriage return": b"id: 1-1\r\nevent: A\r\ndata: {\"type\":\"A\"}\r\n\r\n",
            "no id": b"event: A\ndata: {\"type\":\"A\"}\n\n",
            "order": b"event: A\nid: 1-1\ndata: {\"type\":\"A\"}\n\n",
            "two data lines": b"id: 1-1\nevent: A\ndata: {\"type\":\ndata: \"A\"}\n\n",
            "type differs": b"id: 1-1\nevent: A\ndata: {\"type\":\"B\"}\n\n",
            "no JSON": b"id: 1-1\nevent: A\ndata: A\n\n",
            "no object": b"id: 1-1\nevent: A\ndata: [1]\n\n",
            "leading zero": b"id: 1-01\nevent: A\ndata: {\"type\":\"A\"}\n\n",
            "number zero": b"id: 1-0\nevent: A\ndata: {\"type\":\"A\"}\n\n",
            "unknown field": b"id: 1-1\nevent: A\nfoo: x\ndata: {\"type\":\"A\"}\n\n",
            "cut at the end": b"id: 1-1\nevent: A\ndata: {\"type\":\"A\"}\n",
        }

        for name, raw in bad.items():
            with self.subTest(name), self.assertRaises(SseError):
                parse_all(raw)

    def test_positions_order_by_epoch_then_number(self):
        first, last = parse_all(GOOD)

        self.assertLess(first.position, last.position)
        self.assertEqual(last.position, (1700000000000, 2))


if __name__ == "__main__":
    unittest.main()
