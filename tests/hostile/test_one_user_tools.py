"""HTTP-9, TOOL-10: while the model of one user calls tools without end, another user's requests take less than 50 ms, and
the memory stays bounded."""

import tempfile
import unittest
from pathlib import Path

from neighbour_case import ATTACKER, NeighbourCase, one_user

from booking_flow import BOOKING, READ, TurnsModel, booking_config, tool_turn
from fake_provider import FakeProvider

TURNS = 6
LONG_TITLE = "x" * 30_000


class ToolsTest(NeighbourCase):
    def under_calls(self, name: str, calls: int, method: str, given: dict) -> None:
        """As many runs as the user may have, each with turns of this many calls."""
        turn = tool_turn(*[(method, given)] * calls)

        def attempt(name):
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            provider = FakeProvider(otherwise=TurnsModel([turn] * TURNS)).start()
            self.addCleanup(provider.close)
            server = self.start(booking_config(folder, provider.base_url))
            threads = [f"calling-{i}" for i in range(32)]
            return self.phase(name, server, (one_user.start_runs, server.address, server.api(ATTACKER).token, threads, 20,
                                             {"flow": BOOKING}), settle=2.0)

        told, = self.judge(name, attempt)
        self.assertGreater(told["statuses"].get(202, 0), 10)
        # The last server still runs its calls: without them there was no attack.
        made = self.servers[-1].api().get("/metrics").body.decode()
        counts = [float(line.split()[-1]) for line in made.splitlines() if line.startswith("runnel_tool_calls_total")]
        self.assertGreater(sum(counts), 100)

    def test_many_tool_calls_at_once(self):
        self.under_calls("32 runs that call tools", 40, "read", READ)

    def test_calls_with_long_arguments(self):
        """As long as an answer may have them. They are refused by their schema, after they were parsed."""
        self.under_calls("32 runs with arguments of 240 KB", 8, "create", {"title": LONG_TITLE})


if __name__ == "__main__":
    unittest.main()
