"""Measures tool calls, and shows the figures next to the budget of the design.

Two tables: calls through the server, in the sandbox, from the fact that a call has started to its result; and the
program alone, beside one in Python that does the same. All raw figures go to build/tools/. Exits with 1 if a call
failed.
"""

import argparse
import dataclasses
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import through
import alone
import machine
from through import BUDGET_MS, CLI, ROOT, SANDBOX, Times
from runnel_server import BINARY


@dataclasses.dataclass(frozen=True)
class Sizes:
    through: dict[int, tuple[int, int]]  # Runs at once: rounds, and calls of a run.
    alone: dict[int, int]  # Programs at once: rounds.


FULL = Sizes({1: (15, 20), 32: (2, 20)}, {1: 30, 32: 2})
QUICK = Sizes({1: (1, 5), 4: (1, 10)}, {1: 2, 4: 1})


def table(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in (head, *lines)]
    return "\n".join([text[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *text[1:]])


def figures(row: Times) -> tuple[str, ...]:
    return row.name, str(row.at_once), str(len(row.seconds)), f"{row.p50:.2f}", f"{row.p99:.2f}"


def through_table(rows: list[Times]) -> str:
    def budget(row: Times) -> str:
        if not row.counted:
            return ""
        share = f"{100 * row.within / row.counted:.0f} %"
        if row.at_once != 1:
            return share
        return share + (": p50 is within" if 2 * row.within >= row.counted else ": p50 is NOT within")

    return table(("through the server", "at once", "calls", "p50 ms", "p99 ms",
                  f"at most {BUDGET_MS} ms from spawn to result", "failed"),
                 [(*figures(row), budget(row), ", ".join(f"{count} {code}" for code, count in row.failures.items()))
                  for row in rows])


def alone_table(rows: list[Times]) -> str:
    base = {row.at_once: row for row in rows if row.name == alone.PROGRAMS[0].name}
    return table(("the program alone", "at once", "calls", "p50 ms", "p99 ms", "p50, relative"),
                 [(*figures(row), f"{row.p50 / base[row.at_once].p50:.1f}") for row in rows])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/tools/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that everything works")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "tools",
                        help="the folder for databases and results")
    return parser.parse_args()


def main() -> int:
    options = parse()
    sizes = QUICK if options.quick else FULL
    for program in (BINARY, CLI, SANDBOX):
        if not program.exists():
            sys.exit(f"{program} is not built; see bench/README.md")
    options.folder.mkdir(parents=True, exist_ok=True)
    load, stolen, began = os.getloadavg()[0], machine.stolen_seconds(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="run-", dir=options.folder) as folder:
        by_server = through.measure(Path(folder), sizes.through)
    taken = (machine.stolen_seconds() - stolen) / (time.monotonic() - began) / (os.cpu_count() or 1)
    by_itself = [row for at_once, rounds in sizes.alone.items() for row in alone.measure(at_once, rounds)]
    about = (f"{machine.describe()}; load average {load:.2f} before, {os.getloadavg()[0]:.2f} after; during the first table "
             f"the host kept {100 * taken:.0f} % of the cores for others")
    print(f"{through_table(by_server)}\n\n{alone_table(by_itself)}\n\n{about}")
    raw = {"about": about, "quick": options.quick, "through": [dataclasses.asdict(row) for row in by_server],
           "alone": [dataclasses.asdict(row) for row in by_itself]}
    (options.folder / time.strftime("%Y%m%d-%H%M%S.json")).write_text(json.dumps(raw, indent=1))
    return 1 if any(row.failures for row in by_server) else 0


if __name__ == "__main__":
    sys.exit(main())
