"""What runnel_sandbox takes away from the program that it starts. It is called directly, without a server."""

import ctypes
import itertools
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
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

    def test_nobody_types_into_the_terminal_of_the_server(self):
        for request in ("0x5412", "0x541C"):  # TIOCSTI, TIOCLINUX
            self.assert_refused(f"libc.ioctl(0, {request}, b'x')", PROCESSES)

    def test_attributes_of_files_stay_as_they_are(self):
        for number in (452, 463, 466, 467, 469):  # fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr
            self.assert_refused(f"libc.syscall({number}, 0, 0, 0, 0, 0, 0)")

    def test_the_server_comes_before_its_tools(self):
        done = confined(PYTHON, "-c", "import os; print(os.getpriority(os.PRIO_PROCESS, 0))")
        self.assertGreaterEqual(int(done.stdout), 10)

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


# Starts two processes, ignores what asks it to end, and lives on, and so do they. The parent of one of them has ended.
FAMILY = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() > 0:
    child = os.fork()
    if child > 0:
        os.waitpid(child, 0)
        print("ready", flush=True)
    elif os.fork() > 0:
        os._exit(0)
time.sleep(60)
"""

# What the family consists of: the supervisor, the first process of the namespace, the program and its two descendants.
FAMILY_SIZE = 5

# A limit on processes counts all processes of the user, so each test has its own.
USERS = itertools.count(64400)


def other_user(user: int) -> dict:
    return {"user": user, "group": 64322, "extra_groups": []} if AS_ROOT else {}


def can_unshare() -> bool:
    """Asks the kernel, not the sandbox, whether a user may have namespaces."""
    done = subprocess.run(["unshare", "--user", "--pid", "true"], capture_output=True, timeout=20, **other_user(64321))
    return done.returncode == 0


def deny_pid_namespaces() -> None:
    """For a process that is about to become the sandbox: the kernel gives it no PID namespace, whatever its rights."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE, or else /proc/self belongs to root.
    assert libc.unshare(0x10000000) == 0  # CLONE_NEWUSER
    for name, text in (("self/setgroups", "deny"), ("self/uid_map", f"{user} {user} 1"),
                       ("self/gid_map", f"{group} {group} 1"), ("sys/user/max_pid_namespaces", "0")):
        Path("/proc", name).write_text(text)


class TreeTests:
    """A program that may start processes. All of its processes have a word of their own among their arguments, so that
    they can be found from outside of their namespace."""

    started_by_root: bool

    def setUp(self):
        self.word = f"tree-{uuid.uuid4().hex}"
        self.user = next(USERS) if AS_ROOT else os.getuid()
        self.options = [f"--user={self.user}:64322"] if self.started_by_root else []
        self.identity = {} if self.started_by_root else other_user(self.user)

    def command(self, *program: str, options: tuple[str, ...] = ("--processes=50",)) -> list[str]:
        reads = [option for option in SYSTEM if option not in USER]
        return [str(SANDBOX), *self.options, *reads, "--require-tree", *options, "--", *program, self.word]

    def run_tree(self, *program: str, **more) -> subprocess.CompletedProcess:
        options = more.pop("options", ("--processes=50",))
        return subprocess.run(self.command(*program, options=options), capture_output=True, text=True, timeout=20,
                              **self.identity, **more)

    def start(self, command: list[str], **more) -> subprocess.Popen:
        """It is killed after the test, and so is what it may have left behind."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.identity, **more)
        self.addCleanup(process.communicate)
        self.addCleanup(self.kill_all)
        self.addCleanup(process.kill)
        return process

    def kill_all(self) -> None:
        while living := self.living():
            for pid in living:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def start_family(self) -> subprocess.Popen:
        """The supervisor of a family, which is complete."""
        process = self.start(self.command(PYTHON, "-c", FAMILY), start_new_session=True)
        self.assert_complete(process)
        return process

    def assert_complete(self, process: subprocess.Popen) -> None:
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.assertEqual(len(self.living()), FAMILY_SIZE)

    def living(self) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def assert_gone(self) -> None:
        deadline = time.monotonic() + 1
        while living := self.living():
            self.assertLess(time.monotonic(), deadline, f"{len(living)} live on")
            time.sleep(0.01)

    def test_a_killed_parent_ends_the_tree(self):
        command = self.command(PYTHON, "-c", FAMILY, options=("--processes=50", "--parent=PARENT"))
        parent = f"import os, subprocess, time\nsubprocess.Popen([a.replace('PARENT', str(os.getpid())) for a in {command!r}])\n" \
                 "time.sleep(60)"
        process = self.start([PYTHON, "-c", parent])
        self.assert_complete(process)
        process.kill()
        self.assert_gone()

    def test_a_killed_supervisor_ends_the_tree(self):
        process = self.start_family()
        process.kill()
        self.assert_gone()
        self.assertEqual(process.wait(), -signal.SIGKILL)

    def test_a_killed_first_process_ends_the_tree(self):
        process = self.start_family()
        first = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        os.kill(first, signal.SIGKILL)
        self.assert_gone()
        self.assertEqual(process.wait(), -signal.SIGKILL)

    def test_the_tree_stays_in_one_group(self):
        process = self.start_family()
        self.assertEqual({os.getpgid(pid) for pid in self.living()}, {process.pid})
        self.assertEqual({os.getsid(pid) for pid in self.living()}, {process.pid})

    def test_the_end_of_the_program_is_passed_on(self):
        self.assertEqual(self.run_tree("/bin/sh", "-c", "exit 7").returncode, 7)
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            self.assertEqual(self.run_tree("/bin/sh", "-c", f"kill -{number} $$").returncode, -number)
        loop = self.run_tree("/bin/sh", "-c", "while :; do :; done", options=("--processes=50", "--cpu=1"))
        self.assertEqual(loop.returncode, -signal.SIGKILL)
        self.assertEqual(self.run_tree("/etc/passwd").returncode, 126)

    def test_the_end_is_passed_on_also_if_signals_are_ignored(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

        self.assertEqual(self.run_tree("/bin/sh", "-c", "exit 7", preexec_fn=ignore).returncode, 7)
        code = "import os, signal\nsignal.signal(15, signal.SIG_DFL)\nsignal.pthread_sigmask(signal.SIG_SETMASK, [])\n" \
               "os.kill(os.getpid(), 15)"
        self.assertEqual(self.run_tree(PYTHON, "-c", code, preexec_fn=ignore).returncode, -signal.SIGTERM)

    def test_orphans_are_reaped(self):
        code = """
import os, time
def fork():
    for i in range(200):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(0.01)
    print("too many processes", flush=True)
    os._exit(1)
for i in range(40):
    child = fork()
    if child == 0:
        fork()
        os._exit(0)
    os.waitpid(child, 0)
print("done")
"""
        done = self.run_tree(PYTHON, "-c", code, options=("--processes=8",))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))

    def test_what_a_program_leaves_behind_ends_with_it(self):
        began = time.monotonic()
        done = self.run_tree(PYTHON, "-c", FAMILY.replace('flush=True)', 'flush=True); os._exit(0)'))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ready\n", ""))
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.living(), [])

    def test_only_the_program_holds_its_descriptors(self):
        began = time.monotonic()
        process = self.start(self.command("/bin/sh", "-c", "exec >&- 2>&-; sleep 20"))
        self.assertEqual((process.stdout.read(), process.stderr.read()), ("", ""))
        self.assertLess(time.monotonic() - began, 10)

    def test_a_fork_bomb_stays_within_its_limit_and_dies(self):
        bomb = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)"
        helpers, limit = 2, 20
        process = self.start(self.command(PYTHON, "-c", bomb, options=(f"--processes={limit}",)))
        deadline, counts = time.monotonic() + 10, [0]
        while counts.count(max(counts)) < 20 or max(counts) < limit // 2:
            self.assertLess(time.monotonic(), deadline, "it does not grow")
            counts.append(len(self.living()))
            self.assertLessEqual(counts[-1], limit + helpers)
        process.kill()
        self.assert_gone()

    def test_the_helpers_leave_room_for_the_program(self):
        start = "import os\ntry: print(os.waitpid(os.fork() or os._exit(0), 0)[1])\nexcept OSError: print('no')"
        self.assertEqual(self.run_tree(PYTHON, "-c", start, options=("--processes=2",)).stdout, "0\n")
        self.assertEqual(self.run_tree(PYTHON, "-c", start, options=("--processes=1",)).stdout, "no\n")

    def test_the_helpers_are_out_of_reach(self):
        code = "import os, signal\nfor p in (1, os.getppid()):\n  for n in (signal.SIGKILL, signal.SIGTERM):\n" \
               "    try: os.kill(p, n)\n    except PermissionError: pass\nprint(os.getpid(), os.getppid())"
        done = self.run_tree(PYTHON, "-c", code)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "2 1\n", ""))
        process = self.start_family()
        helpers = [process.pid, int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())]
        for pid in helpers:
            other = subprocess.run(["cat", f"/proc/{pid}/environ"], capture_output=True, text=True, timeout=20, **other_user(self.user))
            self.assertIn("Permission denied", other.stderr)
            status = Path(f"/proc/{pid}/status").read_text()
            for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
                self.assertRegex(status, rf"Cap{kind}:\s+0000000000000000\n")
            self.assertRegex(status, r"NoNewPrivs:\s+1\n")

    def test_the_program_stays_confined(self):
        for what in ("os.setsid()", "libc.prctl(1, 0, 0, 0, 0)", "libc.unshare(0x10000000)", "socket.socket()",
                     *(["open('/proc/1/environ')", "open('/proc/self/environ')"] if has_landlock() else [])):
            done = self.run_tree(PYTHON, "-c", ATTEMPT % what)
            self.assertIn(done.stdout.strip(), ("Operation not permitted", "Permission denied"), what)
        status = self.run_tree("/bin/sh", "-c", "exec cat /proc/self/status",
                               options=("--processes=50", "--read=/proc")).stdout
        user, group = self.user, 64322 if AS_ROOT else os.getgid()
        self.assertRegex(status, rf"Uid:\s+{user}\s+{user}\s+{user}\s+{user}\n")
        self.assertRegex(status, rf"Gid:\s+{group}\s+{group}\s+{group}\s+{group}\n")
        self.assertRegex(status, r"Seccomp:\s+2\n")
        for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"):
            self.assertRegex(status, rf"Cap{kind}:\s+0000000000000000\n")

    def test_a_probe_tells_whether_there_is_a_tree(self):
        self.assertIs(json.loads(self.run_tree("/bin/true", options=("--processes=5", "--probe")).stdout)["tree"], True)
        self.assertNotIn("tree", json.loads(self.run_tree("/bin/true", options=("--probe",)).stdout))

    def test_without_processes_there_are_no_helpers(self):
        process = self.start(self.command("/bin/sh", "-c", "echo; read line", options=()), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "\n")
        self.assertEqual(self.living(), [process.pid])


@unittest.skipUnless(AS_ROOT, "only root needs no user namespace")
class TreeOfRootTest(TreeTests, unittest.TestCase):
    started_by_root = True


@unittest.skipUnless(can_unshare(), "users may have no namespaces here")
class TreeOfUserTest(TreeTests, unittest.TestCase):
    started_by_root = False

    def test_without_namespaces_it_says_so(self):
        required = self.run_tree("/bin/echo", preexec_fn=deny_pid_namespaces)
        self.assertEqual((required.returncode, required.stdout), (125, ""))
        self.assertIn("a namespace for processes: No space left on device", required.stderr)
        for options, output in ((["--probe"], '"tree":false'), ([], self.word)):
            command = [part for part in self.command("/bin/echo", options=("--processes=50", *options)) if part != "--require-tree"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, preexec_fn=deny_pid_namespaces,
                                  **self.identity)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(output, done.stdout)


@unittest.skipUnless(AS_ROOT and can_unshare(), "users may have no namespaces here")
class TreeOfWeakRootTest(TreeTests, unittest.TestCase):
    """Root in a container often may change its user, but not its namespaces."""
    started_by_root = True

    def command(self, *program: str, options: tuple[str, ...] = ("--processes=50",)) -> list[str]:
        return ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", *super().command(*program, options=options)]


if __name__ == "__main__":
    unittest.main()
