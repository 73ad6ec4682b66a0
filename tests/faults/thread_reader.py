"""Readers of whole threads, which follow all runs of a thread through every crash (RUN-15)."""

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from http_client import HttpError  # noqa: E402
from runnel_server import TERMINALS, Api  # noqa: E402

BROKEN = (OSError, HttpError)
Frame = tuple[str, str, str]  # id, event, data


class ThreadReader:
    """The frames that one reader of a thread has seen, over as many connections as necessary."""

    def __init__(self, api: Api, thread: str, dialect: str, query: dict):
        self.api, self.thread, self.dialect, self.query = api, thread, dialect, query
        self.frames: list[Frame] = []
        self.problem = ""
        self.connections = 0

    @property
    def runs_ended(self) -> int:
        return sum(event in TERMINALS for _, event, _ in self.frames)

    def go_on(self, rng: random.Random, until_ended: int | None = None) -> None:
        """One connection, until it breaks, is left on purpose, or so many runs have ended. Raises nothing."""
        budget = 10**6 if until_ended is not None else rng.choice((3, 20, 100, 10**6))
        try:
            self._read(budget, until_ended)
        except BROKEN:
            pass

    def _read(self, budget: int, until_ended: int | None) -> None:
        after = self.frames[-1][0] if self.frames else None
        begin = {} if after else {"from": "start"}
        with self.api.thread_events(self.thread, after=after, **begin, **self.query) as stream:
            if stream.status in (429, 503):
                time.sleep(0.05)
                return
            if stream.status != 200:
                self.problem = f"resume at {after} answered {stream.status}: {stream.connection.read_body()!r}"
                return
            stream.give_up_after(1.0 if until_ended is None else 10.0)
            self.connections += 1
            for _ in range(budget):
                if until_ended is not None and self.runs_ended >= until_ended:
                    return
                frame = stream.next()
                if frame is None:
                    self.problem = f"the stream ended behind {after}"
                    return
                self.frames.append((frame.id, frame.event, frame.data.decode()))


def thread_problems(seen: list[Frame], runs: list[list[Frame]], is_delta) -> list[str]:
    """How what a reader saw differs from the runs of the thread, whole and in their order. Deltas that a crash took, and
    only they, may be among what it saw."""
    whole = [frame for run in runs for frame in run]
    durable = {frame[0] for frame in whole}
    kept = [frame for frame in seen if frame[0] in durable]
    found = [f"{event} at {ident}, which is in no log" for ident, event, data in seen
             if ident not in durable and not is_delta((ident, event, data))]
    if kept != whole:
        at = next((n for n, pair in enumerate(zip(kept, whole)) if pair[0] != pair[1]), min(len(kept), len(whole)))
        found.append(f"saw {len(kept)} durable events of {len(whole)}, which differ from number {at} on: "
                     f"{kept[at:at + 1]} instead of {whole[at:at + 1]}")
    return found
