"""What runnel_sandbox takes away from the program that it starts. It is called directly, without a server."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from runnel_server import BINARY  # noqa: E402

SANDBOX = BINARY.parent / "runnel_sandbox"
PYTHON = "/usr/bin/python3"
SYSTEM = [f"--read={path}" for path in ("/usr", "/lib", "/lib64", "/bin", "/etc") if Path(path).exists()]

ATTEMPT = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
try:
    done = %s
    print("done" if done != -1 else os.strerror(ctypes.get_errno()))
except OSError as error:
    print(os.strerror(error.errno))
"""


def confined(*arguments: str, options: list[str] = SYSTEM, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(SANDBOX), *options, "--", *arguments], capture_output=True, text=True, timeout=20, **more)


def has_landlock() -> bool:
    return confined("/bin/true", options=[*SYSTEM, "--require-landlock"]).returncode == 0


class SandboxTest(unittest.TestCase):
    def attempt(self, what: str, *options: str) -> str:
        """The outcome of a Python expression inside the sandbox: "done", or the text of the error."""
        done = confined(PYTHON, "-c", ATTEMPT % what, options=[*SYSTEM, *options])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def assert_refused(self, what: str, *options: str) -> None:
        self.assertIn(self.attempt(what, *options), ("Operation not permitted", "Permission denied"), what)

    def test_the_program_gets_its_arguments_input_and_environment(self):
        done = confined(PYTHON, "-c", "import os, sys; print(sys.argv[1:], sys.stdin.read(), dict(os.environ))", "--network",
                        "--", "$(id)", input="words", env={"A": "1"})

        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith("['--network', '--', '$(id)'] words {'A': '1'"), done.stdout)

    def test_its_exit_code_is_the_programs(self):
        self.assertEqual(confined("/bin/sh", "-c", "exit 7").returncode, 7)

    def test_nobody_leaves_the_process_group(self):
        self.assert_refused("os.setsid()")
        self.assert_refused("os.setpgid(0, 0)")

    def test_no_processes_unless_they_are_allowed(self):
        self.assert_refused("os.fork()")
        self.assertEqual(self.attempt("os.system('true')", "--processes=1000"), "done")

    def test_new_processes_stay_confined(self):
        done = confined("/bin/sh", "-c", "setsid /bin/true; cat /proc/1/environ", options=[*SYSTEM, "--processes=1000"])
        self.assertIn("not permitted", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_no_sockets_unless_they_are_allowed(self):
        self.assert_refused("socket.socket()")
        self.assert_refused("socket.socket(socket.AF_UNIX)")
        self.assertEqual(self.attempt("socket.socket()", "--network"), "done")

    def test_an_inherited_socket_works(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(b"ping")
            code = f"import socket; s = socket.socket(fileno={theirs.fileno()}); print(s.recv(9)); s.sendall(b'pong')"
            done = confined(PYTHON, "-c", code, pass_fds=[theirs.fileno()])
            self.assertEqual((done.stdout, done.stderr), ("b'ping'\n", ""))
            self.assertEqual(ours.recv(9), b"pong")

    def test_no_namespaces_mounts_or_looks_at_other_processes(self):
        for what in ("libc.unshare(0x10000000)", "libc.unshare(0x20000)", "libc.mount(b'x', b'/', b'tmpfs', 0, 0)",
                     "libc.ptrace(16, 1, 0, 0)", "libc.chroot(b'/')", "libc.syscall(434, 1, 0)", "libc.syscall(425, 1, 0)"):
            self.assert_refused(what)
            self.assert_refused(what, "--processes=1000", "--network")

    def test_clone3_is_not_there(self):
        self.assertEqual(self.attempt("libc.syscall(435, 0, 0)"), "Function not implemented")

    @unittest.skipUnless(has_landlock(), "the kernel has no Landlock")
    def test_only_named_files_can_be_read(self):
        with tempfile.TemporaryDirectory(prefix="runnel-sandbox-") as name:
            os.chmod(name, 0o755)
            secret = Path(name, "secret")
            secret.write_text("words")
            self.assert_refused(f"open({str(secret)!r})")
            self.assert_refused(f"os.listdir({name!r})")
            self.assertEqual(self.attempt(f"open({str(secret)!r})", f"--read={name}"), "done")
            self.assert_refused(f"open({str(secret)!r}, 'w')", f"--read={name}")
            self.assert_refused(f"os.truncate({str(secret)!r}, 0)", f"--read={name}")
            self.assert_refused(f"os.unlink({str(secret)!r})", f"--read={name}")
            self.assertEqual(secret.read_text(), "words")
        self.assert_refused("open('/proc/1/environ')")
        self.assert_refused("open('/proc/self/environ')")

    def test_no_file_grows(self):
        with tempfile.TemporaryFile() as file:
            done = subprocess.run([str(SANDBOX), *SYSTEM, "--", "/bin/echo", "words"], stdout=file, timeout=20)
            self.assertEqual(done.returncode, -signal.SIGXFSZ)
            self.assertEqual(os.fstat(file.fileno()).st_size, 0)

    def test_memory_and_cpu_time_are_limited(self):
        done = confined(PYTHON, "-c", "bytearray(1 << 30)", options=[*SYSTEM, "--memory=268435456"])
        self.assertIn("MemoryError", done.stderr)
        self.assertEqual(confined("/bin/sh", "-c", "while :; do :; done", options=[*SYSTEM, "--cpu=1"]).returncode,
                         -signal.SIGKILL)

    def test_it_leaves_no_core_and_gains_no_rights(self):
        status = confined("/bin/cat", "/proc/self/status", "/proc/self/limits", options=[*SYSTEM, "--read=/proc"]).stdout
        self.assertRegex(status, r"NoNewPrivs:\s+1\n")
        self.assertRegex(status, r"Seccomp:\s+2\n")
        self.assertRegex(status, r"Max core file size +0 +0 ")
        self.assertRegex(status, r"Max open files +64 +64 ")

    @unittest.skipUnless(os.geteuid() == 0, "becoming another user needs root")
    def test_it_becomes_the_user(self):
        options = [*SYSTEM, "--read=/proc", "--user=65534:65533"]
        status = confined("/bin/cat", "/proc/self/status", options=options).stdout
        self.assertRegex(status, r"Uid:\s+65534\s+65534\s+65534\s+65534\n")
        self.assertRegex(status, r"Gid:\s+65533\s+65533\s+65533\s+65533\n")
        self.assertRegex(status, r"Groups:\s*\n")
        self.assertRegex(status, r"CapEff:\s+0000000000000000\n")

    @unittest.skipUnless(os.geteuid() == 0, "a limit on processes means something only for a user of its own")
    def test_a_fork_bomb_stays_small(self):
        bomb = "import os\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: os._exit(0)\n    n += 1\n" \
               "except OSError: print(n)"
        done = confined(PYTHON, "-c", bomb, options=[*SYSTEM, "--user=64321:64321", "--processes=8"], input="")
        self.assertLess(int(done.stdout), 9)

    def test_it_ends_with_its_parent(self):
        parent = f"import os, subprocess, time\nc = subprocess.Popen([{str(SANDBOX)!r}, *{SYSTEM!r}, f'--parent={{os.getpid()}}'," \
                 " '--', '/bin/sleep', '60'])\nprint(c.pid, flush=True)\ntime.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
            child = int(process.stdout.readline())
            self.wait_for_program(child)
            process.kill()
        deadline = time.monotonic() + 10
        while Path(f"/proc/{child}/stat").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text():
            self.assertLess(time.monotonic(), deadline, "the program lives on")
            time.sleep(0.01)

    def wait_for_program(self, pid: int) -> None:
        deadline = time.monotonic() + 10
        while "sleep" not in Path(f"/proc/{pid}/comm").read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_parent_that_is_gone_starts_nothing(self):
        done = confined("/bin/echo", "words", options=[*SYSTEM, "--parent=1"])
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("has ended", done.stderr)

    def test_mistakes_are_told(self):
        for bad in (["--memory=x", "--", "/bin/true"], ["--memory", "--", "/bin/true"], ["--nothing", "--", "/bin/true"],
                    ["--user=1", "--", "/bin/true"], ["--network=yes", "--", "/bin/true"], ["--", "true"], ["--"], []):
            done = subprocess.run([str(SANDBOX), *bad], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (125, ""), bad)
            self.assertIn("usage:", done.stderr)
        missing = confined("/bin/true", options=["--read=/nonexistent"])
        self.assertEqual(missing.returncode, 125)
        self.assertIn("/nonexistent: No such file", missing.stderr)
        self.assertEqual(confined("/etc/passwd", options=SYSTEM).returncode, 126)


if __name__ == "__main__":
    unittest.main()
