"""Tests of the tests' own HTTP client, against a scripted peer."""

import contextlib
import socket
import threading
import unittest

from http_client import Cut, Http, HttpError

FRAME = b"id: 1-1\nevent: A\ndata: {\"type\":\"A\"}\n\n"


@contextlib.contextmanager
def scripted_peer(answer: bytes, piece: int = 1 << 20):
    """Answers one request with these bytes, `piece` bytes at a time, and closes the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        peer, _ = listener.accept()
        with peer:
            seen.append(peer.recv(65536))
            for at in range(0, len(answer), piece):
                peer.sendall(answer[at : at + piece])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname(), seen
    finally:
        thread.join()
        listener.close()


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


class HttpClientTest(unittest.TestCase):
    def test_the_three_ways_to_end_a_body_give_the_same_bytes(self):
        bodies = {
            "length": HEAD + b"Content-Length: %d\r\n\r\n" % len(FRAME) + FRAME,
            "chunked": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(FRAME[:7], FRAME[7:]),
            "eof": HEAD + b"\r\n" + FRAME,
        }

        for name, answer in bodies.items():
            for piece in (1, 5, 1000):
                with self.subTest(name, piece=piece), scripted_peer(answer, piece) as (address, _):
                    self.assertEqual(Http(address).get("/").body, FRAME)

    def test_a_body_that_stops_short_is_a_cut(self):
        short = {
            "length": HEAD + b"Content-Length: 99\r\n\r\n" + FRAME,
            "chunked": HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(FRAME)[:-5],
            "head": HEAD,
        }

        for name, answer in short.items():
            with self.subTest(name), scripted_peer(answer) as (address, _), self.assertRaises(Cut):
                Http(address).get("/")

    def test_a_bad_chunk_is_an_error(self):
        answer = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"

        with scripted_peer(answer) as (address, _), self.assertRaises(HttpError):
            Http(address).get("/")

    def test_a_stream_gives_frames_and_an_orderly_end(self):
        answer = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(FRAME, b": keep-alive\n\n", FRAME)

        with scripted_peer(answer, 3) as (address, _), Http(address).open("GET", "/") as stream:
            frames = list(stream)

        self.assertEqual(len(frames), 2)
        self.assertTrue(stream.ended)
        self.assertEqual(stream.parser.comments, [b": keep-alive"])

    def test_204_has_no_body(self):
        with scripted_peer(b"HTTP/1.1 204 No Content\r\n\r\n") as (address, _):
            self.assertEqual(Http(address).get("/").body, b"")

    def test_the_token_and_the_body_are_sent(self):
        with scripted_peer(b"HTTP/1.1 204 No Content\r\n\r\n") as (address, seen):
            Http(address, "t0").post("/x", {"a": 1})

        self.assertIn(b"Authorization: Bearer t0\r\n", seen[0])
        self.assertTrue(seen[0].endswith(b'{"a": 1}'))


if __name__ == "__main__":
    unittest.main()
