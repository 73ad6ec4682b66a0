"""A well-behaved client that runs all the time. It sends a request every 20 ms, alternately on a new connection and on
one that it keeps, and streams live runs to their end, one after the other."""

import http.client
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from runnel_server import Api, new_id  # noqa: E402

PAUSE = 0.02
PATH = "/api/v1/agent/threads"


class Bystander:
    def __init__(self, api: Api):
        self.api = api
        self.latencies: list[float] = []
        self.streamed = 0  # How many runs were streamed to their end.
        self.errors: list[str] = []
        self._kept: http.client.HTTPConnection | None = None
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._loop, args=(step,)) for step in (self._poll, self._stream)]

    def start(self) -> "Bystander":
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._kept:
            self._kept.close()

    def _loop(self, step) -> None:
        while not self._stop.is_set():
            try:
                step()
            except Exception as error:  # Every error is something that a victim of the attack would see.
                self.errors.append(f"{step.__name__}: {error!r}")

    def _poll(self) -> None:
        for ask in (self._ask_anew, self._ask_on_kept):
            begin = time.monotonic()
            status = ask()
            self.latencies.append(time.monotonic() - begin)
            if status != 200:
                self.errors.append(f"status {status}")
            time.sleep(PAUSE)

    def _ask_anew(self) -> int:
        return self.api.get(PATH).status

    def _ask_on_kept(self) -> int:
        if self._kept is None:
            self._kept = http.client.HTTPConnection(*self.api.address, timeout=20)
        try:
            self._kept.request("GET", PATH, headers=self.api.headers(None))
            answer = self._kept.getresponse()
            answer.read()
            return answer.status
        except BaseException:
            self._kept, broken = None, self._kept
            broken.close()
            raise

    def _stream(self) -> None:
        thread, run = self.api.start_run("hello", thread=new_id("bystander"))
        with self.api.events(thread, run, dialect="ag-ui") as stream:
            frames = list(stream)
        if frames[-1].event != "RUN_FINISHED":
            self.errors.append(f"the run ended with {frames[-1].event}")
        self.streamed += 1


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of the values do not exceed. From 20 values on, the largest one is left out unless `share`
    is 1.0, because a single value says nothing."""
    if not values:
        return 0.0
    last = len(values) - (1 if share == 1.0 or len(values) < 20 else 2)
    return sorted(values)[min(last, int(len(values) * share))]
