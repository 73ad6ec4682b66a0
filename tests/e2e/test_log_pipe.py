"""CFG-4: if nobody reads the log, lines are lost and nothing else happens."""

import fcntl
import os
import re
import socket
import tempfile
import time
import unittest
from pathlib import Path

from e2e_case import Server, offline

from http_client import Http

REQUESTS = 500
PIPE_BYTES = 4096


class PipeServer(Server):
    """Its stderr is a pipe that is full from the beginning and that only a test may read."""

    reads: int | None = None

    def spawn(self) -> None:
        self.reads, writes = os.pipe()
        fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        os.set_blocking(writes, False)
        try:
            while True:
                os.write(writes, b"#" * 64)
        except BlockingIOError:
            os.set_blocking(writes, True)
        self.launch(writes)
        os.close(writes)

    def close(self) -> None:
        super().close()
        if self.reads is not None:
            os.close(self.reads)
        self.reads = None


class FullLogPipeTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-e2e-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def serve(self, **config) -> PipeServer:
        server = PipeServer(self.directory / "s", offline(runtime={"drain_timeout_s": 2}, **config))
        self.addCleanup(server.close)
        return server

    @staticmethod
    def dropped(server: Server) -> float:
        text = Http(server.address).get("/metrics").body.decode()
        return next(float(line.split()[1]) for line in text.splitlines()
                    if line.startswith("runnel_log_lines_dropped_total "))

    def fill_queue(self, server: Server) -> None:
        """Fills the queue of log lines, which holds 1 MiB."""
        request = b"GET /nowhere/" + b"x" * 1000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
        deadline = time.monotonic() + 30
        with socket.create_connection(server.address, timeout=5) as connection:
            while not self.dropped(server):
                self.assertLess(time.monotonic(), deadline)
                connection.sendall(request * 50)
                seen = b""
                while seen.count(b"HTTP/1.1 404") < 50 or not seen.endswith(b"}"):
                    seen += connection.recv(65536)

    def test_requests_are_answered_and_sigterm_ends_it(self):
        server = self.serve()
        server.start()
        anyone = Http(server.address)

        self.assertEqual({anyone.get("/nowhere", timeout=5).status for _ in range(REQUESTS)}, {404})
        self.fill_queue(server)
        began = time.monotonic()
        self.assertEqual(anyone.get("/healthz", timeout=5).status, 200)
        self.assertLess(time.monotonic() - began, 0.5)
        self.assertGreater(self.dropped(server), 0)
        began = time.monotonic()
        self.assertEqual(server.stop(timeout=10), 0)
        self.assertLess(time.monotonic() - began, 4)

    def test_a_run_goes_its_way(self):
        with self.serve() as server:
            api = server.api()
            thread, run = api.start_run("hello")
            self.assertEqual(api.finish(thread, run), "RUN_FINISHED")

    def test_what_was_dropped_is_told_when_somebody_reads_again(self):
        server = self.serve()
        server.start()
        self.fill_queue(server)
        dropped = int(self.dropped(server))

        seen, told = b"", 0
        while told < dropped:
            seen += os.read(server.reads, 65536)
            told = sum(int(lines) for lines in re.findall(rb"log lines were dropped lines=(\d+)\n", seen))
        self.assertEqual(told, dropped)
        self.assertGreater(seen.count(b" info  request "), 50)
        self.assertEqual(server.stop(), 0)

    def test_a_server_that_cannot_start_ends(self):
        with Server(self.directory / "first") as first:
            second = self.serve()
            second.port = first.port
            second.spawn()
            self.assertEqual(second.process.wait(10), 1)


if __name__ == "__main__":
    unittest.main()
