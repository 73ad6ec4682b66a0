"""project_cli as a program: what it passes on, what it refuses, and what it prints. A socket pair takes the server's place."""

import errno
import json
import mmap
import os
import platform
import resource
import socket
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import seccomp_filter  # noqa: E402
from runnel_server import BINARY  # noqa: E402
from test_sandbox import has_landlock  # noqa: E402

CLI = BINARY.parent / "project_cli"
SANDBOX = BINARY.parent / "runnel_sandbox"
USER = " --user=64321:64322"
CREDENTIAL = "eyJhbGciOiJIUzI1NiJ9.canary-credential.c2lnbmF0dXJl"
AS_ROOT = os.geteuid() == 0
T = TypeVar("T")

# All that it may still do when it has been confined, by the kernel's numbers on x86-64.
OWN_CALLS = {"read": 0, "write": 1, "munmap": 11, "brk": 12, "writev": 20, "recvfrom": 45, "getuid": 102, "getgid": 104,
             "exit_group": 231}
# And these, with the arguments that are given here.
OWN_CALLS_WITH = {"mmap": (9, (0, 4096, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
                  "sendto": (44, (3, 1, 1, 0, 0)), "prlimit64": (302, (0, resource.RLIMIT_FSIZE))}


def http_answer(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d Word\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body


class FakeServer:
    """Reads one request from its end of the pair, then sends the pieces of an answer and closes."""

    def __init__(self, pieces: list[bytes], before_answer=None):
        self.ours, self.theirs = socket.socketpair()
        self.pieces = pieces
        self.before_answer = before_answer
        self.request = b""
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        with self.ours:
            self.ours.settimeout(20)
            while not self.complete():
                piece = self.ours.recv(65536)
                if not piece:
                    return
                self.request += piece
            if self.before_answer:
                self.before_answer()
            for piece in self.pieces:
                self.ours.sendall(piece)

    def complete(self) -> bool:
        head, found, body = self.request.partition(b"\r\n\r\n")
        return bool(found) and len(body) >= int(self.header(head, "content-length"))

    @staticmethod
    def header(head: bytes, name: str) -> str:
        lines = head.decode().split("\r\n")[1:]
        return dict((key.lower(), value.strip()) for key, _, value in (line.partition(":") for line in lines))[name]


class ProjectCliTest(unittest.TestCase):
    def start(self, *arguments, fd3: socket.socket | None = None, env=None, before=()) -> subprocess.Popen:
        env = {"RUNNEL_TOOL_CREDENTIAL": CREDENTIAL} if env is None else env
        connect = (lambda: os.dup2(fd3.fileno(), 3)) if fd3 else None
        process = subprocess.Popen([*map(str, before), str(CLI), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=env, preexec_fn=connect, pass_fds=(3,) if fd3 else ())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_cli(self, *arguments, input: bytes = b"{}", **more) -> tuple[int, bytes, bytes]:
        process = self.start(*arguments, **more)
        try:
            out, err = process.communicate(input, timeout=20)
        except BrokenPipeError:
            out, err = process.stdout.read(), process.stderr.read()
            process.wait(timeout=20)
        return process.returncode, out, err

    def call(self, *arguments, pieces: list[bytes], **more) -> tuple[int, dict, bytes]:
        """One call with a server: the exit code, the printed document, and what the server got."""
        server = FakeServer(pieces)
        code, out, err = self.run_cli(*arguments, fd3=server.theirs, **more)
        server.theirs.close()
        server.thread.join(20)
        self.assertEqual(err, b"")
        self.assertNotIn(CREDENTIAL.encode(), out)
        return code, json.loads(out), server.request

    def refused(self, *arguments, **more) -> dict:
        """The error of a call that never reaches a server."""
        code, out, err = self.run_cli(*arguments, **more)
        self.assertEqual((code, err), (1, b""), out)
        self.assertEqual(out.count(b"\n"), 1)
        self.assertNotIn(CREDENTIAL.encode(), out)
        document = json.loads(out)
        self.assertEqual((document["ok"], sorted(document)), (False, ["error", "method", "module", "ok"]))
        return document["error"]

    def test_TOOL_2_the_input_is_posted_as_it_was_written(self):
        given = '{"mode":"day","date":"2026-11-17",  "x":1.50,"note":"茶\\u2028"}'.encode()

        code, document, request = self.call("calendar", "read", "--mode", "day", "--format", "json", input=given,
                                            pieces=[http_answer(200, b"{}")])

        head, _, body = request.partition(b"\r\n\r\n")
        self.assertEqual(code, 0)
        self.assertEqual(head.split(b"\r\n")[0], b"POST /api/v1/tools/calendar/read HTTP/1.1")
        self.assertEqual(FakeServer.header(head, "authorization"), "Bearer " + CREDENTIAL)
        self.assertEqual(FakeServer.header(head, "content-type"), "application/json")
        self.assertEqual(body, given)
        self.assertEqual(document, {"ok": True, "module": "calendar", "method": "read", "data": {}})

    def test_TOOL_5_data_is_printed_byte_by_byte(self):
        data = '{"items":[{"id":"e1","cost":1.50,"n":12345678901234567890,"t":"茶"}],"count":1}'.encode()
        server = FakeServer([http_answer(200, data)])

        code, out, err = self.run_cli("calendar", "read", fd3=server.theirs)
        server.theirs.close()
        server.thread.join(20)

        self.assertEqual((code, err), (0, b""))
        self.assertEqual(out, b'{"ok":true,"module":"calendar","method":"read","data":' + data + b"}\n")

    def test_TOOL_5_a_partial_answer_is_printed_as_one(self):
        data = b'{"items":[{"index":0,"cost":1.50}],"count":2,"failed":1}'
        server = FakeServer([http_answer(207, data)])

        code, out, err = self.run_cli("calendar", "create", fd3=server.theirs)
        server.theirs.close()
        server.thread.join(20)

        self.assertEqual((code, err), (0, b""))
        self.assertEqual(out, b'{"ok":true,"partial":true,"module":"calendar","method":"create","data":' + data + b"}\n")

    def test_TOOL_5_an_error_keeps_all_its_members(self):
        error = {"code": "INVALID_ACTION_INPUT", "message": "no", "input_schema": {"type": "object"}}

        code, document, _ = self.call("calendar", "create", pieces=[http_answer(422, json.dumps({"error": error}).encode())])

        self.assertEqual(code, 1)
        self.assertEqual(document, {"ok": False, "module": "calendar", "method": "create", "error": error})

    def test_TOOL_5_the_answer_may_come_in_any_pieces(self):
        whole = http_answer(200, b'{"id":"e1"}')
        chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n6\r\n:"e1"}\r\n0\r\n\r\n'
        for pieces in ([whole[i:i + 1] for i in range(len(whole))], [chunked], [chunked[:70], chunked[70:]]):
            code, document, _ = self.call("calendar", "create", pieces=pieces)
            self.assertEqual((code, document["data"]), (0, {"id": "e1"}))

    def test_TOOL_5_a_bad_answer_is_a_structured_failure(self):
        too_long = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"
        for pieces in ([], [b"HTTP/1.1 200 OK\r\nContent-Le"], [http_answer(200, b'{"id":"e1"}')[:-1]], [b"nonsense\r\n\r\n"],
                       [b"\0" * 5000], [too_long], [http_answer(200, b"")], [http_answer(200, b'{"a":1}{"b":2}')],
                       [http_answer(200, b"\xff")], [http_answer(500, b"oops")], [http_answer(500, b'{"error":"text"}')],
                       [http_answer(404, b"{}")], [http_answer(204, b"")]):
            with self.subTest(pieces=pieces):
                code, document, _ = self.call("calendar", "read", pieces=pieces)
                self.assertEqual((code, document["ok"], document["error"]["code"]), (1, False, "INVALID_ANSWER"))

    def test_TOOL_3_only_what_is_in_the_table_is_passed_on(self):
        modules = ["", "Calendar", "calendar ", "../calendar", "calendar/../x", "calendar\n", "calendar;id", "$(id)", "-x", "--help2",
                   "--config=x", "people", "tools", "x" * 100_000]
        for module in modules:
            with self.subTest(module[:40]):
                self.assertEqual(self.refused(module, "read")["code"], "UNKNOWN_MODULE")
        for method in ("", "Read", "read ", "../read", "read?x=1", "read/../create", "remove", "read\r\nX-Y: z", "--help"):
            with self.subTest(method):
                self.assertEqual(self.refused("calendar", method)["code"], "UNKNOWN_METHOD")
        self.assertEqual(self.refused("calendar")["code"], "UNKNOWN_METHOD")

    def test_TOOL_2_other_options_are_refused(self):
        for options in (["--config=x"], ["-o", "x"], ["extra"], ["--mode"], ["--mode="], ["--mode", ""], ["--format="], ["--mode", "day", "--mode", "day"], ["--format", "yaml"],
                        ["--format"], ["--"], ["--credential", "x"], ["--owner_id=bob"], ["--Mode=day"]):
            with self.subTest(options):
                self.assertEqual(self.refused("calendar", "read", *options)["code"], "INVALID_COMMAND")

    def test_TOOL_2_mode_is_the_inputs_mode(self):
        for given in (b'{"mode":"range"}', b"{}", b'{"mode":1}', b'{"mode":null}'):
            error = self.refused("calendar", "read", "--mode=day", input=given)
            self.assertEqual(error["code"], "INVALID_INPUT")
            self.assertIn("--mode", error["message"])

    def test_TOOL_4_an_input_that_is_no_object_is_refused(self):
        deep = b'{"a":' + b"[" * 100_000
        for given in (b"", b"[]", b"1", b'"x"', b"{", b"{}{}", b"{} x", b'{"a":1,"a":2}', b'{"a":"\\u0000"}', b'{"a":"\xff"}', b"\0", deep,
                      b'{"a":123456789012345678901234567890}', b'{"a":1e999}', b"\xef\xbb\xbf{}"):
            with self.subTest(given[:40]):
                self.assertEqual(self.refused("calendar", "create", input=given)["code"], "INVALID_INPUT")

    def test_TOOL_4_an_input_of_10_mb_is_refused(self):
        self.assertEqual(self.refused("calendar", "create", input=b'{"a":"' + b"x" * 10_000_000 + b'"}')["code"], "INPUT_TOO_LARGE")

    def test_TOOL_9_no_argument_and_no_input_is_a_credential(self):
        given = json.dumps({"credential": CREDENTIAL, "token": CREDENTIAL, "owner_id": "bob"}).encode()
        for env in ({}, {"RUNNEL_TOOL_CREDENTIAL": ""}, {"AUTHORIZATION": CREDENTIAL}):
            self.assertEqual(self.refused("calendar", "read", input=given, env=env)["code"], "NO_CREDENTIAL")

    def test_TOOL_9_without_a_connection_nothing_is_sent(self):
        self.assertEqual(self.refused("calendar", "read")["code"], "SERVER_UNREACHABLE")

    @unittest.skipUnless(AS_ROOT, "only root may look into a process that does not want to be looked into")
    def test_TOOL_9_the_credential_is_gone_from_the_environment(self):
        seen = []
        started = threading.Event()

        def look() -> None:
            started.wait(20)
            seen.append(Path(f"/proc/{process.pid}/environ").read_bytes())
            seen.append(Path(f"/proc/{process.pid}/cmdline").read_bytes())

        server = FakeServer([http_answer(200, b"{}")], before_answer=look)
        process = self.start("calendar", "read", fd3=server.theirs)
        server.theirs.close()
        started.set()
        out, _ = process.communicate(b"{}", timeout=20)
        server.thread.join(20)

        self.assertEqual(json.loads(out)["ok"], True)
        self.assertEqual(len(seen), 2)
        for text in seen:
            self.assertNotIn(b"canary", text)

    @unittest.skipUnless(AS_ROOT, "needs two users")
    def test_TOOL_9_another_process_of_the_same_user_cannot_look_into_it(self):
        """The environment of a process that can be dumped is open to its own user, such as another tool's program."""
        seen = []
        started = threading.Event()

        def look() -> None:
            started.wait(20)
            done = subprocess.run(["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups", "cat",
                                   f"/proc/{process.pid}/environ"], capture_output=True, text=True)
            seen.append((done.returncode, done.stdout))

        server = FakeServer([http_answer(200, b"{}")], before_answer=look)
        process = self.start("calendar", "read", fd3=server.theirs,
                             before=["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups"],
                             env={"RUNNEL_TOOL_CREDENTIAL": CREDENTIAL, "PATH": "/usr/bin:/bin"})
        server.theirs.close()
        started.set()
        process.communicate(b"{}", timeout=20)
        server.thread.join(20)

        self.assertEqual(seen, [(1, "")])

    def confined(self) -> dict[str, str]:
        """The environment with which the server starts it: what it must give up is a variable."""
        options = [f"--parent={os.getpid()}", "--memory=268435456", "--cpu=5"]
        options += ["--user=64321:64322"] if AS_ROOT else []
        options += ["--require-landlock"] if has_landlock() else []
        return {"RUNNEL_TOOL_CREDENTIAL": CREDENTIAL, "RUNNEL_SANDBOX": " ".join(options)}

    def look_into(self, look: Callable[[int], T]) -> T:
        """Calls `look` with the pid while the confined program waits for its answer, which it then gets."""
        started = threading.Event()
        seen, failures = [], []

        def look_when_started() -> None:
            started.wait(20)
            try:
                seen.append(look(process.pid))
            except Exception as error:  # For the thread of the test.
                failures.append(error)

        server = FakeServer([http_answer(200, b'{"id":"e1"}')], before_answer=look_when_started)
        process = self.start("calendar", "create", fd3=server.theirs, env=self.confined())
        server.theirs.close()
        started.set()
        out, err = process.communicate(b"{}", timeout=20)
        server.thread.join(20)
        if failures:
            raise failures[0]
        self.assertEqual((json.loads(out)["ok"], err), (True, b""))
        return seen[0]

    def test_TOOL_10_it_gives_up_its_rights_before_it_reads_anything(self):
        def look(pid: int) -> tuple[str, str]:
            return Path(f"/proc/{pid}/status").read_text(), Path(f"/proc/{pid}/limits").read_text()

        text, limits = self.look_into(look)
        status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

        self.assertEqual((status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16)), ("2", "1", 0))
        self.assertRegex(limits, r"Max core file size +0 +0")
        self.assertRegex(limits, r"Max address space +268435456 +268435456")
        if AS_ROOT:
            self.assertEqual((status["Uid"].split(), status["Groups"].strip()), (["64321"] * 4, ""))

    @unittest.skipUnless(platform.machine() == "x86_64", "the numbers of system calls are those of x86-64")
    def test_TOOL_10_it_can_make_only_the_calls_that_it_needs(self):
        try:
            steps = self.look_into(seccomp_filter.read_filter)
        except seccomp_filter.Unreadable as why:
            self.skipTest(f"only root outside of a container can read the filter of a process: {why}")

        def allowed(call: int, *arguments: int) -> bool:
            answer = seccomp_filter.outcome(steps, call, arguments)
            self.assertIn(answer, (seccomp_filter.ALLOWED, seccomp_filter.REFUSED | errno.EPERM), (call, arguments))
            return answer == seccomp_filter.ALLOWED

        always = set(OWN_CALLS.values()) | {OWN_CALLS_WITH["sendto"][0]}  # Its arguments are all 0 here.
        self.assertEqual({call for call in range(1024) if allowed(call)}, always)
        for call, arguments in OWN_CALLS_WITH.values():
            self.assertTrue(allowed(call, *arguments))
        for name, *arguments in (("mmap", 0, 4096, mmap.PROT_EXEC, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS),
                                 ("mmap", 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE), ("sendto", 3, 1, 1, 0, 1),
                                 ("sendto", 3, 1, 1, 0, 1 << 32), ("prlimit64", 1, resource.RLIMIT_FSIZE),
                                 ("prlimit64", 0, resource.RLIMIT_AS)):
            self.assertFalse(allowed(OWN_CALLS_WITH[name][0], *arguments), (name, arguments))
        i386, x32 = 0x40000003, 0x40000000
        self.assertNotEqual(seccomp_filter.outcome(steps, 1, architecture=i386), seccomp_filter.ALLOWED)
        self.assertNotEqual(seccomp_filter.outcome(steps, x32 | 1), seccomp_filter.ALLOWED)

    def test_TOOL_10_confined_it_can_do_all_that_it_must(self):
        """A long input with a large answer, and several ways in which a call can fail."""
        text = json.dumps({"title": "x" * 900_000}).encode()
        data = json.dumps({"text": "y" * 7_000_000}).encode()
        self.assertEqual(self.call("calendar", "create", pieces=[http_answer(200, data)], input=text,
                                   env=self.confined())[:2],
                         (0, {"ok": True, "module": "calendar", "method": "create", "data": json.loads(data)}))
        for pieces, code in (([http_answer(422, b'{"error":{"code":"NO","message":"no"}}')], "NO"),
                             ([http_answer(200, b"{")], "INVALID_ANSWER"), ([b"nonsense"], "INVALID_ANSWER"),
                             ([], "INVALID_ANSWER")):
            done = self.call("calendar", "create", pieces=pieces, env=self.confined())
            self.assertEqual((done[0], done[1]["error"]["code"]), (1, code))
        self.assertEqual(self.refused("calendar", "create", env=self.confined())["code"], "SERVER_UNREACHABLE")
        self.assertEqual(self.refused("calendar", "create", input=b"[", env=self.confined())["code"], "INVALID_INPUT")

    def test_TOOL_10_without_what_it_must_give_up_it_does_nothing(self):
        for sandbox, words in (("--parent=1", b"has ended"), ("--nonsense", b"bad option --nonsense")):
            code, out, err = self.run_cli("calendar", "create", env={"RUNNEL_TOOL_CREDENTIAL": CREDENTIAL,
                                                                     "RUNNEL_SANDBOX": sandbox + (USER if AS_ROOT else "")})
            self.assertEqual((code, out), (125, b""))
            self.assertIn(b"runnel_sandbox: ", err)
            self.assertIn(words, err)
        if AS_ROOT:
            code, out, err = self.run_cli("calendar", "create", env={"RUNNEL_SANDBOX": "--cpu=5"})
            self.assertEqual((code, out), (125, b""))
            self.assertIn(b"would run as root", err)

    def test_TOOL_10_it_needs_no_more_than_the_sandbox_leaves(self):
        user = ["--user=64321:64322"] if AS_ROOT else []
        for arguments, expected in ((["calendar", "create"], 0), (["calendar", "rm"], 1)):
            code, document, _ = self.call(*arguments, pieces=[http_answer(200, b'{"id":"e1"}')],
                                          before=[SANDBOX, *user, f"--parent={os.getpid()}", "--memory=268435456", "--cpu=5",
                                                  f"--read={CLI}", "--"])
            self.assertEqual((code, document["ok"]), (expected, expected == 0), document)

    def test_it_says_what_it_is(self):
        for arguments in ([], ["--help"], ["help"], ["-h"]):
            code, out, err = self.run_cli(*arguments, env={})
            self.assertEqual((code, err), (0, b""))
            for words in (b"project_cli MODULE METHOD", b"Runnel starts it", b"calendar create", b"calendar read"):
                self.assertIn(words, out)
        for argument in ("version", "--version"):
            code, out, _ = self.run_cli(argument, env={})
            self.assertEqual((code, out.split()[0]), (0, b"project_cli"))

    def test_a_reader_that_goes_away_is_a_failure(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([str(CLI), "version"], stdout=write_end, stderr=subprocess.PIPE, timeout=20,
                              preexec_fn=lambda: __import__("signal").signal(13, __import__("signal").SIG_IGN))
        os.close(write_end)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
