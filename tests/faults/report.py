"""How a fault test ends: its violations, or a clean folder."""

import shutil
from pathlib import Path

MOST_SHOWN = 40
LONGEST = 600


def report(found: list[str], directory: Path, keep: bool = False) -> int:
    """Prints what was found and returns the exit status. The folder stays if there are violations, or with `keep`."""
    for text in found[:MOST_SHOWN]:
        print(f"FAILED: {text[:LONGEST]}")
    if found:
        print(f"{len(found)} violations; data in {directory}")
        return 1
    if not keep:
        shutil.rmtree(directory)
    return 0
