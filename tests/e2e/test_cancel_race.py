"""RUN-4: a cancel that was answered with 202 takes effect, however close it is to the run's own end."""

import random
import threading
import time
import unittest

from e2e_case import E2eCase, offline

RUNS, THREADS = 160, 4


class CancelRaceTest(E2eCase):
    config = offline(word_delay_ms=1, words=8)

    def duration(self) -> float:
        begin = time.monotonic()
        self.finished_run()
        return time.monotonic() - begin

    def race(self, seed: int, typical: float, outcomes: list) -> None:
        """Cancels runs at about the time at which they end. An outcome is the cancel's status code, the run's error
        code or last event, and the run's status."""
        api, rng = self.server.api(), random.Random(seed)
        for _ in range(RUNS // THREADS):
            thread, run = api.start_run("hello")
            time.sleep(rng.uniform(0.3, 1.2) * typical)
            answered = api.cancel(thread, run).status
            frames = api.read_events(thread, run)
            outcomes.append((answered, frames[-1].json.get("code", frames[-1].event), api.status(thread, run).json))

    def test_RUN_4_a_202_is_kept_whenever_the_cancel_comes(self):
        typical = sorted(self.duration() for _ in range(5))[2]
        outcomes: list = []
        racers = [threading.Thread(target=self.race, args=(seed, typical, outcomes)) for seed in range(THREADS)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()

        self.assertEqual(len(outcomes), RUNS)
        broken = [o for o in outcomes if o[0] == 202 and (o[1] != "RUN_CANCELED" or o[2]["status"] != "canceled")]
        self.assertEqual(broken, [], f"{len(broken)} cancels were accepted, but their runs did not end as canceled")
        late = [o for o in outcomes if o[0] == 200]
        self.assertEqual({o[1] for o in late} - {"RUN_FINISHED"}, set(), "a run that had ended must not change")
        self.assertGreater(len(outcomes) - len(late), RUNS // 10, "too few cancels came before the end of their run")
        self.assertGreater(len(late), 0, "no cancel came after the end of its run")


if __name__ == "__main__":
    unittest.main()
