"""The process itself: nobody can read its memory, and no other program inherits its open files."""

import json
import os
import re
import tempfile
import threading
import unittest
from pathlib import Path

from e2e_case import E2eCase, Server, offline

from fake_provider import FakeProvider
from http_client import Connection, Http
from model_case import model_config, price_list, provider
from runnel_server import copy_programs, run_cli

CLOSE_ON_EXEC = 0o2000000


def descriptors(pid: int) -> dict[int, tuple[str, bool]]:
    """The descriptors that a process has open: the name of each, and whether programs that it starts inherit it."""
    seen = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            info = Path(f"/proc/{pid}/fdinfo/{name}").read_text()
        except FileNotFoundError:
            continue  # Closed meanwhile.
        flags = int(re.search(r"flags:\s*([0-7]+)", info)[1], 8)
        seen[int(name)] = (target, not flags & CLOSE_ON_EXEC)
    return seen


class InheritingServer(Server):
    """A server that inherits an open descriptor from its parent."""

    def spawn(self) -> None:
        left_open = os.open("/dev/full", os.O_WRONLY)
        with self.log.open("ab") as log:
            self.launch(log, pass_fds=[left_open])
        os.close(left_open)


class GuardedProcessTest(E2eCase):
    config = offline(word_delay_ms=5, words=400)

    def test_it_leaves_no_core_and_cannot_be_read_by_others_of_its_user(self):
        limits = Path(f"/proc/{self.server.process.pid}/limits").read_text()

        self.assertRegex(limits, r"Max core file size +0 +0 ")
        # The /proc files of an undumpable process belong to root, whoever runs the process.
        self.assertEqual(Path(f"/proc/{self.server.process.pid}/environ").stat().st_uid, 0)
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        if "CoreDumping" in status:
            self.assertIn("CoreDumping:\t0", status)

    @unittest.skipUnless(os.geteuid() == 0, "starting it as another user needs root")
    def test_an_ordinary_users_server_is_not_readable_for_that_user(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as name:
            os.chmod(name, 0o777)
            server = Server(Path(name) / "s", offline())
            os.chmod(server.directory, 0o777)
            # The user nobody may have no access to the folder of this project, so it gets a copy.
            server.binary = copy_programs(Path(name))
            before = os.geteuid()
            pid = os.fork()
            if pid == 0:  # As the user nobody: start the server, and try to read its memory map and environment.
                code = 3
                try:
                    os.chdir(name)
                    os.setgid(65534)
                    os.setuid(65534)
                    server.start()
                    code = 0
                    for file in ("environ", "maps", "mem"):
                        try:
                            Path(f"/proc/{server.process.pid}/{file}").read_bytes()
                            code = 1
                        except (PermissionError, OSError):
                            pass
                finally:
                    if server.alive:
                        server.kill()
                    os._exit(code)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
            self.assertEqual(os.geteuid(), before)

    def descriptors_of(self, server: Server) -> dict[int, tuple[str, bool]]:
        try:
            return descriptors(server.process.pid)
        except PermissionError:
            self.skipTest("reading the descriptors of an undumpable process needs CAP_SYS_PTRACE")

    def assert_all_stay_here(self, server: Server, least: int) -> None:
        seen = self.descriptors_of(server)
        self.assertEqual({fd: target for fd, (target, inherits) in seen.items() if inherits and fd > 2}, {})
        self.assertGreaterEqual(len(seen), least)

    def test_every_descriptor_is_close_on_exec_under_load(self):
        streams = [self.api.events(*self.api.start_run(f"hello {i}")) for i in range(8)]
        self.addCleanup(lambda: [stream.close() for stream in streams])
        enough = threading.Event()

        def scrape():
            while not enough.is_set():
                Http(self.server.address).get("/metrics")

        scraper = threading.Thread(target=scrape)
        scraper.start()
        self.addCleanup(scraper.join)
        self.addCleanup(enough.set)
        with Connection(self.server.address), Connection(self.server.address):
            for _ in range(100):
                self.assert_all_stay_here(self.server, least=20)

    def test_connections_to_providers_are_close_on_exec(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as name, FakeProvider() as fake:
            prices = Path(name) / "prices.yaml"
            prices.write_text(json.dumps(price_list()))
            config = model_config(prices, [provider(fake.base_url)], {"default": "fake"})
            with Server(Path(name) / "s", config) as server:
                api = server.api()
                for _ in range(3):
                    thread, run = api.start_run("hello")
                    for _ in range(20):
                        self.assert_all_stay_here(server, least=10)
                    self.assertEqual(api.finish(thread, run), "RUN_FINISHED")

    def test_what_the_server_inherits_goes_no_further(self):
        with tempfile.TemporaryDirectory(prefix="runnel-e2e-") as name, InheritingServer(Path(name) / "s", offline()) as server:
            seen = self.descriptors_of(server)
            self.assertTrue([target for target, _ in seen.values() if target == "/dev/full"])
            self.assert_all_stay_here(server, least=5)


class DataFolderTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="runnel-e2e-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def refused(self, data: Path) -> str:
        words = set()
        for command in (["serve", "--listen", "127.0.0.1:0"], ["token", "--user", "ann"], ["migrate"]):
            done = run_cli(*command, "--data-dir", str(data))
            self.assertEqual(done.returncode, 1, done.stdout)
            words.add(done.stderr.splitlines()[-1])
        self.assertEqual(len(words), 1, words)
        return words.pop()

    def test_a_data_folder_that_others_can_read_is_refused_with_what_to_do(self):
        data = self.directory / "data"
        data.mkdir(mode=0o755)
        data.chmod(0o755)

        self.assertEqual(self.refused(data), f"runnel: the data folder {data} is open to others; run: chmod 700 {data}")
        data.chmod(0o700)
        self.assertEqual(run_cli("token", "--user", "ann", "--data-dir", str(data)).returncode, 0)

    def test_a_data_folder_that_is_a_link_is_refused(self):
        (self.directory / "real").mkdir(mode=0o700)
        (self.directory / "link").symlink_to(self.directory / "real")

        self.assertIn(f"name the folder itself: {self.directory / 'real'}", self.refused(self.directory / "link"))

    def test_a_database_that_is_a_link_is_refused(self):
        data = self.directory / "data"
        data.mkdir(mode=0o700)
        (self.directory / "theirs.db").write_text("")
        (data / "runnel.db").symlink_to(self.directory / "theirs.db")

        self.assertIn("runnel.db is a symbolic link", self.refused(data))


if __name__ == "__main__":
    unittest.main()
