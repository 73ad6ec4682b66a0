"""HTTP-6: a server that has run out of descriptors waits until some are free."""

import resource
import tempfile
import unittest
from pathlib import Path

from hostile_case import CONFIG, Server, attacks, in_own_process


class OutOfDescriptorsTest(unittest.TestCase):
    def test_a_server_without_descriptors_does_not_spin_and_recovers(self):
        with tempfile.TemporaryDirectory(prefix="runnel-attack-") as directory, \
                Server(Path(directory), CONFIG) as server:
            api = server.api()
            self.assertEqual(api.get("/api/v1/agent/threads").status, 200)
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (100, 100))  # Without its knowledge.
            before = cpu_seconds(server.process.pid)

            seen = in_own_process(attacks.crowd, server.address, b"", 400, 20.0)

            spent = cpu_seconds(server.process.pid) - before
            self.assertEqual(seen["left"], 0)
            self.assertLess(spent, 0.1 * seen["last"], f"{spent} s of CPU in {seen['last']} s")
            self.assertIn("cannot accept connections", server.log_tail(100_000))
            self.assertEqual(api.get("/api/v1/agent/threads").status, 200)


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / 100


if __name__ == "__main__":
    unittest.main()
