"""The shims do what the fault tests rely on: unsynced writes are lost, synced ones stay, and the Nth call fails."""

import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from shims import FailingIo, UnsyncedWrites, build_shim

DIE = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"


class ShimCase(unittest.TestCase):
    shim_name = ""

    @classmethod
    def setUpClass(cls):
        cls._build = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._build.cleanup)
        cls.shim = build_shim(cls.shim_name, Path(cls._build.name))

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.side = Path(os.path.realpath(holder.name))
        self.data = self.side / "data"
        self.data.mkdir()

    def run_python(self, code: str, env: dict[str, str]) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, cwd=self.data,
                              capture_output=True, text=True, timeout=60)


class UnsyncedWritesTest(ShimCase):
    shim_name = "unsynced"

    def killed(self, code: str, chance: random.Random | None = None) -> int:
        """Runs the code with the shim until a kill -9, then undoes what was not synced. Returns how many changes."""
        unsynced = UnsyncedWrites(self.data, self.side / "journal", self.shim)
        done = self.run_python(code + "\n" + DIE, unsynced.env())
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        return unsynced.apply(chance)

    def content(self, name: str) -> bytes:
        return (self.data / name).read_bytes()

    def test_an_unsynced_write_vanishes_and_a_synced_one_stays(self):
        (self.data / "f").write_bytes(b"0123456789")

        self.killed("import os\nf = os.open('f', os.O_RDWR)\n"
                    "os.pwrite(f, b'AB', 2)\nos.fdatasync(f)\nos.pwrite(f, b'XYZ', 3)\nos.pwrite(f, b'tail', 10)\n")

        self.assertEqual(self.content("f"), b"01AB456789")

    def test_overlapping_writes_and_a_truncation_are_undone_newest_first(self):
        (self.data / "f").write_bytes(b"0123456789")

        undone = self.killed("import os\nf = os.open('f', os.O_RDWR)\nos.pwrite(f, b'aaaa', 0)\n"
                             "os.pwrite(f, b'bbbb', 2)\nos.ftruncate(f, 3)\nos.write(f, b'c')\nos.ftruncate(f, 20)\n")

        self.assertEqual(undone, 5)
        self.assertEqual(self.content("f"), b"0123456789")

    def test_an_appended_and_a_truncating_open_are_undone(self):
        (self.data / "log").write_bytes(b"one\n")
        (self.data / "f").write_bytes(b"old")

        self.killed("import os\nf = os.open('log', os.O_WRONLY | os.O_APPEND)\nos.write(f, b'two\\n')\n"
                    "g = os.open('f', os.O_WRONLY | os.O_TRUNC)\nos.writev(g, [b'n', b'ew'])\n")

        self.assertEqual(self.content("log"), b"one\n")
        self.assertEqual(self.content("f"), b"old")

    def test_a_new_name_lasts_only_once_its_directory_is_synced(self):
        self.killed("import os\nd = os.open('.', os.O_RDONLY)\n"
                    "a = os.open('a', os.O_RDWR | os.O_CREAT)\nos.write(a, b'1')\nos.fsync(a)\nos.fsync(d)\n"
                    "b = os.open('b', os.O_RDWR | os.O_CREAT)\nos.write(b, b'2')\nos.fsync(b)\n")

        self.assertEqual(sorted(os.listdir(self.data)), ["a"])

    def test_unlink_and_rename_are_undone(self):
        for name in "abc":
            (self.data / name).write_bytes(name.encode())

        self.killed("import os\nos.unlink('a')\nos.rename('b', 'c')\n")

        self.assertEqual({name: self.content(name) for name in "abc"}, {"a": b"a", "b": b"b", "c": b"c"})

    def test_a_synced_replacement_by_rename_stays(self):
        (self.data / "f").write_bytes(b"old")

        self.killed("import os\nt = os.open('t', os.O_RDWR | os.O_CREAT)\nos.write(t, b'new')\nos.fsync(t)\n"
                    "os.rename('t', 'f')\nos.fsync(os.open('.', os.O_RDONLY))\n")

        self.assertEqual(os.listdir(self.data), ["f"])
        self.assertEqual(self.content("f"), b"new")

    def test_writers_in_many_threads_keep_exactly_what_they_synced(self):
        self.killed("import os, threading\nd = os.open('.', os.O_RDONLY)\n"
                    "def work(i):\n"
                    "  f = os.open(f't{i}', os.O_RDWR | os.O_CREAT)\n"
                    "  for k in range(50):\n"
                    "    os.pwrite(f, bytes([k]) * 100, k * 100)\n"
                    "    if k == 30 + i: os.fsync(f)\n"
                    "ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]\n"
                    "[t.start() for t in ts]; [t.join() for t in ts]\nos.fsync(d)\n")

        for i in range(8):
            self.assertEqual(self.content(f"t{i}"), b"".join(bytes([k]) * 100 for k in range(31 + i)))

    COMMITS = ("import sqlite3\ndb = sqlite3.connect('x.db', isolation_level=None)\n"
               "db.execute('pragma journal_mode=wal')\ndb.execute('pragma synchronous=full')\n"
               "db.execute('create table t(a)')\ndb.execute('pragma synchronous={}')\n"
               "for i in range(40):\n  db.execute('insert into t values(?)', (i,))\n"
               "  if i == 20: db.execute('pragma wal_checkpoint(truncate)')\n")

    def rows_after_kill(self, synchronous: str, chance: random.Random | None = None) -> list[int]:
        self.killed(self.COMMITS.format(synchronous), chance)
        with sqlite3.connect(self.data / "x.db") as db:
            self.assertEqual(db.execute("pragma integrity_check").fetchone(), ("ok",))
            rows = [a for (a,) in db.execute("select a from t order by a")]
        db.close()
        return rows

    def test_sqlite_with_full_syncs_loses_no_commit(self):
        self.assertEqual(self.rows_after_kill("full"), list(range(40)))

    def test_sqlite_with_full_syncs_loses_no_commit_whatever_part_survives_by_luck(self):
        for seed in range(5):
            with self.subTest(seed=seed):
                self.assertEqual(self.rows_after_kill("full", random.Random(seed)), list(range(40)))
                for file in self.data.iterdir():
                    file.unlink()

    def test_sqlite_without_syncs_loses_commits_so_the_shim_shows_a_missing_one(self):
        self.assertLess(len(self.rows_after_kill("off")), 40)


class FailingIoTest(ShimCase):
    shim_name = "failing_io"

    def setUp(self):
        super().setUp()
        self.io = FailingIo(self.data, self.side / "control", self.shim)

    WRITE_5 = ("import os\nf = os.open('f', os.O_RDWR | os.O_CREAT)\n"
               "for i in range(5):\n"
               "  try: os.pwrite(f, b'ab', 2 * i); os.fdatasync(f)\n"
               "  except OSError as e: print(i, e.errno)\n")

    def failures(self) -> list[tuple[int, int]]:
        done = self.run_python(self.WRITE_5, self.io.env())
        self.assertEqual(done.returncode, 0, done.stderr)
        return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]

    def test_the_nth_write_fails_once(self):
        self.io.arm("once", FailingIo.WRITES, errno.ENOSPC, nth=3)

        self.assertEqual(self.failures(), [(2, errno.ENOSPC)])
        self.assertEqual((self.io.hits, self.io.calls), (1, 3))

    def test_the_nth_sync_and_all_after_it_fail(self):
        self.io.arm("persistent", FailingIo.SYNCS, errno.EIO, nth=4)

        self.assertEqual(self.failures(), [(3, errno.EIO), (4, errno.EIO)])

    def test_a_failing_write_puts_half_its_bytes_down(self):
        self.io.arm("persistent", FailingIo.WRITES, errno.ENOSPC, nth=1)

        self.failures()

        self.assertEqual((self.data / "f").read_bytes()[:3], b"a\0a")

    def written_before_the_kill(self) -> bytes:
        self.assertEqual(self.run_python(self.WRITE_5, self.io.env()).returncode, -signal.SIGKILL)
        self.assertEqual(self.io.hits, 1)
        return (self.data / "f").read_bytes()

    def test_the_process_is_killed_before_the_nth_sync(self):
        self.io.arm_kill(3, after=False)

        self.assertEqual(self.written_before_the_kill(), b"ab" * 3)
        self.assertEqual(self.io.calls, 3)

    def test_the_process_is_killed_at_the_first_write_after_the_nth_sync(self):
        self.io.arm_kill(3, after=True)

        self.assertEqual(self.written_before_the_kill(), b"ab" * 3)

        self.io.arm_kill(5, after=True)
        self.assertEqual(self.failures(), [])

    def test_the_process_is_killed_when_the_nth_sync_is_done(self):
        """The other shim, behind this one, tells whether the sync was really done."""
        unsynced = UnsyncedWrites(self.data, self.side / "journal", build_shim("unsynced", self.side))
        env = {**unsynced.env(), **self.io.env(), "LD_PRELOAD": f"{self.shim}:{unsynced.shim}"}
        for arm, kept in ((lambda: self.io.arm_kill(3, after=False), 2), (lambda: self.io.arm_kill_when_synced(3), 3)):
            (self.data / "f").write_bytes(b"")
            arm()

            self.assertEqual(self.run_python(self.WRITE_5, env).returncode, -signal.SIGKILL)
            self.assertEqual((self.io.hits, self.io.calls), (1, 3))
            unsynced.apply()
            self.assertEqual((self.data / "f").read_bytes(), b"ab" * kept)

    def test_the_process_is_killed_at_the_next_write(self):
        self.io.arm_kill_at_write()

        self.assertEqual(self.written_before_the_kill(), b"")

    def test_off_or_beyond_the_end_fails_nothing(self):
        self.assertEqual(self.failures(), [])
        self.io.arm("once", FailingIo.WRITES, errno.ENOSPC, nth=99)
        self.assertEqual(self.failures(), [])
        self.assertEqual(self.io.hits, 0)

    def test_sqlite_meets_the_fault_and_recovers_when_healed(self):
        code = ("import sqlite3\ndb = sqlite3.connect('x.db', isolation_level=None)\n"
                "db.execute('pragma journal_mode=wal')\ndb.execute('create table if not exists t(a)')\n"
                "try: db.execute('insert into t values(1)'); print('committed')\n"
                "except sqlite3.OperationalError as e: print(e)\n")
        self.assertEqual(self.run_python(code, self.io.env()).stdout, "committed\n")

        self.io.arm("persistent", FailingIo.WRITES, errno.ENOSPC, nth=1)
        self.assertIn("disk is full", self.run_python(code, self.io.env()).stdout)
        self.assertGreater(self.io.hits, 0)

        self.io.heal()
        self.assertEqual(self.run_python(code, self.io.env()).stdout, "committed\n")


if __name__ == "__main__":
    unittest.main()
