"""SSE-6: a slow reader is cut at its limit; the run and other readers are not affected."""

import socket
import threading
import time
import unittest

from e2e_case import E2eCase, offline

from http_client import HttpError
from sse import SseParser

WORDS = 4000  # About 200 bytes of frame each: several times what all buffers together can hold.


class SlowReaderTest(E2eCase):
    config = offline(word_delay_ms=1, words=WORDS,
                     http={"subscriber_buffer_bytes": 65536, "write_timeout_s": 3, "keep_alive_s": 1})

    def crawl(self, thread: str, run: str, result: dict, stop: threading.Event) -> None:
        """Reads one byte per second through a tiny TCP window until the server cuts the connection."""
        begin = time.monotonic()
        with self.api.events(thread, run, dialect="ag-ui", receive_buffer=2048, timeout=60) as stream:
            raw = bytearray()
            peer = stream.connection.socket
            try:
                while not stop.wait(1.0):
                    if not is_established(peer):
                        result["cut after"] = time.monotonic() - begin
                        break
                    raw += peer.recv(1)
            except OSError:
                result["cut after"] = time.monotonic() - begin
            result["raw"] = bytes(raw)

    def test_SSE_6_a_byte_a_second_is_cut_and_nobody_else_notices(self):
        thread, run = self.api.start_run("hello")
        result, stop = {}, threading.Event()
        slow = threading.Thread(target=self.crawl, args=(thread, run, result, stop))
        slow.start()
        begin = time.monotonic()

        whole = self.api.read_events(thread, run, dialect="ag-ui", timeout=60)

        self.assertEqual(whole[-1].event, "RUN_FINISHED")
        self.assertGreaterEqual(sum(f.event == "TEXT_MESSAGE_CONTENT" for f in whole), WORDS)
        took = time.monotonic() - begin
        slow.join(timeout=40)
        stop.set()
        slow.join()
        self.assertIn("cut after", result, "the slow reader was never cut")
        alone_thread, alone_run = self.api.start_run("hello")
        begin = time.monotonic()
        self.api.read_events(alone_thread, alone_run, dialect="ag-ui", timeout=60)
        alone = time.monotonic() - begin
        self.assertLess(took, alone * 3 + 2, "the run was slowed by its slow reader")

    def test_SSE_6_a_reader_that_was_cut_can_resume(self):
        thread, run = self.api.start_run("hello")
        with self.api.events(thread, run, dialect="ag-ui", receive_buffer=2048, timeout=60) as stream:
            whole = self.api.read_events(thread, run, dialect="ag-ui", timeout=60)
            time.sleep(5)  # Reads nothing for longer than the write timeout.
            raw = b""
            try:
                while piece := stream.connection.read_body():
                    raw += piece
            except (OSError, HttpError):
                pass
        taken = SseParser().feed(raw)
        self.assertLess(len(taken), len(whole), "the reader was not cut")

        rest = self.api.read_events(thread, run, dialect="ag-ui", after=taken[-1].id if taken else None, timeout=60)

        self.assertEqual(taken + rest, whole)

    def test_SSE_6_memory_stays_bounded_with_many_stuck_readers(self):
        thread, run = self.api.start_run("hello")
        before = self.resident_kib()
        stuck = [self.api.events(thread, run, dialect="ag-ui", receive_buffer=2048, timeout=60) for _ in range(50)]

        self.api.read_events(thread, run, dialect="ag-ui", timeout=60)

        grown = self.resident_kib() - before
        for stream in stuck:
            stream.close()
        self.assertLess(grown, 64 * 1024, f"50 readers that read nothing took {grown} KiB of memory")

    def resident_kib(self) -> int:
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def is_established(peer: socket.socket) -> bool:
    """Whether the server still keeps the connection open; bytes that it sent before may be unread."""
    tcp_established = 1
    return peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == tcp_established


if __name__ == "__main__":
    unittest.main()
