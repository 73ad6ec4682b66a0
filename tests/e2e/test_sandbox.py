"""What runnel_sandbox takes away from the program that it starts. It is called directly, without a server."""

import ctypes
import os
import platform
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
AS_ROOT = os.geteuid() == 0
USER = ["--user=64321:64322"] if AS_ROOT else []
SYSTEM = [*USER, *(f"--read={path}" for path in ("/usr", "/lib", "/lib64", "/bin", "/etc") if Path(path).exists())]
PROCESSES = "--processes=100000"

ATTEMPT = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
try:
    done = %s
    print("done" if done != -1 else os.strerror(ctypes.get_errno()))
except OSError as error:
    print(os.strerror(error.errno))
"""

# mov eax, 20; int 0x80; ret
I386_GETPID = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000cd80c3"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""


def confined(*arguments: str, options: list[str] = SYSTEM, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(SANDBOX), *options, "--", *arguments], capture_output=True, text=True, timeout=20, **more)


def has_landlock() -> bool:
    """Asks the kernel, not the sandbox: landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) >= 1


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
        self.assertEqual(self.attempt("os.system('true')", PROCESSES), "done")

    def test_new_processes_stay_confined(self):
        done = confined("/bin/sh", "-c", "setsid /bin/echo left", options=[*SYSTEM, PROCESSES])
        self.assertIn("not permitted", done.stderr)
        self.assertEqual(done.stdout, "")
        clone = 56 if platform.machine() == "x86_64" else 220
        self.assert_refused(f"libc.syscall({clone}, 0x8000 | 17, 0, 0, 0, 0)", PROCESSES)  # CLONE_PARENT

    def test_it_cannot_outlive_its_parent_by_asking(self):
        self.assert_refused("libc.prctl(1, 0, 0, 0, 0)")  # PR_SET_PDEATHSIG

    def test_other_processes_of_its_user_are_out_of_reach(self):
        with subprocess.Popen(["/bin/sleep", "60"], **({"user": 64321, "group": 64322} if AS_ROOT else {})) as other:
            try:
                self.assert_refused(f"os.kill({other.pid}, 9)")
                self.assert_refused("os.kill(-1, 0)")
                self.assert_refused(f"libc.prlimit({other.pid}, 0, bytes(16), 0)")
                self.assert_refused(f"libc.setpriority(0, {other.pid}, 19)")
                self.assertIsNone(other.poll())
            finally:
                other.kill()
        self.assertEqual(self.attempt("os.kill(os.getpid(), 0)"), "done")

    @unittest.skipUnless(platform.machine() == "x86_64", "the numbers of system calls are those of x86-64")
    def test_every_way_to_send_a_signal_reaches_only_itself(self):
        info = "(ctypes.c_int * 32)(0, 0, -1)"  # SI_QUEUE, which a process may send to others.
        for call in ("libc.syscall(62, {}, 0)", "libc.syscall(200, {}, 0)", "libc.syscall(234, {}, os.getpid(), 0)",
                     f"libc.syscall(129, {{}}, 0, {info})", f"libc.syscall(297, {{}}, os.getpid(), 0, {info})"):
            self.assertEqual(self.attempt(call.format("os.getpid()")), "done", call)
            self.assert_refused(call.format("os.getpid() - 1"))
            self.assert_refused(call.format("0x7ace51d1"))  # Stands for the pid in the filter as it was built.

    @unittest.skipUnless(platform.machine() == "x86_64", "other machines have no such calls")
    def test_calls_of_other_architectures_end_it(self):
        getpid = 39
        x32 = confined(PYTHON, "-c", ATTEMPT % f"libc.syscall(0x40000000 | {getpid})")
        self.assertEqual((x32.returncode, x32.stdout), (-signal.SIGSYS, ""))
        i386 = [PYTHON, "-c", I386_GETPID]
        if subprocess.run(i386, capture_output=True, timeout=20).returncode == 0:
            self.assertEqual(confined(*i386).returncode, -signal.SIGSYS)

    def test_nothing_is_left_in_the_system(self):
        for what in ("libc.shmget(0, 4096, 0o1600)", "libc.msgget(0, 0o1600)", "libc.semget(0, 1, 0o1600)"):
            self.assert_refused(what, PROCESSES, "--network")

    def test_no_sockets_unless_they_are_allowed(self):
        self.assert_refused("socket.socket()")
        self.assert_refused("socket.socket(socket.AF_UNIX)")
        self.assert_refused("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)")
        self.assertEqual(self.attempt("socket.socketpair()"), "done")

    def test_with_the_network_only_the_internet(self):
        self.assertEqual(self.attempt("socket.socket()", "--network"), "done")
        self.assertEqual(self.attempt("socket.socket(socket.AF_INET6)", "--network"), "done")
        self.assert_refused("socket.socket(socket.AF_UNIX)", "--network")
        self.assert_refused("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", "--network")
        self.assert_refused("libc.socket(1 | 1 << 32, 1, 0)", "--network")
        self.assert_refused("socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)", "--network")

    def test_an_inherited_socket_works(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(b"ping")
            code = f"import socket; s = socket.socket(fileno={theirs.fileno()}); print(s.recv(9)); s.sendall(b'pong')"
            done = confined(PYTHON, "-c", code, pass_fds=[theirs.fileno()])
            self.assertEqual((done.stdout, done.stderr), ("b'ping'\n", ""))
            self.assertEqual(ours.recv(9), b"pong")

    def test_no_namespaces_mounts_or_looks_at_other_processes(self):
        # Each of these would fail with another error if it were allowed.
        for what in ("libc.unshare(0x1)", "libc.mount(None, None, None, 0, None)", "libc.ptrace(9999, 0, 0, 0)",
                     "libc.chroot(None)", "libc.syscall(434, -1, 0)", "libc.syscall(425, 1, 0)"):
            self.assert_refused(what)
            self.assert_refused(what, PROCESSES, "--network")

    def test_clone3_is_not_there(self):
        self.assertEqual(self.attempt("libc.syscall(435, 0, 0)"), "Function not implemented")

    @unittest.skipUnless(has_landlock(), "the kernel has no Landlock")
    def test_only_named_files_can_be_read(self):
        with tempfile.TemporaryDirectory(prefix="runnel-sandbox-") as name:
            os.chmod(name, 0o755)
            secret = Path(name, "secret")
            secret.write_text("words")
            secret.chmod(0o666)
            if AS_ROOT:
                os.chown(secret, 64321, 64322)
            self.assert_refused(f"open({str(secret)!r})")
            self.assert_refused(f"os.listdir({name!r})")
            self.assertEqual(self.attempt(f"open({str(secret)!r})", f"--read={name}"), "done")
            self.assert_refused(f"open({str(secret)!r}, 'w')", f"--read={name}")
            self.assert_refused(f"os.truncate({str(secret)!r}, 0)", f"--read={name}")
            self.assert_refused(f"os.open({str(secret)!r}, os.O_RDONLY | os.O_TRUNC)", f"--read={name}")
            self.assert_refused(f"os.chmod({str(secret)!r}, 0o666)", f"--read={name}")
            self.assert_refused(f"os.utime({str(secret)!r})", f"--read={name}")
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

    @unittest.skipUnless(AS_ROOT, "becoming another user needs root")
    def test_it_becomes_the_user(self):
        status = confined("/bin/cat", "/proc/self/status", options=[*SYSTEM, "--read=/proc"]).stdout
        self.assertRegex(status, r"Uid:\s+64321\s+64321\s+64321\s+64321\n")
        self.assertRegex(status, r"Gid:\s+64322\s+64322\s+64322\s+64322\n")
        self.assertRegex(status, r"Groups:\s*\n")
        for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
            self.assertRegex(status, rf"Cap{kind}:\s+0000000000000000\n")

    @unittest.skipUnless(AS_ROOT, "only root can run something as root")
    def test_nothing_runs_as_root(self):
        without = [option for option in SYSTEM if option not in USER]
        for user in ([], ["--user=0:0"], ["--user=64321:0"], ["--user=4294967295:4294967295"]):
            done = confined("/bin/echo", "words", options=[*without, *user])
            self.assertEqual((done.returncode, done.stdout), (125, ""), user)

    @unittest.skipUnless(AS_ROOT, "a limit on processes means something only for a user of its own")
    def test_a_fork_bomb_stays_small(self):
        bomb = "import os\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: os._exit(0)\n    n += 1\n" \
               "except OSError: print(n)"
        done = confined(PYTHON, "-c", bomb, options=[*SYSTEM, "--processes=8"])
        self.assertLess(int(done.stdout), 9)

    def test_it_ends_with_its_parent(self):
        parent = f"import os, subprocess, time\nc = subprocess.Popen([{str(SANDBOX)!r}, *{SYSTEM!r}, f'--parent={{os.getpid()}}'," \
                 " '--', '/bin/sleep', '60'])\nprint(c.pid, flush=True)\ntime.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
            child = int(process.stdout.readline())
            self.wait_for_program(child)
            process.kill()
        deadline = time.monotonic() + 10
        while self.is_alive(child):
            self.assertLess(time.monotonic(), deadline, "the program lives on")
            time.sleep(0.01)

    @staticmethod
    def is_alive(pid: int) -> bool:
        try:
            return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def wait_for_program(self, pid: int) -> None:
        deadline = time.monotonic() + 10
        while "sleep" not in Path(f"/proc/{pid}/comm").read_text():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_a_parent_that_is_gone_starts_nothing(self):
        done = confined("/bin/echo", "words", options=[*SYSTEM, "--parent=999999999"])
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("has ended", done.stderr)

    def test_it_has_the_version_of_the_other_programs(self):
        ours, theirs = (subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=20)
                        for program in (SANDBOX, SANDBOX.with_name("project_cli")))
        self.assertEqual((ours.returncode, ours.stderr), (0, ""))
        self.assertEqual(ours.stdout, theirs.stdout.replace("project_cli", "runnel_sandbox"))
        self.assertRegex(ours.stdout, r"^runnel_sandbox [0-9]+\.[0-9]+\.[0-9]+\n$")

    def test_mistakes_are_told(self):
        for bad in (["--memory=x", "--", "/bin/true"], ["--memory", "--", "/bin/true"], ["--nothing", "--", "/bin/true"],
                    ["--user=1", "--", "/bin/true"], ["--user=0:0", "--", "/bin/true"], ["--network=yes", "--", "/bin/true"], ["--", "true"], ["--"], []):
            done = subprocess.run([str(SANDBOX), *bad], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (125, ""), bad)
            self.assertIn("usage:", done.stderr)
        if has_landlock():
            missing = confined("/bin/true", options=[*USER, "--read=/nonexistent"])
            self.assertEqual(missing.returncode, 125)
            self.assertIn("/nonexistent: No such file", missing.stderr)
        self.assertEqual(confined("/etc/passwd", options=SYSTEM).returncode, 126)


if __name__ == "__main__":
    unittest.main()
