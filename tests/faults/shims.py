"""Builds the LD_PRELOAD shims and works with them: undoes unsynced writes, and controls failures."""

import mmap
import os
import random
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build_shim(name: str, directory: Path) -> Path:
    """Compiles tests/faults/<name>.c and returns the path of the shared object."""
    target = Path(directory) / f"{name}.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror",
                    "-o", str(target), str(HERE / f"{name}.c"), "-ldl"], check=True)
    return target


# --- unsynced.c ---

_HEADER = struct.Struct("<IIIIQQQ")


@dataclass
class _Undo:
    kind: str
    path: str  # The path of its file after the durable renames.
    other: str
    at: int  # The position of the record in the journal.
    offset: int
    old_size: int
    data: bytes

    @property
    def owner(self) -> str:
        """What must be synced to make the change durable: the file, or for a change of names its directory."""
        return self.path if self.kind in "WT" else os.path.dirname(self.path)


@dataclass
class UnsyncedWrites:
    """The journal of one process that runs with unsynced.c. After its death, `apply` undoes everything not synced."""

    directory: Path
    journal: Path
    shim: Path
    undone: int = field(default=0, init=False)

    def __post_init__(self):
        self.directory = Path(os.path.realpath(self.directory))
        self.journal.unlink(missing_ok=True)

    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.shim), "UNSYNCED_DIR": str(self.directory),
                "UNSYNCED_JOURNAL": str(self.journal)}

    def apply(self, chance: random.Random | None = None) -> int:
        """Undoes the unsynced changes, newest first. With `chance`, a random number of the oldest changes of each file
        are kept, as if they had reached the disk by luck. Returns how many changes were undone."""
        records = self._unsynced()
        if chance:
            records = self._without_lucky(records, chance)
        moved = {}
        for record in reversed(records):
            self._undo(record, moved)
        for shared_memory in self.directory.rglob("*-shm"):
            shared_memory.unlink()
        self.journal.unlink(missing_ok=True)
        self.undone += len(records)
        return len(records)

    def _unsynced(self) -> list[_Undo]:
        pending: list[_Undo] = []
        for record in self._records():
            if record.kind == "S":
                pending = [p for p in pending if p.owner != record.path or p.at >= record.offset]
                continue
            if record.kind in "UR":
                # A file that loses its name can only be restored as it was at that moment.
                gone = record.path if record.kind == "U" else record.other
                pending = [p for p in pending if p.path != gone or p.kind not in "WT"]
            if record.kind == "R":
                for p in pending:
                    if p.kind in "WT" and p.path == record.path:
                        p.path = record.other
            pending.append(record)
        return pending

    def _records(self):
        raw = self.journal.read_bytes() if self.journal.exists() else b""
        at = 0
        while at + _HEADER.size <= len(raw):
            kind, path, other, _, offset, old_size, data = _HEADER.unpack_from(raw, at)
            begin = at + _HEADER.size
            if begin + path + other + data > len(raw):
                return  # The kill cut the record, so the change was not made.
            names = raw[begin : begin + path + other].decode()
            yield _Undo(chr(kind), names[:path], names[path:], at, offset, old_size,
                        raw[begin + path + other : begin + path + other + data])
            at = begin + path + other + data

    @staticmethod
    def _without_lucky(records: list[_Undo], chance: random.Random) -> list[_Undo]:
        by_owner: dict[str, list[_Undo]] = {}
        for record in records:
            by_owner.setdefault(record.owner, []).append(record)
        lucky = {id(r) for group in by_owner.values() for r in group[: chance.randint(0, len(group))]}
        return [record for record in records if id(record) not in lucky]

    @staticmethod
    def _undo(record: _Undo, moved: dict[str, str]) -> None:
        path = moved.get(record.path, record.path)
        if record.kind == "C":
            Path(path).unlink(missing_ok=True)
        elif record.kind == "U":
            if record.old_size:
                Path(path).write_bytes(record.data)
        elif record.kind == "R":
            os.replace(record.other, path)
            moved[record.other] = path
            if record.old_size:
                Path(record.other).write_bytes(record.data)
        elif os.path.exists(path):
            with open(path, "r+b") as file:
                file.seek(record.offset)
                file.write(record.data)
                file.truncate(record.old_size)


# --- failing_io.c ---

class FailingIo:
    """Arms and disarms failing_io.c in a process that is running or will be started."""

    WRITES, SYNCS = 1, 2
    _FORMAT = struct.Struct("<iiiiqqq")
    _MODES = {"off": 0, "once": 1, "persistent": 2, "kill": 3, "kill at the next write": 4,
              "kill after it": 5}

    def __init__(self, directory: Path, control: Path, shim: Path):
        self.directory = os.path.realpath(directory)
        self.control = control
        self.shim = shim
        control.write_bytes(bytes(4096))
        with control.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), 4096)

    def env(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.shim), "FAILING_DIR": self.directory, "FAILING_CONTROL": str(self.control)}

    def arm(self, mode: str, operations: int, error: int, nth: int) -> None:
        """Makes the nth counted call fail, counted from 1; with `persistent` also all later ones."""
        self._FORMAT.pack_into(self._page, 0, 0, operations, error, 0, nth - 1, 0, 0)
        struct.pack_into("<i", self._page, 0, self._MODES[mode])

    def arm_kill(self, sync: int, after: bool) -> None:
        """Makes the process die at its nth sync, counted from 1: before the sync, or, with `after`, at the first write
        after it, when everything before the next commit has been done."""
        self.arm("kill at the next write" if after else "kill", self.SYNCS, 0, sync + after)

    def arm_kill_when_synced(self, sync: int) -> None:
        """Makes the process die when its nth sync, counted from 1, is done, before anybody can learn that."""
        self.arm("kill after it", self.SYNCS, 0, sync)

    def arm_kill_at_write(self) -> None:
        """Makes the process die at its next write."""
        self.arm_kill(0, after=True)

    def heal(self) -> None:
        struct.pack_into("<i", self._page, 0, self._MODES["off"])

    @property
    def hits(self) -> int:
        return self._FORMAT.unpack_from(self._page)[6]

    @property
    def calls(self) -> int:
        return self._FORMAT.unpack_from(self._page)[5]
